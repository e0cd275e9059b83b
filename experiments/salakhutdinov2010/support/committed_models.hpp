#pragma once

#include <string>
#include <string_view>

#include "boltzmark/model/layered.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// Names the file of a model of datasets/models/salakhutdinov2010, relative to datasets/.
std::string deep_model_file(std::string_view name);

/// Tells whether a committed model is in a data folder.  `file` is relative to datasets/.
bool has_model(const std::string& file);
/// Reads it.  Throws  DataError if it is in no data folder
Layered committed_model(const std::string& file);

/// Says that nothing was run because a committed model is not there.
void note_absent_model(const std::string& file, Summary& summary);

}  // namespace boltzmark::experiments

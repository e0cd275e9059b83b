#include "experiments/salakhutdinov2010/support/committed_models.hpp"

#include <fmt/format.h>

#include "boltzmark/core/error.hpp"
#include "boltzmark/io/model_file.hpp"
#include "experiments/kit/datasets/data_folders.hpp"

namespace boltzmark::experiments {

std::string deep_model_file(std::string_view name) {
  return fmt::format("models/salakhutdinov2010/{}.npz", name);
}

bool has_model(const std::string& file) { return find_data_file("", file).has_value(); }

Layered committed_model(const std::string& file) {
  const auto path = find_data_file("", file);
  if (!path) throw DataError(fmt::format("{}: missing (must be in a data folder)", file));
  return read_model(*path);
}

void note_absent_model(const std::string& file, Summary& summary) {
  summary.note(fmt::format(
      "Not run: datasets/{} is not here, so that the claims which need it are undecided.", file));
}

}  // namespace boltzmark::experiments

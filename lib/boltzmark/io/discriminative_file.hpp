#pragma once

#include <optional>
#include <string>

#include "boltzmark/io/datasets/binarise.hpp"
#include "boltzmark/model/discriminative.hpp"

namespace boltzmark {

/// Tells whether a file is an .npz that holds a discriminative RBM: one with an array U.
/// Throws  DataError if there is no such file, or it is a damaged .npz
bool is_discriminative_file(const std::string& path);

/// Reads a discriminative RBM.
///   .npz  W [inputs x hidden], U [hidden x classes], b [classes], c [hidden], float32 or float64;
///         optional integer `units` [1], the code of the hidden units (Unit::from_code; none: 0)
/// Throws  DataError if the file is missing, damaged, or its arrays do not agree
DiscriminativeRbm read_discriminative(const std::string& path);

/// Reads how the inputs of a model's training were binarised; nothing if the file does not say.
///   .npz  optional `binarise`, the bytes of binarise_text
/// Throws  DataError if the file is missing or damaged, or says nothing that parse_binarise takes
std::optional<BinariseOptions> read_binarise(const std::string& path);

/// Writes a discriminative RBM in float64, and how its inputs were binarised: whole or not at all.
/// Invariant  read_discriminative gives the model back exactly
/// Throws  InvalidArgument unless the path ends in .npz; DataError if it cannot be written
void write_discriminative(const DiscriminativeRbm& model, const std::string& path,
                          const std::optional<BinariseOptions>& binarise = {});

}  // namespace boltzmark

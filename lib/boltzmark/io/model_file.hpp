#pragma once

#include <optional>
#include <string>

#include "boltzmark/io/binarise.hpp"
#include "boltzmark/model/discriminative.hpp"
#include "boltzmark/model/layered.hpp"

namespace boltzmark {

/// The precision in which a model file stores parameters.
enum class FilePrecision { float32, float64 };

/// Reads a model file, recognised by content.
///   .npz  W [visible x hidden], b, c for an RBM; W0 W1 .., b0 b1 .. for more layers; optional
///         integers `units`, one code per layer (Unit::from_code), and `sigma<l>` for Gaussian ones
///   .mat  vishid [visible x hidden], visbiases, hidbiases (MATLAB 5, -v6 or -v7)
/// Throws  DataError if the file is missing, damaged, of another format, or its arrays do not agree
Layered read_model(const std::string& path);

/// Writes a model file, .npz or .mat by the path's extension: whole or not at all.
/// Invariant  read_model gives the model back exactly (float64)
/// Throws  InvalidArgument if the extension is another, or the model does not fit the format or the
/// precision; DataError if the file cannot be written
void write_model(const Layered& model, const std::string& path,
                 FilePrecision precision = FilePrecision::float64);

/// Writes a model, .npz in double precision, with what is known of its log Z: arrays `log_z` and
/// `log_z_error` [1], the text `log_z_by` as bytes, and `log_z_of`, a hash of the parameters that
/// it is the log Z of.
/// Throws  as write_model; InvalidArgument if a number is not finite
void write_known_model(const Layered& model, const KnownLogZ& known, const std::string& path);

/// Returns what a model's file says of its log Z: one number `log_z`, and if they are there `log_z_error`
/// and the text `log_z_by`; nothing if it says nothing, or says by `log_z_of` that its log Z is of other
/// parameters than the model's.
/// Throws  DataError if the file is damaged, a number is not finite or the error negative
std::optional<KnownLogZ> read_known_log_z(const std::string& path, const Layered& model);

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

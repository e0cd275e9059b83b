#pragma once

#include <optional>
#include <string>

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

}  // namespace boltzmark

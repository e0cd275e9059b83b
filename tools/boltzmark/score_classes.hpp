#pragma once

#include <string>

#include "command.hpp"

namespace boltzmark::cli {

/// What the command line says about scoring a discriminative RBM.
struct ClassScoreArguments {
  std::string model;
  std::string dataset;
  std::string labels = {};  ///< a file of classes; empty: the data set's own
  std::string binarise = "threshold:127";
};

/// Prints a discriminative RBM's error rate and mean log-likelihood; returns the exit code.
/// Throws  DataError
int print_class_score(const ClassScoreArguments& arguments, const Session& session);

}  // namespace boltzmark::cli

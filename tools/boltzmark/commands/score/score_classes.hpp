#pragma once

#include <string>

#include "tools/boltzmark/command.hpp"

namespace boltzmark::cli {

/// What the command line says about scoring any model, and a discriminative RBM.
struct ClassScoreArguments {
  std::string model;
  std::string dataset;
  std::string labels = {};       ///< a file of classes; empty: the data set's own
  std::string predictions = {};  ///< a .csv file to write them to; empty: none
  bool force = false;            ///< replace that file
};

/// Writes each case, counted from 1, the likeliest class and the probability of every class, and
/// prints a discriminative RBM's error rate and mean log-likelihood; returns the exit code.
/// binarise  empty: as the model was trained, or else threshold:127
/// Throws  DataError
int print_class_score(const ClassScoreArguments& arguments, const std::string& binarise,
                      const Session& session);

}  // namespace boltzmark::cli

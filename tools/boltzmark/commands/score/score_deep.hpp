#pragma once

#include <string>

#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "boltzmark/io/dataset.hpp"
#include "boltzmark/learn/phases/mean_field.hpp"
#include "tools/boltzmark/command.hpp"
#include "tools/boltzmark/commands/estimate/estimate_options.hpp"

namespace boltzmark::cli {

/// What a score of a deep model adds to that of an RBM.
struct DeepOptions {
  std::string mean_field = "converge";  ///< or a number of updates
  int true_cases = 0;                   ///< cases whose log f(v) is estimated each by AIS
};

/// Parses --mean-field.  Throws  InvalidArgument
MeanFieldStop parse_mean_field(const std::string& text);

/// The mean-field bounds of log f(v) of all cases.
struct DeepBound {
  Eigen::VectorXd log_f = {};  ///< of each distinct case
  double mean_log_f = 0;       ///< mean over cases
  double std_error_cases = 0;  ///< of it
  int updates = 0;             ///< of mean field that were made, the most of any cases
  int not_converged = 0;       ///< cases
};
DeepBound bound_cases(const Layered& model, const Cases& cases, MeanFieldStop stop);

/// Estimates of single cases' log f(v), beside their bound. In means each class counts by its share of the
/// data set's cases, however many of it were chosen.
struct TrueCases {
  int cases = 0;
  double mean_log_f = 0;
  double std_error = 0;   ///< of mean_log_f, by sampling
  double mean_bound = 0;  ///< of the same cases' log f(v)
  double spread = 0;      ///< standard error of the mean over cases, as if all were of one class
  /// The gravest of all; of few_effective_samples only if such cases are a quarter, or hold a
  /// quarter of std_error's square.
  Status status = Status::ok;
  std::vector<std::string> warnings = {};

  /// Keeps the graver of two statuses and says why.
  void refuse(Status reason, std::string warning);
};

/// Estimates log f(v) of cases by AIS over the hidden layers given v.
/// Randomness  derive_key(settings.key, "score case N"), N the case's place in the data set
TrueCases estimate_true_cases(const Layered& model, const Dataset& data, const DeepOptions& options,
                              const MethodSettings& settings, const Session& session);

/// Returns the standard error of the mean of log f by its spread over the cases; 0 of one.
double spread_of_mean(const Cases& cases, const Eigen::VectorXd& log_f, double mean_log_f);

}  // namespace boltzmark::cli

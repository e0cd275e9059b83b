#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "boltzmark/learn/classes/labelled_cases.hpp"
#include "boltzmark/model/discriminative.hpp"

namespace boltzmark {

/// Computes log P(k | x) of every class and case.  Shapes  [classes x cases]     Units  nats
/// Throws  InvalidArgument if the model has other inputs or classes than the cases
Eigen::MatrixXd log_class_probabilities(const DiscriminativeRbm& model, const LabelledCases& cases);

/// Predicts the likeliest class of each case; of equal ones the first.
std::vector<int> predict(const DiscriminativeRbm& model, const LabelledCases& cases);

/// How well a model classifies cases.
struct ClassScore {
  int cases = 0;
  int errors = 0;                  ///< cases whose likeliest class is another
  double mean_log_likelihood = 0;  ///< of the right classes, nats per case  [yokoyama2019, Eq. 24]
  double std_error_cases = 0;      ///< of that mean over cases; 0 for one case

  double error_rate() const { return static_cast<double>(errors) / cases; }
};
ClassScore score_classes(const DiscriminativeRbm& model, const LabelledCases& cases);

/// Computes the exact gradient of the mean log-likelihood of some cases, and returns that mean.
///   with r_k = t_k - P(k | x):  dl/db_k = <r_k>, dl/dc_j = <sum_k r_k psi_jk>,
///   dl/dW_ij = <x_i sum_k r_k psi_jk>, dl/dU_jk = <r_k psi_jk>      [yokoyama2019, Eqs. 25-28]
/// Shapes  chosen: numbers of cases, one or more; gradient as model.parameters(), overwritten
/// Throws  InvalidArgument if shapes differ
/// Invariant  the same bytes for any number of threads
double class_gradient(const DiscriminativeRbm& model, const LabelledCases& cases,
                      std::span<const int> chosen, Parameters& gradient);

}  // namespace boltzmark

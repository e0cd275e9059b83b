#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "boltzmark/model/case_values.hpp"
#include "boltzmark/model/layered.hpp"

namespace boltzmark {

/// A data set prepared for repeated likelihoods: equal cases merged, non-zero values listed.
class Cases {
 public:
  /// Shapes  data [visible x cases], column = case
  /// Throws  InvalidArgument if there is no case, no unit, or a value is not finite
  explicit Cases(const CaseValues& data);

  int visible() const { return visible_; }
  std::size_t count() const { return count_; }              ///< all cases, equal ones included
  std::size_t distinct() const { return weights_.size(); }  ///< different cases
  bool is_binary() const { return values_.empty(); }        ///< every value is 0 or 1

  /// Returns the share of all cases that equal the k-th distinct one; the shares sum to 1.
  double weight(std::size_t k) const { return weights_[k]; }
  /// Copies the k-th distinct case out.  Shapes  [visible]
  Eigen::VectorXd state(std::size_t k) const;

  /// Computes -sum_k w_k log w_k of the shares: no model's mean log-likelihood of discrete cases exceeds its negative.
  /// Units  nats
  double entropy() const;

  /// Averages a number of each distinct case over all cases.  Shapes  values [distinct]
  double mean(const Eigen::Ref<const Eigen::VectorXd>& values) const;

  /// Points to the units that are not zero in the k-th distinct case, ascending.
  const std::uint32_t* begin(std::size_t k) const { return units_.data() + starts_[k]; }
  const std::uint32_t* end(std::size_t k) const { return units_.data() + starts_[k + 1]; }
  /// Points to their values; null if all are 1.
  const float* values(std::size_t k) const {
    return values_.empty() ? nullptr : values_.data() + starts_[k];
  }
  /// Calls body(unit, value) for each of these.
  template <class Body>
  void for_each(std::size_t k, const Body& body) const {
    const float* x = values(k);
    for (const std::uint32_t* i = begin(k); i != end(k); ++i) body(*i, x ? double{*x++} : 1.0);
  }

 private:
  int visible_ = 0;
  std::size_t count_ = 0;
  std::vector<double> weights_;
  std::vector<std::size_t> starts_;
  std::vector<std::uint32_t> units_;
  std::vector<float> values_;
};

/// Throws InvalidArgument unless the visible units can take every value of the data (to float32's
/// precision) and the shapes agree.
void check_cases(const Layered& model, const Cases& cases);

/// Computes log f(v) = log sum_h exp(-E(v, h)): closed form for an RBM (minus the free energy);
/// for deeper models the smaller discrete side of the hidden layers is enumerated.
/// Shapes  visible [visible]     Units  nats
/// Throws  InvalidArgument if shapes differ, a value is outside its unit's, or more than 40 units would be
///   enumerated
double log_unnormalised(const Layered& model, const Eigen::Ref<const Eigen::VectorXd>& visible);

/// Computes log f(v) of every distinct case: of a deep model by one matrix product for all cases
/// (split_marginal.hpp) where that costs less than an enumeration for every case.
/// Shapes  [distinct]     Units  nats
/// Throws  InvalidArgument if shapes differ, a value is none of the visible units' values, or more
///   than 40 units would be enumerated
/// Cost  RBM: one addition per non-zero value and hidden unit
Eigen::VectorXd log_unnormalised(const Layered& model, const Cases& cases);

/// Estimates the seconds of one core that log_unnormalised takes for so many distinct cases of a
/// deep model, by the cheaper of its two ways; 0 for an RBM.
double log_unnormalised_seconds(const Layered& model, std::size_t cases);

/// Computes the mean of log f(v) over all cases.  Units  nats     Throws  as log_unnormalised
double mean_log_f(const Layered& model, const Cases& cases);

/// Computes the mean log-likelihood, mean log f(v) - log_z.  Units  nats per case
double mean_log_likelihood(const Layered& model, const Cases& cases, double log_z);

/// Computes the exact mean log-likelihood; log Z by enumeration.
double exact_mean_log_likelihood(const Layered& model, const Cases& cases);

/// Computes the exact gradient of the mean log-likelihood by enumeration.
///   dl/dW_l = <x_l x_{l+1}'>_data - <x_l x_{l+1}'>_model;  dl/da_l likewise with x_l;
///   for a Gaussian layer dl/da = (<x>_data - <x>_model) / sigma0^2
/// Throws  InvalidArgument as exact_log_z and mean_log_f do
/// Invariant  the result does not depend on the number of threads
/// Cost  one exponential per state of the enumerated side and unit of the other: for small models
Parameters exact_gradient(const Layered& model, const Cases& cases);

}  // namespace boltzmark

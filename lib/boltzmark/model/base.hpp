#pragma once

#include <Eigen/Core>
#include <vector>

#include "boltzmark/model/case_values.hpp"
#include "boltzmark/model/layered.hpp"

namespace boltzmark {

/// A product distribution p1 that tempering starts from:  log f_b = b log f + (1 - b) log p1.
/// Each unit has a law proportional to e^{logit x} against its reference measure.
/// Invariant  every logit is finite
struct Base {
  std::vector<Eigen::VectorXd> logits;  ///< per layer [units]

  /// Makes the base that is uniform over each unit's reference measure: all logits zero.
  /// Throws  InvalidArgument as require_temperable
  static Base uniform(const Layered& model);

  /// Makes the base of smoothed data rates on the visible layer, uniform on the others.
  ///   p_i = (sum_i + count) / (cases + 2 count)
  /// Shapes  data [visible x cases], values in {0, 1} or [0, 1]
  /// Throws  InvalidArgument if the visible layer is not Bernoulli, shapes differ, or a rate would
  /// be 0 or 1
  static Base from_data(const Layered& model, const CaseValues& data, double count);

  /// Makes the base in which every unit has the mean that is given.
  /// Shapes  means: per layer [units]     Accuracy  that of a logit in double precision
  /// Throws  InvalidArgument as require_temperable, or if a mean is no unit's between its values
  static Base of_means(const Layered& model, const std::vector<Eigen::VectorXd>& means);
};

/// Refuses a model whose tempering would need a base of other parameters than logits: one with a
/// Gaussian layer, whose precision would have to be tempered too.
/// Throws  InvalidArgument
void require_temperable(const Layered& model);

/// Computes log p1's normaliser, sum of log_partition(unit, logit): log Z at inverse temperature 0.
double log_normaliser(const Layered& model, const Base& base);

/// Returns the model whose energy gives log f_b = b log f + (1 - b) log p1 up to a constant.
/// Throws  InvalidArgument if inverse_temperature is outside [0, 1] or a layer is Gaussian
Layered tempered(const Layered& model, const Base& base, double inverse_temperature);

}  // namespace boltzmark

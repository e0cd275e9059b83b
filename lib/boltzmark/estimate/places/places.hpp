#pragma once

#include <Eigen/Core>
#include <vector>

#include "boltzmark/exact/modes/modes.hpp"
#include "boltzmark/transition/chains.hpp"

namespace boltzmark {

/// Disjoint parts of the states of all layers: a state belongs to the nearest of some centres.
struct Parts {
  Eigen::MatrixXd centres;  ///< scaled [units x parts]
  Eigen::VectorXd scales;   ///< of each unit in distances [units]

  /// Returns the part of each chain's state, the first of equally near ones.  Shapes  [chains]
  std::vector<int> parts_of(const Chains& states) const;
  /// Returns that of each column.  Shapes  values [units x states], the lowest layer first
  std::vector<int> parts_of(const Eigen::Ref<const Eigen::MatrixXd>& values) const;
};

/// Computes a lower limit of the log of a part's mass from log weights of the draws that lie in it, -infinity
/// of those that do not: by Jensen's inequality,
///   log Z_part >= E[log w | in the part] + log P(in the part),
/// the mean two standard errors lower, P at the lower limit of 97.5 % (Clopper and Pearson 1934): a few lucky
/// weights that make up the mean of all do not raise it. -infinity if fewer than three are in it.
double least_log_mass(const Eigen::Ref<const Eigen::VectorXd>& log_weights);

/// Masses of disjoint parts of a model's states.
struct PhaseMasses {
  Eigen::VectorXd log_masses;  ///< log Z_part; -infinity where none was found in it [parts]
  Eigen::VectorXd errors;      ///< their relative standard errors [parts]
  /// Log of what surely is there, however few weights hold most: least_log_mass [parts]. Empty: unknown.
  Eigen::VectorXd log_least = {};

  /// Returns log of the sum of all masses, a stochastic lower bound of log Z, and its standard error.
  /// Units  nats     Invariant  there is a part
  double log_z() const;
  double std_error() const;
  /// Returns exp(-log_scale) of all masses taken so many errors lower, or of what surely is there (log_least) if
  /// that is more.
  /// Shapes  [parts]     Invariant  errors_off >= 0
  Eigen::ArrayXd lowest(double errors_off, double log_scale) const;
  /// Returns a part's share of the sum, its own mass taken `errors_off` errors higher and the others
  /// as many lower (lowest): the largest that it may have; the smallest, if that is negative.
  double share(Eigen::Index part, double errors_off) const;
};

/// Squared distance of means below which they are of one place: less than that of a Bernoulli unit's values.
inline constexpr double kSamePlace = 0.5;

/// Where phases may be, the ones of the greatest mass by mean field first: a likely state may hold little.
struct Places {
  Chains states;              ///< modes of the listed side and fixed points of the other one's law
  Eigen::MatrixXf means;      ///< of all units, by mean field from there [units x places]
  std::vector<double> log_z;  ///< what mean field tells of their masses [places], in nats

  int count() const { return states.chains(); }
};

/// Finds them among so many modes and fixed points of each side, one of those that lead to the same means.
/// Throws  InvalidArgument as mean_field
Places find_places(const Layered& model, const Modes& modes, int most);

}  // namespace boltzmark

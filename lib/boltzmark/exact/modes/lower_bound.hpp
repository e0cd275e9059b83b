#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

#include "boltzmark/exact/modes/modes.hpp"
#include "boltzmark/model/base.hpp"
#include "boltzmark/model/layered.hpp"

namespace boltzmark {

/// A number that log Z is certainly not below, and what it consists of. NaN: there is none.
struct LowerBound {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  double log_z = kNone;        ///< nats: the higher of the two below
  double error_bound = kNone;  ///< log Z >= log_z - error_bound; rounding is the only error
  double listed = kNone;       ///< log of the sum of f over the listed states
  double mean_field = kNone;   ///< E_q[log f] + H(q) of the best product law q, or over orthants
  int parity = 1;              ///< of the layers whose states are listed
  std::uint64_t states = 0;    ///< that are listed, all different
  bool all_states = false;     ///< there are no others: the bound is log Z
  int modes = 0;               ///< that were found
  /// By how much the single precision that samplers work in changes a unit's input, in nats: the greater of
  /// one rounding of the largest input there may be, and of what it is at most in states that Gibbs sweeps
  /// from the modes led to, or in random ones where no side is discrete.
  double input_rounding = 0;
  /// By how much it changes log f, in nats: the most of the latter states, all their inputs taken together.
  /// As much may log Z of the model that is sampled be off.
  double log_f_rounding = 0;

  /// Log of the sum of f over the states that are listed without those of the run, less what rounding
  /// may add; of these states a run that knows log Z meets e^(searched - log Z) at b = 1.
  double searched = kNone;
  double met = kNone;  ///< the share of the run's visits that were in them
  double visits = 0;   ///< the independent visits that this share is as good as

  /// What log Z is certainly not below.
  double lowest() const { return log_z - error_bound; }
};

/// What a lower bound is made of besides what it finds itself.
struct LowerBoundOptions {
  ModeSearch search = {};
  const Modes* modes = nullptr;  ///< found already, by that search; null: they are searched for
  int gibbs_sweeps = 20;         ///< from the modes, whose states are listed too
  int most_states = 1 << 14;     ///< where the list ends, but for those given and visited
  std::span<const Chains> found = {};  ///< states that another search found, listed with the modes
  std::span<const Chains> visited = {};  ///< states that a run met at b = 1, of independent chains
  std::span<const double> visits = {};   ///< of each, chain by chain; empty: one
};

/// Computes a certified lower bound of log Z, the larger of
///   log sum over a list of different states x of the smaller side of m(x) f(x),
/// f the marginal with the other side summed out, m(x) the reference measure; and
///   E_q[log f] + H(q)                                                        [Jensen's inequality]
/// of a product law q over that side. The list has the modes and the states of a few Gibbs sweeps from
/// them; it grows from its likeliest state to this one's neighbours, in which one unit's value is one
/// step away, and so on, to half its length; then it takes those given, and grows on. q is mean field's,
/// from the modes and from where those sweeps end. Where the side is not discrete the second alone is
/// there, from modes that are given and from random states. Where the side of fewer units has continuous
/// ones, it is summed over orthants (sum_over_orthants).
/// Randomness  options.search.climbs.key, of streams of its own
/// Accuracy    error_bound, as that of an enumeration
/// Throws      InvalidArgument if a layer is Gaussian, states given are not the model's, visits are not one a chain,
///   or as find_modes
/// Cost        about 200 sweeps of 100 chains, and for every listed state an exponential a unit of the
///   other side; that of sum_over_orthants
LowerBound lower_bound(const Layered& model, const Base& base, const LowerBoundOptions& options);

/// What a search lists of a model's states whatever a run meets, to hold several runs to.
class SearchedStates {
 public:
  /// The options' visited states are not looked at.
  /// Randomness, Throws, Cost  as lower_bound
  SearchedStates(const Layered& model, const Base& base, const LowerBoundOptions& options);
  SearchedStates(SearchedStates&&) noexcept;
  ~SearchedStates();

  /// Tells how often a run was in them at b = 1, of its states and each chain's visits (empty: one):
  /// sets searched, its error_bound, met and visits. Leaves them where the side is not discrete.
  /// Shapes  visits [chains of all states, in their order], 0 where the state is none
  void count(std::span<const Chains> states, std::span<const double> visits,
             LowerBound& bound) const;

 private:
  struct List;
  std::unique_ptr<List> list_;  ///< null where the side is not discrete or not resolved
};

/// Returns the bound that is certainly higher, its error taken off, with the visits of the first: they
/// are of its run. One without a number is lower.
inline LowerBound higher(const LowerBound& now, const LowerBound& before) {
  if (!(before.lowest() > now.lowest() || std::isnan(now.log_z))) return now;
  LowerBound bound = before;
  bound.searched = now.searched;
  bound.met = now.met;
  bound.visits = now.visits;
  return bound;
}

}  // namespace boltzmark

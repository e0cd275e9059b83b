#include "boltzmark/exact/known/votes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"
#include "boltzmark/exact/known/plain_rbm.hpp"

namespace boltzmark {
namespace {

// A visible unit's input where all weak, or all strong, units are on: the weak outvote the strong.
constexpr double kWeakVote = 5, kStrongVote = 2.5;
// A weak unit's bias, in terms of its input by its pattern.
constexpr double kReluctance = 0.92;

struct VoteWeights {
  double weak_weight, strong_weight, weak_bias, strong_bias;
};

// What a visible unit of each quarter has by each pattern: orthogonal ones.
constexpr std::array<std::array<int, 4>, 2> kPatterns = {{{1, 1, -1, -1}, {1, -1, 1, -1}}};

int in_quarter(int units, int quarter) { return (units + 3 - quarter) / 4; }

double log_binomial(int n, int k) {
  return std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0);
}

double log_weight(const Votes& votes, const VoteWeights& of, int weak, int strong) {
  double sum = log_binomial(votes.weak, weak) + log_binomial(votes.strong, strong) +
               of.weak_bias * weak + of.strong_bias * strong;
  for (int q = 0; q < 4; ++q)
    sum += in_quarter(votes.visible, q) * softplus(of.weak_weight * kPatterns[0][q] * weak +
                                                   of.strong_weight * kPatterns[1][q] * strong);
  return sum;
}

/// Masses of the states in which at least half of the strong units are on, and of all others.
struct Masses {
  LogSum strong, others;

  double ahead() const { return strong.log() - others.log(); }
};

Masses masses_of(const Votes& votes, const VoteWeights& of) {
  Masses masses;
  for (int s = 0; s <= votes.strong; ++s)
    for (int w = 0; w <= votes.weak; ++w)
      (2 * s >= votes.strong ? masses.strong : masses.others).add(log_weight(votes, of, w, s));
  return masses;
}

// The strong units' bias puts their pattern ahead, by a nat at least for each of its own.
VoteWeights parameters_of(const Votes& votes) {
  const double weak = kWeakVote / votes.weak, strong = kStrongVote / votes.strong;
  VoteWeights of{.weak_weight = weak,
                 .strong_weight = strong,
                 .weak_bias = -kReluctance * weak * votes.visible / 2,
                 .strong_bias = 0};
  const auto ahead = [&](double bias) {
    of.strong_bias = bias;
    return masses_of(votes, of).ahead();
  };
  double low = -2 * strong * votes.visible - votes.ahead, high = votes.ahead + votes.visible;
  // Where the pattern is to be far behind, the bias is outside of these.
  for (double more = votes.visible; ahead(low) >= votes.ahead; more *= 2) low -= more;
  for (double more = votes.visible; ahead(high) < votes.ahead; more *= 2) high += more;
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    (ahead(middle) < votes.ahead ? low : high) = middle;
  }
  return of;
}

PlainRbm lay_out(const Votes& votes, const VoteWeights& of, Stream& draws) {
  const int hidden = votes.weak + votes.strong;
  const std::vector<int> rows = permutation(votes.visible, draws),
                         cols = permutation(hidden, draws);
  PlainRbm rbm{Eigen::MatrixXd(votes.visible, hidden), Eigen::VectorXd::Zero(votes.visible),
               Eigen::VectorXd(hidden)};
  for (int j = 0; j < hidden; ++j) {
    const bool weak = j < votes.weak;
    rbm.above[cols[static_cast<std::size_t>(j)]] = weak ? of.weak_bias : of.strong_bias;
    for (int i = 0; i < votes.visible; ++i)
      rbm.weights(rows[static_cast<std::size_t>(i)], cols[static_cast<std::size_t>(j)]) =
          (weak ? of.weak_weight : of.strong_weight) * kPatterns[weak ? 0 : 1][i % 4];
  }
  return rbm;
}

}  // namespace

KnownModel make_votes(const Votes& votes, Stream& draws) {
  if (std::min({votes.visible, votes.weak, votes.strong}) < 1)
    throw InvalidArgument(fmt::format("visible, weak, strong = {}, {}, {} (must be at least 1)",
                                      votes.visible, votes.weak, votes.strong));
  const VoteWeights of = parameters_of(votes);
  Masses masses = masses_of(votes, of);
  masses.others.add(masses.strong);
  PlainRbm rbm = lay_out(votes, of, draws);
  const double log_z = masses.others.log() - flip_half(rbm, draws);
  const KnownLogZ known{log_z, rounding_of(rbm, log_z),
                        "sums over how many units of each kind are on"};
  return {.model = Layered::rbm(std::move(rbm.weights), std::move(rbm.below), std::move(rbm.above)),
          .known = known};
}

}  // namespace boltzmark

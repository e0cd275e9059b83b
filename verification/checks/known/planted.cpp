// Patterns of visible units that some hidden units hold, planted under any encoding of the units.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"
#include "verification/checks/known/known_model.hpp"

namespace boltzmark {
namespace {

/// Parameters of an RBM of Bernoulli units that is being made.
struct PlainRbm {
  Eigen::MatrixXd weights;  ///< [visible x hidden]
  Eigen::VectorXd below, above;
};

/// Exchanges on and off of about half of the units, so that nothing is told by a sign.
/// Returns  what log Z loses by it     Randomness  draws
double flip_half(PlainRbm& rbm, Stream& draws) {
  double lost = 0;
  for (Eigen::Index i = 0; i < rbm.below.size(); ++i) {
    if (!draws.bernoulli(0.5)) continue;
    lost += rbm.below[i];
    rbm.above += rbm.weights.row(i).transpose();
    rbm.below[i] *= -1;
    rbm.weights.row(i) *= -1;
  }
  for (Eigen::Index j = 0; j < rbm.above.size(); ++j) {
    if (!draws.bernoulli(0.5)) continue;
    lost += rbm.above[j];
    rbm.below += rbm.weights.col(j);
    rbm.above[j] *= -1;
    rbm.weights.col(j) *= -1;
  }
  return lost;
}

/// The model, and a closed form of its log Z, a sum of its parameters, which rounding is off by.
KnownModel known_rbm(PlainRbm rbm, double log_z, const char* by) {
  const double error = 1e-14 * (std::abs(log_z) + rbm.below.lpNorm<1>() + rbm.above.lpNorm<1>() +
                                rbm.weights.lpNorm<1>());
  return {.model = Layered::rbm(std::move(rbm.weights), std::move(rbm.below), std::move(rbm.above)),
          .known = {log_z, error, by}};
}

constexpr double kGateWeight = 3;
// All units of a well on are as likely as all off, and the way between them is e^-10.
constexpr int kWellVisible = 12, kWellHidden = 6;
constexpr double kWellWeight = 1.2;

double well_log_z() {
  LogSum sum;
  double choices = 0;  // log of the hidden states with so many on
  for (int on = 0; on <= kWellHidden; ++on) {
    sum.add(choices - on * kWellWeight * kWellVisible / 2 +
            kWellVisible * softplus(kWellWeight * (on - kWellHidden / 2.0)));
    choices += std::log(kWellHidden - on) - std::log(on + 1);
  }
  return sum.log();
}

}  // namespace

KnownModel make_gate(const Gate& gate, Stream& draws) {
  const int visible = gate.visible + kWellVisible * gate.wells,
            hidden = 1 + kWellHidden * gate.wells;
  const std::vector<int> rows = permutation(visible, draws), cols = permutation(hidden, draws);
  PlainRbm rbm{Eigen::MatrixXd::Zero(visible, hidden), Eigen::VectorXd::Zero(visible),
               Eigen::VectorXd::Zero(hidden)};
  for (int i = 0; i < gate.visible; ++i)
    rbm.weights(rows[static_cast<std::size_t>(i)], cols[0]) = kGateWeight;
  rbm.above[cols[0]] = gate.ahead + gate.visible * (std::log(2.0) - softplus(kGateWeight));
  for (int well = 0; well < gate.wells; ++well) {
    const int first_row = gate.visible + kWellVisible * well, first_col = 1 + kWellHidden * well;
    for (int i = 0; i < kWellVisible; ++i) {
      const int row = rows[static_cast<std::size_t>(first_row + i)];
      rbm.below[row] = -kWellWeight * kWellHidden / 2;
      for (int j = 0; j < kWellHidden; ++j)
        rbm.weights(row, cols[static_cast<std::size_t>(first_col + j)]) = kWellWeight;
    }
    for (int j = 0; j < kWellHidden; ++j)
      rbm.above[cols[static_cast<std::size_t>(first_col + j)]] = -kWellWeight * kWellVisible / 2;
  }
  const double log_z = gate.visible * std::log(2.0) + softplus(gate.ahead) +
                       gate.wells * well_log_z() - flip_half(rbm, draws);
  return known_rbm(std::move(rbm), log_z, "sums over both sides of the gate and over each well");
}

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
  return known_rbm(std::move(rbm), log_z, "sums over how many units of each kind are on");
}

}  // namespace boltzmark

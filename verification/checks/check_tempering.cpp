// Checks that T can replace G where chains are tempered: every tempered law is invariant under its
// sweep, and parallel tempering with it leaves the product of the tempered laws invariant.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "boltzmark/exact/spectrum/operator.hpp"
#include "boltzmark/model/base.hpp"
#include "boltzmark/sample/tempering/parallel_tempering.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/subjects.hpp"
#include "verification/checks/worst.hpp"

namespace boltzmark {
namespace {

CaseOutcome tempered_invariance(Stream& stream, const Rule& rule, DrawModel draw) {
  const Layered model = draw(stream);
  const Base base = draw_base(stream, model);
  double worst = 0, worst_beta = 0;
  for (const double beta : {0.0, stream.uniform(), stream.uniform(), 1.0}) {
    const StateSpace space(tempered(model, base, beta));
    const Eigen::VectorXd p = space.p();
    StateBlock pushed = p;
    SweepOperator(space, rule).push(pushed);
    const double error = largest_of(pushed.col(0) - p);
    if (error <= worst || std::isnan(worst)) continue;
    worst = error;
    worst_beta = beta;
  }
  return {worst, fmt::format("{}, beta {:.3f}", describe_case(model), worst_beta)};
}

/// The swap draws of every bundle.
class SwapDraws final : public Draws {
 public:
  SwapDraws(int pairs, std::size_t bundles)
      : of_pairs(static_cast<std::size_t>(pairs), std::vector<std::uint32_t>(bundles)) {}

  std::vector<std::vector<std::uint32_t>> of_pairs;

  void fill(std::uint32_t* out, const DrawRange& range) const override {
    for (std::size_t k = range.first_unit; k < range.first_unit + range.units; ++k)
      for (std::size_t c = range.first_chain; c < range.first_chain + range.chains; ++c)
        *out++ = k < of_pairs.size() && c < of_pairs[k].size() ? of_pairs[k][c] : 0;
  }
};

// The law of the states of all chains of parallel tempering, [states^chains], chain 0 lowest.
class SwappedChains {
 public:
  SwappedChains(const Layered& model, const Base& base, std::vector<double> betas)
      : betas_(std::move(betas)) {
    for (const double beta : betas_) spaces_.emplace_back(tempered(model, base, beta));
    states_ = static_cast<Eigen::Index>(spaces_[0].states());
    // D = log f - log p1 up to a constant, which acceptances do not see.
    const StateSpace full(model), start(tempered(model, base, 0));
    log_ratio_ = full.log_p() - start.log_p();
  }
  Eigen::Index size() const {
    Eigen::Index result = 1;
    for (std::size_t k = 0; k < spaces_.size(); ++k) result *= states_;
    return result;
  }
  Eigen::VectorXd stationary() const {
    Eigen::VectorXd log_law = Eigen::VectorXd::Zero(size());
    for (Eigen::Index i = 0; i < size(); ++i)
      for (int k = 0; k < chains(); ++k) log_law[i] += spaces_[k].log_p()[digit(i, k)];
    return log_law.array().exp();
  }
  // Every chain sweeps at its own temperature.
  void sweep(Eigen::VectorXd& law, const Rule& rule) const {
    for (int k = 0; k < chains(); ++k) {
      const SweepOperator kernel(spaces_[k], rule);
      const Eigen::Index stride = power(k);
      for (Eigen::Index i = 0; i < law.size(); ++i) {
        if (digit(i, k) != 0) continue;
        StateBlock one(states_, 1);
        for (Eigen::Index x = 0; x < states_; ++x) one(x, 0) = law[i + x * stride];
        kernel.push(one);
        for (Eigen::Index x = 0; x < states_; ++x) law[i + x * stride] = one(x, 0);
      }
    }
  }
  // Neighbours first, first + 2, ... propose to exchange their states.
  void swap(Eigen::VectorXd& law, int first, const SwapProbability& probability) const {
    for (int k = first; k + 1 < chains(); k += 2) {
      const Eigen::VectorXd old = law;
      law.setZero();
      for (Eigen::Index i = 0; i < old.size(); ++i) {
        const Eigen::Index low = digit(i, k), high = digit(i, k + 1);
        const double accept = acceptance(probability, k, low, high);
        const Eigen::Index swapped = i + (high - low) * power(k) + (low - high) * power(k + 1);
        law[swapped] += accept * old[i];
        law[i] += (1 - accept) * old[i];
      }
    }
  }
  // Whether a move of ladders swaps with this probability, every joint state a bundle: pairs of
  // draws just below it and pairs of draws just above.
  bool is_followed(const SwapProbability& probability, const LadderMove& move) const {
    const int pairs = chains() - 1;
    for (int below = 0; below < 1 << pairs; ++below)
      if (!is_followed(probability, move, below)) return false;
    return true;
  }

 private:
  // The draw of pair k is below where bit k is set.
  bool is_followed(const SwapProbability& probability, const LadderMove& move, int below) const {
    const auto joint = static_cast<std::size_t>(size());
    LadderSwaps swaps(betas_, static_cast<int>(joint));
    SwapDraws draws(chains() - 1, joint);
    std::vector<double> log_ratios;
    std::vector<std::vector<int>> expected(joint, std::vector<int>(betas_.size()));
    for (std::size_t i = 0; i < joint; ++i) {
      std::vector<int>& at = expected[i];  // of each rung, the chain of the bundle
      std::iota(at.begin(), at.end(), 0);
      const auto state = [&](int chain) { return digit(static_cast<Eigen::Index>(i), chain); };
      for (const int chain : at) log_ratios.push_back(log_ratio_[state(chain)]);
      bool told = true;
      for (const int parity : {0, 1})
        for (int k = parity; k + 1 < chains(); k += 2) {
          const bool swapped = (below >> k & 1) != 0;
          const double accept = acceptance(probability, k, state(at[k]), state(at[k + 1]));
          const double draw = (accept + (swapped ? -0x1p-24 : 0x1p-24)) * 0x1p32;
          told = told && draw >= 0 && draw < 0x1p32;
          draws.of_pairs[k][i] = static_cast<std::uint32_t>(std::clamp(draw, 0.0, 0x1p32 - 1));
          if (swapped) std::swap(at[k], at[k + 1]);
        }
      if (!told) at.clear();
    }
    move(swaps, log_ratios, draws, 0);
    for (std::size_t i = 0; i < joint; ++i)
      for (std::size_t k = 0; k < expected[i].size(); ++k) {
        const int chain = swaps.chain_at(static_cast<int>(i), static_cast<int>(k));
        if (chain != static_cast<int>(i) * chains() + expected[i][k]) return false;
      }
    return true;
  }
  double acceptance(const SwapProbability& probability, int pair, Eigen::Index low,
                    Eigen::Index high) const {
    return probability(pair, betas_[pair], betas_[pair + 1], log_ratio_[low], log_ratio_[high]);
  }
  int chains() const { return static_cast<int>(betas_.size()); }
  Eigen::Index power(int k) const {
    Eigen::Index result = 1;
    for (; k > 0; --k) result *= states_;
    return result;
  }
  Eigen::Index digit(Eigen::Index i, int k) const { return i / power(k) % states_; }
  std::vector<double> betas_;
  std::vector<StateSpace> spaces_;
  Eigen::Index states_ = 0;
  Eigen::VectorXd log_ratio_;
};

CaseOutcome parallel_tempering(Stream& stream, const Rule& rule, const SwapProbability& accept,
                               const LadderMove& move) {
  const Layered model = stream.below(2) == 0
                            ? draw_small_unit_model(stream, 1, 36)
                            : draw_generic_model(stream, stream.below(4) == 0 ? 2 : 1, 4);
  const Base base = draw_base(stream, model);
  std::vector<double> betas = {0, 1};
  if (stream.below(2) == 0) betas = {0, stream.uniform(), 1};
  const SwappedChains ladder(model, base, betas);
  const Eigen::VectorXd stationary = ladder.stationary();
  Eigen::VectorXd law = stationary;
  ladder.sweep(law, rule);
  ladder.swap(law, 0, accept);
  ladder.swap(law, 1, accept);
  const bool followed = ladder.is_followed(accept, move);
  return {followed ? largest_of(law - stationary) : std::numeric_limits<double>::infinity(),
          fmt::format("{}, {} temperatures{}", describe_case(model), betas.size(),
                      followed ? "" : "; the ladder swaps otherwise than the law")};
}

}  // namespace

Check parallel_tempering_check(const Rule& rule, const SwapProbability& accept,
                               const LadderMove& move) {
  return bounded_check(
      "joint-invariance (" + rule.name() + ")", "parallel-tempering",
      "sweeps, then swaps of even and of odd pairs leave the product of the tempered laws "
      "invariant, of binary and of multivalued units; the production swap accepts draws just below "
      "that probability and none just above",
      1e-12, [rule, accept, move](Stream& s) { return parallel_tempering(s, rule, accept, move); });
}

std::vector<Check> tempering_checks(const Rule& rule) {
  return {
      bounded_check("tempered-invariance", rule.name(),
                    "the tempered law is invariant under its sweep at every beta: max |pT - p|",
                    1e-12,
                    [rule](Stream& s) { return tempered_invariance(s, rule, draw_binary_model); }),
      bounded_check("tempered-invariance (discrete units)", rule.name(),
                    "so it is with Bernoulli and multivalued units, layer by layer", 1e-12,
                    [rule](Stream& s) { return tempered_invariance(s, rule, draw_unit_model); }),
      parallel_tempering_check(
          rule, [](int, auto... of_pair) { return swap_probability(of_pair...); },
          std::mem_fn(&LadderSwaps::swap)),
  };
}

std::vector<Check> tempering_checks() {
  std::vector<Check> all;
  for (const Rule& rule : ergodic_rules())
    for (Check& check : tempering_checks(rule)) all.push_back(std::move(check));
  return all;
}

}  // namespace boltzmark

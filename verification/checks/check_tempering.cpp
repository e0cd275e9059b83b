// Checks that T can replace G where chains are tempered: every tempered law is invariant under its
// sweep, and parallel tempering with it leaves the product of the tempered laws invariant.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "boltzmark/exact/spectrum/operator.hpp"
#include "boltzmark/model/base.hpp"
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
  //   accepted with probability(k, (b_k - b_{k+1}) (D_{k+1} - D_k))
  void swap(Eigen::VectorXd& law, int first, const SwapProbability& probability) const {
    for (int k = first; k + 1 < chains(); k += 2) {
      const Eigen::VectorXd old = law;
      law.setZero();
      for (Eigen::Index i = 0; i < old.size(); ++i) {
        const Eigen::Index low = digit(i, k), high = digit(i, k + 1);
        const double accept =
            probability(k, (betas_[k] - betas_[k + 1]) * (log_ratio_[high] - log_ratio_[low]));
        const Eigen::Index swapped = i + (high - low) * power(k) + (low - high) * power(k + 1);
        law[swapped] += accept * old[i];
        law[i] += (1 - accept) * old[i];
      }
    }
  }

 private:
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

CaseOutcome parallel_tempering(Stream& stream, const Rule& rule, const SwapProbability& accept) {
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
  return {largest_of(law - stationary),
          fmt::format("{}, {} temperatures", describe_case(model), betas.size())};
}

}  // namespace

Check parallel_tempering_check(const Rule& rule, const SwapProbability& accept) {
  return bounded_check({.name = "joint-invariance (" + rule.name() + ")",
                        .subject = "parallel-tempering",
                        .statement = "sweeps, then swaps of even and of odd pairs leave "
                                     "the product of the tempered laws invariant, of binary and of "
                                     "multivalued units",
                        .bound = 1e-12},
                       [rule, accept](Stream& s) { return parallel_tempering(s, rule, accept); });
}

std::vector<Check> tempering_checks(const Rule& rule) {
  std::vector<Check> checks;
  checks.push_back(
      bounded_check({.name = "tempered-invariance",
                     .subject = rule.name(),
                     .statement = "the tempered law is invariant under its sweep at "
                                  "every beta: max |pT - p|",
                     .bound = 1e-12},
                    [rule](Stream& s) { return tempered_invariance(s, rule, draw_binary_model); }));
  checks.push_back(
      bounded_check({.name = "tempered-invariance (discrete units)",
                     .subject = rule.name(),
                     .statement = "so it is with Bernoulli and multivalued units, layer by layer",
                     .bound = 1e-12},
                    [rule](Stream& s) { return tempered_invariance(s, rule, draw_unit_model); }));
  checks.push_back(parallel_tempering_check(
      rule, [](int, double log_ratio) { return std::exp(std::min(0.0, log_ratio)); }));
  return checks;
}

std::vector<Check> tempering_checks() {
  std::vector<Check> all;
  for (const Rule& rule : ergodic_rules())
    for (Check& check : tempering_checks(rule)) all.push_back(std::move(check));
  return all;
}

}  // namespace boltzmark

#include "boltzmark/sample/tempering/tempered_transition.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/random/key.hpp"
#include "boltzmark/transition/log_density.hpp"

namespace boltzmark {
namespace {

/// D of every chain at both visits of a rung below 1, a chain's rungs side by side.
struct Visits {
  Eigen::MatrixXd up, down;  ///< [rungs below 1 x chains]

  Visits(Eigen::Index rungs, Eigen::Index chains) : up(rungs, chains), down(rungs, chains) {}
  std::span<const double> of(const Eigen::MatrixXd& pass, int chain) const {
    return {pass.col(chain).data(), static_cast<std::size_t>(pass.rows())};
  }
};

/// Moves the chains up and down, and notes what they passed. One product with the odd layers'
/// weights serves both their draw and D.
class Excursion {
 public:
  Excursion(const PackedModel& packed, Chains& chains, const Draws& draws,
            const TransitionOptions& options)
      : packed_(packed),
        chains_(chains),
        draws_(draws),
        ladder_(options.inverse_temperatures),
        next_sweep_(options.first_sweep),
        sweep_{.rule = options.rule},
        betas_(static_cast<std::size_t>(chains.chains())) {}

  Visits go() {
    const auto below = static_cast<Eigen::Index>(ladder_.size()) - 1;
    Visits visits(below, chains_.chains());
    for (Eigen::Index k = below - 1; k >= 0; --k) {
      start_sweep(k);
      find_inputs();
      note(visits.up.row(k));
      draw_odd();
      draw_even();
    }
    for (Eigen::Index k = 0; k < below; ++k) {
      start_sweep(k);
      draw_even();
      find_inputs();
      draw_odd();
      note(visits.down.row(k));
    }
    return visits;
  }

 private:
  void start_sweep(Eigen::Index rung) {
    betas_.assign(betas_.size(), ladder_[rung]);
    sweep_.inverse_temperatures = betas_;
    sweep_.first_sweep = next_sweep_++;
  }
  void find_inputs() { fill_inputs(packed_, chains_, odd_inputs_); }
  void draw_odd() {
    for (int l = 1; l < chains_.layers(); l += 2)
      draw_layer(packed_, chains_, draws_, sweep_, l, odd_inputs_.layers[l / 2]);
  }
  void draw_even() { half_sweep(packed_, chains_, draws_, sweep_, 0); }
  void note(Eigen::Ref<Eigen::RowVectorXd, 0, Eigen::InnerStride<>> out) const {
    const std::vector<double> ratios = log_ratio(packed_, chains_, odd_inputs_);
    for (Eigen::Index c = 0; c < out.size(); ++c) out[c] = ratios[c];
  }

  const PackedModel& packed_;
  Chains& chains_;
  const Draws& draws_;
  std::span<const float> ladder_;
  std::uint64_t next_sweep_;
  SweepOptions sweep_;
  std::vector<float> betas_;
  SideInputs odd_inputs_{.parity = 1};  ///< by the even layers now
};

// One draw per chain, laid out like those of the first of four units.
std::vector<std::uint32_t> acceptance_draws(const Draws& draws, const Chains& chains,
                                            std::uint64_t sweep) {
  constexpr std::uint32_t kUnits = 4;
  const auto width = static_cast<std::uint32_t>(chains.blocks() * kChainBlock);
  std::vector<std::uint32_t> values(std::size_t{kUnits} * width);
  draws.fill(values.data(), {.layer = static_cast<std::uint32_t>(Purpose::transition),
                             .units = kUnits,
                             .chains = width,
                             .sweep = sweep});
  return values;
}

bool is_accepted(double log_ratio, std::uint32_t draw) {
  const double probability = std::min(1.0, std::exp(log_ratio));
  return draw < static_cast<std::uint64_t>(std::llround(probability * 0x1p32));
}

}  // namespace

double transition_log_ratio(std::span<const float> inverse_temperatures, std::span<const double> up,
                            std::span<const double> down) {
  double sum = 0;
  for (std::size_t k = 0; k + 1 < inverse_temperatures.size(); ++k)
    sum += (static_cast<double>(inverse_temperatures[k + 1]) -
            static_cast<double>(inverse_temperatures[k])) *
           (down[k] - up[k]);
  return sum;
}

void TransitionOptions::check() const {
  const std::vector<float>& ladder = inverse_temperatures;
  const bool ascends = std::adjacent_find(ladder.begin(), ladder.end(), [](float a, float b) {
                         return !(a < b);
                       }) == ladder.end();
  if (ladder.size() < 2 || !ascends || !(ladder.front() >= 0) || ladder.back() != 1)
    throw InvalidArgument(
        "inverse_temperatures (must be two or more, ascending within [0, 1] to 1)");
  if (rule.kind == Rule::Kind::own)
    throw InvalidArgument("rule = " + rule.name() +
                          " (must be known to be in detailed balance, for its reversal is needed)");
}

std::vector<TransitionOutcome> tempered_transition(const PackedModel& packed, Chains& chains,
                                                   const Draws& draws,
                                                   const TransitionOptions& options) {
  options.check();
  const Chains start = chains;
  const Visits visits = Excursion(packed, chains, draws, options).go();
  const std::vector<std::uint32_t> accepting = acceptance_draws(draws, chains, options.first_sweep);
  std::vector<TransitionOutcome> outcomes(static_cast<std::size_t>(chains.chains()));
  for (int c = 0; c < chains.chains(); ++c) {
    TransitionOutcome& outcome = outcomes[c];
    outcome.log_ratio = transition_log_ratio(options.inverse_temperatures, visits.of(visits.up, c),
                                             visits.of(visits.down, c));
    outcome.accepted = is_accepted(outcome.log_ratio, accepting[c]);
    if (!outcome.accepted) chains.copy_chain(c, start, c);
  }
  return outcomes;
}

}  // namespace boltzmark

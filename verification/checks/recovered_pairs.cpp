// The production code's rung steps and exchanges as laws: every state is a chain, and scripted draws
// replace Philox. A step is taken if a draw < its threshold in [0, 2^32], which bisection finds.

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "boltzmark/exact/recovered_sweep.hpp"
#include "verification/checks/adaptive_pairs.hpp"

namespace boltzmark {
namespace {

// The same proposal for every chain, and each chain's own draw of acceptance.
class StepDraws final : public Draws {
 public:
  std::uint32_t proposal = 0;
  std::vector<std::uint32_t> acceptance;
  int first = 0;  // the chain of the first of these

  void fill(std::uint32_t* out, const DrawRange& range) const override {
    for (std::uint32_t u = 0; u < range.units; ++u)
      for (std::uint32_t c = 0; c < range.chains; ++c, ++out) {
        const std::size_t i = std::size_t{range.first_chain} + c - static_cast<std::size_t>(first);
        *out = u == 0 ? proposal : i < acceptance.size() ? acceptance[i] : 0;
      }
  }
};

// Where a step leads from each start when its proposal is accepted and when not, and how often it is.
struct RecoveredStep {
  std::vector<double> accept;
  std::vector<std::uint64_t> accepted, rejected;
};

using Outcomes = std::function<std::vector<std::uint64_t>(const std::vector<std::uint32_t>&)>;

RecoveredStep recover_step(std::size_t starts, const Outcomes& outcomes) {
  std::vector<std::uint64_t> low(starts, 0), high(starts, std::uint64_t{1} << 32);
  RecoveredStep step{std::vector<double>(starts), outcomes(std::vector<std::uint32_t>(starts, 0)),
                     outcomes(std::vector<std::uint32_t>(starts, 0xffffffffU))};
  std::vector<std::uint32_t> middle(starts);
  for (int bit = 0; bit < 33; ++bit) {
    for (std::size_t i = 0; i < starts; ++i)
      middle[i] =
          static_cast<std::uint32_t>(std::min((low[i] + high[i]) / 2, std::uint64_t{0xffffffffU}));
    const std::vector<std::uint64_t> to = outcomes(middle);
    for (std::size_t i = 0; i < starts; ++i) {
      if (low[i] == high[i]) continue;
      if (to[i] == step.accepted[i])
        low[i] = std::uint64_t{middle[i]} + 1;
      else
        high[i] = middle[i];
    }
  }
  for (std::size_t i = 0; i < starts; ++i) step.accept[i] = static_cast<double>(low[i]) * 0x1p-32;
  return step;
}

void put_state(Chains& chains, int chain, const StateSpace& space, std::size_t x) {
  for (int u = 0; u < space.units(); ++u)
    chains.set(space.place(u).layer, space.place(u).unit, chain,
               static_cast<float>(space.value(u, x)));
}

std::size_t read_state(const Chains& chains, int chain, const StateSpace& space) {
  std::size_t x = 0;
  for (int u = 0; u < space.units(); ++u) {
    const StateSpace::Place& place = space.place(u);
    const float value = place.kind.stored(chains.get(place.layer, place.unit, chain));
    x += place.stride * static_cast<std::size_t>(place.kind.index(value));
  }
  return x;
}

Eigen::MatrixXd recovered_sweep_matrix(const Layered& model, float b, const Rule& rule) {
  const RecoveredSweep sweep(model, Base::uniform(model), rule, b);
  return sweep.side_matrix(1) * sweep.side_matrix(0);
}

// Calls use(step) for the two proposals of probability 1/2.
template <class Run, class Use>
void for_both_proposals(StepDraws& draws, std::size_t starts, const Run& run, const Use& use) {
  for (const std::uint32_t proposal : {0U, 0x80000000U}) {
    draws.proposal = proposal;
    use(recover_step(starts, [&](const std::vector<std::uint32_t>& acceptance) {
      draws.acceptance = acceptance;
      return run();
    }));
  }
}

}  // namespace

AdaptivePairs recovered_pairs(const Layered& model, const std::vector<float>& ladder,
                              const Eigen::VectorXd& log_g, const Rule& rule) {
  const StateSpace space(model);
  const std::size_t states = space.states();
  AdaptivePairs pairs = exact_pairs(model, ladder, log_g, rule);
  const auto draws = std::make_shared<StepDraws>();
  AdaptiveChains chains({.model = model,
                         .packing = {.chains = static_cast<int>(states)},
                         .rule = rule,
                         .draws = draws},
                        0, {.inverse_temperatures = ladder});
  for (std::size_t x = 0; x < states; ++x)
    put_state(chains.states(), static_cast<int>(x), space, x);
  for (int k = 0; k < pairs.rungs(); ++k) {
    pairs.sweeps[k] = recovered_sweep_matrix(model, ladder[k], rule);
    pairs.steps[k].setZero();
    const auto run = [&] {
      std::vector<std::uint64_t> to(states);
      for (std::size_t x = 0; x < states; ++x) chains.set_rung(static_cast<int>(x), k);
      chains.weights().set(log_g);
      chains.move_rungs();
      for (std::size_t x = 0; x < states; ++x) to[x] = chains.rung(static_cast<int>(x));
      return to;
    };
    for_both_proposals(*draws, states, run, [&](const RecoveredStep& step) {
      for (std::size_t x = 0; x < states; ++x) {
        pairs.steps[k](x, step.accepted[x]) += step.accept[x] / 2;
        pairs.steps[k](x, step.rejected[x]) += (1 - step.accept[x]) / 2;
      }
    });
  }
  return pairs;
}

JointLaw recovered_advance(const Layered& model, const std::vector<float>& ladder,
                           const Eigen::VectorXd& log_g, const JointLaw& law, Coupling coupling,
                           bool at_lag) {
  const StateSpace space(model);
  const auto states = static_cast<Eigen::Index>(space.states());
  const auto rungs = static_cast<Eigen::Index>(ladder.size());
  const Eigen::Index joint = states * states * rungs;
  const Eigen::MatrixXd slow = recovered_sweep_matrix(model, 1, Rule::gibbs());
  JointLaw moved, next(law.size(), Eigen::MatrixXd::Zero(states, states));
  for (Eigen::Index k = 0; k < rungs; ++k)
    moved.emplace_back(slow.transpose() * law[k] *
                       recovered_sweep_matrix(model, ladder[k], Rule::gibbs()));
  // One sweep has been made; with a lag of two it does not end one.
  const auto draws = std::make_shared<StepDraws>();
  CoupledChains coupled(
      {.model = model, .packing = {.chains = static_cast<int>(joint)}, .draws = draws},
      {.inverse_temperatures = ladder}, {.coupling = coupling, .lag = at_lag ? 1 : 2});
  coupled.pairs().sweep();
  draws->first = static_cast<int>(joint);
  const auto run = [&] {
    std::vector<std::uint64_t> to(static_cast<std::size_t>(joint));
    AdaptiveChains& chains = coupled.pairs();
    for (Eigen::Index i = 0; i < joint; ++i) {
      const auto pair = static_cast<int>(i);
      put_state(chains.states(), pair, space, i % states);
      put_state(chains.states(), pair + static_cast<int>(joint), space, i / states % states);
      chains.set_rung(pair + static_cast<int>(joint), static_cast<int>(i / (states * states)));
    }
    chains.weights().set(log_g);
    coupled.couple();
    for (Eigen::Index i = 0; i < joint; ++i) {
      const auto pair = static_cast<int>(i), fast = pair + static_cast<int>(joint);
      to[i] = (chains.rung(fast) * states + read_state(chains.states(), fast, space)) * states +
              read_state(chains.states(), pair, space);
    }
    return to;
  };
  const auto add = [&](std::uint64_t to, double mass) {
    const auto t = static_cast<Eigen::Index>(to);
    next[t / (states * states)](t % states, t / states % states) += mass;
  };
  for_both_proposals(*draws, static_cast<std::size_t>(joint), run, [&](const RecoveredStep& step) {
    for (Eigen::Index i = 0; i < joint; ++i) {
      const double mass = moved[i / (states * states)](i % states, i / states % states) / 2;
      add(step.accepted[i], mass * step.accept[i]);
      add(step.rejected[i], mass * (1 - step.accept[i]));
    }
  });
  return next;
}

}  // namespace boltzmark

// The production code's rung steps and exchanges as laws: every state is a chain, and scripted draws
// replace Philox. A step is taken if a draw < its threshold in [0, 2^32], which bisection finds.

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "verification/checks/laws/adaptive_pairs.hpp"
#include "verification/checks/laws/recovered_sweep.hpp"
#include "verification/checks/laws/states.hpp"

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

// Every joint state (x_slow, x_fast, k) as a pair of production chains; pair i is joint state i =
// (k states + x_fast) states + x_slow.
class JointStates {
 public:
  // One sweep has been made; with a lag of two it does not end one.
  JointStates(const Layered& model, const std::vector<float>& ladder, Eigen::VectorXd log_g,
              SwapRule rule, bool at_lag)
      : space_(model),
        states_(static_cast<int>(space_.states())),
        pairs_(states_ * states_ * static_cast<int>(ladder.size())),
        log_g_(std::move(log_g)),
        draws_(std::make_shared<StepDraws>()),
        coupled_({.model = model, .packing = {.chains = pairs_}, .draws = draws_},
                 {.inverse_temperatures = ladder}, {.swap = rule, .lag = at_lag ? 1 : 2}) {
    coupled_.pairs().sweep();
    draws_->first = pairs_;
  }

  int pairs() const { return pairs_; }
  StepDraws& draws() { return *draws_; }
  // Where the production code takes each joint state with the draws as they are.
  std::vector<std::uint64_t> couple() {
    AdaptiveChains& chains = coupled_.pairs();
    for (int i = 0; i < pairs_; ++i) {
      put_state(chains.states(), i, space_, static_cast<std::size_t>(i % states_));
      put_state(chains.states(), pairs_ + i, space_,
                static_cast<std::size_t>(i / states_ % states_));
      chains.set_rung(pairs_ + i, i / (states_ * states_));
    }
    chains.weights().set(log_g_);
    coupled_.couple();
    std::vector<std::uint64_t> to;
    for (int i = 0; i < pairs_; ++i)
      to.push_back((static_cast<std::uint64_t>(chains.rung(pairs_ + i)) * space_.states() +
                    index_of(space_, chains.states().get_chain(pairs_ + i))) *
                       space_.states() +
                   index_of(space_, chains.states().get_chain(i)));
    return to;
  }
  double& mass(JointLaw& law, std::uint64_t i) const {
    const auto at = static_cast<int>(i);
    return law[at / (states_ * states_)](at % states_, at / states_ % states_);
  }

 private:
  StateSpace space_;
  int states_, pairs_;
  Eigen::VectorXd log_g_;
  std::shared_ptr<StepDraws> draws_;
  CoupledChains coupled_;
};

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
                           const Eigen::VectorXd& log_g, const JointLaw& law, SwapRule rule,
                           bool at_lag) {
  const Eigen::MatrixXd slow = recovered_sweep_matrix(model, 1, Rule::gibbs());
  JointLaw moved, next;
  for (std::size_t k = 0; k < law.size(); ++k) {
    moved.emplace_back(slow.transpose() * law[k] *
                       recovered_sweep_matrix(model, ladder[k], Rule::gibbs()));
    next.emplace_back(Eigen::MatrixXd::Zero(law[k].rows(), law[k].cols()));
  }
  JointStates joint(model, ladder, log_g, rule, at_lag);
  const auto starts = static_cast<std::size_t>(joint.pairs());
  for_both_proposals(
      joint.draws(), starts, [&] { return joint.couple(); },
      [&](const RecoveredStep& step) {
        for (std::size_t i = 0; i < starts; ++i) {
          const double mass = joint.mass(moved, i) / 2;
          joint.mass(next, step.accepted[i]) += mass * step.accept[i];
          joint.mass(next, step.rejected[i]) += mass * (1 - step.accept[i]);
        }
      });
  return next;
}

}  // namespace boltzmark

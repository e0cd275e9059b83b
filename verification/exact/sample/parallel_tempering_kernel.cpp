// The joint transition matrix of parallel tempering, recovered from the production code by scripted
// draws, leaves the product of the tempered distributions unchanged.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "boltzmark/sample/tempering/parallel_tempering.hpp"
#include "verification/exact/support/learn_scripts.hpp"

using namespace boltzmark;

namespace {

constexpr int kStates = 8;        // of one chain: two visible units, one hidden
constexpr int kTemperatures = 3;  // b = 0, 1/2, 1
constexpr int kJoint = 512;       // kStates^kTemperatures
constexpr std::uint64_t kBase = 16;
constexpr int kPaths = 4096;  // kBase^3: a sweep decides three units

// Of a swap's probability. D is a float32 sum: 8 parameters below 4, each rounded by 2^-23 at most,
// and 4 sums below 8, by 2^-22; two such D's times 1/2, the step of b. The threshold adds 2^-32.
constexpr double kDecisionError = 16 * 0x1p-23 + 0x1p-32;

// Inputs are multiples of 2 log 2 up to 4 log 2, so that flip's probabilities at b = 0, 1/2, 1 are
// multiples of 1/16. Peaked: the likeliest state is 64 times as likely as the least likely one.
oracle::SmallRbm peaked_rbm() {
  const double l = std::numbers::ln2;
  oracle::SmallRbm rbm{Eigen::MatrixXd(2, 1), Eigen::VectorXd(2), Eigen::VectorXd(1)};
  rbm.weights << 4 * l, -2 * l;
  rbm.visible_bias << -2 * l, 4 * l;
  rbm.hidden_bias << -2 * l;
  return rbm;
}

// Neither uniform nor the model's own law.
Eigen::VectorXd base_logits() {
  const double l = std::numbers::ln2;
  Eigen::VectorXd logits(3);
  logits << 2 * l, -2 * l, 4 * l;
  return logits;
}

Base production_base() { return {{base_logits().head(2), base_logits().tail(1)}}; }

struct Setup {
  oracle::SmallRbm rbm = peaked_rbm();
  Layered model = scripts::production(rbm);
  PackedModel packed{model, production_base()};
  std::vector<float> ladder = uniform_ladder(kTemperatures);

  ParallelTempering ladders(int bundles) const {
    return {model, bundles, {.inverse_temperatures = ladder, .rule = Rule::flip(), .sweeps = 1}};
  }
};

void set_state(Chains& chains, int chain, int state) {
  for (int i = 0; i < 2; ++i) chains.set(0, i, chain, static_cast<float>(state >> i & 1));
  chains.set(1, 0, chain, static_cast<float>(state >> 2));
}

int get_state(const Chains& chains, int chain) {
  int state = 0;
  for (int i = 0; i < 2; ++i) state |= static_cast<int>(chains.get(0, i, chain)) << i;
  return state | static_cast<int>(chains.get(1, 0, chain)) << 2;
}

// State of temperature t in a joint state.
int part(int joint, int t) { return joint >> (3 * t) & 7; }

// Sweeps chain t of every bundle from every state along every path of its three decisions.
// Returns the transition matrix of each chain.
std::vector<Eigen::MatrixXd> recover_sweeps(const Setup& setup, ParallelTempering& ladders) {
  for (int bundle = 0; bundle < ladders.bundles(); ++bundle)
    for (int c = 0; c < kTemperatures; ++c)
      set_state(ladders.chains(), bundle * kTemperatures + c, bundle / kPaths);
  const std::uint64_t first = ladders.steps();
  ladders.sweep(setup.packed, scripts::FunctionDraws([&](std::uint32_t layer, std::uint32_t unit,
                                                         std::uint32_t chain, std::uint64_t sweep) {
                  const std::uint64_t path = chain / kTemperatures % kPaths;
                  const std::uint64_t place =
                      scripts::decision(setup.rbm, layer, unit, sweep - first);
                  return scripts::middle(scripts::digit(path, kBase, place), kBase);
                }));
  std::vector<Eigen::MatrixXd> matrices(kTemperatures, Eigen::MatrixXd::Zero(kStates, kStates));
  for (int bundle = 0; bundle < ladders.bundles(); ++bundle)
    for (int c = 0; c < kTemperatures; ++c)
      matrices[c](bundle / kPaths, get_state(ladders.chains(), bundle * kTemperatures + c)) +=
          1.0 / kPaths;
  return matrices;
}

// Where the swaps of one step send each joint state, for given draws of the two pairs.
std::vector<int> swap_all(const Setup& setup, const std::vector<std::uint32_t>& draws, int pair,
                          std::uint32_t other) {
  ParallelTempering ladders = setup.ladders(kJoint);
  for (int joint = 0; joint < kJoint; ++joint)
    for (int t = 0; t < kTemperatures; ++t)
      set_state(ladders.chains(), joint * kTemperatures + t, part(joint, t));
  ladders.swap(setup.packed, scripts::FunctionDraws([&](std::uint32_t, std::uint32_t unit,
                                                        std::uint32_t bundle, std::uint64_t) {
                 if (bundle >= kJoint) return 0U;
                 return static_cast<int>(unit) == pair ? draws[bundle] : other;
               }));
  std::vector<int> to(kJoint, 0);
  for (int joint = 0; joint < kJoint; ++joint)
    for (int t = 0; t < kTemperatures; ++t)
      to[joint] |= get_state(ladders.chains(), ladders.chain_at(joint, t)) << (3 * t);
  return to;
}

// Bisects the threshold of one pair's draw in every joint state: 2^32 P(accept), an integer.
// Returns the probability of accepting, and where acceptance and rejection lead.
struct Pair {
  std::vector<double> accept;
  std::vector<int> accepted, rejected;
};
Pair recover_pair(const Setup& setup, int pair, std::uint32_t other) {
  std::vector<std::uint64_t> low(kJoint, 0), high(kJoint, std::uint64_t{1} << 32);
  const std::vector<std::uint32_t> never(kJoint, 0xffffffffU), always(kJoint, 0);
  Pair result{std::vector<double>(kJoint), swap_all(setup, always, pair, other),
              swap_all(setup, never, pair, other)};
  while (low != high) {
    std::vector<std::uint32_t> middle(kJoint);
    for (int j = 0; j < kJoint; ++j) middle[j] = static_cast<std::uint32_t>((low[j] + high[j]) / 2);
    const std::vector<int> to = swap_all(setup, middle, pair, other);
    for (int j = 0; j < kJoint; ++j) {
      if (low[j] == high[j]) continue;
      // Where acceptance changes nothing, any threshold gives the same law.
      if (to[j] == result.accepted[j])
        low[j] = std::uint64_t{middle[j]} + 1;
      else
        high[j] = middle[j];
    }
  }
  for (int j = 0; j < kJoint; ++j) result.accept[j] = static_cast<double>(low[j]) * 0x1p-32;
  return result;
}

// The law of one pair's swap from the joint probabilities: min(1, p(swapped) / p(now)).
Eigen::MatrixXd exchange_law(const oracle::SmallRbm& rbm, const std::vector<float>& ladder,
                             int lower) {
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(kJoint, kJoint);
  for (int joint = 0; joint < kJoint; ++joint) {
    const int x = part(joint, lower), y = part(joint, lower + 1);
    const int swapped = joint + ((y - x) << (3 * lower)) + ((x - y) << (3 * (lower + 1)));
    const auto log_p = [&](int t, int state) {
      return oracle::log_tempered(rbm, base_logits(), static_cast<double>(ladder[t]), state);
    };
    const double accept = std::min(1.0, std::exp(log_p(lower, y) + log_p(lower + 1, x) -
                                                 log_p(lower, x) - log_p(lower + 1, y)));
    matrix(joint, swapped) += accept;
    matrix(joint, joint) += 1 - accept;
  }
  return matrix;
}

// The matrix of a whole swap step: the pair (0,1), then (1,2) given what became of the first.
Eigen::MatrixXd recover_swaps(const Setup& setup) {
  const Pair first = recover_pair(setup, 0, 0xffffffffU);
  const Pair after_yes = recover_pair(setup, 1, 0);
  const Pair after_no = recover_pair(setup, 1, 0xffffffffU);
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(kJoint, kJoint);
  for (int j = 0; j < kJoint; ++j) {
    const std::pair<const Pair&, double> branches[] = {{after_yes, first.accept[j]},
                                                       {after_no, 1 - first.accept[j]}};
    for (const auto& [second, p] : branches) {
      matrix(j, second.accepted[j]) += p * second.accept[j];
      matrix(j, second.rejected[j]) += p * (1 - second.accept[j]);
    }
  }
  return matrix;
}

Eigen::VectorXd product_law(const Setup& setup) {
  Eigen::VectorXd law = Eigen::VectorXd::Ones(kJoint);
  for (int t = 0; t < kTemperatures; ++t) {
    const Eigen::VectorXd p =
        oracle::probabilities(setup.rbm, base_logits(), static_cast<double>(setup.ladder[t]));
    for (int joint = 0; joint < kJoint; ++joint) law[joint] *= p[part(joint, t)];
  }
  return law;
}

Eigen::MatrixXd joint_sweep(const std::vector<Eigen::MatrixXd>& matrices) {
  Eigen::MatrixXd joint(kJoint, kJoint);
  for (int from = 0; from < kJoint; ++from)
    for (int to = 0; to < kJoint; ++to) {
      double p = 1;
      for (int t = 0; t < kTemperatures; ++t) p *= matrices[t](part(from, t), part(to, t));
      joint(from, to) = p;
    }
  return joint;
}

}  // namespace

TEST_CASE("each ladder's chain sweeps at its own inverse temperature, before and after swaps") {
  const Setup setup;
  ParallelTempering ladders = setup.ladders(kStates * kPaths);
  std::vector<int> rungs = {0, 1, 2};
  for (int round = 0; round < 2; ++round) {
    for (int c = 0; c < kTemperatures; ++c) CHECK(ladders.rung(c) == rungs[c]);
    const std::vector<Eigen::MatrixXd> matrices = recover_sweeps(setup, ladders);
    for (int c = 0; c < kTemperatures; ++c) {
      const oracle::Step step{.flip = 1,
                              .b = static_cast<double>(setup.ladder[rungs[c]]),
                              .base_logits = base_logits()};
      // Counts over the lattice are exact; the oracle's probabilities are rounded.
      CHECK((matrices[c] - oracle::sweep_matrix(setup.rbm, step)).cwiseAbs().maxCoeff() < 1e-12);
    }
    // Equal states always swap: chains 0, 1, 2 become 1, 0, 2, and then 1, 2, 0.
    for (int c = 0; c < ladders.chains().chains(); ++c) set_state(ladders.chains(), c, 0);
    ladders.swap(setup.packed, scripts::FunctionDraws([](auto...) { return 0xffffffffU; }));
    rungs = {2, 0, 1};
  }
}

TEST_CASE("neighbours swap with the probability that keeps the joint law, even pairs first") {
  const Setup setup;
  const Eigen::MatrixXd expected =
      exchange_law(setup.rbm, setup.ladder, 0) * exchange_law(setup.rbm, setup.ladder, 1);
  CHECK((recover_swaps(setup) - expected).cwiseAbs().maxCoeff() < 2 * kDecisionError);
}

TEST_CASE("a step of parallel tempering leaves the product of tempered distributions unchanged") {
  const Setup setup;
  const Eigen::VectorXd law = product_law(setup);
  REQUIRE(law.maxCoeff() / law.minCoeff() > 40);  // flat targets hide a wrong b
  ParallelTempering ladders = setup.ladders(kStates * kPaths);
  const Eigen::MatrixXd sweep = joint_sweep(recover_sweeps(setup, ladders));
  const Eigen::MatrixXd swap = recover_swaps(setup);
  CHECK((sweep.rowwise().sum().array() - 1).abs().maxCoeff() < 1e-12);
  CHECK((swap.rowwise().sum().array() - 1).abs().maxCoeff() < 1e-12);
  // The law's weights sum to 1, so the L1 error is at most that of a row: two decisions' rounding,
  // each moving mass at most twice.
  const Eigen::VectorXd next = swap.transpose() * (sweep.transpose() * law);
  CHECK((next - law).lpNorm<1>() < 4 * kDecisionError);
}

// Checks of Wang-Landau sampling and FPCD over the sets of a partition: salakhutdinov2010, Sec. 4.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "boltzmark/exact/spectrum/operator.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/laws/partition.hpp"
#include "verification/checks/laws/two_spins.hpp"
#include "verification/checks/subjects.hpp"
#include "verification/checks/worst.hpp"

namespace boltzmark {
namespace {

constexpr int kTwoSpinUpdates = 100;

/// A partition of any model's states, at most so many, into two to four sets.
Partition draw_partition(Stream& stream, double most_states) {
  const Layered model = draw_small_unit_model(stream, 2, most_states);
  const std::size_t states = StateSpace(model).states();
  const auto sets = std::min<std::uint64_t>(states, 2 + stream.below(3));
  std::vector<int> set_of(states);
  for (std::size_t x = 0; x < states; ++x)
    set_of[x] = static_cast<int>(x < sets ? x : stream.below(sets));
  return Partition(model, std::move(set_of));
}

std::vector<double> draw_log_weights(Stream& stream, const Partition& partition) {
  std::vector<double> log_g(static_cast<std::size_t>(partition.sets()));
  for (double& value : log_g) value = stream.uniform(-5, 5);
  return log_g;
}

std::string describe_partition(const Partition& partition) {
  return fmt::format("{} states in {} sets", partition.space().states(), partition.sets());
}

/// The law after one sweep under p(x; g), by every path of single-unit updates.
Eigen::VectorXd swept(const Partition& partition, Eigen::VectorXd law,
                      const std::vector<double>& log_g) {
  const StateSpace& space = partition.space();
  for (const int unit : partition.sweep_order()) {
    Eigen::VectorXd next = Eigen::VectorXd::Zero(law.size());
    std::vector<double> values(static_cast<std::size_t>(space.values(unit)));
    for (std::size_t x = 0; x < space.states(); ++x) {
      partition.unit_law(unit, x, log_g, values);
      for (int k = 0; k < space.values(unit); ++k)
        next[static_cast<Eigen::Index>(space.moved(unit, x, k))] +=
            law[static_cast<Eigen::Index>(x)] * values[static_cast<std::size_t>(k)];
    }
    law = next;
  }
  return law;
}

CaseOutcome reweighted_law_stays(Stream& stream) {
  const Partition partition = draw_partition(stream, 256);
  const std::vector<double> log_g = draw_log_weights(stream, partition);
  Eigen::ArrayXd law = partition.space().log_p();
  for (Eigen::Index x = 0; x < law.size(); ++x)
    law[x] -= log_g[static_cast<std::size_t>(partition.set_of(static_cast<std::size_t>(x)))];
  law = (law - law.maxCoeff()).exp();
  law /= law.sum();
  const Eigen::VectorXd after = swept(partition, law.matrix(), log_g);
  const double largest = largest_of(
      Eigen::Map<const Eigen::VectorXd>(log_g.data(), static_cast<Eigen::Index>(log_g.size())));
  return {largest_of(after - law.matrix()),
          fmt::format("{}, |log g| <= {:.3g}", describe_partition(partition), largest)};
}

// With equal weights the sweep is the rule's, which is another program.
CaseOutcome equal_weights_are_gibbs(Stream& stream) {
  const Partition partition = draw_partition(stream, 64);
  const auto states = static_cast<Eigen::Index>(partition.space().states());
  StateBlock law(states, 1);
  for (double& value : law.reshaped()) value = stream.uniform();
  law /= law.sum();
  const Eigen::VectorXd ours =
      partition_law(partition, WeightRule::frozen(), {.law = law}, 3).col(3);
  const SweepOperator gibbs(partition.space(), Rule::gibbs());
  for (int t = 0; t < 3; ++t) gibbs.push(law);
  return {largest_of(ours - law), describe_partition(partition)};
}

/// Draws a rule, and what it is.
std::pair<WeightRule, const char*> draw_weight_rule(Stream& stream, const Partition& partition) {
  if (stream.below(2) == 0)
    return {WeightRule::constant(stream.uniform(0.01, 20)), "constant factor"};
  const int data_set = draw_below(stream, partition.sets());
  return {WeightRule::fast_weights(stream.uniform(0.01, 3), data_set), "fast weights"};
}

/// The law after so many updates more, weights changed as a chain changes them along every path.
void follow(const Partition& partition, const WeightRule& rule, const Eigen::VectorXd& law,
            const std::vector<double>& log_g, int t, int updates, Eigen::VectorXd& last) {
  if (t == updates) {
    last += law;
    return;
  }
  const Eigen::VectorXd next = swept(partition, law, log_g);
  for (int set = 0; set < partition.sets(); ++set) {
    Eigen::VectorXd there = next;
    for (std::size_t x = 0; x < partition.space().states(); ++x)
      if (partition.set_of(x) != set) there[static_cast<Eigen::Index>(x)] = 0;
    std::vector<double> weights = log_g;
    rule.apply(static_cast<std::uint64_t>(t) + 1, set, weights);
    follow(partition, rule, there, weights, t + 1, updates, last);
  }
}

CaseOutcome law_sums_paths(Stream& stream) {
  constexpr int kUpdates = 4;
  const Partition partition = draw_partition(stream, 64);
  const auto [rule, kind] = draw_weight_rule(stream, partition);
  const Eigen::VectorXd start = point_law(partition, stream.below(partition.space().states()));
  Eigen::VectorXd by_paths = Eigen::VectorXd::Zero(start.size());
  follow(partition, rule, start, std::vector<double>(static_cast<std::size_t>(partition.sets())), 0,
         kUpdates, by_paths);
  const Eigen::MatrixXd laws = partition_law(partition, rule, {.law = start}, kUpdates);
  return {largest_of(laws.col(kUpdates) - by_paths),
          fmt::format("{}, {}", describe_partition(partition), kind)};
}

CaseOutcome still_at_the_data(Stream& stream, const DataRule& make_rule) {
  const Partition partition = draw_partition(stream, 64);
  const int data = draw_below(stream, partition.sets());
  const WeightRule rule = make_rule(stream.uniform(0.01, 10), data);
  const std::vector<double> before = draw_log_weights(stream, partition);
  std::vector<double> after = before;
  rule.apply(1 + stream.below(1000), data, after);
  double moved = 0;
  for (std::size_t k = 0; k < before.size(); ++k)
    moved = worse(moved, std::abs(after[k] - before[k]));
  return {moved, describe_partition(partition)};
}

CheckOutcome outcome_of(double value, double bound, bool holds, std::string detail) {
  return {value, bound, holds, std::move(detail), 1};
}

/// Numbers of the example that were computed elsewhere, by another program.
CheckOutcome two_spin_numbers(int, std::uint64_t) {
  const Partition partition = two_spin_partition();
  const Eigen::VectorXd start = point_law(partition, kTwoSpinStart);
  const auto laws = [&](const WeightRule& rule) {
    return partition_law(partition, rule, {.law = start}, kTwoSpinUpdates);
  };
  const auto shares = [&](const WeightRule& rule) { return occupancies(partition, laws(rule)); };
  const Eigen::Vector4d ten(0.2707, 0.2293, 0.2293, 0.2707), one(0.3221, 0.1779, 0.1779, 0.3221);
  const double left = 1 - partition_law(partition, WeightRule::frozen(),
                                        {.law = start, .ends = {0, 1, 2}}, kTwoSpinUpdates)
                              .rightCols(1)
                              .sum();
  const Eigen::MatrixXd fast = laws(WeightRule::fast_weights(1, kTwoSpinData));
  const std::array distances = {largest_of(shares(WeightRule::constant(10)) - ten),
                                largest_of(shares(WeightRule::constant(1)) - one),
                                // Three digits and five places are known of these.
                                std::abs(left - 0.00904) * 10,
                                std::abs(occupancies(partition, fast)[kTwoSpinData] - 0.907) / 10};
  const double worst = *std::max_element(distances.begin(), distances.end());
  return outcome_of(worst, 1e-4, worst <= 1e-4,
                    fmt::format("Gibbs leaves X_4 with {:.5f}, FPCD is in X_1 {:.4f} of the time",
                                left, occupancies(partition, fast)[kTwoSpinData]));
}

/// TV from p of FPCD's law after 100 updates that started from p: 0 for a sampler of p.
CheckOutcome leaves_p(const WeightRule& rule) {
  const Partition partition = two_spin_partition();
  const Eigen::VectorXd p = partition.space().p();
  const Eigen::VectorXd after =
      partition_law(partition, rule, {.law = p}, kTwoSpinUpdates).col(kTwoSpinUpdates);
  const double tv = (after - p).lpNorm<1>() / 2;
  return outcome_of(
      tv, 0.4, tv > 0.4,
      fmt::format("P(X_1) is {:.4f} under p and {:.4f} after 100 updates",
                  partition.sums(p)[kTwoSpinData], partition.sums(after)[kTwoSpinData]));
}

}  // namespace

Check still_at_the_data_check(const DataRule& make_rule) {
  return bounded_check("still-at-the-data", "fpcd",
                       "fast weights do not move while x is in the set of the data point", 0,
                       [make_rule](Stream& s) { return still_at_the_data(s, make_rule); });
}

Check leaves_p_check(const WeightRule& rule) {
  return {.name = "leaves-p",
          .subject = "fpcd",
          .statement =
              "two spins: TV from p after 100 updates at rate 1 that started from p, above "
              "the bound if FPCD is no sampler of p",
          .bound = 0.4,
          .run = [rule](int, std::uint64_t) { return leaves_p(rule); }};
}

std::vector<Check> partition_checks() {
  return {
      bounded_check(
          "reweighted-law", "partition",
          "a sweep under p(x; g) leaves it unchanged, whatever g: max |pT - p|, any units, two to "
          "four sets",
          1e-12, reweighted_law_stays),
      bounded_check("equal-weights", "partition",
                    "with g = 1 the propagated law is that of Gibbs sweeps", 1e-12,
                    equal_weights_are_gibbs),
      bounded_check(
          "every-path", "partition",
          "the law over (state, visits) after 4 updates is the sum over all paths of sets, weights "
          "changed step by step; FPCD's too",
          1e-12, law_sums_paths),
      {.name = "two-spins",
       .subject = "partition",
       .statement = "two spins, 100 updates: occupancies, the chance that Gibbs leaves its mode "
                    "and FPCD's occupancy against known values",
       .bound = 1e-4,
       .run = two_spin_numbers},
      still_at_the_data_check(
          [](double rate, int data_set) { return WeightRule::fast_weights(rate, data_set); }),
      leaves_p_check(WeightRule::fast_weights(1, kTwoSpinData)),
  };
}

}  // namespace boltzmark

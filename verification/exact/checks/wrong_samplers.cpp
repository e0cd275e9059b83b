// Samplers, rules, weights and bounds that are wrong are refused by the checks that are about them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/random/draws.hpp"
#include "verification/checks/adaptive_pairs.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/check_slopes.hpp"
#include "verification/checks/check_tempered_cases.hpp"
#include "verification/checks/decision_bound.hpp"
#include "verification/checks/states.hpp"
#include "verification/checks/subjects.hpp"
#include "verification/checks/verifier.hpp"
#include "verification/checks/worst.hpp"

using namespace boltzmark;

namespace {

/// Gibbs sampling, but where `is_wrong` of a unit and its input: there of 0.9 times the input, or,
/// of a tie, the first value oftener than the last.
template <class Where>
Rule wrong_where(const char* name, const Where& is_wrong) {
  return Rule::of(name, [is_wrong](Unit unit, double input, int now, std::span<double> next) {
    const double wrong_input = input == 0 ? -0.2 : 0.9 * input;
    next_law(Rule::gibbs(), unit, is_wrong(unit, input) ? wrong_input : input, now, next);
  });
}

bool is_dyadic(double input) { return input * 2048 == std::round(input * 2048); }

/// The draws of others, but for those that accept tempered transitions, which are all the same.
class AcceptingDraws final : public Draws {
 public:
  AcceptingDraws(const Draws& others, std::uint32_t accepting)
      : others_(others), accepting_(accepting) {}
  void fill(std::uint32_t* out, const DrawRange& range) const override {
    others_.fill(out, range);
    if (range.layer == static_cast<std::uint32_t>(Purpose::transition))
      std::fill_n(out, std::size_t{range.units} * range.chains, accepting_);
  }

 private:
  const Draws& others_;
  std::uint32_t accepting_;
};

}  // namespace

// Wrong for X(s) beyond two values, at ties, and at inputs that only tempering makes: parameters of
// binary models are multiples of 2^-8, so that at b = 1 inputs are too.
TEST_CASE("a rule that is wrong in one place is refused by the checks that go there alone") {
  const auto of_units = [](const Check& check) {
    return check.name.ends_with("(discrete units)") || check.subject == "parallel-tempering" ||
           check.subject == "simulated-tempering";
  };
  const Rule many =
      wrong_where("wrong of many values", [](Unit unit, double) { return unit.values() > 2; });
  for (const auto& checks :
       {kernel_checks(many), tempering_checks(many), tempered_chain_checks(many)})
    for (const Check& check : checks) {
      INFO(check.name << " " << check.subject);
      CHECK(check.run(20, 1).holds != of_units(check));
    }
  const Rule tied = wrong_where("wrong at ties", [](Unit, double input) { return input == 0; });
  for (const Check& check : kernel_checks(tied)) {
    INFO(check.name << " " << check.subject);
    CHECK_FALSE(check.run(20, 1).holds);
  }
  const Rule tempered =
      wrong_where("wrong if tempered", [](Unit, double input) { return !is_dyadic(input); });
  CHECK(kernel_checks(tempered).front().run(20, 1).holds);
  for (const Check& check : tempering_checks(tempered)) {
    INFO(check.name << " " << check.subject);
    CHECK_FALSE(check.run(20, 1).holds);
  }
  CHECK_FALSE(tempered_chain_checks(tempered).front().run(20, 1).holds);
}

TEST_CASE("what the theorems say is refused of rules of which it is false") {
  for (const Check& check : theorem_checks(Rule::metropolis())) {
    INFO(check.name);
    CHECK_FALSE(check.run(60, 1).holds);
  }
  CHECK(counter_example_check(Rule::metropolis()).run(20, 1).holds);
  CHECK_FALSE(counter_example_check(Rule::flip()).run(20, 1).holds);
  CHECK_FALSE(counter_example_check(Rule::gibbs()).run(20, 1).holds);
  CHECK(changes_as_often_check(Rule::flip()).run(20, 1).holds);
  CHECK_FALSE(changes_as_often_check(Rule::gibbs()).run(20, 1).holds);
  // Nor of one that is Gibbs sampling where the unit is off, or on, alone.
  for (const int lazy : {0, 1}) {
    const Rule half =
        Rule::of("half", [lazy](Unit unit, double input, int from, std::span<double> out) {
          next_law(from == lazy ? Rule::gibbs() : Rule::flip(), unit, input, from, out);
        });
    INFO(lazy);
    CHECK_FALSE(changes_as_often_check(half).run(20, 1).holds);
  }
}

TEST_CASE("a swap on arrival at b = 1 is refused by what the other swaps are held to") {
  using enum SwapRule;
  // Where a lag ends alone, of half of the cases; and elsewhere alone.
  for (const auto& [rule, rule_at_lag] : {std::pair(each, entry), {entry, each}})
    for (const Check& check : swap_checks(rule, rule_at_lag)) {
      INFO(check.name << ", " << name(rule) << ", " << name(rule_at_lag) << " at a lag");
      CHECK_FALSE(check.run(20, 1).holds);
    }
}

TEST_CASE("a swap of parallel tempering that is always accepted is refused, of either pair") {
  for (const int always : {0, 1}) {
    const Check check = parallel_tempering_check(Rule::gibbs(), [always](int pair, double ratio) {
      return pair == always ? 1 : std::exp(std::min(0.0, ratio));
    });
    INFO(always);
    CHECK_FALSE(check.run(40, 1).holds);
  }
}

TEST_CASE("values beyond the second that are never left are not in detailed balance") {
  const Rule held = Rule::of("held", [](Unit unit, double input, int now, std::span<double> next) {
    if (now < 2)
      next_law(Rule::gibbs(), unit, input, now, next);
    else
      next[now] = 1;
  });
  const std::vector<Check> checks = balance_checks(held);
  REQUIRE(checks.size() == 2);
  CHECK(checks[0].run(20, 1).holds);  // of bits, which have no such values
  CHECK_FALSE(checks[1].run(20, 1).holds);
}

TEST_CASE("Gibbs sampling of the wrong law is refused of the visible layer and of the hidden one") {
  const auto check_of = [](bool spins) {
    return blocked_gibbs_check(
        wrong_where("wrong", [spins](Unit unit, double) { return (unit.values() == 2) == spins; }));
  };
  // Visible units are spins in every case, hidden ones of more values in three of four.
  for (std::uint64_t seed = 1; seed <= 8; ++seed) CHECK_FALSE(check_of(true).run(1, seed).holds);
  CHECK_FALSE(check_of(false).run(8, 1).holds);
}

TEST_CASE("Gibbs sampling has no greater asymptotic variance than itself in a fixed order") {
  CHECK(periodic_scan_check(Rule::flip()).run(1, 1).holds);
  CHECK_FALSE(periodic_scan_check(Rule::gibbs()).run(1, 1).holds);
}

// The rung after that of a state that was swept depends on more, as the second step shows.
TEST_CASE("the rungs of chains that are swept are not taken for a Markov chain") {
  CHECK_FALSE(rung_chain_check(StateMove::sweep).run(12, 1).holds);
}

TEST_CASE("states of the negative phase after another number of sweeps are refused") {
  CHECK_FALSE(negative_phase_check(1).run(12, 1).holds);
  CHECK_FALSE(negative_phase_check(3).run(12, 1).holds);
}

// What it says of the acceptance is right, so that draws just above and below alone can tell.
TEST_CASE("a tempered transition is refused that is accepted whatever it draws, or never") {
  for (const std::uint32_t accepting : {0U, 0xffffffffU}) {
    const Check check = transition_law_check(
        [accepting](const auto& packed, Chains& chains, const Draws& draws, const auto& options) {
          return tempered_transition(packed, chains, AcceptingDraws(draws, accepting), options);
        });
    INFO(accepting);
    CHECK_FALSE(check.run(2, 1).holds);
  }
}

TEST_CASE("weights of annealing that are wrong where one side is summed out are refused") {
  for (const int wrong : {0, 1}) {
    INFO(wrong);
    const Check upwards = ais_mean_check(
        [wrong](const auto& model, const auto& base, const auto& ladder, const auto& kernel) {
          AnnealingMoments moments = exact_ais_moments(model, base, ladder, kernel);
          if (kernel.summed == wrong) moments.log_mean += 1;
          return moments;
        });
    CHECK_FALSE(upwards.run(12, 1).holds);
    const Check downwards = raise_mean_check(
        [wrong](const auto& model, const auto& base, const auto& ladder, const auto& kernel) {
          Eigen::VectorXd means = exact_reverse_annealing(model, base, ladder, kernel);
          if (kernel.summed == wrong) means.array() += 1;
          return means;
        });
    CHECK_FALSE(downwards.run(12, 1).holds);
  }
}

TEST_CASE("an estimate that is wrong at one rung between the ends is refused") {
  const Check check = exact_occupancies_check([](const RungSums& sums, const auto&... logs) {
    Estimate estimate = rts(sums, logs...);
    estimate.log_z_rungs[estimate.log_z_rungs.size() / 2] += 1;
    return estimate;
  });
  CHECK_FALSE(check.run(1, 1).holds);
}

TEST_CASE("a lower bound with any part above log Z is refused, and one of all states below it") {
  const auto holds = [](double LowerBound::*changed, bool all_states) {
    const auto checks = lower_bound_checks([=](const Layered& model, const auto&, const auto&) {
      const double low = StateSpace(model).log_z() - (all_states ? 0 : 1);
      LowerBound bound{.log_z = low, .error_bound = 0, .listed = low, .mean_field = low};
      bound.all_states = all_states;
      if (changed != nullptr) bound.*changed += all_states ? -1 : 2;
      return bound;
    });
    return std::all_of(checks.begin(), checks.end(),
                       [](const Check& check) { return check.run(4, 1).holds; });
  };
  CHECK(holds(nullptr, false));
  CHECK_FALSE(holds(&LowerBound::log_z, false));
  CHECK_FALSE(holds(&LowerBound::listed, false));
  CHECK_FALSE(holds(&LowerBound::mean_field, false));
  CHECK(holds(nullptr, true));
  CHECK_FALSE(holds(&LowerBound::listed, true));
}

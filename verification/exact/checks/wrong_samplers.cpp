// Samplers, rules, weights and bounds that are wrong are refused by the checks that are about them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "boltzmark/estimate/estimators/bar.hpp"
#include "boltzmark/estimate/estimators/mbar.hpp"
#include "boltzmark/exact/likelihood/split_marginal.hpp"
#include "boltzmark/random/draws.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/check_tempered_cases.hpp"
#include "verification/checks/laws/adaptive_pairs.hpp"
#include "verification/checks/laws/decision_bound.hpp"
#include "verification/checks/subjects.hpp"
#include "verification/checks/verifier.hpp"

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

/// The draws of others, but for those that accept by a purpose, which are all the same.
class AcceptingDraws final : public Draws {
 public:
  AcceptingDraws(const Draws& others, Purpose purpose, std::uint32_t accepting)
      : others_(others), purpose_(purpose), accepting_(accepting) {}
  void fill(std::uint32_t* out, const DrawRange& range) const override {
    others_.fill(out, range);
    if (range.layer == static_cast<std::uint32_t>(purpose_))
      std::fill_n(out, std::size_t{range.units} * range.chains, accepting_);
  }

 private:
  const Draws& others_;
  Purpose purpose_;
  std::uint32_t accepting_;
};

/// The draws of others, each changed by a function of its unit and itself.
class ChangedDraws final : public Draws {
 public:
  using Change = std::function<std::uint32_t(std::uint32_t unit, std::uint32_t draw)>;
  ChangedDraws(const Draws& others, Change change) : others_(others), change_(std::move(change)) {}
  void fill(std::uint32_t* out, const DrawRange& range) const override {
    others_.fill(out, range);
    for (std::uint32_t u = range.first_unit; u < range.first_unit + range.units; ++u)
      for (std::uint32_t c = 0; c < range.chains; ++c, ++out) *out = change_(u, *out);
  }

 private:
  const Draws& others_;
  Change change_;
};

/// Shrinks the means that a half update has set by a thousandth.
void shrink_side(Chains& chains, int parity) {
  for (int l = parity == 0 ? 2 : 1; l < chains.layers(); l += 2)
    chains.set_layer(l, 0.999F * chains.get_layer(l));
}

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

// The ladder's swaps follow it, so that the law alone can tell: sqrt(draw) < p if draw < p^2.
TEST_CASE("a swap accepted with the square of its probability is refused, of either pair") {
  for (const std::uint32_t wrong : {0, 1}) {
    const Check check = parallel_tempering_check(
        Rule::gibbs(),
        [wrong](int pair, auto... of_pair) {
          const double p = swap_probability(of_pair...);
          return pair == static_cast<int>(wrong) ? p * p : p;
        },
        [wrong](LadderSwaps& swaps, const auto& log_ratios, const Draws& draws, auto step) {
          const ChangedDraws roots(draws, [wrong](std::uint32_t pair, std::uint32_t draw) {
            return pair == wrong ? static_cast<std::uint32_t>(std::sqrt(draw * 0x1p-32) * 0x1p32)
                                 : draw;
          });
          swaps.swap(log_ratios, roots, step);
        });
    INFO(wrong);
    const CheckOutcome outcome = check.run(40, 1);
    CHECK(std::isfinite(outcome.value));
    CHECK_FALSE(outcome.holds);
  }
}

// The probability is right, so that draws just above and below alone can tell.
TEST_CASE("a ladder is refused that swaps whatever it draws, or never") {
  for (const std::uint32_t accepting : {0U, 0xffffffffU}) {
    const Check check = parallel_tempering_check(
        Rule::gibbs(), [](int, auto... of_pair) { return swap_probability(of_pair...); },
        [accepting](LadderSwaps& swaps, const auto& log_ratios, const Draws& draws, auto step) {
          swaps.swap(log_ratios, AcceptingDraws(draws, Purpose::swap, accepting), step);
        });
    INFO(accepting);
    CHECK_FALSE(check.run(6, 1).holds);
  }
}

TEST_CASE("continuous units that are drawn a millionth too near the middle are refused") {
  const Check check =
      inverse_transform_check([](const auto& packed, Chains& chains, const auto&... rest) {
        half_sweep(packed, chains, rest...);
        chains.set_layer(1, 0.999999F * chains.get_layer(1));
      });
  CHECK_FALSE(check.run(1, 1).holds);
}

// The complement of a draw is as far from the mean on the other side.
TEST_CASE("Gaussian units that are drawn 1e-5 too far from their means are refused") {
  const Check check = inverse_normal_check([](const PackedModel& packed, Chains& chains,
                                              const Draws& draws, const auto&... rest) {
    Chains mirrored = chains;
    half_sweep(packed, chains, draws, rest...);
    const ChangedDraws complements(draws, [](std::uint32_t, std::uint32_t draw) { return ~draw; });
    half_sweep(packed, mirrored, complements, rest...);
    const Eigen::MatrixXf x = chains.get_layer(0), means = (x + mirrored.get_layer(0)) / 2;
    chains.set_layer(0, x + 1e-5F * (x - means));
  });
  CHECK_FALSE(check.run(12, 1).holds);
}

TEST_CASE("a half update of mean field is refused whose means are a thousandth too small") {
  CHECK_FALSE(updates_follow_law_check([](MeanField& field, Chains& chains, int parity) {
                field.update_side(chains, parity);
                shrink_side(chains, parity);
              })
                  .run(12, 1)
                  .holds);
}

// After nine of twelve halves the bound is near its highest. It falls by the square of a change, a
// hundredth at most: one that is let fall by more would not be told from one that is not looked at.
TEST_CASE("a bound of mean field that falls a little in one half update of twelve is refused") {
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    int half = 0;
    const Check check =
        bound_never_falls_check([&half](MeanField& field, Chains& chains, int parity) {
          field.update_side(chains, parity);
          if (++half == 10) shrink_side(chains, parity);
        });
    refused += check.run(1, seed).holds ? 0 : 1;
  }
  CHECK(refused > 0);
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

TEST_CASE("a law of another input is not in detailed balance, of bits and of discrete units") {
  for (const Check& check : balance_checks(wrong_where("other", [](Unit, double) { return true; })))
    CHECK_FALSE(check.run(20, 1).holds);
}

// A share of flip that comes and goes, by which the difference from Gibbs sampling grows, though
// never ninefold in a step; and Gibbs sampling, whose sweep has no zeros.
TEST_CASE(
    "a rule whose law draws nearer to Gibbs' and away again is refused, and one of no zeros") {
  const Rule swelling =
      Rule::of("swelling", [](Unit unit, double input, int now, std::span<double> next) {
        std::array<double, 2> flip{};
        next_law(Rule::flip(), unit, input, now, flip);
        next_law(Rule::gibbs(), unit, input, now, next);
        const double share = (2 + std::sin(6 * input)) / 3;
        for (std::size_t k = 0; k < flip.size(); ++k) next[k] += share * (flip[k] - next[k]);
      });
  CHECK(activation_check(Rule::flip()).run(4, 1).holds);
  CHECK_FALSE(activation_check(swelling).run(4, 1).holds);
  CHECK_FALSE(activation_check(Rule::gibbs()).run(4, 1).holds);
  CHECK_FALSE(whole_matrix_check(Rule::gibbs()).run(4, 1).holds);
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

TEST_CASE("every kind of states, rungs and rule has a check of its own name") {
  for (const States states : {States::joint, States::collapsed})
    for (const RungMove move : {RungMove::gibbs, RungMove::metropolis})
      for (const Rule& rule : ergodic_rules()) {
        if (states == States::collapsed && !(rule == Rule::gibbs())) continue;
        const std::string name =
            fmt::format("pair-invariance ({} states, {} rungs, {})",
                        states == States::joint ? "joint" : "collapsed",
                        move == RungMove::gibbs ? "gibbs" : "metropolis", rule.name());
        INFO(name);
        const std::vector<Check> checks = pair_invariance_checks([&](const TemperedChain& chain) {
          const TemperedOptions& options = chain.options();
          return chain.space().kind() == states && options.rung_move == move && options.rule == rule
                     ? 1.0
                     : 0.0;
        });
        int refused = 0;
        for (const Check& check : checks) {
          const bool holds = check.run(1, 1).holds;
          CHECK(holds == (check.name != name));
          refused += holds ? 0 : 1;
        }
        CHECK(refused == 1);
      }
}

TEST_CASE("occupancies that vary more than counts do at one rung alone are refused") {
  const Check check =
      rao_blackwell_check([](const TemperedChain& chain, Assignment assignment, int samples) {
        RungFrequencies found = independent_rung_frequencies(chain, assignment, samples);
        if (assignment == Assignment::soft)
          found.covariance(0, 0) =
              1.5 * independent_rung_frequencies(chain, Assignment::hard, samples).covariance(0, 0);
        return found;
      });
  CHECK_FALSE(check.run(4, 1).holds);
}

TEST_CASE("states of the negative phase after another number of sweeps are refused") {
  for (const int sweeps : {1, 3})
    CHECK_FALSE(negative_phase_check(sweeps, &FastWeights::negative_packed).run(12, 1).holds);
}

TEST_CASE("the phases of FPCD are refused with each other's parameters") {
  CHECK_FALSE(positive_phase_check(&FastWeights::negative_packed).run(12, 1).holds);
  CHECK_FALSE(negative_phase_check(2, &FastWeights::packed).run(12, 1).holds);
}

TEST_CASE("weights that move at the data are not FPCD's, and Gibbs sampling does not leave p") {
  CHECK_FALSE(
      still_at_the_data_check([](double, int) { return WeightRule::constant(1); }).run(4, 1).holds);
  CHECK_FALSE(leaves_p_check(WeightRule::frozen()).run(1, 1).holds);
}

TEST_CASE("p itself is not taken for a law that a wrong swap hands over") {
  const auto p = [](const AdaptivePairs& pairs) { return pairs.p; };
  for (const Check& check : handed_over_checks(p, p)) {
    INFO(check.subject);
    CHECK_FALSE(check.run(20, 1).holds);
  }
}

// What it says of the acceptance is right, so that draws just above and below alone can tell.
TEST_CASE("a tempered transition is refused that is accepted whatever it draws, or never") {
  for (const std::uint32_t accepting : {0U, 0xffffffffU}) {
    const Check check = transition_law_check(
        [accepting](const auto& packed, Chains& chains, const Draws& draws, const auto& options) {
          return tempered_transition(
              packed, chains, AcceptingDraws(draws, Purpose::transition, accepting), options);
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

TEST_CASE("a mean of log weights above log Z is refused") {
  const Check check = ais_jensen_check([](const auto&... all) {
    AnnealingMoments moments = exact_ais_moments(all...);
    moments.mean_log = moments.log_z + 1;
    return moments;
  });
  CHECK_FALSE(check.run(2, 1).holds);
}

TEST_CASE("resampling that copies the first chain whatever the weights is refused") {
  const Check check = smc_mean_check([](const auto&, double, std::span<int> offspring) {
    std::fill(offspring.begin(), offspring.end(), 0);
    offspring[0] = static_cast<int>(offspring.size());
  });
  CHECK_FALSE(check.run(30, 1).holds);
}

TEST_CASE("either sum of thermodynamic integration is refused where it is off, alone") {
  for (const Quadrature wrong : {Quadrature::left, Quadrature::right}) {
    const Check check = discretisation_check(
        [wrong](const RungSums& sums, const Ladder& ladder, Quadrature quadrature) {
          const double log_z =
              thermodynamic_integration(sums, ladder, {.quadrature = quadrature}).log_z;
          return quadrature == wrong ? log_z + 1 : log_z;
        });
    CHECK_FALSE(check.run(4, 1).holds);
  }
}

// Twice as far from log Z as without it, less what the correction leaves.
TEST_CASE("a correction by variances that goes the other way does not bring sums nearer") {
  const Check check = variance_correction_check(
      [](const RungSums& sums, const Ladder& ladder, Quadrature quadrature) {
        const auto log_z = [&](Quadrature rule) {
          return thermodynamic_integration(sums, ladder, {.quadrature = rule}).log_z;
        };
        if (quadrature != Quadrature::corrected) return log_z(quadrature);
        return 2 * log_z(Quadrature::trapezoid) - log_z(Quadrature::corrected);
      });
  CHECK_FALSE(check.run(20, 1).holds);
}

TEST_CASE("a bias of one sign is refused") {
  const auto positive = [](const OccupancyMoments& moments) { return std::abs(rts_bias(moments)); };
  CHECK_FALSE(bias_sign_check(positive).run(1, 1).holds);
}

TEST_CASE("estimates of BAR and MBAR a millionth off at one rung do not solve their equations") {
  const auto off = [](Estimate estimate) {
    estimate.log_z_rungs[1] += 1e-6;
    return estimate;
  };
  CHECK_FALSE(
      bridge_check([&](const SampleStore& store) { return off(bar(store)); }).run(2, 1).holds);
  CHECK_FALSE(expected_counts_check([&](const SampleStore& store) { return off(mbar(store)); })
                  .run(2, 1)
                  .holds);
}

TEST_CASE("wrong statistics of copies, gradients of spins and likelihoods of a case are refused") {
  CHECK_FALSE(tied_statistics_check([](const Layered& rbm, const State&) {
                return Eigen::MatrixXd(Eigen::MatrixXd::Zero(rbm.size(0), rbm.size(1)));
              })
                  .run(4, 1)
                  .holds);
  CHECK_FALSE(spins_are_bits_check([](const Layered& model, const Cases& cases) {
                Parameters gradient = exact_gradient(model, cases);
                if (model.layer(0).unit != Unit::bernoulli()) gradient.weights[0] *= 2;
                return gradient;
              })
                  .run(4, 1)
                  .holds);
  const auto checks = likelihood_checks([](const Layered& model, const Eigen::MatrixXd& inputs) {
    Eigen::VectorXd sums = SplitMarginal(model).log_sums(inputs);
    sums[17] += 1;
    return sums;
  });
  for (const Check& check : checks) {
    INFO(check.name);
    CHECK_FALSE(check.run(4, 1).holds);
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
  // Changed by so much of log Z, where it states an error of 1e-9.
  const auto holds = [](double LowerBound::*changed, double relative, bool all_states) {
    const auto checks = lower_bound_checks([=](const Layered& model, const auto&, const auto&) {
      const double log_z = StateSpace(model).log_z();
      LowerBound bound{.log_z = log_z, .error_bound = 1e-9, .listed = log_z, .mean_field = log_z};
      bound.all_states = all_states;
      if (changed != nullptr) bound.*changed += relative * std::max(1.0, std::abs(log_z));
      return bound;
    });
    return std::all_of(checks.begin(), checks.end(),
                       [](const Check& check) { return check.run(4, 1).holds; });
  };
  CHECK(holds(nullptr, 0, false));
  CHECK(holds(nullptr, 0, true));
  for (const auto part : {&LowerBound::log_z, &LowerBound::listed, &LowerBound::mean_field}) {
    CHECK_FALSE(holds(part, 1e-7, false));
    CHECK_FALSE(holds(part, 2, false));
    CHECK(holds(part, -1e-7, false));
    CHECK(holds(part, 1e-14, false));
  }
  CHECK_FALSE(holds(&LowerBound::listed, -1e-7, true));
  CHECK_FALSE(holds(&LowerBound::listed, -1, true));
}

// Certified lower bounds of log Z: by hand, of planted models, and what they refuse.
#include "boltzmark/exact/modes/lower_bound.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/closing.hpp"
#include "boltzmark/estimate/held/held.hpp"
#include "boltzmark/estimate/held/held_estimate.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/exact/modes/state_list.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "verification/checks/known/known_model.hpp"
#include "verification/checks/verifier.hpp"
#include "verification/exact/support/well_models.hpp"

using namespace boltzmark;
using namespace well_models;

namespace {

LowerBoundOptions bound_options(std::uint64_t seed) {
  LowerBoundOptions options;
  options.search.climbs.key = make_key(seed, "bound");
  return options;
}

// The modes alone are listed.
LowerBoundOptions modes_alone() {
  LowerBoundOptions options = bound_options(1);
  options.search.escape_states = 1;
  options.gibbs_sweeps = 0;
  options.most_states = 1;
  return options;
}

LowerBound bound_of(const Layered& model, const LowerBoundOptions& options) {
  return lower_bound(model, Base::uniform(model), options);
}

// Two free visible units and one hidden unit of odds 3: f(1) = 12, f(0) = 4.
Layered one_hidden() {
  return Layered::rbm(Eigen::MatrixXd::Zero(2, 1), Eigen::VectorXd::Zero(2),
                      Eigen::VectorXd::Constant(1, std::log(3.0)));
}

Layered free_units(Unit visible, Unit hidden) {
  std::vector<Layer> layers = {{visible, Eigen::VectorXd::Constant(3, 0.7), {}},
                               {hidden, Eigen::VectorXd::Constant(2, -1.3), {}}};
  return Layered(std::move(layers), {Eigen::MatrixXd::Zero(3, 2)});
}

}  // namespace

TEST_CASE("a bound is the sum over what it lists: one state, both, and a state that is given") {
  const LowerBound one = bound_of(one_hidden(), modes_alone());
  CHECK(one.listed == Approx(std::log(12.0)).epsilon(1e-14));
  CHECK(one.states == 1);
  CHECK(one.modes == 1);
  CHECK_FALSE(one.all_states);
  const LowerBound all = bound_of(one_hidden(), bound_options(1));
  CHECK(all.listed == Approx(std::log(16.0)).epsilon(1e-14));
  CHECK(all.states == 2);
  CHECK(all.all_states);
  LowerBoundOptions given = modes_alone();
  const std::vector<Chains> off(1, Chains(one_hidden(), 3));  // three times all off: one state
  given.visited = off;
  const LowerBound two = bound_of(one_hidden(), given);
  CHECK(two.listed == Approx(std::log(16.0)).epsilon(1e-14));
  CHECK(two.states == 2);
}

TEST_CASE("a bound tells how often a run met the states that the search listed without it") {
  // The hidden unit's states: on, the mode, which alone the search lists, 12 of 16; off, 4.
  std::vector<Chains> states(2, Chains(one_hidden(), 2));  // off, off; off, on
  states[1].set(1, 0, 1, 1);
  const std::vector<double> visits{2, 1, 0, 1};
  LowerBoundOptions options = modes_alone();
  options.visited = states;
  options.visits = visits;
  const LowerBound bound = bound_of(one_hidden(), options);
  CHECK(bound.searched == Approx(std::log(12.0)).epsilon(1e-12));
  CHECK(bound.met == 0.25);
  CHECK(bound.visits == Approx(16.0 / 6).epsilon(1e-12));
  CHECK(bound.listed == Approx(std::log(16.0)).epsilon(1e-14));
  CHECK(std::isnan(bound_of(one_hidden(), modes_alone()).met));
}

TEST_CASE(
    "searched states tell of a run what a bound does, and states found apart are among them") {
  std::vector<Chains> off(1, Chains(one_hidden(), 1));
  const std::vector<double> visits{0.5};
  LowerBoundOptions options = modes_alone();
  const Base base = Base::uniform(one_hidden());
  LowerBound told;
  SearchedStates(one_hidden(), base, options).count(off, visits, told);
  CHECK(told.searched == Approx(std::log(12.0)).epsilon(1e-12));
  CHECK(told.met == 0);
  CHECK(told.visits == 1);
  options.found = off;
  SearchedStates(one_hidden(), base, options).count(off, visits, told);
  CHECK(told.searched == Approx(std::log(16.0)).epsilon(1e-12));
  CHECK(told.met == 1);
  CHECK(bound_of(one_hidden(), options).searched == told.searched);
  LowerBound none;
  const Layered no_list = free_units(Unit::continuous(), Unit::continuous());
  SearchedStates(no_list, Base::uniform(no_list), bound_options(1)).count({}, {}, none);
  CHECK(std::isnan(none.searched));
}

TEST_CASE("methods tell the states of their own runs at b = 1, and keep those of the shared one") {
  const Layered model = golf_hole(12, 6, 1).model;
  const LayeredTarget target(model, Base::uniform(model));
  MethodRuns runs(target, {.chains = 20, .sweeps = 200, .key = make_key(5)});
  const auto told = [&](const char* method) {
    runs.estimate(method);
    return visited_states(runs.top_states()).visits;
  };
  const auto sum = [](const std::vector<double>& x) {
    return std::accumulate(x.begin(), x.end(), 0.0);
  };
  const std::vector<double> shared = told("rts"), annealed = told("ais");
  CHECK(*std::max_element(annealed.begin(), annealed.end()) == 1);
  CHECK(sum(annealed) < 20);
  CHECK(sum(told("raise")) >= 1);
  CHECK(sum(told("smc")) >= 1);
  CHECK(sum(told("ss")) == 32);  // a ladder of 100 chains makes 40 sweeps, of which it keeps 32
  CHECK(told("ti") == shared);
  const TemperedRun alone =
      run_tempering(target, {.chains = 20, .sweeps = 200, .key = make_key(5)});
  CHECK(sum(shared) == (alone.store.rung.array() == alone.store.rungs() - 1).count());
}

TEST_CASE("a short tempered search finds wells that the modes known do not lead to") {
  for (const char* family : {"well:60:20:0.5:7", "well:60:22:0.5:2", "well:100:20:1:3"}) {
    const KnownModel well = make_known_model(family);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const ModeSearch search = mode_search(well.model, seed);
      const LayeredTarget target(well.model, Base::uniform(well.model));
      const Modes flat{.states = Chains(well.model, 1), .log_f = {0}, .basins = {1}, .climbs = 1};
      INFO(family << " " << seed);
      const auto bound = [&](std::vector<Chains> states) {
        return find_lower_bound(target, search, {}, {.modes = flat, .states = std::move(states)});
      };
      CHECK(bound({}).searched < well.known.log_z - 0.2);
      const LowerBound found = bound(tempered_search(well.model, seed).states);
      CHECK(found.searched > well.known.log_z - 0.7);
      CHECK(found.lowest() <= well.known.log_z);
    }
  }
}

TEST_CASE("runs that do not temper collapsed states are held to a tempered search, and no others") {
  const KnownModel well = make_known_model("well:60:20:0.5:7");
  const ModeSearch search = mode_search(well.model, 1);
  const LayeredTarget target(well.model, Base::uniform(well.model));
  const ChosenBase chosen{
      .base = Base::uniform(well.model),
      .modes = Modes{.states = Chains(well.model, 1), .log_f = {0}, .basins = {1}, .climbs = 1}};
  const FoundStates searched = find_before(target, search, 1, chosen, true);
  CHECK_FALSE(searched.states.empty());
  CHECK(find_lower_bound(target, search, {}, searched).searched > well.known.log_z - 0.7);
  CHECK(find_before(target, search, 1, chosen, false).states.empty());
  const auto has_states = [&](const char* method, bool of_modes) {
    ChosenBase of = chosen;
    of.phases = searched.phases;
    of.of_modes = of_modes;
    return !find_before(target, search, 1, of, find_method(method), {}).states.empty();
  };
  CHECK(has_states("ais", false));
  CHECK(has_states("rts", true));
  CHECK_FALSE(has_states("rts", false));

  const auto tempers = [](const char* method, Tempering tempering, States states) {
    return tempers_collapsed(find_method(method), {.states = states, .tempering = tempering});
  };
  CHECK(tempers("rts", Tempering::simulated, States::collapsed));
  CHECK(tempers("bar", Tempering::simulated, States::collapsed));
  CHECK_FALSE(tempers("rts", Tempering::simulated, States::joint));
  CHECK_FALSE(tempers("rts", Tempering::parallel, States::collapsed));
  for (const char* method : {"ais", "smc", "raise", "ss"})
    CHECK_FALSE(tempers(method, Tempering::simulated, States::collapsed));
}

TEST_CASE(
    "an estimate is refused whose run was too seldom in listed states, or too often, for its Z") {
  // Of 100 visits none: the upper limit of level 1 - 1e-4 is 1 - 1e-4^(1/100).
  const double limit = 1 - std::pow(1e-4, 1.0 / 100);
  const auto refused = [](double met, double demanded, double std_error) {
    LowerBound bound;
    bound.log_z = 0;
    bound.error_bound = 0;
    bound.searched = std::log(demanded);
    bound.met = met;
    bound.visits = 100;
    Estimate estimate{.log_z = 0, .std_error = std_error, .lower = -1, .upper = 1};
    hold_to_visits(bound, estimate);
    CHECK((estimate.status == Status::ok || estimate.status == Status::not_converged));
    return estimate.status != Status::ok;
  };
  CHECK_FALSE(refused(0, 0.99 * limit, 0));
  CHECK(refused(0, 1.01 * limit, 0));
  CHECK_FALSE(refused(0, 1.01 * limit, 0.01));  // four errors higher
  CHECK_FALSE(refused(0.5, 0.6, 0));
  CHECK(refused(0.5, 0.75, 0));
  CHECK_FALSE(refused(1, 1.5, 0));
  CHECK_FALSE(refused(std::nan(""), 0.9, 0));
  // Of 100 visits all: the lower limit is 1e-4^(1/100).
  CHECK_FALSE(refused(1, 1 - 0.99 * limit, 0));
  CHECK(refused(1, 1 - 1.01 * limit, 0));
  CHECK_FALSE(refused(1, 1 - 1.01 * limit, 0.01));  // four errors lower
  CHECK_FALSE(refused(0.5, 0.4, 0));
  CHECK(refused(0.5, 0.25, 0));
}

TEST_CASE("mean field's bound is log Z of independent units of any type, discrete or not") {
  for (const Unit visible : {Unit::bernoulli(), Unit::multivalued(3), Unit::continuous()})
    for (const Unit hidden : {Unit::bernoulli(), Unit::multivalued(1), Unit::continuous()}) {
      const Layered model = free_units(visible, hidden);
      const double log_z = 3 * log_partition(visible, 0.7) + 2 * log_partition(hidden, -1.3);
      const LowerBound bound = bound_of(model, modes_alone());
      CAPTURE(visible.name(), hidden.name());
      CHECK(bound.mean_field == Approx(log_z).epsilon(1e-13));
      CHECK(bound.log_z - bound.error_bound <= log_z);
      CHECK(bound.error_bound < 1e-12);
      CHECK(std::isnan(bound.listed) == !(visible.is_discrete() || hidden.is_discrete()));
    }
}

TEST_CASE("the bound of 2,000 random models of every discrete unit is never above log Z") {
  int checks = 0;
  for (const Check& check : registered_checks()) {
    if (check.subject != "lower_bound") continue;
    const CheckOutcome outcome = check.run(1000, 4);
    CAPTURE(check.name, outcome.value, outcome.detail);
    CHECK(outcome.holds);
    ++checks;
  }
  CHECK(checks == 2);
}

TEST_CASE("a list's bound holds the roundings of its additions") {
  // 14 free hidden units, 14 visible ones of bias b: 2^14 states of equal weight.
  for (int n = 1; n <= 24; ++n) {
    const double b = 0.05 * n;
    const Layered model = Layered::rbm(Eigen::MatrixXd::Zero(14, 14),
                                       Eigen::VectorXd::Constant(14, b), Eigen::VectorXd::Zero(14));
    const Bipartite sides = list_side(model, 1);
    StateList list(sides);
    list.add(weigh(sides, std::u16string(14, u'\0')));
    list.grow(1 << 14);
    REQUIRE(list.states() == 1 << 14);
    const auto truth =
        static_cast<double>(14 * std::log(2.0L) + 14 * std::log1p(std::exp(1.0L * b)));
    INFO(b);
    CHECK(std::abs(list.log_sum() - truth) <= list.error_bound() + 4e-15);
  }
}

TEST_CASE("a list that is full with the last state of all has all states") {
  // 14 independent hidden units: of so few the list ends at once when it has all 2^14 states.
  const Layered model = Layered::rbm(Eigen::MatrixXd::Zero(15, 14), Eigen::VectorXd::Zero(15),
                                     Eigen::VectorXd::Constant(14, 0.1));
  const double log_z = 15 * std::log(2.0) + 14 * std::log1p(std::exp(0.1));
  LowerBoundOptions options = bound_options(1);
  const LowerBound all = bound_of(model, options);
  CHECK(all.states == 1 << 14);
  CHECK(all.all_states);
  CHECK(all.listed == Approx(log_z).epsilon(1e-12));
  options.most_states = 1 << 13;
  const LowerBound half = bound_of(model, options);
  CHECK(half.states < 1 << 14);
  CHECK_FALSE(half.all_states);
  for (const auto& [bound, status] : {std::pair(all, Status::not_converged), {half, Status::ok}}) {
    Estimate above{.log_z = log_z + 1, .std_error = 0, .lower = log_z + 1, .upper = log_z + 1};
    hold_to_bound(bound, above);
    CHECK(above.status == status);
  }
}

TEST_CASE("a list that ends early gives less than log Z, and more states never give less") {
  const Layered model = ising_lattice(6, 0.3);
  const double log_z = exact_log_z(model).log_z;
  double before = -std::numeric_limits<double>::infinity();
  for (const int most : {1, 100, 10000}) {
    LowerBoundOptions options = bound_options(2);
    options.most_states = most;
    const LowerBound bound = bound_of(model, options);
    CHECK(bound.listed >= before);
    CHECK(bound.listed < log_z - 0.01);
    before = bound.listed;
  }
}

TEST_CASE("an estimate that misses a golf hole is ok by itself, and below the bound") {
  const Planted planted = golf_hole(100, 10);
  CHECK(exact_log_z(planted.model).log_z == Approx(planted.log_z).epsilon(1e-12));
  const Base base = Base::uniform(planted.model);
  const LayeredTarget target(planted.model, base);
  const LowerBound bound = bound_of(planted.model, bound_options(3));
  CHECK(bound.all_states);
  CHECK(bound.log_z == Approx(planted.log_z).epsilon(1e-12));
  const double lowest = bound.log_z - bound.error_bound;
  for (const char* method : {"rts", "ais", "smc", "mbar", "ti", "bar"}) {
    Estimate estimate = estimate_log_z(
        method, target, {.sweeps = 1000, .ladder = Ladder::linear(20), .key = make_key(1)});
    CAPTURE(method, estimate.log_z, estimate.std_error, planted.log_z);
    CHECK(estimate.status == Status::ok);
    CHECK(estimate.log_z < planted.log_z - 10);
    refuse_below(estimate, lowest);
    CHECK(estimate.status == Status::below_bound);
    CHECK(estimate.warnings.size() == 1);
  }
}

TEST_CASE("a model is refused whose inputs single precision does not resolve") {
  const auto bound_with = [&](double bias, double weight) {
    Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(3, 2);
    weights(0, 0) = weight;
    return bound_of(Layered::rbm(weights, Eigen::Vector3d::Zero(), Eigen::Vector2d(bias, 0)),
                    modes_alone());
  };
  // One rounding of 24 binary digits.
  CHECK(bound_with(3e7, 0.3).input_rounding == Approx(std::ldexp(3e7 + 0.3, -24)).epsilon(1e-9));
  CHECK(bound_with(-1e6, 1.03).input_rounding == Approx(std::ldexp(1e6 + 1.03, -24)).epsilon(1e-9));
  // Of 1,801 terms more than one, in states that are met: a unit that 800 weights turn on, 1,000 off.
  Eigen::MatrixXd many(1800, 1);
  many << Eigen::VectorXd::Constant(800, 1000.02), Eigen::VectorXd::Constant(1000, -800.1);
  const LowerBound summed =
      bound_of(Layered::rbm(many, Eigen::VectorXd::Constant(1800, 5), Eigen::VectorXd::Zero(1)),
               modes_alone());
  CHECK(summed.input_rounding > 1.05 * std::ldexp(many.cwiseAbs().sum(), -24));
  const auto status = [](const LowerBound& bound) {
    Estimate estimate{
        .log_z = bound.log_z, .std_error = 1, .lower = bound.log_z, .upper = bound.log_z};
    hold_to_resolution(bound, estimate);
    hold_to_bound(bound, estimate);
    return estimate.status;
  };
  CHECK(status(bound_with(-1e6, 1.03)) == Status::ok);
  CHECK(status(bound_with(1 << 20, 1)) == Status::ok);
  CHECK(status(bound_with(3e7, 0.3)) == Status::not_converged);
  CHECK_FALSE(is_resolved(bound_with(3e7, 0.3)));
  // Neither side's states can be listed.
  const auto of_lines = [&](double bias) {
    const Unit line = Unit::continuous();
    return bound_of(
        Layered({{line, Eigen::Vector2d::Zero(), {}}, {line, Eigen::Vector2d(bias, 0), {}}},
                {Eigen::MatrixXd::Constant(2, 2, 0.3)}),
        modes_alone());
  };
  CHECK_FALSE(is_resolved(of_lines(3e7)));
  CHECK(is_resolved(of_lines(1)));
  CHECK(is_resolved(bound_with(1 << 20, 1)));
  CHECK_FALSE(is_resolved({}));
}

TEST_CASE("what single precision changes of log f is in the error, the limits and the status") {
  // Pairs of units that 100000.1211 joins are all on: a float is 0.0039 more, of n pairs n times as much.
  const auto bound_of_pairs = [](int pairs) {
    return bound_of(Layered::rbm(100000.1211 * Eigen::MatrixXd::Identity(pairs, pairs),
                                 Eigen::VectorXd::Zero(pairs), Eigen::VectorXd::Zero(pairs)),
                    bound_options(1));
  };
  const double one = static_cast<double>(100000.1211F) - 100000.1211;
  const LowerBound twenty = bound_of_pairs(20);
  CHECK(twenty.log_f_rounding == Approx(20 * one).epsilon(1e-6));
  const auto held = [](const LowerBound& bound, double error) {
    Estimate estimate{.log_z = bound.log_z,
                      .std_error = error,
                      .lower = bound.log_z - 2 * error,
                      .upper = bound.log_z + 2 * error};
    hold_to_resolution(bound, estimate);
    hold_to_bound(bound, estimate);
    return estimate;
  };
  const Estimate told = held(twenty, 0.0176);
  CHECK(told.status == Status::ok);
  CHECK(told.std_error == Approx(std::hypot(0.0176, 20 * one)).epsilon(1e-6));
  CHECK(told.upper == Approx(twenty.log_z + 2 * 0.0176 + 20 * one).epsilon(1e-12));
  CHECK(told.lower == Approx(twenty.log_z - 2 * 0.0176 - 20 * one).epsilon(1e-12));
  CHECK(told.warnings.size() == 1);
  CHECK(held(twenty, 1).std_error == 1);  // less than a tenth of it
  const LowerBound thirty = bound_of_pairs(30);
  CHECK_FALSE(is_resolved(thirty));
  CHECK(held(thirty, 0.02).status == Status::not_converged);
  CHECK_THAT(held(thirty, 0.02).warnings.at(0), Catch::Contains("round log f by 0.12 nats"));
  // Biases of even layers count, too, and what cancels does.
  const auto of_bias = [&](double below, double above) {
    return bound_of(Layered::rbm(Eigen::MatrixXd::Zero(1, 1), Eigen::VectorXd::Constant(1, below),
                                 Eigen::VectorXd::Constant(1, above)),
                    bound_options(1))
        .log_f_rounding;
  };
  CHECK(of_bias(100000.1211, 0) == Approx(one).epsilon(1e-6));
  CHECK(of_bias(0, 100000.1211) == Approx(one).epsilon(1e-6));
  CHECK(of_bias(1, 1) == 0);
}

TEST_CASE("the bound is the same for any number of threads, and none where nats are not resolved") {
  const Layered model = hidden_well(40, 20).model;
  const auto bound = [&](int threads) {
    const ThreadLimit limit(threads);
    return bound_of(model, bound_options(4));
  };
  const LowerBound one = bound(1), two = bound(2);
  CHECK(one.log_z == two.log_z);
  CHECK(one.listed == two.listed);
  CHECK(one.mean_field == two.mean_field);
  CHECK(one.states == two.states);
  const Layered huge = Layered::rbm(Eigen::MatrixXd::Constant(3, 2, 1e20), Eigen::VectorXd::Zero(3),
                                    Eigen::VectorXd::Zero(2));
  CHECK(std::isnan(bound_of(huge, bound_options(4)).log_z));
}

TEST_CASE("of two bounds the one that is certainly higher is kept") {
  const LowerBound sharp{.log_z = 5, .error_bound = 1e-9}, blurred{.log_z = 5.5, .error_bound = 1};
  CHECK(higher(sharp, blurred).log_z == 5);
  CHECK(higher(blurred, sharp).log_z == 5);
  const LowerBound none;
  CHECK(higher(none, sharp).log_z == 5);
  CHECK(higher(sharp, none).log_z == 5);
  CHECK(std::isnan(higher(none, none).log_z));
  // Visits are of the run that is held to them.
  LowerBound run = blurred, earlier = sharp;
  run.searched = 4, run.met = 0.5, run.visits = 30;
  earlier.searched = 3, earlier.met = 0, earlier.visits = 7;
  for (const LowerBound& bound : {higher(run, earlier), higher(run, blurred)}) {
    CHECK(bound.searched == 4);
    CHECK(bound.met == 0.5);
    CHECK(bound.visits == 30);
  }
}

// Parts of the states, the mass that annealing finds in them, and what an estimate is refused by.
#include "boltzmark/estimate/places/phases.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "boltzmark/estimate/held/held.hpp"
#include "boltzmark/estimate/held/held_estimate.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/random/stream.hpp"
#include "verification/checks/known/known_model.hpp"
#include "verification/exact/support/two_phases.hpp"

using namespace boltzmark;
using phases_test::flat;
using phases_test::two_phases;

namespace {

// 100 chains, so many of them at (1, 1).
VisitedStates visits(int up) {
  Chains chains(flat(2), 100);
  Eigen::MatrixXf states = Eigen::MatrixXf::Zero(2, 100);
  states.leftCols(up).setOnes();
  chains.set_layer(0, states);
  return {.states = {std::move(chains)}, .visits = std::vector<double>(100, 1)};
}

Status held(const Phases& phases, const VisitedStates& visited, double log_z, double std_error) {
  Estimate estimate{.log_z = log_z, .std_error = std_error, .lower = log_z, .upper = log_z};
  hold_to_phases(meet_phases(phases, visited), estimate);
  return estimate.status;
}

}  // namespace

TEST_CASE("states belong to the part whose centre is nearest, and masses add up") {
  Phases phases = two_phases(std::log(3.0), 0, 0.1);
  Chains chains(flat(2), 3);
  Eigen::MatrixXf states(2, 3);
  states << 0, 1, 0,  //
      0, 1, 1;        // as near to either: the first
  chains.set_layer(0, states);
  CHECK(phases.parts_of(chains) == std::vector<int>{0, 1, 0});
  CHECK(phases.log_z() == Approx(std::log(4.0)).epsilon(1e-14));
  CHECK(phases.std_error() == Approx(std::hypot(0.075, 0.025)).epsilon(1e-14));
  phases.log_masses[1] = -std::numeric_limits<double>::infinity();
  CHECK(phases.log_z() == Approx(std::log(3.0)).epsilon(1e-14));
}

TEST_CASE("a part's share is told with the errors of all masses against it or for it") {
  const Phases phases = two_phases(std::log(3.0), 0, 0.1);
  CHECK(phases.share(0, 0) == Approx(0.75).epsilon(1e-12));
  CHECK(phases.share(0, 2) == Approx(3.6 / 4.4).epsilon(1e-12));
  CHECK(phases.share(0, -2) == Approx(2.4 / 3.6).epsilon(1e-12));
  CHECK(phases.share(1, 2) == Approx(1.2 / 3.6).epsilon(1e-12));
  CHECK(two_phases(0, 0, 0.75).share(0, 2) == 1);  // the other one may be none
  CHECK(two_phases(0, 0, 0.75).share(0, -2) == 0);
  const Phases none = two_phases(0, -std::numeric_limits<double>::infinity());
  CHECK(none.share(0, -2) == 1);
  CHECK(none.share(1, 2) < 1e-300);
}

TEST_CASE("what surely is in a part is no less than its mass taken lower, and counts in shares") {
  Phases phases = two_phases(std::log(3.0), 0, 0.75);  // two errors lower both are none
  CHECK(phases.lowest(1, 0).isApprox(Eigen::Array2d(0.75, 0.25), 1e-14));
  CHECK(phases.lowest(2, 0).isZero(0));
  phases.log_least = Eigen::Vector2d(std::log(1.5), -std::numeric_limits<double>::infinity());
  CHECK(phases.lowest(2, 0).isApprox(Eigen::Array2d(1.5, 0), 1e-14));
  CHECK(phases.lowest(2, 700)[0] == Approx(1.5 * std::exp(-700)).epsilon(1e-12));
  CHECK(phases.lowest(0, 0).isApprox(Eigen::Array2d(3, 1), 1e-14));
  CHECK(phases.share(0, -2) == Approx(1.5 / 4).epsilon(1e-12));
  CHECK(phases.share(1, 2) == Approx(2.5 / 4).epsilon(1e-12));
  CHECK(phases.share(0, 2) == 1);
}

TEST_CASE("visits are counted in parts by their weights, over all groups of chains") {
  Chains three(flat(2), 3), two(flat(2), 2);
  Eigen::MatrixXf states = Eigen::MatrixXf::Zero(2, 3);
  states.col(2).setOnes();
  three.set_layer(0, states);
  two.set_layer(0, Eigen::MatrixXf::Ones(2, 2));
  const Phases phases = two_phases(-1, -2, 0.5);
  const MetPhases met = meet_phases(phases, {.states = {three, two}, .visits = {1, 2, 3, 4, 5}});
  CHECK(met.log_masses == phases.log_masses);
  CHECK(met.errors == phases.errors);
  CHECK(met.shares[0] == Approx(3.0 / 15).epsilon(1e-14));
  CHECK(met.shares[1] == Approx(12.0 / 15).epsilon(1e-14));
  CHECK(met.visits == Approx(15.0 * 15 / (1 + 4 + 9 + 16 + 25)).epsilon(1e-14));
  const MetPhases alike = meet_phases(phases, {.states = {three, two}});
  CHECK(alike.shares[1] == Approx(3.0 / 5).epsilon(1e-14));
  CHECK(alike.visits == Approx(5).epsilon(1e-14));
}

TEST_CASE("an estimate is refused that is lower than what annealing from modes finds") {
  const VisitedStates even = visits(50);
  const Phases phases =
      two_phases(std::log(0.5), std::log(0.5), 0.03 * std::sqrt(2.0));  // 0 +- 0.03
  CHECK(phases.std_error() == Approx(0.03));
  CHECK(held(phases, even, -0.26, 0) == Status::not_converged);
  CHECK(held(phases, even, -0.24, 0) == Status::ok);                // a quarter of a nat
  CHECK(held(phases, even, -0.26, 0.04) == Status::not_converged);  // five times 0.05 is 0.25
  CHECK(held(phases, even, -0.26, 0.05) == Status::ok);
  CHECK(held(phases, even, 5, 0) == Status::ok);  // the masses are only found in the mean
}

TEST_CASE("an estimate is refused whose run was too seldom in a part that must hold its mass") {
  // Of 100 visits none: the upper limit of level 1 - 1e-4 is 1 - 1e-4^(1/100).
  const double limit = 1 - std::pow(1e-4, 1.0 / 100);
  const auto demanding = [](double share, double error = 0) {
    return two_phases(std::log(1 - share), std::log(share), error);
  };
  CHECK(held(demanding(1.01 * limit), visits(0), 0, 0) == Status::not_converged);
  CHECK(held(demanding(0.99 * limit), visits(0), 0, 0) == Status::ok);
  CHECK(held(demanding(1.01 * limit, 0.01), visits(0), 0, 0) == Status::ok);  // four errors lower
  CHECK(held(demanding(1.01 * limit), visits(0), 0, 0.01) == Status::ok);
  CHECK(held(demanding(1.01 * limit), visits(1), 0, 0) == Status::ok);
  // The other way round, and of visits that are no states.
  CHECK(held(demanding(1 - 1.01 * limit), visits(100), 0, 0) == Status::not_converged);
  VisitedStates none = visits(0);
  none.visits.assign(100, 0);
  CHECK(held(demanding(0.9), none, 0, 0) == Status::ok);
}

TEST_CASE(
    "what a run hardly met of the masses near modes is an error of its estimate, or refused") {
  const auto judged = [](double share, int up, double std_error = 0.03) {
    Estimate estimate{.log_z = 2, .std_error = std_error, .lower = 1.9, .upper = 2.1};
    hold_to_phases(
        meet_phases(two_phases(2 + std::log(1 - share), 2 + std::log(share)), visits(up)),
        estimate);
    return estimate;
  };
  // 6 % of Z, of 100 visits none: log 1.06.
  const Estimate missed = judged(0.06, 0);
  CHECK(missed.status == Status::ok);
  CHECK(missed.std_error == Approx(std::hypot(0.03, std::log(1.06))).epsilon(1e-12));
  CHECK(missed.upper == Approx(2.1 + 1.96 * std::log(1.06)).epsilon(1e-12));
  CHECK(missed.lower == 1.9);
  CHECK(missed.log_z == 2);
  CHECK(missed.warnings.size() == 1);
  // Two visits are a third of what is demanded, three are half: enough.
  CHECK(judged(0.06, 2).std_error == Approx(std::hypot(0.03, std::log(1.04))).epsilon(1e-12));
  CHECK(judged(0.06, 3).std_error == 0.03);
  CHECK(judged(0.06, 3).upper == 2.1);
  CHECK(judged(0.02, 0, 0.05).warnings.empty());  // less than what the samples tell
  // One in 100 that none of 100 visits met is as good as chance.
  CHECK(judged(0.01, 0, 0.001).std_error == 0.001);
  CHECK(judged(0.02, 0, 0.001).std_error > 0.019);
  // Masses of which little is known add nothing: two errors lower, none.
  Estimate unsure{.log_z = 2, .std_error = 0.03, .lower = 1.9, .upper = 2.1};
  hold_to_phases(meet_phases(two_phases(2 + std::log(0.94), 2 + std::log(0.06), 0.5), visits(0)),
                 unsure);
  CHECK(unsure.std_error == 0.03);
  // A quarter that may be there, though it is not sure.
  CHECK(held(two_phases(2 + std::log(0.76), 2 + std::log(0.24), 0.35), visits(0), 2, 0.2) ==
        Status::ok);
  CHECK(held(two_phases(2 + std::log(0.74), 2 + std::log(0.26), 0.35), visits(0), 2, 0.2) ==
        Status::not_converged);
  // Parts of 5 % each, of which no single one is refused: none in 100 visits has a limit of 4.5 %.
  Phases many = two_phases(0, 0);
  many.centres = Eigen::MatrixXd::Zero(3, 5);
  many.centres.bottomRows(2).rightCols(4).setConstant(50);  // where no state is
  const auto parts_of = [&](double each, double error = 0) {
    many.log_masses = Eigen::VectorXd::Constant(5, 2 + std::log(each));
    many.log_masses[0] = 2 + std::log(1 - 4 * each);
    many.errors = Eigen::VectorXd::Constant(5, error);
    return many;
  };
  CHECK(held(parts_of(0.05), visits(0), 2, 0.01) == Status::not_converged);
  // They may be 4.4 % each, and none of one may be chance: none of all is not.
  CHECK(held(parts_of(0.05, 0.06), visits(0), 2, 0.01) == Status::not_converged);
  CHECK(held(parts_of(0.04), visits(0), 2, 0.01) == Status::not_converged);
  CHECK(held(parts_of(0.02), visits(0), 2, 0.01) == Status::ok);  // a tenth is not there surely
}

TEST_CASE(
    "a mass that is known to a factor counts as what is there surely, and groups as phases do") {
  const auto judged = [](double share, double error, double least) {
    Phases phases = two_phases(2 + std::log(1 - share), 2 + std::log(share), error);
    phases.log_least = Eigen::Vector2d(2, 2 + std::log(least));
    Estimate estimate{.log_z = 2, .std_error = 0.03, .lower = 1.9, .upper = 2.1};
    hold_to_phases(meet_phases(phases, visits(0)), estimate);
    return estimate;
  };
  // Of 100 visits none: 1.6 % are demanded for a chance of 20 %.
  CHECK(judged(0.4, 0.7, 0.02).status == Status::not_converged);
  CHECK(judged(0.4, 0.7, 0.015).status == Status::ok);
  CHECK(judged(0.2, 0.7, 0.02).status == Status::ok);
  CHECK(judged(0.2, 0.7, 0.02).std_error == Approx(std::hypot(0.03, std::log(1.2))).epsilon(1e-12));
  CHECK(judged(0.2, 0.7, 0.15).status == Status::not_converged);  // a tenth is there surely
  // By hand: two of four draws are in a part with log weights 1 and 3; three with 1, 2 and 3.
  const double none = -std::numeric_limits<double>::infinity();
  CHECK(least_log_mass(Eigen::Vector4d(1, none, 3, none)) == none);
  CHECK(least_log_mass(Eigen::Vector4d(1, none, 3, 2)) ==
        Approx(2 - 2 / std::sqrt(3.0) + std::log(0.19412)).epsilon(1e-5));
  CHECK(least_log_mass(Eigen::Vector3d(5, 5, 5)) == Approx(5 + std::log(0.025) / 3).epsilon(1e-12));
  // What is small alike, of another partition: the greater of both counts, not their sum.
  MetPhases both = meet_phases(two_phases(2 + std::log(0.94), 2 + std::log(0.06)), visits(0));
  const auto with = [&](double share, double met) {
    both.small = {{Eigen::VectorXd::Constant(1, 2 + std::log(share)), Eigen::VectorXd::Zero(1)},
                  Eigen::VectorXd::Constant(1, met),
                  100};
    Estimate estimate{.log_z = 2, .std_error = 0.03, .lower = 1.9, .upper = 2.1};
    hold_to_phases(both, estimate);
    return estimate;
  };
  CHECK(with(0.05, 0).std_error == Approx(std::hypot(0.03, std::log(1.06))).epsilon(1e-12));
  CHECK(with(0.08, 0).std_error == Approx(std::hypot(0.03, std::log(1.08))).epsilon(1e-12));
  CHECK(with(0.08, 0.08).std_error == Approx(std::hypot(0.03, std::log(1.06))).epsilon(1e-12));
  CHECK(with(0.12, 0).status == Status::not_converged);
  CHECK(with(0.3, 0.02).status == Status::not_converged);
  CHECK(with(3, 1).status == Status::not_converged);  // more than the estimate
}

TEST_CASE("masses that a few draws hold are held together where the run met none of them") {
  // The run met all of the first part and nothing of seven others, each of a relative error of 1: as two errors are
  // more than any of them, none counts by itself. Together a fifth counts.
  const auto held_with = [](double mass, double visits, double share = 0, int others = 7) {
    MetPhases met;
    met.log_masses = Eigen::VectorXd::Constant(1 + others, std::log(mass / others));
    met.log_masses[0] = 0;
    met.errors = Eigen::VectorXd::Constant(1 + others, 1);
    met.errors[0] = 0.01;
    met.shares = Eigen::VectorXd::Constant(1 + others, share / others);
    met.shares[0] = 1 - share;
    met.visits = visits;
    Estimate estimate{.log_z = 0, .std_error = 0.03, .lower = -0.06, .upper = 0.06};
    hold_to_phases(met, estimate);
    return estimate;
  };
  CHECK(held_with(1.26, 100).status == Status::not_converged);  // 0.252, more than a quarter
  const Estimate less = held_with(1.24, 100);
  CHECK(less.status == Status::ok);
  CHECK(less.std_error == Approx(std::hypot(0.03, std::log(1 + 1.24 / 5))).epsilon(1e-12));
  const Estimate more = held_with(5.4, 100, 0, 3);  // no share is more than all
  CHECK(more.std_error == Approx(std::hypot(0.03, std::log(2))).epsilon(1e-12));
  CHECK(held_with(1.26, 4).std_error == 0.03);  // chance meets none of a quarter in four visits
  CHECK(held_with(1.24, 100, 0.12).std_error ==
        Approx(std::hypot(0.03, std::log(1 + 1.24 / 5 - 0.12))).epsilon(1e-12));
  CHECK(held_with(1.24, 100, 0.13).std_error == 0.03);  // half of what is demanded was met
  CHECK(held_with(1.24, 100, 0.7).std_error == 0.03);
  // What the run met is no part of it: half of Z, by itself a fifth more than its share, pays for none of the others.
  for (const double share : {0.19, 0.21, 0.24}) {
    MetPhases met;
    met.log_masses = Eigen::VectorXd::Constant(9, std::log(1.24 / 7));
    met.log_masses.head(2) = Eigen::Vector2d(0.5, 0.5).array().log();
    met.errors = Eigen::VectorXd::Constant(9, 1);
    met.errors.head(2).setConstant(0.1);
    met.shares = Eigen::VectorXd::Zero(9);
    met.shares.head(2) = Eigen::Vector2d(1 - share, share);
    met.visits = 100;
    Estimate estimate{.log_z = 0, .std_error = 0.03, .lower = -0.06, .upper = 0.06};
    hold_to_phases(met, estimate);
    INFO(share);
    CHECK(estimate.std_error > 0.2);
  }
  // Known to 2 %, seven of 1.6 % each: each may be chance, but all of them are a tenth that is there surely.
  const auto sure = [](double each) {
    MetPhases met;
    met.log_masses = Eigen::VectorXd::Constant(8, std::log(each));
    met.log_masses[0] = std::log(1 - 7 * each);
    met.errors = Eigen::VectorXd::Constant(8, 0.02);
    met.shares = Eigen::VectorXd::Zero(8);
    met.shares[0] = 1;
    met.visits = 100;
    Estimate estimate{.log_z = 0, .std_error = 0.03, .lower = -0.06, .upper = 0.06};
    hold_to_phases(met, estimate);
    return estimate;
  };
  CHECK(sure(0.016).status == Status::not_converged);
  CHECK(sure(0.014).status == Status::ok);
  CHECK(sure(0.014).std_error ==
        Approx(std::hypot(0.03, std::log(1 + 7 * 0.014 * 0.96))).epsilon(1e-12));
}

namespace {

// The model, and two layers of one continuous unit each above it, coupled to each other alone: neither
// side is discrete. They add log of the integral of e^{xy}, 4 Shi(1).
KnownModel below_continuous_units(const KnownModel& known) {
  const Layer one{Unit::continuous(), Eigen::VectorXd::Zero(1), {}};
  const Layered& model = known.model;
  return {
      {{model.layer(0), model.layer(1), one, one},
       {model.weights(0), Eigen::MatrixXd::Zero(model.size(1), 1), Eigen::MatrixXd::Ones(1, 1)}},
      {known.known.log_z + std::log(4 * 1.0572508753757286), 1e-9, "by hand"}};
}

}  // namespace

TEST_CASE("where a run misses a phase, annealing from near it refutes the run") {
  Stream draws(make_key(4, "votes"), Purpose::test);
  const KnownModel votes = make_votes({.visible = 200, .weak = 40, .strong = 8, .ahead = 8}, draws);
  const KnownModel discrete{votes.model, votes.known};
  for (const KnownModel& known : {discrete, below_continuous_units(discrete)}) {
    INFO(known.model.layers() << " layers");
    const ModeSearch search = mode_search(known.model, 1);
    const ChosenBase chosen = choose_auto_base(known.model, search, 1);
    const auto held_by = [&](const Base& base) {
      const LayeredTarget target(known.model, base);
      const FoundStates found = find_before(target, search, 1, chosen, false);
      MethodRuns runs(target, {.chains = 100, .sweeps = 2000, .key = make_key(1)});
      Estimate estimate = runs.estimate("rts");
      hold_to_phases(meet_phases(*found.phases, visited_states(runs.top_states())), estimate);
      return estimate;
    };
    const Estimate uniform = held_by(Base::uniform(known.model));
    CHECK(uniform.log_z < known.known.log_z - 5);
    CHECK(uniform.status == Status::not_converged);
    const Estimate from_modes = held_by(chosen.base);
    CHECK(chosen.of_modes);
    CHECK(from_modes.status == Status::ok);
    CHECK(std::abs(from_modes.log_z - known.known.log_z) < 5 * from_modes.std_error + 0.02);
  }
}

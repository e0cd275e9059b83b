// Parts of the visible states, the mass that annealing finds in them, and what an estimate is refused by.
#include "boltzmark/estimate/phases.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"
#include "boltzmark/estimate/held.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/exact/known/known_model.hpp"
#include "boltzmark/exact/known/votes.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/io/datasets/data_folders.hpp"
#include "boltzmark/io/model_file.hpp"
#include "boltzmark/random/stream.hpp"

using namespace boltzmark;

namespace {

Layered flat(int visible) {
  return Layered::rbm(Eigen::MatrixXd::Zero(visible, 1), Eigen::VectorXd::Zero(visible),
                      Eigen::VectorXd::Zero(1));
}

// Two visible units, parts around (0, 0) and (1, 1), of masses e^a and e^b.
Phases two_phases(double a, double b, double error = 0) {
  Phases phases;
  phases.centres = Eigen::MatrixXd::Zero(3, 2);
  phases.centres.col(1).head(2).setOnes();
  phases.scales = Eigen::Vector3d::Ones();
  phases.log_masses = Eigen::Vector2d(a, b);
  phases.errors = Eigen::Vector2d(error, error);
  phases.holds = {false, false};
  phases.by_uniform = phases;
  return phases;
}

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

TEST_CASE(
    "means that are the uniform base's but for noise are no place to have a base of its own") {
  const KnownModel weak = make_known_model("random:20:8:0.1:1");
  const Modes modes = find_modes(weak.model, Base::uniform(weak.model));
  const Places places = find_places(weak.model, modes, 512);
  REQUIRE(places.count() == 1);
  CHECK((places.means.cast<double>().array() - 0.5).matrix().squaredNorm() > 1e-3);
  const Phases phases = anneal_phases(weak.model, modes, make_key(1), {.key = make_key(2)});
  CHECK(phases.bases.size() == 1);
  CHECK(phases.log_z() == Approx(weak.known.log_z).epsilon(0).margin(0.1));
}

TEST_CASE(
    "a base near a part may be chosen that surely is almost all, or is and holds units alone") {
  Phases phases = two_phases(std::log(0.08), std::log(0.92), 0.02);
  phases.holds = {false, false};
  CHECK(phases.share(1, -2) == Approx(0.8832 / 0.9664).epsilon(1e-12));
  CHECK(is_almost_all(phases, 1));
  CHECK_FALSE(is_almost_all(phases, 0));
  phases.errors.setConstant(0.1);  // 0.736 of 0.832
  CHECK_FALSE(is_almost_all(phases, 1));
  phases.holds[1] = true;
  CHECK(is_almost_all(phases, 1));
  phases.log_masses[0] = std::log(0.12);
  CHECK_FALSE(is_almost_all(phases, 1));
}

TEST_CASE(
    "a base loses nothing if its pilot finds half of each part that may have a tenth, as others do") {
  const auto reaches = [](double first, double second, double error, double by_first,
                          double by_second) {
    return loses_nothing(two_phases(std::log(first), std::log(second), error),
                         two_phases(std::log(by_first), std::log(by_second)));
  };
  // A tenth is 0.1 of 1, of the first part and of the second one.
  CHECK(reaches(0.12, 0.88, 0, 0.061, 0.88));
  CHECK_FALSE(reaches(0.12, 0.88, 0, 0.059, 0.88));
  CHECK(reaches(0.88, 0.12, 0, 0.88, 0.061));
  CHECK_FALSE(reaches(0.88, 0.12, 0, 0.88, 0.059));
  CHECK(reaches(0.09, 0.91, 0, 1e-9, 0.91));
  CHECK_FALSE(reaches(0.09, 0.91, 0.1, 1e-9, 0.7));  // 0.108 of 0.836
  CHECK(reaches(0.09, 0.91, 0.1, 1e-9, 1));          // of 1.1 that the pilot finds there
  // The other's error is as large as it: by the pilot 0.98 surely are there, of which 0.02 are none.
  CHECK_FALSE(reaches(0.02, 0.98, 0.6, 1e-9, 0.1));
  CHECK(reaches(0.02, 0.98, 0.6, 1e-9, 0.98));
  // More than 0.02 * 2.2 + 0.98 * 2.2: the errors are wrong, and the first part may be any.
  CHECK(reaches(0.02, 0.98, 0.6, 1e-9, 2.1));
  CHECK_FALSE(reaches(0.02, 0.98, 0.6, 1e-9, 2.3));
  // What the uniform base does not reach either is not lost.
  Phases phases = two_phases(std::log(0.88), std::log(0.12));
  const PhaseMasses pilot = two_phases(std::log(0.88), std::log(1e-9));
  const auto loses = [&](double by_uniform, double error) {
    phases.by_uniform = two_phases(std::log(1e-9), std::log(by_uniform), error);
    return !loses_nothing(phases, pilot);
  };
  CHECK(loses(0.061, 0));
  CHECK_FALSE(loses(0.059, 0));
  CHECK(loses(0.041, 0.25));  // 0.0615, two errors higher
  CHECK_FALSE(loses(0.039, 0.25));
  // Nor is what is almost all, whose own base reaches it.
  phases = two_phases(std::log(0.05), std::log(0.95));
  CHECK(loses(1e-9, 0));
  phases = two_phases(std::log(0.15), std::log(0.85));
  CHECK_FALSE(loses(1e-9, 0));
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
  CHECK(held(parts_of(0.05, 0.06), visits(0), 2, 0.01) == Status::ok);  // they may be 4.4 %
  CHECK(held(parts_of(0.04), visits(0), 2, 0.01) == Status::ok);        // none may be chance
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

TEST_CASE(
    "many likely modes that differ little do not hide a phase of states that are unlikely each") {
  // 100 weak hidden units of one pattern hold e^5 times what 5 strong ones of another do, a state of which
  // is likelier, beside ten cells of 6 x 2 units that each have two phases.
  const double weak_bias = -3.43801, strong_bias = -263.5921;
  const int signs[2][4] = {{1, 1, -1, -1}, {1, -1, 1, -1}};
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(460, 125);
  Eigen::VectorXd visible = Eigen::VectorXd::Zero(460), hidden(125);
  hidden << Eigen::VectorXd::Constant(100, weak_bias), Eigen::VectorXd::Constant(5, strong_bias),
      Eigen::VectorXd::Constant(20, -3.6);
  for (int quarter = 0; quarter < 4; ++quarter) {
    weights.block(100 * quarter, 0, 100, 100).setConstant(0.03 * signs[0][quarter]);
    weights.block(100 * quarter, 100, 100, 5).setConstant(1.6 * signs[1][quarter]);
  }
  visible.tail(60).setConstant(-1.2);
  for (int cell = 0; cell < 10; ++cell)
    weights.block(400 + 6 * cell, 105 + 2 * cell, 6, 2).setConstant(1.2);
  const Layered model = Layered::rbm(weights, visible, hidden);
  // By the numbers of weak and of strong units that are on, and of a cell's.
  const auto choose = [](int n, int k) {
    return std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0);
  };
  const auto softplus = [](double x) {
    return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
  };
  std::vector<double> terms;
  for (int weak = 0; weak <= 100; ++weak)
    for (int strong = 0; strong <= 5; ++strong) {
      double term = choose(100, weak) + choose(5, strong) + weak * weak_bias + strong * strong_bias;
      for (int quarter = 0; quarter < 4; ++quarter)
        term += 100 * softplus(0.03 * signs[0][quarter] * weak + 1.6 * signs[1][quarter] * strong);
      terms.push_back(term);
    }
  std::vector<double> cell;
  for (int on = 0; on <= 2; ++on)
    cell.push_back(choose(2, on) - 3.6 * on + 6 * softplus(1.2 * on - 1.2));
  const auto sum = [](const std::vector<double>& logs) {
    return log_sum_exp(Eigen::VectorXd::Map(logs.data(), std::ssize(logs)));
  };
  const double truth = sum(terms) + 10 * sum(cell);
  for (const std::uint64_t seed : {1, 2, 3}) {
    INFO("seed " << seed);
    const ChosenBase chosen = choose_auto_base(model, mode_search(model, seed), seed);
    REQUIRE(chosen.phases);
    CHECK(std::abs(chosen.phases->log_z() - truth) < 0.5);
    const LayeredTarget target(model, chosen.base);
    MethodRuns runs(target, {.chains = 100, .sweeps = 2000, .key = make_key(seed)});
    Estimate estimate = runs.estimate("rts");
    hold_to_phases(meet_phases(*chosen.phases, visited_states(runs.top_states())), estimate);
    if (estimate.status == Status::ok)
      CHECK(std::abs(estimate.log_z - truth) < 4 * estimate.std_error);
  }
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

TEST_CASE("a base near the likeliest mode is not chosen where most of the mass is elsewhere") {
  // Isolated states beside the one found hold most of it: from near that one runs are 2 to 4 nats low.
  // Of some a pilot finds a little of that, which is not enough.
  // Of the last 5 % are near no place, as far as the weights of two or three chains tell.
  const std::pair<const char*, std::uint64_t> models[] = {
      {"parity:40:7:6", 1},
      {"parity:40:7:8", 1},
      {"parity:70:7.5:18", 1},
      {"parity:60:7.5:190", 11300934884449516797U}};
  for (const auto& [name, seed] : models) {
    INFO(name);
    const KnownModel known = make_known_model(name);
    const ChosenBase chosen = choose_auto_base(known.model, mode_search(known.model, seed), seed);
    CHECK_FALSE(chosen.of_modes);
  }
}

TEST_CASE(
    "rates near modes are chosen for a trained model whose modes the uniform base never reaches") {
  // Its pilot ends 9 to 19 nats below what the model has; of places that may hold a tenth each
  // the rates' pilots miss some.
  const auto path = find_data_file("", "models/carlson2016/mnist-20-peaked.npz");
  REQUIRE(path);
  const Layered model = read_model(*path);
  const double truth = exact_log_z(model).log_z;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const ChosenBase chosen = choose_auto_base(model, mode_search(model, seed), seed);
    REQUIRE(chosen.phases);
    CHECK(chosen.phases->by_uniform.log_z() < truth - 5);
    CHECK(chosen.of_modes);
    const LayeredTarget target(model, chosen.base);
    MethodRuns runs(target, {.chains = 100, .sweeps = 2000, .key = make_key(seed)});
    const Estimate estimate = runs.estimate("rts");
    CHECK(estimate.std_error < 0.2);
    CHECK(std::abs(estimate.log_z - truth) < 5 * estimate.std_error);  // 6e-7 each
  }
}

TEST_CASE("where a run misses a phase, annealing from near it refutes the run") {
  Stream draws(make_key(4, "votes"), Purpose::test);
  const VotingRbm votes = make_votes({.visible = 200, .weak = 40, .strong = 8, .ahead = 8}, draws);
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

TEST_CASE("phases have bases near different places, of any units, on both sides") {
  const KnownModel patterns = make_known_model("patterns:60:10:1:3");
  const ChosenBase chosen = choose_auto_base(patterns.model, mode_search(patterns.model, 2), 2);
  REQUIRE(chosen.phases);
  const Phases& phases = *chosen.phases;
  CHECK(phases.bases.size() > 4);
  CHECK(phases.bases[0].logits[0].isZero());
  CHECK(phases.centres.col(0).isConstant(0.5));
  for (Eigen::Index a = 1; a < phases.centres.cols(); ++a)
    for (Eigen::Index b = 0; b < a; ++b)
      CHECK((phases.centres.col(a) - phases.centres.col(b)).squaredNorm() > 0.1);
  // Both ground states of a lattice are near one of its bases.
  const KnownModel lattice = make_known_model("ising:6:0.6");
  const Modes modes = find_modes(lattice.model, Base::uniform(lattice.model));
  const Phases states = anneal_phases(lattice.model, modes, make_key(1), {.key = make_key(2)});
  REQUIRE(states.bases.size() >= 3);
  const Eigen::RowVectorXd magnetisation = states.centres.topRows(18).colwise().mean();
  CHECK(magnetisation.maxCoeff() > 0.8);
  CHECK(magnetisation.minCoeff() < -0.8);
  for (std::size_t k = 1; k < states.bases.size(); ++k)
    for (const Eigen::VectorXd& logits : states.bases[k].logits) CHECK_FALSE(logits.isZero());
}

TEST_CASE("a base of means has them, of any units that are tempered") {
  const std::vector<Unit> units = {Unit::bernoulli(), Unit::multivalued(1), Unit::multivalued(4),
                                   Unit::continuous()};
  std::vector<Layer> layers;
  std::vector<Eigen::MatrixXd> weights;
  std::vector<Eigen::VectorXd> means;
  for (const Unit unit : units) {
    layers.push_back({unit, Eigen::VectorXd::Zero(3), {}});
    const double middle = (unit.lowest() + unit.highest()) / 2;
    means.emplace_back(Eigen::Vector3d(unit.lowest() + 0.1, middle, unit.highest() - 0.3));
    if (layers.size() > 1) weights.push_back(Eigen::MatrixXd::Zero(3, 3));
  }
  const Layered model(layers, weights);
  const Base base = Base::of_means(model, means);
  for (int l = 0; l < 4; ++l) {
    CHECK(base.logits[l][1] == 0);
    for (int u = 0; u < 3; ++u)
      CHECK(mean_value(units[static_cast<std::size_t>(l)], base.logits[l][u]) ==
            Approx(means[static_cast<std::size_t>(l)][u]).epsilon(1e-12));
  }
  means[0][0] = 0;
  CHECK_THROWS_AS(Base::of_means(model, means), InvalidArgument);
  means.pop_back();
  CHECK_THROWS_AS(Base::of_means(model, means), InvalidArgument);
}

TEST_CASE("a phase is found whichever side of a network it is a pattern of") {
  Stream draws(make_key(2, "votes"), Purpose::test);
  const VotingRbm votes = make_votes({.visible = 200, .weak = 60, .strong = 8, .ahead = 10}, draws);
  const Layered& rbm = votes.model;
  const Layered turned =
      Layered::rbm(rbm.weights(0).transpose(), Eigen::VectorXd(rbm.bias(1)), rbm.bias(0));
  // Below three visible units that nothing depends on.
  std::vector<Layer> layers = {
      {Unit::bernoulli(), Eigen::Vector3d::Zero(), {}}, rbm.layer(0), rbm.layer(1)};
  const Layered deeper(layers, {Eigen::MatrixXd::Zero(3, 200), rbm.weights(0)});
  for (const auto& [model, log_z] : {std::pair(turned, votes.known.log_z),
                                     std::pair(deeper, votes.known.log_z + 3 * std::log(2.0))}) {
    const ChosenBase chosen = choose_auto_base(model, mode_search(model, 1), 1);
    REQUIRE(chosen.phases);
    CHECK(chosen.phases->log_z() == Approx(log_z).epsilon(0).margin(1));
  }
}

TEST_CASE("a mode is found that only the signs of one unit's weights lead to") {
  // Thirty units of 0.5 hold a pattern of 230 and thirty its reverse: one of them decides nothing where
  // some of twenty others are on, nor do units of both.
  Stream draws(make_key(5, "signs"), Purpose::test);
  Eigen::VectorXd pattern(230);
  for (double& x : pattern) x = draws.bernoulli(0.5) ? 1 : -1;
  Eigen::MatrixXd weights(230, 80);
  for (int j = 0; j < 80; ++j)
    for (int i = 0; i < 230; ++i)
      weights(i, j) =
          j < 60 ? 0.5 * (j < 30 ? pattern[i] : -pattern[i]) : (draws.bernoulli(0.5) ? 1.5 : -1.5);
  Eigen::VectorXd above = Eigen::VectorXd::Zero(80);
  above.head(60).setConstant(-45);
  const Layered model = Layered::rbm(weights, Eigen::VectorXd::Zero(230), above);
  ModeSearch search = mode_search(model, 1);
  search.climbs.starts = 2;
  search.escape_states = 1;  // no way out by neighbours
  const auto finds = [&] {
    const Modes modes = find_modes(model, Base::uniform(model), search);
    for (int k = 0; k < modes.count(); ++k)
      if (modes.states.get_layer(1).col(k).head(30).sum() == 30) return true;
    return false;
  };
  CHECK(finds());
  search.climbs.further_starts = 0;
  CHECK_FALSE(finds());
}

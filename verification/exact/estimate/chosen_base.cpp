// Which base is chosen of a model: where rates and places may hide a phase, and where they lead to one.
#include "boltzmark/estimate/places/chosen_base.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/estimate/held/held_estimate.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/estimate/places/phases.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/exact/modes/modes.hpp"
#include "boltzmark/io/model_file.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/kit/datasets/data_folders.hpp"
#include "verification/checks/known/known_model.hpp"
#include "verification/exact/support/two_phases.hpp"

using namespace boltzmark;
using phases_test::two_phases;

TEST_CASE("cases that a search climbs from are spread over all of them") {
  const auto numbered = [](int count) {
    return CaseValues(Eigen::MatrixXf(Eigen::RowVectorXf::LinSpaced(count, 0, count - 1)));
  };
  const Eigen::MatrixXf some = spread_cases(numbered(250), 100);
  REQUIRE(some.cols() == 100);
  for (int k = 0; k < 100; ++k) CHECK(some(0, k) == 5 * k / 2);  // the last is 247
  const Eigen::MatrixXf all = spread_cases(numbered(7), 100);
  CHECK(all == numbered(7).matrix());
}

TEST_CASE("a search climbs from the levels nearest to the cases, however these are rounded") {
  // -1/3 in single precision is just below its level: 0.99999998 steps above the lowest.
  const Layered model({{Unit::multivalued(3), Eigen::VectorXd::Zero(2), {}},
                       {Unit::bernoulli(), Eigen::VectorXd::Zero(1), {}}},
                      {Eigen::MatrixXd::Zero(2, 1)});
  const Eigen::MatrixXf cases = Eigen::MatrixXf::Constant(2, 1, -1 / 3.0F);
  CHECK(mode_search(model, 1, cases).climbs.cases == cases);
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
  // The uniform base's pilot ends 9 to 19 nats below log Z; of places that may hold a tenth each
  // those of the rates miss some.
  const auto path = experiments::find_data_file("", "models/carlson2016/mnist-20-peaked.npz");
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

TEST_CASE("a base that misses half of a gate's two sides is not chosen") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const KnownModel gate = make_known_model("gate:60:0:10:7");
    const ChosenBase chosen = choose_auto_base(gate.model, mode_search(gate.model, seed), seed);
    CHECK_FALSE(chosen.of_modes);
    CHECK(chosen.phases->log_z() == Approx(gate.known.log_z).epsilon(0).margin(0.75));
  }
}

TEST_CASE(
    "a base is chosen though annealing elsewhere hardly knows the mass that its pilot finds") {
  // Near the strong votes' place few chains come there: a mass of 98 % of Z, known to a half.
  const KnownModel votes = make_known_model("votes:300:60:8:4:174");
  const ChosenBase chosen = choose_auto_base(votes.model, mode_search(votes.model, 2), 2);
  const Phases& phases = *chosen.phases;
  Eigen::Index most = 0;
  phases.log_masses.maxCoeff(&most);
  CHECK(phases.errors[most] > 0.5);
  CHECK(phases.share(most, -2) < 0.9);
  CHECK(chosen.of_modes);
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
  // The units that hold are above the pattern, or below it.
  for (const int holders : {1, 0}) {
    const Layered model =
        holders == 1 ? Layered::rbm(weights, Eigen::VectorXd::Zero(230), above)
                     : Layered::rbm(weights.transpose(), above, Eigen::VectorXd::Zero(230));
    ModeSearch search = mode_search(model, 1);
    search.climbs.starts = 2;
    search.escape_states = 1;  // no way out by neighbours
    const auto finds = [&] {
      const Modes modes = find_modes(model, Base::uniform(model), search);
      for (int k = 0; k < modes.count(); ++k)
        if (modes.states.get_layer(holders).col(k).head(30).sum() == 30) return true;
      return false;
    };
    INFO(holders);
    CHECK(finds());
    search.climbs.further_starts = 0;
    CHECK_FALSE(finds());
  }
}

TEST_CASE("a base is chosen by what annealing wastes on the side that is not summed out") {
  // No unit minds another. From the uniform base 200 steps waste a nat on the units above and five
  // on those below, from rates near the mode a tenth of that. What is summed out costs nothing.
  const Layered model =
      Layered::rbm(Eigen::MatrixXd::Zero(4, 16), Eigen::VectorXd::Constant(4, 800),
                   Eigen::VectorXd::Constant(16, 50));
  for (const std::uint64_t seed : {1, 2}) {
    const ModeSearch search = mode_search(model, seed);
    const Base of_even = choose_auto_base(model, search, seed, 0).base,
               of_odd = choose_auto_base(model, search, seed, 1).base;
    CHECK(of_even.logits[0].isZero(0));
    CHECK_FALSE(of_even.logits[1].isZero(0));
    CHECK_FALSE(of_odd.logits[0].isZero(0));
  }
}

TEST_CASE("the uniform base serves where its error is small and what it finds not certainly less") {
  const auto found = [](double log_z, double std_error) {
    return Estimate{.log_z = log_z, .std_error = std_error};
  };
  CHECK(uniform_serves(found(10, 0.2), found(10.5, 0.1)));
  CHECK(uniform_serves(found(12, 0.2), found(10.5, 0.1)));
  CHECK_FALSE(uniform_serves(found(10, 0.2), found(10.7, 0.1)));
  CHECK(uniform_serves(found(10, 0.49), found(10.7, 0.1)));
  CHECK_FALSE(uniform_serves(found(10, 0.51), found(10, 0.1)));
  CHECK_FALSE(uniform_serves(found(10, std::numeric_limits<double>::quiet_NaN()), found(9, 0.1)));
}

TEST_CASE("many modes that no base is near have the uniform base, from which log Z is found") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    Stream draws(make_key(seed), Purpose::test);
    const auto [model, known] = make_conjunctions(
        {.visible = 80, .hidden = 160, .window = 8, .members = 4, .strength = 8}, draws);
    const double log_z = known.log_z;
    const HeldEstimate held = estimate_held("rts", model, seed, {.sweeps = 2000});
    INFO(seed << ": " << log_z << ", " << held.estimate.log_z << " +- " << held.estimate.std_error);
    CHECK_FALSE(held.chosen.of_modes);
    REQUIRE(held.chosen.search);
    // Four errors of so many sweeps: those of 300 have 0.3. What longer tours may hold comes besides.
    CHECK(std::abs(held.estimate.log_z - log_z) < 0.5);
    CHECK(held.estimate.lower < log_z);
    CHECK(held.estimate.upper > log_z);
  }
}

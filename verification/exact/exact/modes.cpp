// Fixed points of climbs, modes, and the lists that grow from them.
#include "boltzmark/exact/modes/modes.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/places/bases.hpp"
#include "boltzmark/exact/modes/state_list.hpp"
#include "boltzmark/exact/state_space.hpp"
#include "boltzmark/learn/initial.hpp"
#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/known/known_model.hpp"
#include "verification/exact/support/well_models.hpp"

using namespace boltzmark;
using namespace well_models;

namespace {

ModeSearch search_of(std::uint64_t seed, int starts = 64) {
  ModeSearch search;
  search.climbs.starts = starts;
  search.climbs.key = make_key(seed, "modes");
  return search;
}

Modes modes_of(const Layered& model, const ModeSearch& search) {
  return find_modes(model, Base::uniform(model), search);
}

// log of m(x) f(x) of a mode from the joint law, all states enumerated.
double log_marginal(const StateSpace& space, const Modes& modes, int mode) {
  std::vector<double> sum;
  for (std::size_t s = 0; s < space.states(); ++s) {
    bool same = true;
    for (int u = 0; same && u < space.units(); ++u) {
      const StateSpace::Place place = space.place(u);
      same = place.layer % 2 != modes.parity ||
             std::abs(space.value(u, s) -
                      static_cast<double>(modes.states.get(place.layer, place.unit, mode))) < 1e-6;
    }
    if (same) sum.push_back(space.log_p()[static_cast<Eigen::Index>(s)] + space.log_z());
  }
  return log_sum_exp(
      Eigen::Map<const Eigen::VectorXd>(sum.data(), static_cast<Eigen::Index>(sum.size())));
}

}  // namespace

TEST_CASE(
    "a mode's log f is its marginal of the joint law, and none of its neighbours is above it") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Stream stream(make_key(seed, "marginals"), Purpose::test);
    const Layered model = draw_small_unit_model(stream, 4, 512);
    const Modes modes = modes_of(model, search_of(seed, 8));
    CAPTURE(describe_case(model), modes.count());
    REQUIRE(modes.count() >= 1);
    REQUIRE(static_cast<int>(modes.log_f.size()) == modes.count());
    CHECK(std::is_sorted(modes.log_f.rbegin(), modes.log_f.rend()));
    const StateSpace space(model);
    const Bipartite sides = list_side(model, modes.parity);
    SideStates states(model, modes.parity);
    states.add(modes.states);
    REQUIRE(states.size() == modes.count());  // all different
    Eigen::VectorXd scratch;
    for (int k = 0; k < modes.count(); ++k) {
      const double log_f = modes.log_f[static_cast<std::size_t>(k)];
      const double slack = 1e-10 * std::max(1.0, std::abs(log_f));
      CHECK(std::abs(log_f - log_marginal(space, modes, k)) <= slack);
      const ListedState state = weigh(sides, {states[k].begin(), states[k].end()});
      for (int i = 0; i < static_cast<int>(sides.enumerated.size()); ++i)
        for (const int step : {-1, 1}) {
          const int index = state.indices[static_cast<std::size_t>(i)] + step;
          if (index >= 0 && index < sides.enumerated[i].values())
            CHECK(log_weight_beside(sides, state, i, index, scratch) <= log_f + slack);
        }
    }
  }
}

TEST_CASE("every climb ends in one mode, and an escape is none") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Stream stream(make_key(seed, "climbs"), Purpose::test);
    const Layered model = draw_small_unit_model(stream, 4, 512);
    ModeSearch search = search_of(seed, 16);
    for (const int stepped : {0, 6}) {
      search.climbs.further_starts = stepped;
      const Modes modes = modes_of(model, search);
      // A quarter as many from the other side; then three of each side, or as many as it has units.
      CHECK(modes.climbs >= 20);
      CHECK(modes.climbs <= 20 + stepped);
      CHECK((stepped == 0 || modes.climbs > 20));
      CHECK(std::accumulate(modes.basins.begin(), modes.basins.end(), 0) == modes.climbs);
    }
  }
}

TEST_CASE("both ground states of a lattice below criticality are found, and are equally high") {
  constexpr int kSide = 6;
  const Layered model = ising_lattice(kSide, 0.6);
  const Modes modes = modes_of(model, search_of(1));
  int up = 0, down = 0;
  for (int k = 0; k < modes.count(); ++k) {
    const Eigen::VectorXf spins = modes.states.get_layer(modes.parity).col(k);
    up += (spins.array() == 1).all();
    down += (spins.array() == -1).all();
  }
  CHECK(up == 1);
  CHECK(down == 1);
  REQUIRE(modes.count() >= 2);
  CHECK(modes.log_f[0] == Approx(modes.log_f[1]).epsilon(1e-13));
  // Each spin of the other sublattice sees four aligned ones: (2 cosh 4 K)^(L^2 / 2).
  CHECK(modes.log_f[0] ==
        Approx(kSide * kSide / 2 * std::log(2 * std::cosh(4 * 0.6))).epsilon(1e-12));
}

TEST_CASE("units of input 0 are drawn from a key: both values, the same for any threads") {
  const Layered flat = Layered::rbm(Eigen::MatrixXd::Zero(40, 6), Eigen::VectorXd::Zero(40),
                                    Eigen::VectorXd::Zero(6));
  const auto points = [&](std::uint64_t seed, int threads) {
    const ThreadLimit limit(threads);
    return find_fixed_points(flat, Base::uniform(flat), search_of(seed).climbs).states.get_layer(1);
  };
  const Eigen::MatrixXf one = points(1, 1);
  CHECK(one == points(1, 2));
  const Eigen::MatrixXf other = points(2, 1);
  CHECK((one.cols() != other.cols() || one != other));
  CHECK(one.cols() > 20);  // of 64 states, 64 fair draws meet 41 on average
  CHECK(one.mean() > 0.3);
  CHECK(one.mean() < 0.7);
}

TEST_CASE("a climb from a case finds the mode that it lies in, which no other start finds") {
  const PlantedWell planted = hidden_well(40, 20);
  ModeSearch search = search_of(5);
  search.climbs.further_starts = 0;
  const auto has_well = [&](const Modes& modes) {
    for (int k = 0; k < modes.count(); ++k)
      if (modes.states.get_layer(1).col(k) == planted.hidden) return true;
    return false;
  };
  CHECK_FALSE(has_well(modes_of(planted.model, search)));
  search.climbs.cases = planted.visible;
  const Modes found = modes_of(planted.model, search);
  CHECK(has_well(found));
  CHECK(found.climbs == 64 + 16 + 1);
}

TEST_CASE("a climb from a case rises from it alone, not from what upper layers start at") {
  // Each column of three spins has two fixed points; the upper bond would overrule the case.
  constexpr int kUnits = 40;
  for (const Unit unit : {Unit::multivalued(1), Unit::multivalued(3)}) {
    const Layer layer{unit, Eigen::VectorXd::Zero(kUnits), {}};
    const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(kUnits, kUnits);
    const Layered model({layer, layer, layer}, {one, 3 * one});
    Eigen::MatrixXf pattern(kUnits, 1);
    for (int u = 0; u < kUnits; ++u) pattern(u, 0) = u % 3 == 0 ? 1 : -1;
    FixedPointSearch search{.starts = 4, .further_starts = 0, .key = make_key(1, "rise")};
    const auto finds = [&] {
      const Eigen::MatrixXf found =
          find_fixed_points(model, Base::uniform(model), search).states.get_layer(1);
      for (Eigen::Index k = 0; k < found.cols(); ++k)
        if (found.col(k) == pattern.col(0)) return true;
      return false;
    };
    CHECK_FALSE(finds());
    search.cases = pattern;
    INFO(unit.name());
    CHECK(finds());
  }
}

TEST_CASE("a pattern that few strong units hold is found, which random starts may miss") {
  int missed = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Stream draws(make_key(seed, "votes"), Purpose::test);
    const KnownModel votes =
        make_votes({.visible = 400, .weak = 100, .strong = 12, .ahead = 20}, draws);
    ModeSearch search = search_of(seed, 16);
    search.escape_states = 1;  // no way out by neighbours
    // The strong pattern's likeliest state has the most of its mass.
    const Modes found = modes_of(votes.model, search);
    CHECK(found.log_f[0] > votes.known.log_z - 2);
    CHECK(found.basins[0] > 0);
    search.climbs.further_starts = 0;  // then steps from the other pattern alone may lead there
    const Modes without = modes_of(votes.model, search);
    missed += without.basins[0] == 0 || without.log_f[0] < votes.known.log_z - 8;
  }
  CHECK(missed >= 1);
}

TEST_CASE("a mode is found that only a unit stepped away from a fixed point leads to") {
  // Ten units hold a pattern of the lower half, any one of them alone against its biases; ten others
  // one of the upper half, which their signs and the former's agree on, but no weight that counts. Any
  // signs set both patterns, random states neither: that of the lower half alone is next to the
  // state of none.
  constexpr int kHalf = 60, kUnits = 10;
  Eigen::MatrixXd weights(2 * kHalf, 2 * kUnits);
  for (int i = 0; i < kHalf; ++i) {
    const double lower = i % 2 == 0 ? 1 : -1, upper = i % 4 < 2 ? 1 : -1;
    weights.row(i).head(kUnits).setConstant(0.6 * lower);
    weights.row(i).tail(kUnits).setConstant(0.001 * lower);
    weights.row(kHalf + i).head(kUnits).setConstant(0.001 * upper);
    weights.row(kHalf + i).tail(kUnits).setConstant(2 * upper);
  }
  Eigen::VectorXd below(2 * kHalf), above(2 * kUnits);
  below << Eigen::VectorXd::Constant(kHalf, -0.1), Eigen::VectorXd::Constant(kHalf, 1);
  above << Eigen::VectorXd::Constant(kUnits, -14.5), Eigen::VectorXd::Constant(kUnits, -56);
  const Layered model = Layered::rbm(weights, below, above);
  Eigen::VectorXf lower_alone(2 * kUnits);
  lower_alone << Eigen::VectorXf::Ones(kUnits), Eigen::VectorXf::Zero(kUnits);
  ModeSearch search = search_of(1, 16);
  search.escape_states = 1;  // no way out by neighbours
  const auto finds = [&] {
    const Modes modes = modes_of(model, search);
    for (int k = 0; k < modes.count(); ++k)
      if (modes.states.get_layer(1).col(k) == lower_alone) return true;
    return false;
  };
  CHECK(finds());
  search.climbs.further_starts = 0;
  CHECK_FALSE(finds());
}

TEST_CASE("points are taken farthest first, each but once") {
  Eigen::MatrixXf points(1, 6);
  points << 0, 1, 5, 3, 5, 2.4F;
  CHECK(farthest_first(points, 6) == std::vector<int>{0, 2, 5, 1, 3});  // 5, then 2.4 of 2.4 and 2
  CHECK(farthest_first(points, 2) == std::vector<int>{0, 2});
  CHECK(farthest_first(points, 0).empty());
}

TEST_CASE("modes have chains in turn, or in proportion to their weights") {
  Modes modes{.states = Chains(Layered::rbm(Eigen::MatrixXd::Zero(2, 2), Eigen::VectorXd::Zero(2),
                                            Eigen::VectorXd::Zero(2)),
                               3),
              .log_f = {700, 700 - std::log(3.0), 640}};
  CHECK(share_modes(modes, ModeShares::equal, 4) == std::vector<int>{0, 1, 2, 0});
  CHECK(share_modes(modes, ModeShares::weighted, 4) == std::vector<int>{0, 0, 0, 1});
  CHECK(share_modes(modes, ModeShares::weighted, 8) == std::vector<int>{0, 0, 0, 0, 0, 0, 1, 1});
}

TEST_CASE("a search that cannot be made is refused") {
  const Layered model = golf_hole(10, 4, 1).model;
  ModeSearch none = search_of(1);
  none.climbs.starts = 0;
  CHECK_THROWS_AS(modes_of(model, none), InvalidArgument);
  ModeSearch narrow = search_of(1);
  narrow.climbs.cases = Eigen::MatrixXf::Zero(9, 1);
  CHECK_THROWS_AS(modes_of(model, narrow), InvalidArgument);
  const Layered gaussian({{Unit::gaussian(), Eigen::VectorXd::Zero(3), Eigen::VectorXd::Ones(3)},
                          {Unit::continuous(), Eigen::VectorXd::Zero(3), {}}},
                         {Eigen::MatrixXd::Zero(3, 3)});
  CHECK_THROWS_AS(modes_of(gaussian, search_of(1)), InvalidArgument);
}

TEST_CASE("modes of a model without a discrete side are vertices of the side with fewer units") {
  // f(h) = e^{0.1 h1} 2 sinh(x)/x 2 sinh(y)/y z, x = 3 h1 + 3 h2, y = h1 + h2, z = 2: of equal signs.
  Layered model({{Unit::continuous(), Eigen::VectorXd::Zero(3), {}},
                 {Unit::continuous(), Eigen::Vector2d(0.1, 0), {}}},
                {(Eigen::MatrixXd(3, 2) << 3, 3, 1, 1, 0, 0).finished()});
  const auto part = [](double x) { return std::log(2 * std::sinh(x) / x); };
  for (const bool hidden_first : {false, true}) {
    if (hidden_first)
      model = Layered({model.layer(1), model.layer(0)}, {model.weights(0).transpose()});
    const Modes modes = modes_of(model, search_of(1));
    const int few = hidden_first ? 0 : 1;
    CHECK(modes.parity == few);
    REQUIRE(modes.count() == 2);
    for (int m = 0; m < 2; ++m) {
      const float sign = m == 0 ? 1 : -1;
      CHECK(modes.states.get(few, 0, m) == sign);
      CHECK(modes.states.get(few, 1, m) == sign);
      CHECK(modes.states.unit(few) == Unit::continuous());
      CHECK(modes.log_f[m] == Approx(0.1 * sign + part(6) + part(2) + std::log(2)).epsilon(1e-12));
      // Cases lie anywhere in [-1, 1]; climbs from them end where all others do.
      ModeSearch from_cases = search_of(1);
      from_cases.climbs.cases = Eigen::MatrixXf::Constant(model.size(0), 2, 0.3F);
      from_cases.climbs.cases.col(1).setConstant(-0.7F);
      CHECK(modes_of(model, from_cases).log_f == modes.log_f);
      // The other side is at its means: coth(6) - 1/6.
      CHECK(modes.states.get(1 - few, 0, m) ==
            Approx(sign * (1 / std::tanh(6.0) - 1 / 6.0)).epsilon(1e-6));
    }
  }
}

TEST_CASE(
    "the base of modes has their smoothed rates, and is uniform where units are not Bernoulli") {
  // One mode, visible units on and off with odds e^20: 5 of 110 ons or offs are the smoothing's.
  Eigen::VectorXd bias = Eigen::VectorXd::Constant(6, 20);
  bias.tail(3) *= -1;
  const Layered model = Layered::rbm(Eigen::MatrixXd::Zero(6, 2), bias, Eigen::VectorXd::Ones(2));
  const std::vector<int> starts(64, 0);
  const Base base = base_of_modes(model, modes_of(model, search_of(1)), starts, make_key(1));
  for (int i = 0; i < 6; ++i)
    CHECK(base.logits[0][i] == Approx((i < 3 ? 1 : -1) * std::log(105.0 / 5)).epsilon(1e-12));
  CHECK(base.logits[1].isZero());
  const Layered spins = ising_lattice(4, 0.5);
  const Base none = base_of_modes(spins, modes_of(spins, search_of(1)), starts, make_key(1));
  CHECK(none.logits[0].isZero());
}

namespace {

std::vector<double> pilots(const Layered& model, const std::vector<Base>& bases,
                           const BaseChoice& choice) {
  std::vector<double> means;
  for (const Base& base : bases)
    means.push_back(pilot(pilot_target(model, base, choice), choice).mean_log_weight);
  return means;
}

}  // namespace

TEST_CASE("the base of the greatest mean log weight is chosen, and the first of equal ones") {
  const Layered model = Layered::rbm(Eigen::MatrixXd::Zero(8, 3), Eigen::VectorXd::Constant(8, 3),
                                     Eigen::VectorXd::Zero(3));
  Base near = Base::uniform(model), opposite = near;
  near.logits[0].setConstant(3);  // the model itself: no weight is below Z
  opposite.logits[0].setConstant(-3);
  const auto chosen = [&](const std::vector<Base>& bases) {
    return choose_base(pilots(model, bases, {.chains = 16, .sweeps = 20, .key = make_key(1)}));
  };
  const Base uniform = Base::uniform(model);
  CHECK(chosen({uniform, near, opposite}) == 1);
  CHECK(chosen({opposite, uniform, near}) == 2);
  CHECK(chosen({opposite, uniform}) == 1);
  CHECK(chosen({near, near}) == 0);
  CHECK(choose_base(std::vector<double>{-2, -1.91, -1.89}) == 2);  // a tenth of a nat is worth it
  CHECK(choose_base(std::vector<double>{-2, -1.91}) == 0);
  CHECK_THROWS_AS(chosen({}), InvalidArgument);
}

TEST_CASE("bases are compared with the side summed out that is asked for") {
  int differ = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Layered model = initial_rbm(7, 3, 1.5, make_key(seed));
    Base other = Base::uniform(model);
    other.logits[0] = 0.7 * model.bias(0);
    const std::vector<Base> bases = {Base::uniform(model), other};
    std::array<std::size_t, 2> chosen = {};
    for (const int side : {0, 1}) {
      const BaseChoice choice{.chains = 4, .sweeps = 6, .key = make_key(seed), .summed_side = side};
      std::array<double, 2> means = {};
      for (std::size_t k = 0; k < 2; ++k)
        means[k] =
            annealed_importance_sampling(
                LayeredTarget(model, bases[k], {}, side),
                {.ladder = Ladder::linear(7), .chains = 4, .sweeps = 6, .key = make_key(seed)})
                .mean_log_weight;
      const std::vector<double> found = pilots(model, bases, choice);
      CHECK(found == std::vector<double>(means.begin(), means.end()));
      chosen[static_cast<std::size_t>(side)] = choose_base(found);
      CHECK(chosen[static_cast<std::size_t>(side)] == (means[1] > means[0] + 0.1 ? 1 : 0));
    }
    differ += chosen[0] != chosen[1] ? 1 : 0;
  }
  CHECK(differ > 0);
}

// Moves of units, and mean field where one is held: by hand, by enumeration, and by moves of one unit.
#include "boltzmark/estimate/places/unit_moves.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "boltzmark/estimate/places/held_means.hpp"
#include "boltzmark/exact/state_space.hpp"
#include "boltzmark/model/unit.hpp"
#include "boltzmark/random/stream.hpp"
#include "verification/exact/support/enumeration_models.hpp"
#include "verification/exact/support/gates.hpp"

using namespace boltzmark;
using namespace gates;

namespace {

// Every unit's value in a state, the lowest layer first.
Eigen::VectorXd values_in(const Layered& model, const StateSpace& space, std::size_t state) {
  Eigen::VectorXd values(space.units());
  for (int u = 0; u < space.units(); ++u) {
    Eigen::Index number = space.place(u).unit;
    for (int l = 0; l < space.place(u).layer; ++l) number += model.size(l);
    values[number] = space.value(u, state);
  }
  return values;
}

// Units that go from where they are to a value.
UnitMove to_value(const std::vector<Eigen::Index>& units, double to) {
  return {units, std::vector(units.size(), ValueRange{}),
          std::vector(units.size(), ValueRange{to, to})};
}

void check_mean(const Eigen::VectorXd& means, double truth) {
  const auto rounds = static_cast<double>(means.size());
  const double error =
      std::sqrt((means.array() - means.mean()).square().sum() / (rounds - 1) / rounds);
  CHECK(std::abs(means.mean() - truth) < 4.5 * error + 0.001 * truth);  // of the cells
  CHECK(error < 0.05 * truth);
}

// Means of the weights of moves from states that are drawn from some listed ones, round by round.
Eigen::VectorXd mean_weights(const Layered& model, const StateSpace& space,
                             const std::vector<std::size_t>& from, const UnitMove& move, int steps,
                             std::uint64_t seed,
                             const std::function<void(const MovedUnits&)>& check) {
  constexpr int kRounds = 400;
  const UnitMover mover(model);
  double mass = 0;
  for (const std::size_t x : from) mass += space.p()[static_cast<Eigen::Index>(x)];
  Eigen::VectorXd means(kRounds);
  Stream stream(make_key(seed, "moves"), Purpose::test);
  for (int r = 0; r < kRounds; ++r) {
    Eigen::MatrixXf states(model.units(), kMovedChains);
    for (int c = 0; c < kMovedChains; ++c) {
      double u = stream.uniform() * mass;
      std::size_t n = 0;
      while (n + 1 < from.size() && (u -= space.p()[static_cast<Eigen::Index>(from[n])]) > 0) ++n;
      states.col(c) = values_in(model, space, from[n]).cast<float>();
    }
    const MovedUnits moved =
        mover.move({move}, steps, states, make_key(static_cast<std::uint64_t>(r), "move"));
    means[r] = moved.log_weights.array().exp().mean();
    check(moved);
  }
  return means;
}

}  // namespace

TEST_CASE("a uniform number stands for the value that the law of a unit gives it") {
  const int numbers = 20000;
  for (const Unit unit : {Unit::bernoulli(), Unit::multivalued(1), Unit::multivalued(4)})
    for (const double input : {0.0, 0.7, -1.3, 40.0}) {
      std::vector<double> law(static_cast<std::size_t>(unit.values())),
          met(static_cast<std::size_t>(unit.values()), 0);
      double all = 0;
      for (int k = 0; k < unit.values(); ++k)
        all += law[static_cast<std::size_t>(k)] = std::exp(input * unit.value(k));
      for (int n = 0; n < numbers; ++n) {
        const double value = value_at(unit, input, (n + 0.5) / numbers);
        met[static_cast<std::size_t>(std::lround((value - unit.lowest()) / unit.spacing()))] +=
            1.0 / numbers;
      }
      for (std::size_t k = 0; k < law.size(); ++k)
        CHECK(met[k] == Approx(law[k] / all).margin(1.5 / numbers));
    }
  // Of a continuous unit the share below x is (e^{input x} - e^{-input}) / (2 sinh input).
  for (const double input : {0.0, 1e-9, 0.7, -1.3, 30.0})
    for (const double u : {0.01, 0.3, 0.5, 0.99}) {
      const double x = value_at(Unit::continuous(), input, u);
      const double below = input == 0 ? (x + 1) / 2
                                      : (std::exp(input * (x - 1)) - std::exp(-2 * input)) /
                                            (1 - std::exp(-2 * input));
      CHECK(below == Approx(input > 0 ? 1 - u : u).margin(1e-6));
    }
}

TEST_CASE("weights of a unit that is moved have the ratio of its masses for their mean") {
  for (const std::vector<int>& codes :
       {std::vector<int>{0, 0, 0}, std::vector<int>{0, 2, 0}, std::vector<int>{1, 0, 3}}) {
    const Layered model = enumeration_test::random_network(codes, {3, 2, 2}, 1.2, 5);
    const StateSpace space(model);
    for (const int parity : {0, 1}) {
      const int first = parity * model.size(0);  // unit of the side
      const Unit unit = model.layer(parity).unit;
      const double from = unit.lowest(), to = unit.highest();
      // The states with the unit at `from`, and the masses of both values.
      std::vector<std::size_t> at;
      double mass_from = 0, mass_to = 0;
      for (std::size_t x = 0; x < space.states(); ++x) {
        const Eigen::VectorXd values = values_in(model, space, x);
        const double p = space.p()[static_cast<Eigen::Index>(x)];
        if (values[first] == to) mass_to += p;
        if (values[first] != from) continue;
        mass_from += p;
        at.push_back(x);
      }
      const Eigen::VectorXd means =
          mean_weights(model, space, at, to_value({first}, to), 3, 3, [&](const MovedUnits& moved) {
            CHECK((moved.values.row(first).array() == static_cast<float>(to)).all());
          });
      const auto rounds = static_cast<double>(means.size());
      const double error =
          std::sqrt((means.array() - means.mean()).square().sum() / (rounds - 1) / rounds);
      INFO(first << " of parity " << parity);
      CHECK(std::abs(means.mean() - mass_to / mass_from) < 4.5 * error);
      CHECK(error < 0.1 * means.mean());
    }
  }
}

TEST_CASE("weights of units that are moved together have the mass for their mean") {
  const Layered pair = enumeration_test::random_network({0, 0}, {3, 3}, 1.2, 5);
  const StateSpace space(pair);
  double both_on = 0, both_off = 0;
  std::vector<std::size_t> off;
  for (std::size_t x = 0; x < space.states(); ++x) {
    const Eigen::VectorXd hidden = values_in(pair, space, x).tail(3);
    const double p = space.p()[static_cast<Eigen::Index>(x)];
    if (hidden[0] == 1 && hidden[2] == 1) both_on += p;
    if (hidden[0] != 0 || hidden[2] != 0) continue;
    both_off += p;
    off.push_back(x);
  }
  const Eigen::VectorXd means = mean_weights(
      pair, space, off, to_value({3, 5}, 1), 5, 4,
      [&](const MovedUnits& moved) { CHECK((moved.values.row(5).array() == 1).all()); });
  check_mean(means, both_on / both_off);
}

TEST_CASE("weights of units of both sides that are moved together have the mass for their mean") {
  for (const std::vector<int>& codes : {std::vector<int>{0, 0}, std::vector<int>{0, 2, 0}}) {
    const Layered model = enumeration_test::random_network(
        codes, codes.size() == 2 ? std::vector<int>{3, 3} : std::vector<int>{3, 2, 2}, 1.2, 6);
    const StateSpace space(model);
    // Of the lowest layer and the next, the latter's from the highest value to the lowest.
    const Eigen::Index below = 1, above = model.size(0);
    const Unit lower = model.layer(0).unit, upper = model.layer(1).unit;
    std::vector<std::size_t> at;
    double mass_from = 0, mass_to = 0;
    for (std::size_t x = 0; x < space.states(); ++x) {
      const Eigen::VectorXd values = values_in(model, space, x);
      const double p = space.p()[static_cast<Eigen::Index>(x)];
      if (values[below] == lower.highest() && values[above] == upper.lowest()) mass_to += p;
      if (values[below] != lower.lowest() || values[above] != upper.highest()) continue;
      mass_from += p;
      at.push_back(x);
    }
    for (const bool below_first : {true, false}) {
      const ValueRange up{lower.highest(), lower.highest()}, down{upper.lowest(), upper.lowest()};
      const UnitMove move = below_first ? UnitMove{{below, above}, {{}, {}}, {up, down}}
                                        : UnitMove{{above, below}, {{}, {}}, {down, up}};
      const Eigen::VectorXd means =
          mean_weights(model, space, at, move, 5, 6, [&](const MovedUnits& moved) {
            CHECK((moved.values.row(below).array() == static_cast<float>(lower.highest())).all());
            CHECK((moved.values.row(above).array() == static_cast<float>(upper.lowest())).all());
          });
      check_mean(means, mass_to / mass_from);
    }
  }
}

TEST_CASE(
    "weights of continuous units that go from a range to another have the mass there for their mean") {
  // Two hidden ones: Z(x, y) = e^{a x + c y} prod_i (1 + e^{b_i + v_i x + w_i y}), summed over cells.
  const Eigen::Vector3d b(0.4, -0.7, 0.2), v(1.9, -1.1, 0.8), w(-0.6, 1.4, 1.2);
  const double a = -1.2, c = 0.5;
  Eigen::MatrixXd weights(3, 2);
  weights << v, w;
  const Layered model(
      {Layer{Unit::bernoulli(), b, {}}, Layer{Unit::continuous(), Eigen::Vector2d(a, c), {}}},
      {weights});
  const UnitMover mover(model);
  constexpr int kCells = 80;  // of each side
  const auto middle = [](ValueRange range, int k) {
    return range.low + (k + 0.5) / kCells * range.width();
  };
  const ValueRange all{-1, 1}, x_home{-0.9, -0.4}, x_end{0.25, 1}, y_home{-0.5, 0.3}, y_end{0.7, 1};
  const auto law_on = [&](ValueRange xs, ValueRange ys) {
    std::vector<double> law;
    for (int k = 0; k < kCells * kCells; ++k) {
      const double x = middle(xs, k / kCells), y = middle(ys, k % kCells);
      law.push_back(std::exp(a * x + c * y) * (1 + (b + x * v + y * w).array().exp()).prod() *
                    xs.width() * ys.width() / (kCells * kCells));
    }
    return law;
  };
  const auto sum = [](const std::vector<double>& law) {
    return std::accumulate(law.begin(), law.end(), 0.0);
  };
  for (const bool both : {false, true}) {
    UnitMove move{{3}, {x_home}, {x_end}};
    if (both) move = {{3, 4}, {x_home, y_home}, {x_end, y_end}};
    const ValueRange ys = both ? y_home : all;
    const std::vector<double> home = law_on(x_home, ys);
    const double home_mass = sum(home);
    const int rounds = 400;
    Eigen::VectorXd means(rounds);
    Stream stream(make_key(5, "moves"), Purpose::test);
    for (int r = 0; r < rounds; ++r) {
      Eigen::MatrixXf states = Eigen::MatrixXf::Zero(5, kMovedChains);
      for (int chain = 0; chain < kMovedChains; ++chain) {
        double u = stream.uniform() * home_mass;
        int k = 0;
        while (k + 1 < kCells * kCells && (u -= home[static_cast<std::size_t>(k)]) > 0) ++k;
        states(3, chain) = static_cast<float>(middle(x_home, k / kCells));
        states(4, chain) = static_cast<float>(middle(ys, k % kCells));
      }
      const MovedUnits moved =
          mover.move({move}, 7, states, make_key(static_cast<std::uint64_t>(r), "move"));
      means[r] = moved.log_weights.array().exp().mean();
      CHECK((moved.values.row(3).array() >= 0.25F).all());
      CHECK((moved.values.row(4).minCoeff() >= 0.7F) == both);
    }
    INFO((both ? "both" : "one"));
    check_mean(means, sum(law_on(x_end, both ? y_end : all)) / home_mass);
  }
}

TEST_CASE(
    "weights of units that go from some of their values to others have the mass of these for their mean") {
  const Layered model = enumeration_test::random_network({0, 3}, {3, 2}, 0.9, 9);
  const StateSpace space(model);
  const ValueRange low{-1.1, -0.2}, high{0.2, 1.1}, most{-1.1, 0.5}, top{1, 1}, lowest{-1, -1},
      bottom{static_cast<double>(static_cast<float>(-1.0 / 3)),
             -1.0 / 3};  // rounded, as samples are
  const auto is_in = [](double x, ValueRange range) {
    return x >= range.low - 1e-6 && x <= range.high + 1e-6;
  };
  for (const UnitMove& move :
       {UnitMove{{3}, {low}, {high}}, UnitMove{{3}, {most}, {top}}, UnitMove{{4}, {lowest}, {high}},
        UnitMove{{3, 4}, {low, most}, {high, top}}, UnitMove{{4}, {high}, {bottom}}}) {
    std::vector<std::size_t> at;
    double mass_from = 0, mass_to = 0;
    for (std::size_t x = 0; x < space.states(); ++x) {
      const Eigen::VectorXd values = values_in(model, space, x);
      const double p = space.p()[static_cast<Eigen::Index>(x)];
      bool is_from = true, is_to = true;
      for (std::size_t k = 0; k < move.units.size(); ++k) {
        is_from = is_from && is_in(values[move.units[k]], move.from[k]);
        is_to = is_to && is_in(values[move.units[k]], move.to[k]);
      }
      if (is_to) mass_to += p;
      if (!is_from) continue;
      mass_from += p;
      at.push_back(x);
    }
    const Eigen::VectorXd means =
        mean_weights(model, space, at, move, 4, 7, [&](const MovedUnits& moved) {
          for (std::size_t k = 0; k < move.units.size(); ++k)
            for (const float x : moved.values.row(move.units[k])) CHECK(is_in(x, move.to[k]));
        });
    INFO(move.units[0]);
    check_mean(means, mass_to / mass_from);
  }
}

TEST_CASE("chains that each move a unit of their own are those of moves of one unit") {
  const Layered model = enumeration_test::random_network({0, -1}, {4, 3}, 1.2, 8);
  const UnitMover mover(model);
  Eigen::MatrixXf states = Eigen::MatrixXf::Zero(7, kMovedChains);
  std::vector<UnitMove> moves;
  for (int c = 0; c < kMovedChains; ++c) {
    states.col(c).tail(3) = Eigen::Vector3f(-0.9F, 0.3F, 0.8F) * std::cos(static_cast<float>(c));
    moves.push_back(to_value({4 + c % 3}, c % 2 == 0 ? 1.0 : -1.0));
    if (c % 5 == 0) moves.back() = {{4, 5}, {{-0.95, 0.95}, {-1, 1}}, {{0.1, 1}, {-1, -0.2}}};
  }
  const StreamKey key = make_key(6, "moves");
  const MovedUnits together = mover.move(moves, 9, states, key);
  for (int c = 0; c < kMovedChains; ++c) {
    const MovedUnits alone = mover.move({moves[static_cast<std::size_t>(c)]}, 9, states, key);
    INFO(c);
    CHECK(together.log_weights[c] == alone.log_weights[c]);
    CHECK(together.values.col(c) == alone.values.col(c));
  }
}

TEST_CASE("mean field tells the mass of a gate's other value, and how far its input moves") {
  const Layered model = gates_model();
  const NumberedSides side(model, 1);
  const Eigen::VectorXd means = Eigen::VectorXd::Zero(kGates + kWeak);
  const auto held = hold_each(side, means, {{{0}, {1}}, {{3}, {1}}});
  for (const HeldMeans& gate : held) {
    CHECK(gate.log_ratio == Approx(std::log(kOn)).margin(0.02));
    // From half of all units of the patch on to those of its pattern: twelve times 8 / 2.
    CHECK(gate.changes.sum() == Approx(kPatch * 8 / 2.0).epsilon(0.05));
  }
  // Of X(4) without weights a value holds e^{0.3 x} of the sum of all.
  const Layered alone({Layer{Unit::bernoulli(), Eigen::VectorXd::Zero(1), {}},
                       Layer{Unit::multivalued(4), Eigen::VectorXd::Constant(1, 0.3), {}}},
                      {Eigen::MatrixXd::Zero(1, 1)});
  double all = 0;
  for (int k = 0; k < 5; ++k) all += std::exp(0.3 * Unit::multivalued(4).value(k));
  const HeldMeans highest =
      hold_each(NumberedSides(alone, 1), Eigen::VectorXd::Zero(1), {{{0}, {1}}}).front();
  CHECK(highest.log_ratio == Approx(0.3 - std::log(all)).margin(1e-12));
  CHECK(highest.inputs[0] == Approx(0.3));
}

// Masses near places that are each small beside Z, against enumeration and worked out by hand.
#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/estimate/held/held.hpp"
#include "boltzmark/estimate/places/chosen_base.hpp"
#include "boltzmark/estimate/places/phases.hpp"
#include "boltzmark/exact/enumeration/plain.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/model/sides.hpp"
#include "boltzmark/random/stream.hpp"

using namespace boltzmark;

namespace {

// So many hidden units that each hold a pattern and a share of what there is without them. Of weights of 4
// patterns do not meet: two of them on hold less than e^-40.
Layered crowd(int visible, int patterns, double share) {
  Stream draws(make_key(1, "crowd"), Purpose::test);
  const Eigen::MatrixXd weights = Eigen::MatrixXd::NullaryExpr(
      visible, patterns, [&] { return draws.bernoulli(0.5) ? 4.0 : -4.0; });
  Eigen::VectorXd above(patterns);
  for (int j = 0; j < patterns; ++j)
    above[j] = std::log(share) + visible * std::log(2.0) -
               weights.col(j).unaryExpr([](double w) { return softplus(w); }).sum();
  return Layered::rbm(weights, Eigen::VectorXd::Zero(visible), above);
}

// Holds the masses near a model's places to enumeration, in the mean over 400 runs.
void check_small_masses(const Layered& model) {
  const Modes modes = find_modes(model, Base::uniform(model));
  const Places places = find_places(model, modes, 512);
  REQUIRE(places.count() > 1);
  const Unit unit = model.layer(0).unit;
  const Eigen::VectorXd reached =
      Eigen::VectorXd::Constant(model.units(), (unit.lowest() + unit.highest()) / 2);
  const double log_z = exact_log_z(model).log_z;
  constexpr int kRuns = 400;
  SmallMasses small;
  Eigen::ArrayXd found, squares;
  for (std::uint64_t run = 0; run < kRuns; ++run) {
    small = small_masses(model, places, modes.parity, reached, log_z, make_key(run));
    REQUIRE(small.any());
    if (run == 0) found = squares = Eigen::ArrayXd::Zero(small.log_masses.size());
    const Eigen::ArrayXd masses = small.log_masses.array().exp();
    found += masses / kRuns;
    squares += (masses * small.errors.array()).square() / kRuns;
  }
  // All states of the listed side, the other one summed out.
  const Bipartite sides = list_side(model, modes.parity);
  StateWalk walk(sides, 0);
  const auto units = std::ssize(sides.places);
  Eigen::ArrayXd exact = Eigen::ArrayXd::Zero(found.size());
  const auto states = std::lround(std::exp2(log2_states(model, modes.parity)));
  for (long n = 0; n < states; ++n, walk.next()) {
    Eigen::MatrixXd state = Eigen::MatrixXd::Zero(model.units(), 1);
    const Eigen::Index first = modes.parity == 0 ? 0 : model.size(0);
    for (int i = 0; i < units; ++i) state(first + i, 0) = walk.value(i);
    const int part = small.parts.parts_of(state).front();
    const int group = small.groups[static_cast<std::size_t>(part)];
    if (group >= 0) exact[group] += std::exp(walk.log_weight());
  }
  for (Eigen::Index g = 0; g < found.size(); ++g)
    CHECK(std::abs(found[g] - exact[g]) < 4 * std::sqrt(squares[g] / kRuns));
  CHECK((squares / kRuns).sqrt().maxCoeff() < 0.05 * exact.sum());
}

}  // namespace

TEST_CASE("the mass near a place is that of its own part, wherever draws of its law end") {
  // Patterns of four units that are on by e^1 to 1: laws near places overlap widely.
  Eigen::MatrixXd weights = Eigen::MatrixXd::Constant(12, 3, -1);
  for (int j = 0; j < 3; ++j) weights.block(4 * j, j, 4, 1).setConstant(3);
  const Eigen::VectorXd below = Eigen::VectorXd::Constant(12, -1);
  const Eigen::VectorXd above = Eigen::VectorXd::Constant(3, -1);
  check_small_masses(Layered::rbm(weights, below, above));
  // The same law of spins, x = (1 + s) / 2; and units of three values under more of each parameter.
  for (const auto& [unit, factor] :
       {std::pair{Unit::multivalued(1), 1.0}, std::pair{Unit::multivalued(2), 2.0}}) {
    INFO("units of " << unit.values() << " values");
    const Eigen::VectorXd spins_below = factor * (below / 2 + weights.rowwise().sum() / 4);
    const Eigen::VectorXd spins_above =
        factor * (above / 2 + weights.colwise().sum().transpose() / 4);
    check_small_masses(
        Layered({{unit, spins_below, {}}, {unit, spins_above, {}}}, {factor * weights / 4}));
  }
}

TEST_CASE("masses near places of a deep model are told by the units of the listed layers") {
  // Units that mind none: those of layers 1 and 3 are nearly all on, as at the place.
  std::vector<Layer> layers;
  std::vector<Eigen::MatrixXd> weights;
  for (const int size : {6, 3, 4, 2}) {
    if (!layers.empty())
      weights.emplace_back(Eigen::MatrixXd::Zero(layers.back().bias.size(), size));
    layers.push_back(
        {Unit::bernoulli(), Eigen::VectorXd::Constant(size, layers.size() % 2 == 1 ? 3 : 0), {}});
  }
  const Layered model(layers, weights);
  const double log_z = 10 * std::log(2.0) + 5 * std::log1p(std::exp(3.0));
  const Places one{Chains(model, 1), Eigen::MatrixXf::Ones(15, 1), {log_z}};
  const SmallMasses small =
      small_masses(model, one, 1, Eigen::VectorXd::Zero(15), log_z, make_key(1));
  REQUIRE(small.any());
  Eigen::VectorXd listed = Eigen::VectorXd::Zero(15);
  for (const int unit : {6, 7, 8, 13, 14}) listed[unit] = 1;
  CHECK(small.parts.scales == listed);
  CHECK(small.parts.centres.col(0).isZero(0));
  CHECK(small.parts.centres.col(1) == listed);
}

TEST_CASE("the error of the mass near a place is that of its draws' mean") {
  // Fair units of which none minds another: every draw weighs alike, so that of m of 16 in the part
  // the relative error is sqrt((16 / m - 1) / 15).
  constexpr int kUnits = 7;
  const Layered model = Layered::rbm(Eigen::MatrixXd::Zero(9, kUnits), Eigen::VectorXd::Zero(9),
                                     Eigen::VectorXd::Zero(kUnits));
  const double log_z = (9 + kUnits) * std::log(2.0);
  const Places one{Chains(model, 1), Eigen::MatrixXf::Ones(model.units(), 1), {log_z}};
  const Eigen::VectorXd reached = Eigen::VectorXd::Zero(model.units());
  std::set<long> seen;
  for (std::uint64_t run = 0; run < 20; ++run) {
    const SmallMasses small = small_masses(model, one, 1, reached, log_z, make_key(run));
    REQUIRE(small.log_masses.size() == 1);
    const double inside = 16 / (1 + 15 * small.errors[0] * small.errors[0]);
    CHECK(inside == Approx(std::round(inside)).epsilon(1e-9));
    CHECK(std::exp(small.log_masses[0] - log_z) == Approx(inside / 16).epsilon(1e-9));
    seen.insert(std::lround(inside));
  }
  CHECK(seen.size() > 3);
}

TEST_CASE("patterns of half a percent each, of which a run need meet none, are held to together") {
  constexpr int kVisible = 100, kPatterns = 200;
  constexpr double kShare = 0.012;  // of the flat ground: 0.35 % of all
  const Layered model = crowd(kVisible, kPatterns, kShare);
  const double ground = kVisible * std::log(2.0);
  const ModeSearch search = mode_search(model, 1);
  const ChosenBase chosen = choose_auto_base(model, search, 1);
  const SmallMasses& small = chosen.phases->small;
  REQUIRE(small.any());
  // Groups of places in turn, each of its patterns' number; the ground's own place is of any mass.
  const auto places = std::ssize(small.groups) - 1;
  CHECK(places > 0.9 * kPatterns);
  Eigen::VectorXd of_group = Eigen::VectorXd::Zero(small.log_masses.size());
  for (std::size_t k = 1; k < small.groups.size(); ++k) ++of_group[small.groups[k]];
  CHECK(small.groups.front() == -1);
  CHECK(of_group[0] == 1);
  CHECK(of_group[1] == 1);
  CHECK(of_group[4] == 8);
  for (const Eigen::Index group : {3, 4, 5})
    CHECK(std::exp(small.log_masses[group] - ground) ==
          Approx(kShare * of_group[group]).epsilon(0.02));
  // A run that met the ground alone, and one that met all as often as they are.
  Chains states(model, 400);
  states.randomise(make_key(2));
  states.set_layer(1, Eigen::MatrixXf::Zero(kPatterns, 400));
  const VisitedStates of_ground{.states = {states}, .visits = std::vector<double>(400, 1)};
  Stream draws(make_key(3), Purpose::test);
  for (int c = 0; c < 400; ++c) {
    const double at = draws.uniform() * (1 + kShare * kPatterns);
    const int pattern = static_cast<int>((at - 1) / kShare);
    if (at < 1) continue;
    states.set(1, pattern, c, 1);
    for (int i = 0; i < kVisible; ++i)
      states.set(0, i, c,
                 draws.bernoulli(1 / (1 + std::exp(-model.weights(0)(i, pattern)))) ? 1 : 0);
  }
  const VisitedStates of_all{.states = {states}, .visits = std::vector<double>(400, 1)};
  const auto held = [&](double log_z, const VisitedStates& visited) {
    Estimate estimate{
        .log_z = log_z, .std_error = 0.005, .lower = log_z - 0.01, .upper = log_z + 0.01};
    hold_to_phases(meet_phases(*chosen.phases, visited), estimate);
    return estimate;
  };
  const double truth = ground + std::log1p(kShare * kPatterns);
  CHECK(held(ground, of_ground).status == Status::not_converged);
  CHECK(held(truth, of_ground).status == Status::not_converged);
  const Estimate right = held(truth, of_all);
  CHECK(right.status == Status::ok);
  CHECK(right.std_error == 0.005);
}

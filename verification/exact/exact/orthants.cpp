// What log Z of models with continuous units is certainly not below, against sums and integrals in other code.
#include <catch2/catch.hpp>
#include <cmath>
#include <utility>
#include <vector>

#include "boltzmark/estimate/held/held_estimate.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/estimate/places/phases.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/exact/modes/lower_bound.hpp"
#include "boltzmark/exact/modes/mean_field.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/target/layered_target.hpp"

using namespace boltzmark;

namespace {

LowerBound bound_of(const Layered& model, std::uint64_t seed = 1) {
  return lower_bound(model, Base::uniform(model), {.search = mode_search(model, seed)});
}

// log of the integral of e^{input x} over [-1, 1], by its closed form, or of the mean over so many values
// times 2.
double log_integral(double input, int steps = 0) {
  if (steps > 0) {
    double sum = 0;
    for (int k = 0; k <= steps; ++k)
      sum += std::exp(input * (2.0 * k - steps) / steps - std::abs(input)) * 2 / (steps + 1);
    return std::abs(input) + std::log(sum);
  }
  const double size = std::abs(input);
  return size < 1e-6 ? std::log(2.0) : size + std::log1p(-std::exp(-2 * size)) - std::log(size);
}

// log of the integral of e^{c x + m log phi(b + w x)} over [-1, 1]: m continuous units of bias b under one
// of bias c with equal weights, by Simpson's rule.
double log_block(int m, double w, double b, double c, int steps = 0) {
  constexpr int kHalf = 100'000;
  const auto log_f = [&](double x) { return c * x + m * log_integral(b + w * x, steps); };
  const double highest = std::max(log_f(-1), log_f(1));  // log f is convex
  double sum = 0;
  for (int k = 0; k <= 2 * kHalf; ++k) {
    const double weight = k == 0 || k == 2 * kHalf ? 1 : k % 2 == 1 ? 4 : 2;
    sum += weight * std::exp(log_f(-1 + k / static_cast<double>(kHalf)) - highest);
  }
  return highest + std::log(sum / (3 * kHalf));
}

// So many blocks of m visible units under one hidden one each, all continuous.
Layered blocks(int count, int m, double w, double b, double c) {
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(count * m, count);
  for (int k = 0; k < count; ++k) weights.block(k * m, k, m, 1).setConstant(w);
  return Layered({{Unit::continuous(), Eigen::VectorXd::Constant(count * m, b), {}},
                  {Unit::continuous(), Eigen::VectorXd::Constant(count, c), {}}},
                 {weights});
}

Eigen::MatrixXd uniform_matrix(Stream& draws, int rows, int columns, double scale) {
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return draws.uniform(-scale, scale); });
}

}  // namespace

TEST_CASE("a sum over orthants is never above log Z, of 600 models with a continuous side") {
  Stream draws(make_key(1, "orthants"), Purpose::test);
  double loosest = 0;
  for (int model_number = 0; model_number < 600; ++model_number) {
    const double scale = draws.uniform(0.1, 8);
    const int hidden = 1 + model_number % 4, visible = hidden + 1 + model_number % 5;
    const Unit units[] = {Unit::bernoulli(), Unit::multivalued(1), Unit::multivalued(2)};
    const Unit unit = units[model_number % 3];
    std::vector<Layer> layers = {{unit, uniform_matrix(draws, visible, 1, scale), {}},
                                 {Unit::continuous(), uniform_matrix(draws, hidden, 1, scale), {}}};
    std::vector<Eigen::MatrixXd> weights = {uniform_matrix(draws, visible, hidden, scale)};
    if (model_number % 2 == 0) {  // the side of the continuous layer is the middle one
      layers.push_back({unit, uniform_matrix(draws, 2, 1, scale), {}});
      weights.push_back(uniform_matrix(draws, hidden, 2, scale));
    }
    const Layered model(std::move(layers), std::move(weights));
    REQUIRE(side_of_orthants(model) == 1);
    const MeanFieldBound bound = sum_over_orthants(
        list_side(model, 1), Eigen::MatrixXd::Constant(hidden, 1, model_number % 7 < 3 ? 0.5 : -1));
    const double truth = exact_log_z(model).log_z;
    INFO("model " << model_number << ", scale " << scale);
    CHECK(bound.log_z <= truth + bound.error_bound + 1e-11);
    CHECK(bound.error_bound < 1e-9);
    loosest = std::max(loosest, (truth - bound.log_z) / hidden);
  }
  CHECK(loosest < 0.7);  // nats a unit: a law on a half of the values has much of what there is
}

TEST_CASE("a sum over orthants is log Z where units are independent") {
  // The whole is the sum of its halves, of each unit; discrete ones of the side are taken whole.
  const Layered model(
      {{Unit::bernoulli(), Eigen::VectorXd::Constant(5, 0.3), {}},
       {Unit::continuous(), Eigen::Vector2d(-1.5, 4), {}},
       {Unit::bernoulli(), Eigen::VectorXd::Constant(3, 1), {}},
       {Unit::multivalued(3), Eigen::VectorXd::Constant(1, -0.7), {}}},
      {Eigen::MatrixXd::Zero(5, 2), Eigen::MatrixXd::Zero(2, 3), Eigen::MatrixXd::Zero(3, 1)});
  REQUIRE(side_of_orthants(model) == 1);
  const double truth = exact_log_z(model).log_z;
  for (const double start : {-0.4, 0.4}) {
    const MeanFieldBound bound =
        sum_over_orthants(list_side(model, 1), Eigen::MatrixXd::Constant(3, 1, start));
    CHECK(bound.log_z == Approx(truth).epsilon(0).margin(1e-12));
  }
}

TEST_CASE("orthants are of the side of fewer units, if one of them is continuous") {
  const auto model = [](Unit visible, int m, Unit hidden, int n) {
    return Layered(
        {{visible, Eigen::VectorXd::Zero(m), {}}, {hidden, Eigen::VectorXd::Zero(n), {}}},
        {Eigen::MatrixXd::Zero(m, n)});
  };
  const Unit continuous = Unit::continuous(), many = Unit::multivalued(8);
  CHECK(side_of_orthants(model(continuous, 9, continuous, 3)) == 1);
  CHECK(side_of_orthants(model(continuous, 3, continuous, 9)) == 0);
  CHECK(side_of_orthants(model(continuous, 3, continuous, 3)) == 1);
  CHECK(side_of_orthants(model(many, 9, continuous, 3)) == 1);
  CHECK_FALSE(side_of_orthants(model(many, 3, continuous, 9)));
  CHECK_FALSE(side_of_orthants(model(continuous, 9, many, 3)));
}

TEST_CASE(
    "phases of continuous units are each in the bound, where one product law holds one alone") {
  // A hidden unit pins 40 visible ones or sets them free, at odds of 4.5; of six that is 64 phases.
  constexpr double kBias = -69.96740452512941;
  const double truth = 6 * log_block(40, 3, 3, kBias);
  CHECK(truth == Approx(571.03732).margin(1e-4));
  const LowerBound bound = bound_of(blocks(6, 40, 3, 3, kBias));
  CHECK(bound.lowest() < truth);
  CHECK(bound.lowest() > truth - 0.06);
  CHECK(bound.mean_field == bound.log_z);
  // By one start, whatever it is: the others are across the zeros of its units.
  const Layered model = blocks(6, 40, 3, 3, kBias);
  const MeanFieldBound from_one =
      sum_over_orthants(list_side(model, 1), Eigen::MatrixXd::Constant(6, 1, 0.9));
  CHECK(from_one.log_z == Approx(bound.log_z).epsilon(0).margin(1e-5));
}

TEST_CASE("no run is ok that never met a phase of continuous units") {
  // One of 27 % where the hidden unit is at its other end, which chains leave long before b = 1; and the six
  // blocks of pinned and free units, also with visible ones of nine values.
  const Layered one = blocks(1, 200, 1, 1, -60.14038181870106);
  const Layered six = blocks(6, 40, 3, 3, -69.96740452512941);
  std::vector<Layer> layers = {six.layer(0), six.layer(1)};
  layers[0].unit = Unit::multivalued(8);
  const Layered coarse(layers, {six.weights(0)});
  int below = 0;
  for (const auto& [model, truth] : {std::pair{one, log_block(200, 1, 1, -60.14038181870106)},
                                     {six, 6 * log_block(40, 3, 3, -69.96740452512941)},
                                     {coarse, 6 * log_block(40, 3, 3, -69.96740452512941, 8)}}) {
    CHECK(bound_of(model).lowest() < truth);
    CHECK(bound_of(model).lowest() > truth - 0.1);
    for (const std::uint64_t seed : {1, 2}) {
      const ModeSearch search = mode_search(model, seed);
      const ChosenBase chosen = choose_auto_base(model, search, seed);
      const LayeredTarget target(model, chosen.base);
      const FoundStates found{.modes = chosen.modes, .phases = chosen.phases};
      for (const char* method : {"rts", "ais"}) {
        MethodRuns runs(target, {.chains = 50, .sweeps = 500, .key = make_key(seed)});
        Estimate estimate = runs.estimate(method);
        hold_to_found(target, search, visited_states(runs.top_states()), found, estimate);
        INFO(method << " " << estimate.log_z << " +- " << estimate.std_error << " of " << truth);
        CHECK((estimate.status != Status::ok ||
               std::abs(estimate.log_z - truth) < 5 * estimate.std_error + 0.05));
        below += estimate.status == Status::below_bound;
      }
    }
  }
  CHECK(below > 3);
}

TEST_CASE("no base is chosen whose pilot is certainly too low") {
  // Pairs of one visible and one hidden unit each, of two phases that few states of either side tell apart.
  int too_low = 0;
  for (const std::uint64_t seed : {1, 2}) {
    constexpr int kPairs = 28;
    Stream draws(make_key(seed, "pairs"), Purpose::test);
    Eigen::VectorXd weights(kPairs), below(kPairs), above(kPairs);
    double truth = 0;
    for (int k = 0; k < kPairs; ++k) {
      weights[k] = 20 * draws.normal();
      below[k] = 7 * draws.normal();
      above[k] = 7 * draws.normal();
      truth += log_block(1, weights[k], below[k], above[k]);
    }
    const Layered model({{Unit::continuous(), below, {}}, {Unit::continuous(), above, {}}},
                        {weights.asDiagonal()});
    const ModeSearch search = mode_search(model, seed);
    const ChosenBase chosen = choose_auto_base(model, search, seed);
    const MeanFieldBound certain = bound_by_orthants(model, chosen.modes->states);
    CHECK(certain.log_z < truth);
    CHECK(certain.log_z > truth - 1);
    const auto pilot = [&](const Base& base) {
      const AnnealedParts parts = anneal_parts(model, *chosen.phases, base, {.key = make_key(9)});
      return parts.log_z() + 3 * parts.std_error();
    };
    for (std::size_t k = 1; k < chosen.phases->bases.size(); ++k)
      too_low += pilot(chosen.phases->bases[k]) < certain.log_z;
    CHECK((!chosen.of_modes || pilot(chosen.base) > certain.log_z));
    const LayeredTarget target(model, chosen.base);
    MethodRuns runs(target, {.chains = 100, .sweeps = 1000, .key = make_key(seed)});
    const Estimate estimate = runs.estimate("rts");
    INFO(estimate.log_z << " +- " << estimate.std_error << " of " << truth);
    CHECK(std::abs(estimate.log_z - truth) < 5 * estimate.std_error + 0.05);
  }
  CHECK(too_low > 0);
}

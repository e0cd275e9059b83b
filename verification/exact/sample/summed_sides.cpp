// Annealing with either side of a deep model summed out: worked out by hand where a chain's weight
// is a function of few states, and against enumeration.
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <set>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/model/sides.hpp"
#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "boltzmark/transition/tempered_chains.hpp"
#include "verification/checks/laws/annealing_moments.hpp"
#include "verification/exact/support/enumeration_models.hpp"

using namespace boltzmark;

namespace {

// One unit a layer, biases log 2, log 3 and log 4, no weights.
Layered independent_chain() {
  const auto layer = [](double on) {
    return Layer{.bias = Eigen::VectorXd::Constant(1, std::log(on)), .sigma0 = {}};
  };
  const Eigen::MatrixXd none = Eigen::MatrixXd::Zero(1, 1);
  return {{layer(2), layer(3), layer(4)}, {none, none}};
}

LayeredTarget target_of(const Layered& model, int summed) {
  return {model, Base::uniform(model), LayeredTarget::kPacking, summed};
}

// Every weight that the chains of AIS from the base straight to the model have, rounded.
std::set<long> weights_of(const Target& target) {
  std::set<long> weights;
  const AnnealingResult result = annealed_importance_sampling(
      target, {.ladder = Ladder::linear(2), .chains = 400, .sweeps = 1, .key = make_key(1)});
  for (const double log_weight : result.log_weights) {
    const double weight = std::exp(log_weight);
    CHECK(weight == Approx(std::round(weight)).epsilon(1e-6));  // float32 inputs
    weights.insert(std::lround(weight));
  }
  return weights;
}

}  // namespace

TEST_CASE("a weight of AIS sums out the layers that it is said to, as worked out by hand") {
  // Odd layers out: 2^v 4^h2 (1 + 3) over (1/2)^2, with v and h2 as they are drawn.
  CHECK(weights_of(target_of(independent_chain(), 1)) == std::set<long>{16, 32, 64, 128});
  // Even ones out: 3^h1 (1 + 2) (1 + 4) over 1/2.
  CHECK(weights_of(target_of(independent_chain(), 0)) == std::set<long>{30, 90});
}

TEST_CASE("the moments of AIS with either side summed out have one mean and two variances") {
  const Layered model = enumeration_test::random_network({0, 0, 0, 0}, {2, 3, 1, 2}, 2, 3);
  const Base base = Base::uniform(model);
  const auto moments = [&](int summed) {
    return exact_ais_moments(model, base, Ladder::linear(5), {.summed = summed});
  };
  const AnnealingMoments odd = moments(1), even = moments(0);
  CHECK(odd.log_mean == Approx(even.log_mean).epsilon(1e-12));
  CHECK(odd.log_z == even.log_z);
  CHECK(std::abs(odd.variance_log - even.variance_log) > 0.01);
}

TEST_CASE("weights are biased if sweeps update the side first that they do not sum out") {
  const Layered model = enumeration_test::random_network({0, 0, 0, 0}, {2, 3, 1, 2}, 2, 3);
  const Base base = Base::uniform(model);
  const Ladder ladder = Ladder::linear(4);
  Eigen::VectorXd measure = AnnealingRung(model, base, 0, 0).space.p();
  for (int k = 1; k < ladder.rungs(); ++k) {
    const AnnealingRung below(model, base, ladder[k - 1], 0), rung(model, base, ladder[k], 0);
    measure.array() *= (rung.log_marginal - below.log_marginal).array().exp();
    StateBlock block = measure;
    SweepOperator(rung.space, Rule::gibbs()).push(block);  // odd layers first
    measure = block;
  }
  CHECK(std::abs(std::log(measure.sum()) - AnnealingRung(model, base, 1).log_z) > 1e-3);
}

TEST_CASE("visible units that are summed out cannot be observed, nor the side be changed") {
  const Layered model = independent_chain();
  const LayeredTarget odd = target_of(model, 1), even = target_of(model, 0);
  const Eigen::MatrixXf on = Eigen::MatrixXf::Ones(1, 3);
  const Layered rbm({model.layer(0), model.layer(1)}, {model.weights(0)});
  CHECK_NOTHROW(target_of(rbm, 1).populate(0, 3, make_key(1))->observe(on));
  CHECK_THROWS_WITH(odd.populate(0, 3, make_key(1))->observe(on),
                    Catch::Contains("must be an RBM for cases to be observed"));
  CHECK_THROWS_WITH(even.populate(0, 3, make_key(1))->observe(on),
                    Catch::Contains("summed side = even layers (must be the odd ones"));
  TemperedChains chains(std::make_shared<TemperedModel>(model, Base::uniform(model)), 0, 3);
  CHECK_THROWS_AS(
      chains.set_model(std::make_shared<TemperedModel>(model, Base::uniform(model), Packing{}, 0)),
      InvalidArgument);
  CHECK_THROWS_AS(target_of(model, 2), InvalidArgument);
}

TEST_CASE("annealing with the even layers summed out gives the same bytes for one thread and two") {
  const Layered model = enumeration_test::random_network({0, 0, 0}, {9, 5, 7}, 1, 2);
  const LayeredTarget target = target_of(model, 0);
  const AnnealingOptions options{
      .ladder = Ladder::linear(6), .chains = 70, .sweeps = 10, .key = make_key(4)};
  const Eigen::VectorXd ais = annealed_importance_sampling(target, options).log_weights;
  const Eigen::VectorXd smc = annealed_smc(target, {.annealing = options}).estimate.log_z_rungs;
  const ThreadLimit limit(1);
  CHECK(annealed_importance_sampling(target, options).log_weights == ais);
  CHECK(annealed_smc(target, {.annealing = options}).estimate.log_z_rungs == smc);
}

TEST_CASE("the larger side is that of more units, and of equal ones the odd layers") {
  const auto larger = [](const std::vector<int>& sizes) {
    const std::vector<int> codes(sizes.size(), 0);
    return larger_side(enumeration_test::random_network(codes, sizes, 1, 1));
  };
  CHECK(larger({7, 5}) == 0);
  CHECK(larger({5, 7}) == 1);
  CHECK(larger({5, 5}) == 1);
  CHECK(larger({3, 5, 3}) == 0);
  CHECK(larger({3, 7, 3, 1}) == 1);
}

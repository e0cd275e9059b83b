// log f(v) of single cases of a deep model: the conditioned model exactly, its estimates within
// their errors.
#include "boltzmark/estimate/held/case_likelihood.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/learn/initial.hpp"

using namespace boltzmark;

namespace {

Layered draw_deep_model(const std::vector<int>& sizes, Unit hidden) {
  const Layered bits = initial_network(sizes, 0.8, make_key(sizes.back()));
  std::vector<Layer> layers;
  for (int l = 0; l < bits.layers(); ++l) layers.push_back(bits.layer(l));
  layers[1].unit = hidden;
  return Layered(std::move(layers), bits.weights());
}

}  // namespace

TEST_CASE("log f of a case is the visible term and log Z of the hidden layers given it") {
  for (const std::vector<int>& sizes :
       {std::vector{5, 4, 3}, std::vector{5, 3, 2, 4}, std::vector{4, 2, 3, 2, 3}})
    for (const Unit unit : {Unit::bernoulli(), Unit::multivalued(2)}) {
      const Layered model = draw_deep_model(sizes, unit);
      for (int pattern = 0; pattern < 4; ++pattern) {
        Eigen::VectorXd v(model.size(0));
        for (int i = 0; i < v.size(); ++i) v[i] = (pattern >> i % 2) & 1;
        const double log_z = exact_log_z(hidden_layers_given(model, v)).log_z;
        CHECK(model.bias(0).dot(v) + log_z == Approx(log_unnormalised(model, v)).epsilon(1e-13));
      }
    }
}

// Six standard errors: by chance once in 5e8 estimates.
TEST_CASE("AIS estimates log f of single cases within its error") {
  const Layered model = draw_deep_model({6, 5, 4}, Unit::bernoulli());
  for (int seed = 0; seed < 20; ++seed) {
    Eigen::VectorXd v(6);
    for (int i = 0; i < 6; ++i) v[i] = (seed >> i % 5) & 1;
    MethodSettings settings{.chains = 100, .sweeps = 200};
    settings.key = make_key(static_cast<std::uint64_t>(seed), "case");
    const Estimate estimate = estimate_log_f("ais", model, v, settings);
    const double truth = log_unnormalised(model, v);
    CHECK(std::abs(estimate.log_z - truth) < 6 * estimate.std_error + 1e-9);
    CHECK(estimate.lower <= estimate.log_z);
    CHECK(estimate.log_z <= estimate.upper);
  }
}

TEST_CASE("log f of single cases is refused where it has a closed form or shapes differ") {
  const Layered rbm = initial_network(std::vector{4, 3}, 1, make_key(1));
  CHECK_THROWS_AS(hidden_layers_given(rbm, Eigen::VectorXd::Zero(4)), InvalidArgument);
  const Layered deep = draw_deep_model({4, 3, 2}, Unit::bernoulli());
  CHECK_THROWS_AS(hidden_layers_given(deep, Eigen::VectorXd::Zero(3)), InvalidArgument);
}

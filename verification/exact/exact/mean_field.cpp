// Lower bounds of log Z by naive mean field, one for every start.
#include "boltzmark/exact/modes/mean_field.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/random/stream.hpp"

using namespace boltzmark;

namespace {

Layered draw_rbm(std::uint64_t seed, double size) {
  Stream draws(make_key(seed, "mean field"), Purpose::test);
  Eigen::MatrixXd weights(7, 5);
  for (double& w : weights.reshaped()) w = draws.uniform(-size, size);
  Eigen::VectorXd below(7), above(5);
  for (double& b : below) b = draws.uniform(-1, 1);
  for (double& c : above) c = draws.uniform(-1, 1);
  return Layered::rbm(weights, below, above);
}

Chains random_chains(const Layered& model, int chains) {
  Chains states(model, chains);
  states.randomise(make_key(2));
  return states;
}

}  // namespace

TEST_CASE("mean field's bound is E[log f] + H(q) of the means it ends at, and below log Z") {
  for (const int parity : {0, 1})
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const Layered model = draw_rbm(seed, 1);
      Chains chains = random_chains(model, 20);
      const std::vector<MeanFieldBound> bounds =
          mean_field(model, list_side(model, parity), parity, 500, chains);
      REQUIRE(bounds.size() == 20);
      const double log_z = exact_log_z(model).log_z;
      for (int c = 0; c < 20; ++c) {
        const Eigen::VectorXd v = chains.get_layer(0).col(c).cast<double>();
        const Eigen::VectorXd h = chains.get_layer(1).col(c).cast<double>();
        double value = v.dot(model.weights(0) * h) + v.dot(model.bias(0)) + h.dot(model.bias(1));
        for (const Eigen::VectorXd* means : {&v, &h})
          for (const double m : *means) value -= m * std::log(m) + (1 - m) * std::log1p(-m);
        const MeanFieldBound& bound = bounds[static_cast<std::size_t>(c)];
        CHECK(bound.log_z == Approx(value).epsilon(1e-5));
        CHECK(bound.log_z - bound.error_bound < log_z);
        CHECK(bound.log_z > log_z - 2);
      }
    }
}

TEST_CASE("each chain's bound is that of the phase it starts in") {
  // Twenty visible units that one hidden one turns on, by -25 + 20 log((1 + e^2) / 2) nats.
  const Layered model = Layered::rbm(Eigen::MatrixXd::Constant(20, 1, 2), Eigen::VectorXd::Zero(20),
                                     Eigen::VectorXd::Constant(1, -25));
  Chains chains(model, 2);
  Eigen::MatrixXf above(1, 2);
  above << 0, 1;
  chains.set_layer(1, above);
  const std::vector<MeanFieldBound> bounds = mean_field(model, list_side(model, 1), 1, 50, chains);
  const double off = 20 * std::log(2.0), on = -25 + 20 * std::log1p(std::exp(2.0));
  CHECK(bounds[0].log_z == Approx(off).margin(0.02));
  CHECK(bounds[1].log_z == Approx(on).margin(0.02));
  CHECK(chains.get(1, 0, 0) < 0.02F);
  CHECK(chains.get(1, 0, 1) > 0.98F);
  CHECK(chains.get(0, 0, 1) == Approx(1 / (1 + std::exp(-2.0))).epsilon(0.01));
}

#include "boltzmark/estimate/held/case_likelihood.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "verification/checks/known/known_model.hpp"

using namespace boltzmark;

TEST_CASE("a case whose AIS misses the mode of its hidden layers is below what climbs prove") {
  // Given v, 60 units that one upper unit holds: all of it on is worth 50 nats more than it off, and
  // annealed chains meet it as seldom as 60 fair coins agree.
  const Layer units{.unit = Unit::bernoulli(), .bias = Eigen::VectorXd::Zero(60), .sigma0 = {}};
  Layer one{.unit = Unit::bernoulli(), .bias = Eigen::VectorXd::Zero(1), .sigma0 = {}};
  const Layer holder{
      .unit = Unit::bernoulli(), .bias = Eigen::VectorXd::Constant(1, -250), .sigma0 = {}};
  const Layered model({one, units, holder},
                      {Eigen::MatrixXd::Zero(1, 60), Eigen::MatrixXd::Constant(60, 1, 5)});
  const Eigen::VectorXd v = Eigen::VectorXd::Ones(1);
  // log(2^60 + e^-250 (1 + e^5)^60).
  const double truth = exact_log_z(hidden_layers_given(model, v)).log_z;
  CHECK(truth > 60 * std::log(2.0) + 5);
  const Estimate estimate =
      estimate_log_f("ais", model, v, {.chains = 100, .sweeps = 100, .key = make_key(1)});
  CHECK(estimate.log_z < truth - 5);
  CHECK(estimate.status == Status::below_bound);
  CHECK(estimate.warnings.at(0).find("of log f(v)") == std::string::npos);
  // The visible unit's term is in the numbers, and what is said of them without it says so.
  one.bias[0] = -10;
  const Estimate less =
      estimate_log_f("ais", Layered({one, units, holder}, {model.weights(0), model.weights(1)}), v,
                     {.chains = 100, .sweeps = 100, .key = make_key(1)});
  CHECK(less.log_z == Approx(estimate.log_z - 10).epsilon(1e-12));
  CHECK(less.upper == Approx(estimate.upper - 10).epsilon(1e-12));
  REQUIRE(less.warnings.size() == estimate.warnings.size());
  for (std::size_t n = 0; n < less.warnings.size(); ++n)
    CHECK(less.warnings[n] == "of log f(v) less a'v = -10.0000: " + estimate.warnings[n]);
}

TEST_CASE("a case is held to the phases of its hidden layers as any estimate is") {
  // Above one visible unit, a gate that AIS from the uniform base does not pass: it says ok of what is before,
  // which no certain bound and no visit refutes.
  const KnownModel gate = make_known_model("gate:60:1:12:1");
  const Layered& rbm = gate.model;
  const Layered model(
      {{Unit::bernoulli(), Eigen::VectorXd::Zero(1), {}}, rbm.layer(0), rbm.layer(1)},
      {Eigen::MatrixXd::Zero(1, rbm.size(0)), rbm.weights(0)});
  const Eigen::VectorXd v = Eigen::VectorXd::Ones(1);
  const MethodSettings settings{.chains = 100, .sweeps = 500, .key = make_key(1)};
  const Layered hidden = hidden_layers_given(model, v);
  const Estimate alone =
      estimate_log_z("ais", LayeredTarget(hidden, Base::uniform(hidden)), settings);
  CHECK(alone.log_z < gate.known.log_z - 1);
  CHECK(alone.status == Status::ok);
  const Estimate estimate = estimate_log_f("ais", model, v, settings);
  CHECK(estimate.log_z == alone.log_z);
  CHECK(estimate.status == Status::not_converged);
}

TEST_CASE("the log f of a case has no rungs, whose log Z would be of another law") {
  const auto layer = [](int size) {
    return Layer{.unit = Unit::bernoulli(), .bias = Eigen::VectorXd::Zero(size), .sigma0 = {}};
  };
  const Layered model({layer(3), layer(3), layer(2)},
                      {Eigen::MatrixXd::Constant(3, 3, 0.5), Eigen::MatrixXd::Constant(3, 2, 0.5)});
  const Eigen::VectorXd v = Eigen::VectorXd::Ones(3);
  const MethodSettings settings{
      .chains = 20, .sweeps = 200, .ladder = Ladder::linear(5), .key = make_key(1)};
  const Layered hidden = hidden_layers_given(model, v);
  for (const char* method : {"rts", "smc"}) {
    INFO(method);
    CHECK(estimate_log_z(method, LayeredTarget(hidden, Base::uniform(hidden)), settings)
              .log_z_rungs.size() == 5);
    const Estimate estimate = estimate_log_f(method, model, v, settings);
    CHECK(std::isfinite(estimate.log_z));
    CHECK(estimate.log_z_rungs.size() == 0);
  }
}

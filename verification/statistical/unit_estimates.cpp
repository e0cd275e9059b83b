// Intervals of log Z on peaked models of every kind of unit, sampled by the production kernels.
#include <catch2/catch.hpp>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "decide.hpp"

using namespace boltzmark;
using namespace boltzmark::verification;

namespace {

// One case a method; a bias of 0.8 standard errors is the deviation to be seen.
const StatisticalTest kUnitCoverage(
    {.name = "units: coverage", .false_alarm = 1e-9, .deviation = 0.15, .cases = 6});

struct Peaked {
  Layered model;
  double log_z;
};

Peaked peaked(const std::vector<Unit>& units) {
  Eigen::MatrixXd weights(3, 2);
  weights << 3, -2, -3, 2, 1.5, 2.5;
  std::vector<Layer> layers;
  std::vector<Eigen::MatrixXd> matrices;
  for (std::size_t l = 0; l < units.size(); ++l) {
    const bool wide = l % 2 == 0;
    layers.push_back({.unit = units[l],
                      .bias = wide ? Eigen::VectorXd(Eigen::Vector3d(1, -0.5, 0.25))
                                   : Eigen::VectorXd(Eigen::Vector2d(-1, 2)),
                      .sigma0 = {}});
    if (l > 0) matrices.push_back(wide ? Eigen::MatrixXd(weights.transpose()) : weights);
  }
  Layered model(std::move(layers), std::move(matrices));
  const double log_z = exact_log_z(model).log_z;
  return {std::move(model), log_z};
}

// Likeliest states of e^12 and more times the density of the least likely ones.
std::vector<Peaked> peaked_models() {
  const Unit spin = Unit::multivalued(1), two = Unit::multivalued(2), five = Unit::multivalued(5);
  const Unit many = Unit::multivalued(40), line = Unit::continuous(), bit = Unit::bernoulli();
  return {peaked({spin, five}), peaked({two, line}), peaked({line, two}), peaked({bit, many}),
          peaked({five, line, two})};
}

}  // namespace

// Simulated tempering (rts, ti-rb, mbar), parallel tempering (ss) and annealing. Wang-Landau and
// RAISE do not trust runs as short as these: their exact checks draw multivalued units instead.
TEST_CASE("intervals of log Z hold it on models of every kind of unit, by each way of sampling") {
  const ThreadLimit limit(1);  // runs are too small to share
  const std::vector<Peaked> models = peaked_models();
  for (const char* method : {"ais", "smc", "rts", "ti-rb", "mbar", "ss"}) {
    const auto covered = [&](Stream& stream) -> std::optional<int> {
      const Peaked& one = models[stream.below(models.size())];
      Stream& draws = stream;
      const MethodSettings settings{
          .chains = 120,
          .sweeps = 112,
          .ladder = Ladder::linear(8),
          .states = draws.below(2) == 0 ? States::joint : States::collapsed,
          .key = {draws(), draws()}};
      const LayeredTarget target(one.model, Base::uniform(one.model));
      const Estimate e = estimate_log_z(method, target, settings);
      if (e.status != Status::ok) return std::nullopt;
      return e.lower <= one.log_z && one.log_z <= e.upper ? 1 : 0;
    };
    const Decision decision = decide_proportion(
        kUnitCoverage, 0.91, Claim::at_least, [&](std::size_t samples, StreamKey key) {
          std::vector<int> outcomes;
          std::size_t runs = 0;
          for (; outcomes.size() < samples && runs < 2 * samples; ++runs) {
            Stream stream(key, Purpose::test, runs);
            if (const std::optional<int> outcome = covered(stream)) outcomes.push_back(*outcome);
          }
          INFO(method << ": " << runs << " runs, " << outcomes.size() << " trusted");
          REQUIRE(outcomes.size() == samples);
          return outcomes;
        });
    INFO(method << ": " << decision.summary);
    CHECK(decision.holds);
  }
}

// The standard error of a tracked log Z, against enumeration, on a model that changed since the
// look before.
#include "boltzmark/estimate/held/log_z_tracker.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/exact/log_z.hpp"
#include "decide.hpp"

using namespace boltzmark;
using namespace boltzmark::verification;

namespace {

// With 32 independent chains the error over its standard error has nearly Student's law with 31
// degrees of freedom: half of the estimates are within 0.682. An error half or twice as large as it
// says moves that share by 0.2 and more.
constexpr double kTrackedQuartile = 0.682;
const StatisticalTest kTracked({.name = "the standard error of a tracked log Z",
                                .false_alarm = 1e-9,
                                .deviation = 0.2});

Layered tracked_model(double scale) {
  Eigen::MatrixXd weights(4, 2);
  weights << 2, -1.5, -2.5, 1, 1.5, -2, 1, 1;
  return Layered::rbm(scale * weights, Eigen::VectorXd::Constant(4, 0.5 * scale),
                      Eigen::VectorXd::Constant(2, -scale));
}

}  // namespace

TEST_CASE("the standard error of a tracked log Z is right on a model that changed") {
  const Layered before = tracked_model(0.3), now = tracked_model(0.8);
  const double log_z = exact_log_z(now).log_z;
  const Decision decision =
      decide_proportion(kTracked, 0.5, Claim::equal, one_by_one<int>([&](Stream& stream) {
                          LogZTracker tracker(Base::uniform(now), {.chains = 32,
                                                                   .sweeps = 100,
                                                                   .ladder = Ladder::linear(4),
                                                                   .key = {stream(), stream()}});
                          tracker.look(before);
                          const Estimate found = tracker.look(now).estimate;
                          return std::abs(found.log_z - log_z) < kTrackedQuartile * found.std_error;
                        }));
  INFO(decision.summary);
  CHECK(decision.holds);
}

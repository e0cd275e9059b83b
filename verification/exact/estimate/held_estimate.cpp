// Estimates that are held to what is found beside them, in one call.
#include "boltzmark/estimate/held/held_estimate.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/estimate/methods.hpp"
#include "verification/checks/known/known_model.hpp"

using namespace boltzmark;

TEST_CASE("what a method alone says ok of is right or refused where it is held to what is found") {
  const KnownModel votes = make_known_model("votes:200:60:8:10:1");
  const Estimate alone = estimate_log_z(
      "rts", LayeredTarget(votes.model, Base::uniform(votes.model)), {.sweeps = 1000});
  CHECK(alone.status == Status::ok);
  CHECK(alone.log_z < votes.known.log_z - 9);
  const HeldEstimate held = estimate_held("rts", votes.model, 1, {.sweeps = 1000});
  CHECK(held.chosen.of_modes);
  CHECK(std::abs(held.estimate.log_z - votes.known.log_z) < 5 * held.estimate.std_error);
  CHECK(held.held.bound.log_z > alone.log_z + 5);
  CHECK(held.held.bound.log_z < votes.known.log_z + 1e-6);
  CHECK(held.held.met != nullptr);
  // Another seed has other draws, the same one the same.
  CHECK(estimate_held("rts", votes.model, 1, {.sweeps = 1000}).estimate.log_z ==
        held.estimate.log_z);
  CHECK(estimate_held("rts", votes.model, 2, {.sweeps = 1000}).estimate.log_z !=
        held.estimate.log_z);
}

TEST_CASE("replicas of an estimate that is held start annealed, whatever the settings say") {
  const Layered model = make_known_model("random:8:5:1:1").model;
  MethodSettings settings{.chains = 40, .sweeps = 200, .ladder = Ladder::linear(10)};
  const HeldEstimate held = estimate_held("ss", model, 3, settings);
  settings.key = attempt_key(3);
  const LayeredTarget target(model, held.chosen.base, {.chains = 40, .sweeps = 200});
  const auto alone = [&](bool annealed) {
    settings.annealed_start = annealed;
    return MethodRuns(target, settings).estimate("ss").log_z;
  };
  CHECK(held.estimate.log_z == alone(true));
  CHECK(held.estimate.log_z != alone(false));
}

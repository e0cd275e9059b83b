// Samples of anywhere, whose rungs, D, ladder and weights are held to each other.
#include "boltzmark/estimate/held/stored_rungs.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "boltzmark/estimate/estimators/mbar.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "verification/exact/support/enumeration_models.hpp"

using namespace boltzmark;

namespace {

LayeredTarget stored_target() {
  const Layered model = enumeration_test::random_network({0, 0}, {9, 5}, 1.0, 3);
  return {model, Base::uniform(model)};
}

// Of a model of 14 units, 8 rungs, 1,500 sweeps of 40 chains.
SampleStore stored_samples(Tempering tempering) {
  const LayeredTarget target = stored_target();
  const MethodSettings settings{.chains = 40,
                                .sweeps = 1500,
                                .ladder = Ladder::linear(8),
                                .states = States::joint,
                                .key = make_key(7, "stored")};
  return tempering == Tempering::parallel ? run_replicas(target, settings)
                                          : run_tempering(target, settings).store;
}

bool is_refused(const SampleStore& store, StoredLaw law) {
  Estimate estimate;
  hold_to_rungs(store, law, estimate);
  CHECK((estimate.status == Status::ok) == estimate.warnings.empty());
  return estimate.status == Status::not_converged;
}

Eigen::VectorXd tilted(const Eigen::VectorXd& values, double by) {
  return values + Eigen::VectorXd::LinSpaced(values.size(), 0, by);
}

Ladder changed(const Ladder& ladder, double (*change)(double)) {
  std::vector<double> places;
  for (int k = 0; k < ladder.rungs(); ++k) places.push_back(change(ladder[k]));
  return Ladder(std::move(places));
}

// What both laws refuse: the rungs, their ladder and D do not belong together.
void check_wrong_rungs_refused(const SampleStore& right, StoredLaw law) {
  SampleStore wrong = right;
  wrong.ladder = changed(right.ladder, [](double b) { return b * b; });
  CHECK(is_refused(wrong, law));
  wrong = right;
  wrong.log_ratio *= 0.8;
  CHECK(is_refused(wrong, law));
  wrong = right;
  wrong.rung = right.rungs() - 1 - right.rung.array();
  CHECK(is_refused(wrong, law));
  wrong = right;
  wrong.rung = right.rung.colwise().reverse().eval();  // of other sweeps
  CHECK(is_refused(wrong, law));
}

}  // namespace

TEST_CASE("stored rungs that were drawn by other weights or of other D are refused") {
  const SampleStore right = stored_samples(Tempering::simulated);
  CHECK_FALSE(is_refused(right, StoredLaw::drawn));
  CHECK_FALSE(is_refused(right, StoredLaw::mbar));
  SampleStore wrong = right;
  wrong.log_z_hat = tilted(right.log_z_hat, 0.5);
  CHECK(is_refused(wrong, StoredLaw::drawn));
  CHECK_FALSE(is_refused(wrong, StoredLaw::mbar));  // which does not read them
  wrong.log_z_hat.setZero();
  CHECK(is_refused(wrong, StoredLaw::drawn));
  CHECK_FALSE(is_refused(wrong, StoredLaw::mbar));
  wrong = right;
  wrong.log_prior = tilted(right.log_prior, -0.5);
  CHECK(is_refused(wrong, StoredLaw::drawn));
  wrong = right;
  wrong.log_ratio.array() += 2;  // q(b | x) knows the constant, MBAR's log Z takes it up
  CHECK(is_refused(wrong, StoredLaw::drawn));
  CHECK_FALSE(is_refused(wrong, StoredLaw::mbar));
  check_wrong_rungs_refused(right, StoredLaw::drawn);
  check_wrong_rungs_refused(right, StoredLaw::mbar);
}

TEST_CASE("stored replicas of other rungs or D are refused by MBAR's law") {
  const SampleStore right = stored_samples(Tempering::parallel);
  CHECK_FALSE(right.random_rungs);
  CHECK_FALSE(is_refused(right, StoredLaw::mbar));
  check_wrong_rungs_refused(right, StoredLaw::mbar);
}

TEST_CASE("a constant in the log weights of stored rungs changes no estimate") {
  const SampleStore right = stored_samples(Tempering::simulated);
  SampleStore moved = right;
  moved.log_z_hat.array() += 5;
  CHECK_FALSE(is_refused(moved, StoredLaw::drawn));
  const double truth = exact_log_z(stored_target().tempered_model().model).log_z;
  for (const char* method : {"rts", "ts", "sd", "rsd", "ti-rb", "mbar"}) {
    INFO(method);
    const Estimate first = estimate_from(method, right), second = estimate_from(method, moved);
    CHECK(second.log_z == Approx(first.log_z).epsilon(1e-12));
    CHECK(second.std_error == Approx(first.std_error).epsilon(1e-9));
    CHECK(second.log_z_rungs[0] == Approx(0).margin(1e-12));
    CHECK(std::abs(first.log_z - truth) < 5 * first.std_error + 0.05);
  }
}

TEST_CASE("too few groups of stored samples are not held to each other") {
  SampleStore few = stored_samples(Tempering::simulated);
  few.log_z_hat.setZero();
  few.log_ratio = few.log_ratio.topLeftCorner(4, 1).eval();
  few.rung = few.rung.topLeftCorner(4, 1).eval();
  CHECK_FALSE(is_refused(few, StoredLaw::drawn));
}

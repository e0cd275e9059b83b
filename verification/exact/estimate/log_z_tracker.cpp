// What following log Z promises beside its accuracy: the same bytes for any threads and after a
// restore, draws of its own at each look, and no trust where chains did not travel.
#include "boltzmark/estimate/held/log_z_tracker.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <tuple>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/random/stream.hpp"

using namespace boltzmark;

namespace {

Layered followed_model(std::uint64_t index) {
  Stream stream(make_key(5, "log Z tracker"), Purpose::test, index);
  Eigen::MatrixXd weights(6, 4);
  for (double& w : weights.reshaped()) w = stream.uniform(-1, 1);
  return Layered::rbm(weights, Eigen::VectorXd::Constant(6, -0.5), Eigen::VectorXd::Constant(4, 1));
}

TrackerOptions followed(int sweeps = 100) {
  return {.chains = 20, .sweeps = sweeps, .ladder = Ladder::linear(5), .key = make_key(9)};
}

using Looks = std::vector<std::tuple<double, double, std::int64_t>>;

Looks look_at(LogZTracker& tracker, std::uint64_t from, std::uint64_t to) {
  Looks all;
  for (std::uint64_t index = from; index < to; ++index) {
    const TrackedLogZ found = tracker.look(followed_model(index));
    all.emplace_back(found.estimate.log_z, found.estimate.std_error, found.round_trips);
  }
  return all;
}

LogZTracker tracker_of(const TrackerOptions& options) {
  return {Base::uniform(followed_model(0)), options};
}

}  // namespace

TEST_CASE("a tracked log Z is that of enumeration, whatever the model was before") {
  LogZTracker tracker = tracker_of(followed(2000));
  for (std::uint64_t index = 0; index < 4; ++index) {
    const TrackedLogZ found = tracker.look(followed_model(index));
    CHECK(found.estimate.status == Status::ok);
    CHECK(found.round_trips > 200);
    // Eight standard errors: never by chance. An error of a rung's prior or of the base is larger.
    CHECK(found.estimate.std_error < 0.02);
    CHECK(std::abs(found.estimate.log_z - exact_log_z(followed_model(index)).log_z) <
          8 * found.estimate.std_error);
  }
}

TEST_CASE("a tracker tells the states that its chains met at b = 1") {
  // There all ten units are on, but one in 10^8; at b = 0 half of them are.
  const Layered model = Layered::rbm(Eigen::MatrixXd::Zero(6, 4), Eigen::VectorXd::Constant(6, 20),
                                     Eigen::VectorXd::Constant(4, 20));
  LogZTracker tracker(Base::uniform(model), followed(1000));
  for (int look = 0; look < 2; ++look) {
    const VisitedStates visited = tracker.look(model).visited;
    const double visits = std::accumulate(visited.visits.begin(), visited.visits.end(), 0.0);
    // A fifth of 20,000 sweeps, less those of settling.
    CHECK(visits > 2000);
    CHECK(visits < 8000);
    std::size_t next = 0;
    for (const Chains& states : visited.states)
      for (int c = 0; c < states.chains(); ++c)
        if (visited.visits.at(next++) > 0)
          CHECK(states.get_layer(0).col(c).sum() + states.get_layer(1).col(c).sum() == 10);
    CHECK(next == visited.visits.size());
  }
}

TEST_CASE("a tracker starts anew where the model has changed too much to go on") {
  // From one look to the next log Z moves by hundreds of nats, of which Zhat knows nothing.
  const auto model = [](double scale) {
    return Layered::rbm(Eigen::MatrixXd::Constant(600, 2, 0.01),
                        Eigen::VectorXd::Constant(600, scale), Eigen::VectorXd::Zero(2));
  };
  LogZTracker tracker(
      Base::uniform(model(0)),
      {.chains = 32, .sweeps = 2000, .ladder = Ladder::linear(50), .key = make_key(9)});
  for (const double scale : {0.0, 1.0, -1.0}) {
    const TrackedLogZ found = tracker.look(model(scale));
    INFO(scale << ": " << found.estimate.log_z << " +- " << found.estimate.std_error << ", "
               << found.round_trips);
    CHECK(found.estimate.status == Status::ok);
    CHECK(std::abs(found.estimate.log_z - exact_log_z(model(scale)).log_z) <
          8 * found.estimate.std_error + 1e-4);
  }
}

TEST_CASE("a tracked log Z has the same bytes for any threads and after a restore") {
  LogZTracker whole = tracker_of(followed());
  const Looks expected = look_at(whole, 0, 4);
  {
    const ThreadLimit limit(1);
    LogZTracker one = tracker_of(followed());
    CHECK(look_at(one, 0, 4) == expected);
  }
  LogZTracker stopped = tracker_of(followed());
  look_at(stopped, 0, 2);
  CheckpointWriter out;
  stopped.save(out);
  const std::string bytes = out.finish();
  CheckpointReader in(bytes);
  LogZTracker resumed = tracker_of(followed());
  resumed.restore(followed_model(2), in);
  in.finish();
  CHECK(look_at(resumed, 2, 4) == Looks(expected.begin() + 2, expected.end()));
  // It goes on from where its chains were: a new one finds another number.
  LogZTracker anew = tracker_of(followed());
  CHECK(look_at(anew, 2, 4) != Looks(expected.begin() + 2, expected.end()));
}

TEST_CASE("looks at one model draw anew, and a copy leaves its original as it was") {
  LogZTracker tracker = tracker_of(followed());
  tracker.look(followed_model(0));
  const TrackedLogZ aside = LogZTracker(tracker).look(followed_model(0));
  const TrackedLogZ first = tracker.look(followed_model(0));
  CHECK(aside.estimate.log_z == first.estimate.log_z);
  CHECK(tracker.look(followed_model(0)).estimate.log_z != first.estimate.log_z);
  CHECK(tracker.looks() == 3);
}

TEST_CASE("a tracked log Z of chains that made too few round trips is refused") {
  LogZTracker tracker = tracker_of(followed(2));
  const TrackedLogZ found = tracker.look(followed_model(0));
  CHECK(found.round_trips < 20);
  CHECK(found.estimate.status == Status::not_converged);
  // Twenty are enough of ten chains, not of a hundred.
  TrackerOptions many = followed(14);
  many.chains = 100;
  LogZTracker hundred = tracker_of(many);
  const TrackedLogZ few = hundred.look(followed_model(0));
  CHECK(few.round_trips >= 20);
  CHECK(few.round_trips < 200);
  CHECK(few.estimate.status == Status::not_converged);
  CHECK(few.estimate.warnings.at(0).find("(fewer than 200)") != std::string::npos);
}

TEST_CASE("a tracker refuses settings outside their range, and models that have no base") {
  CHECK_THROWS_AS(tracker_of(followed(1)), InvalidArgument);
  TrackerOptions bad = followed();
  bad.chains = 1;
  CHECK_THROWS_AS(tracker_of(bad), InvalidArgument);
  LogZTracker tracker = tracker_of(followed());
  tracker.look(followed_model(0));
  const Layered other =
      Layered::rbm(Eigen::MatrixXd::Zero(6, 3), Eigen::VectorXd::Zero(6), Eigen::VectorXd::Zero(3));
  CHECK_THROWS_AS(tracker.look(other), InvalidArgument);
}

TEST_CASE("a tracker refuses a place that is none on its ladder, and stays where it was") {
  LogZTracker tracker = tracker_of(followed());
  tracker.look(followed_model(0));
  const auto saved = [&] {
    CheckpointWriter out;
    tracker.save(out);
    return out.finish();
  };
  const std::string before = saved();
  const auto restore = [&](int rung, double log_z) {
    CheckpointWriter out;
    out.write(std::uint64_t{7});
    out.write(Eigen::MatrixXf::Zero(6, 20));
    out.write(Eigen::MatrixXf::Zero(4, 20));
    out.write(std::vector<int>(20, rung));
    out.write(Eigen::MatrixXd(Eigen::VectorXd::Constant(5, log_z)));
    const std::string bytes = out.finish();
    CheckpointReader in(bytes);
    tracker.restore(followed_model(0), in);
  };
  for (const int none : {-1, 5}) CHECK_THROWS_AS(restore(none, 0), DataError);
  CHECK_THROWS_AS(restore(4, std::nan("")), DataError);
  CHECK(saved() == before);
  restore(4, 0);
  CHECK(tracker.looks() == 7);
}

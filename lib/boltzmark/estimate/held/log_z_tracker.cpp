#include "boltzmark/estimate/held/log_z_tracker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/estimate/closing.hpp"
#include "boltzmark/estimate/estimators/rts.hpp"
#include "boltzmark/sample/sample_store.hpp"
#include "boltzmark/sample/tempering/mixing.hpp"
#include "boltzmark/target/layered_target.hpp"

namespace boltzmark {
namespace {

constexpr int kMostRounds = 5;
constexpr int kRoundShare = 25;  // of the sweeps
constexpr double kEven = 1;      // nats
constexpr double kLeastShare =
    1e-300;  // an occupancy below is raised to it, so that its log exists

Eigen::VectorXd uniform_log_prior(int rungs) {
  return Eigen::VectorXd::Constant(rungs, -std::log(static_cast<double>(rungs)));
}

}  // namespace

LogZTracker::LogZTracker(Base base, TrackerOptions options)
    : base_(std::move(base)), options_(std::move(options)) {
  if (options_.chains < 2 || options_.sweeps < 2)
    throw InvalidArgument(fmt::format("chains, sweeps = {}, {} (must be at least 2)",
                                      options_.chains, options_.sweeps));
}

int LogZTracker::round_sweeps() const { return std::max(1, options_.sweeps / kRoundShare); }

StreamKey LogZTracker::key_of(const char* part) const {
  return derive_key(options_.key, fmt::format("look {}", looks_), part);
}

std::unique_ptr<TrackedTempering> LogZTracker::begin(const Target& target, const char* part,
                                                     const TrackedPlace& place) const {
  const TrackingOptions tracking{.chains = options_.chains,
                                 .ladder = options_.ladder,
                                 .log_prior = uniform_log_prior(options_.ladder.rungs()),
                                 .states = States::collapsed,
                                 .key = key_of(part)};
  return std::make_unique<TrackedTempering>(target, tracking, place);
}

// The chains, where they were left, are spread over the rungs.
TrackedPlace LogZTracker::initial_place(const Target& target) const {
  std::optional<Populations> left;
  const TemperedRun initial = simulated_tempering(LayeredTarget(target),
                                                  {.chains = options_.chains,
                                                   .sweeps = options_.sweeps,
                                                   .ladder = options_.ladder,
                                                   .states = States::collapsed,
                                                   .initial_only = true,
                                                   .key = key_of("initial")},
                                                  &left);
  TrackedPlace place{.states = {}, .rungs = {}, .log_z_hat = initial.store.log_z_hat};
  for (int l = 0; l < target->model.layers(); ++l)
    place.states.emplace_back(target->model.size(l), options_.chains);
  for (int g = 0; g < left->groups(); ++g) {
    const Chains& states = left->group(g).layer_states();
    for (int l = 0; l < states.layers(); ++l)
      place.states[l].middleCols(left->first_chain(g), states.chains()) = states.get_layer(l);
  }
  for (int c = 0; c < options_.chains; ++c)
    place.rungs.push_back(
        static_cast<int>(std::int64_t{c} * options_.ladder.rungs() / options_.chains));
  return place;
}

LogZTracker::Settled LogZTracker::settle(TrackedTempering& chains) const {
  const Eigen::VectorXd log_prior = uniform_log_prior(options_.ladder.rungs());
  const int round = round_sweeps();
  chains.hold(round);
  Settled settled{.sweeps = round};
  for (int r = 0; r < kMostRounds && !settled.even && settled.sweeps + 2 * round <= options_.sweeps;
       ++r) {
    const RungSums sums = chains.keep(round).sums;
    settled.sweeps += round;
    const Eigen::VectorXd occupancy =
        (sums.weight.rowwise().sum() / sums.samples).cwiseMax(kLeastShare);
    chains.set_log_z_hat(log_z_from_occupancies(occupancy, log_prior, chains.log_z_hat()));
    const Eigen::ArrayXd excess = occupancy.array().log() - log_prior.array();
    settled.even = excess.abs().maxCoeff() < kEven;
  }
  return settled;
}

TrackedLogZ LogZTracker::look(const Layered& model) {
  const auto target = std::make_shared<const TemperedModel>(
      model, base_,
      Packing{.chains = options_.chains, .sweeps = static_cast<std::uint64_t>(options_.sweeps)});
  auto chains = begin(target, "chains", place_ ? *place_ : initial_place(target));
  Settled settled = settle(*chains);
  if (!settled.even && place_) {
    chains = begin(target, "chains anew", initial_place(target));
    settled = settle(*chains);
  }
  TopStates top(LayeredTarget(target), options_.chains, key_of("states"));
  const TrackedSamples kept = chains->keep(std::max(1, options_.sweeps - settled.sweeps), &top);
  TrackedLogZ found{
      .estimate = rts(kept.sums, uniform_log_prior(options_.ladder.rungs()), chains->log_z_hat()),
      .round_trips = kept.traffic.trips,
      .visited = visited_states(top)};
  judge_exchanges(found.estimate, kept.traffic);
  if (const Eigen::VectorXd& log_z = found.estimate.log_z_rungs;
      log_z.size() > 0 && log_z.allFinite())
    chains->set_log_z_hat(log_z);
  found.estimate = closed(std::move(found.estimate));
  place_ = chains->place();
  ++looks_;
  return found;
}

void LogZTracker::save(CheckpointWriter& out) const {
  out.write(looks_);
  if (!place_) return;
  for (const Eigen::MatrixXf& states : place_->states) out.write(states);
  out.write(place_->rungs);
  out.write(place_->log_z_hat);
}

void LogZTracker::restore(const Layered& model, CheckpointReader& in) {
  const std::uint64_t looks = in.read();
  if (looks == 0) {
    looks_ = 0;
    place_.reset();
    return;
  }
  TrackedPlace place;
  for (int l = 0; l < model.layers(); ++l)
    in.read(place.states.emplace_back(model.size(l), options_.chains));
  place.rungs.resize(static_cast<std::size_t>(options_.chains));
  in.read(place.rungs);
  place.log_z_hat.resize(options_.ladder.rungs());
  in.read(place.log_z_hat);
  const bool on_ladder = std::all_of(place.rungs.begin(), place.rungs.end(), [&](int rung) {
    return rung >= 0 && rung < options_.ladder.rungs();
  });
  if (!on_ladder || !place.log_z_hat.allFinite())
    throw DataError(
        "checkpoint: a place that is none on the ladder of the chains that follow log Z");
  looks_ = looks;
  place_ = std::move(place);
}

}  // namespace boltzmark

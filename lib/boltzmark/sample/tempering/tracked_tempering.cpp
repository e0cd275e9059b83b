#include "boltzmark/sample/tempering/tracked_tempering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/sample/sample_store.hpp"
#include "boltzmark/sample/tempering/tempered_group.hpp"
#include "boltzmark/target/layered_target.hpp"

namespace boltzmark {
namespace {

// An occupancy below this is raised to it, so that its log exists.
constexpr double kLeastOccupancy = 1e-300;

SimulatedTemperingOptions run_options(const TrackingOptions& options) {
  return {.chains = options.chains,
          .sweeps = options.sweeps,
          .ladder = options.ladder,
          .states = options.states,
          .key = options.key};
}

Eigen::VectorXd prior(const TrackingOptions& options) {
  const Eigen::Index rungs = options.ladder.rungs();
  if (options.log_prior.size() == 0) return Eigen::VectorXd::Zero(rungs);
  require_rungs("log_prior", options.log_prior, rungs);
  return options.log_prior;
}

void check(const TrackingOptions& options, const Eigen::VectorXd& log_z_hat) {
  at_least_one("sweeps", options.sweeps);
  if (!(options.alpha >= 0 && options.alpha <= 1))
    throw InvalidArgument(fmt::format("alpha = {} (must be in [0, 1])", options.alpha));
  require_rungs("log_z_hat", log_z_hat, options.ladder.rungs());
}

void check(const TrackedPlace& place, const TemperedModel& model, const TrackingOptions& options) {
  const auto on_ladder = [&](int rung) { return rung >= 0 && rung < options.ladder.rungs(); };
  bool fits = static_cast<int>(place.states.size()) == model.model.layers() &&
              static_cast<int>(place.rungs.size()) == options.chains &&
              std::all_of(place.rungs.begin(), place.rungs.end(), on_ladder);
  for (std::size_t l = 0; fits && l < place.states.size(); ++l)
    fits = place.states[l].rows() == model.model.size(static_cast<int>(l)) &&
           place.states[l].cols() == options.chains;
  if (!fits)
    throw InvalidArgument("place (must be of the model's layers, the chains and the rungs)");
}

}  // namespace

TrackedTempering::TrackedTempering(const std::shared_ptr<const TemperedModel>& model,
                                   const TrackingOptions& options, const Eigen::VectorXd& log_z_hat)
    : model_(model),
      options_(run_options(options)),
      sweeps_(options.sweeps),
      alpha_(options.alpha),
      log_prior_(prior(options)),
      log_z_hat_(log_z_hat),
      populations_(options.chains, [&](int first_chain, int chains) {
        auto population =
            std::make_unique<LayeredPopulation>(model, first_chain, chains, options.key);
        layered_.push_back(population.get());
        return population;
      }) {
  check(options, log_z_hat);
  top_weights_.resize(static_cast<std::size_t>(options.chains));
  for (int g = 0; g < populations_.groups(); ++g)
    groups_.emplace_back(populations_.group(g), populations_.first_chain(g), options_);
}

TrackedTempering::TrackedTempering(const std::shared_ptr<const TemperedModel>& model,
                                   const TrackingOptions& options, const Eigen::VectorXd& log_z_hat,
                                   int settle_sweeps)
    : TrackedTempering(model, options, log_z_hat) {
  at_least_one("settle_sweeps", settle_sweeps);
  parallel_for(groups_.size(), [&](std::size_t g) {
    populations_.group(static_cast<int>(g)).draw_base();
    groups_[g].draw_uniform_rungs();
    groups_[g].hold(settle_sweeps);
  });
}

TrackedTempering::TrackedTempering(const std::shared_ptr<const TemperedModel>& model,
                                   const TrackingOptions& options, const TrackedPlace& place)
    : TrackedTempering(model, options, place.log_z_hat) {
  check(place, *model, options);
  put(place);
}

TrackedTempering::~TrackedTempering() = default;

void TrackedTempering::put(const TrackedPlace& place) {
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const int first = populations_.first_chain(static_cast<int>(g));
    const int count = layered_[g]->chains();
    for (std::size_t l = 0; l < place.states.size(); ++l)
      layered_[g]->set_layer(static_cast<int>(l), place.states[l].middleCols(first, count));
    groups_[g].set_rungs({place.rungs.begin() + first, place.rungs.begin() + first + count});
  }
}

TrackedPlace TrackedTempering::place() const {
  Chains states(model_->model, options_.chains);
  copy_states(states);
  TrackedPlace place{.states = {}, .rungs = {}, .log_z_hat = log_z_hat_};
  for (int l = 0; l < states.layers(); ++l) place.states.push_back(states.get_layer(l));
  for (const TemperedGroup& group : groups_)
    place.rungs.insert(place.rungs.end(), group.rungs().begin(), group.rungs().end());
  return place;
}

void TrackedTempering::set_log_z_hat(const Eigen::VectorXd& log_z_hat) {
  require_rungs("log_z_hat", log_z_hat, log_z_hat_.size());
  log_z_hat_ = log_z_hat;
}

void TrackedTempering::hold(int sweeps) {
  at_least_one("sweeps", sweeps);
  parallel_for(groups_.size(), [&](std::size_t g) {
    layered_[g]->set_model(model_);
    groups_[g].hold(sweeps);
  });
}

TrackedSamples TrackedTempering::keep(int sweeps, TopStates* top_states) {
  at_least_one("sweeps", sweeps);
  require_chains(top_states, options_.chains);
  const Eigen::VectorXd log_weight = log_prior_ - log_z_hat_;
  TemperedRecord record(log_weight.size(), options_.chains, sweeps,
                        batches_per_chain(options_.chains, sweeps));
  record.top_states = top_states;
  parallel_for(groups_.size(), [&](std::size_t g) {
    layered_[g]->set_model(model_);
    groups_[g].run(log_weight, record, 0, sweeps);
  });
  LadderTraffic traffic = record.traffic();
  return {.sums = record.finish(), .traffic = std::move(traffic)};
}

void TrackedTempering::set_model(const Layered& model) {
  model_ = std::make_shared<const TemperedModel>(model, model_->base, Packing{}, model_->summed);
}

void TrackedTempering::advance(std::shared_ptr<const TemperedModel> model) {
  model_ = require_model(model);
  advance(sweeps_);
}

void TrackedTempering::advance(int sweeps) {
  at_least_one("sweeps", sweeps);
  const Eigen::VectorXd log_weight = log_prior_ - log_z_hat_;
  const Eigen::Index rungs = log_weight.size();
  TemperedRecord passed(rungs, options_.chains, std::max(1, sweeps - 1), 1);
  TemperedRecord kept(rungs, options_.chains, 1, 1);
  parallel_for(groups_.size(), [&](std::size_t g) {
    layered_[g]->set_model(model_);
    groups_[g].run(log_weight, passed, 0, sweeps - 1);
    groups_[g].run(log_weight, kept, 0, 1);
  });
  update_log_z(kept.sums.weight);
}

// Shapes  probabilities q(b_k | x) [rungs x chains]
void TrackedTempering::update_log_z(const Eigen::MatrixXd& probabilities) {
  const Eigen::Index top = probabilities.rows() - 1;
  for (Eigen::Index c = 0; c < probabilities.cols(); ++c) top_weights_[c] = probabilities(top, c);
  occupancy_ = probabilities.rowwise().mean().cwiseMax(kLeastOccupancy);
  log_z_full_ = log_z_from_occupancies(occupancy_, log_prior_, log_z_hat_)[top];
  log_z_hat_ = partial_rts_update(occupancy_, log_prior_, log_z_hat_, alpha_);
}

void TrackedTempering::save(CheckpointWriter&) const {
  throw InvalidArgument("checkpoint of tracked tempering (must be of a sampler that can be saved)");
}

void TrackedTempering::restore(CheckpointReader&) {
  throw InvalidArgument("checkpoint of tracked tempering (must be of a sampler that can be saved)");
}

void TrackedTempering::copy_states(Chains& out) const {
  if (out.chains() != options_.chains || !out.fit(model_->model))
    throw InvalidArgument(
        fmt::format("out (must be {} chains of the model's layers)", options_.chains));
  for (int g = 0; g < populations_.groups(); ++g) {
    const Chains& states = layered_[g]->layer_states();
    for (int l = 0; l < out.layers(); ++l)
      std::copy_n(states.block(l, 0),
                  static_cast<std::size_t>(states.blocks()) * states.size(l) * kChainBlock,
                  out.block(l, populations_.first_chain(g) / kChainBlock));
  }
}

}  // namespace boltzmark

#include "boltzmark/sample/tempering/tracked_tempering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/sample/tempering/rts_update.hpp"
#include "boltzmark/target/layered_target.hpp"

namespace boltzmark {
namespace {

// An occupancy below this is raised to it, so that its log exists.
constexpr double kLeastOccupancy = 1e-300;

SimulatedTemperingOptions run_options(const TrackingOptions& options) {
  return {.chains = options.chains,
          .sweeps = options.sweeps,
          .ladder = options.ladder,
          .key = options.key};
}

Eigen::VectorXd prior(const TrackingOptions& options) {
  const Eigen::Index rungs = options.ladder.rungs();
  if (options.log_prior.size() == 0) return Eigen::VectorXd::Zero(rungs);
  if (options.log_prior.size() != rungs || !options.log_prior.allFinite())
    throw InvalidArgument(fmt::format("log_prior = {} values (must be {} finite ones, one a rung)",
                                      options.log_prior.size(), rungs));
  return options.log_prior;
}

void check(const TrackingOptions& options, const Eigen::VectorXd& log_z_hat, int settle_sweeps) {
  if (options.sweeps < 1 || settle_sweeps < 1)
    throw InvalidArgument(fmt::format("sweeps, settle_sweeps = {}, {} (must be at least 1)",
                                      options.sweeps, settle_sweeps));
  if (!(options.alpha >= 0 && options.alpha <= 1))
    throw InvalidArgument(fmt::format("alpha = {} (must be in [0, 1])", options.alpha));
  if (log_z_hat.size() != options.ladder.rungs() || !log_z_hat.allFinite())
    throw InvalidArgument(fmt::format("log_z_hat = {} values (must be {} finite ones, one a rung)",
                                      log_z_hat.size(), options.ladder.rungs()));
}

}  // namespace

TrackedTempering::TrackedTempering(const std::shared_ptr<const TemperedModel>& model,
                                   const TrackingOptions& options, const Eigen::VectorXd& log_z_hat,
                                   int settle_sweeps)
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
  check(options, log_z_hat, settle_sweeps);
  top_weights_.resize(static_cast<std::size_t>(options.chains));
  for (int g = 0; g < populations_.groups(); ++g)
    groups_.emplace_back(populations_.group(g), populations_.first_chain(g), options_);
  parallel_for(groups_.size(), [&](std::size_t g) {
    populations_.group(static_cast<int>(g)).draw_base();
    groups_[g].draw_uniform_rungs();
    groups_[g].hold(settle_sweeps);
  });
}

void TrackedTempering::set_model(const Layered& model) {
  model_ = std::make_shared<const TemperedModel>(model, model_->base, Packing{}, model_->summed);
}

void TrackedTempering::advance(std::shared_ptr<const TemperedModel> model) {
  model_ = std::move(model);
  advance(sweeps_);
}

void TrackedTempering::advance(int sweeps) {
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
  for (Eigen::Index c = 0; c < probabilities.cols(); ++c)
    top_weights_[static_cast<std::size_t>(c)] = probabilities(top, c);
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
  if (out.chains() != options_.chains)
    throw InvalidArgument(
        fmt::format("out = {} chains (must be {})", out.chains(), options_.chains));
  for (int g = 0; g < populations_.groups(); ++g) {
    const Chains& states = layered_[static_cast<std::size_t>(g)]->tempered_chains().states();
    for (int l = 0; l < out.layers(); ++l)
      std::copy_n(states.block(l, 0),
                  static_cast<std::size_t>(states.blocks()) * states.size(l) * kChainBlock,
                  out.block(l, populations_.first_chain(g) / kChainBlock));
  }
}

}  // namespace boltzmark

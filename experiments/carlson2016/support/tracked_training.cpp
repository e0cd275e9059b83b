#include "experiments/carlson2016/support/tracked_training.hpp"

#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "boltzmark/estimate/estimators/rts.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "boltzmark/sample/sample_store.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"

namespace boltzmark::experiments {
namespace {

constexpr int kTrackedRungs = 100;
constexpr double kPretrainingSd = 0.01;
constexpr int kInitialSweeps = 500;  // of the initial iterations

// Each part of a run draws under a key of its own.
StreamKey key_of(const TrackedTrainingOptions& options, std::string_view part) {
  return derive_key(options.key, part);
}

Eigen::MatrixXf all_cases() {
  const DnaCases& cases = dna_cases();
  Eigen::MatrixXf all(cases.train.rows(), cases.train.cols() + cases.valid.cols());
  all << cases.train.matrix(), cases.valid.matrix();
  return all;
}

std::unique_ptr<TrackedTempering> pretrained_tempering(const TrackedTrainingOptions& options) {
  const Layered start = pretrain_dna(options);
  const auto model = std::make_shared<const TemperedModel>(start, dna_base(start));
  return std::make_unique<TrackedTempering>(model, tracking_options(options),
                                            initial_log_z(model, options), kSettleSweeps);
}

}  // namespace

const DnaCases& dna_cases() {
  static const DnaCases cases{load_dataset("dna:fit").values, load_dataset("dna:valid").values};
  return cases;
}

Layered pretrain_dna(const TrackedTrainingOptions& options) {
  const CaseValues& data = dna_cases().train;
  const StreamKey key = key_of(options, "pretraining");
  Trainer trainer(initial_rbm(static_cast<int>(data.rows()), options.hidden, kPretrainingSd, key),
                  data, {.negative = Negative::cd(1), .learning_rate = 0.05, .batch = 100}, key);
  for (int update = 0; update < options.pretraining; ++update) trainer.step();
  return trainer.model();
}

Base dna_base(const Layered& model) {
  const CaseValues& data = dna_cases().train;
  return Base::from_data(model, data, 5.0 * static_cast<double>((data.cols() + 99) / 100));
}

Eigen::VectorXd sloped_log_prior(const Ladder& ladder, double slope) {
  Eigen::VectorXd log_prior(ladder.rungs());
  for (int k = 0; k < ladder.rungs(); ++k) log_prior[k] = slope * ladder[k];
  return log_prior.array() - std::log(log_prior.array().exp().sum());
}

TrackingOptions tracking_options(const TrackedTrainingOptions& options) {
  const Ladder ladder = Ladder::linear(kTrackedRungs);
  return {.chains = options.chains,
          .ladder = ladder,
          .log_prior = sloped_log_prior(ladder, options.prior_slope),
          .alpha = options.alpha,
          .key = key_of(options, "tempering")};
}

Eigen::VectorXd initial_log_z(const std::shared_ptr<const TemperedModel>& model,
                              const TrackedTrainingOptions& options) {
  const TrackingOptions tracking = tracking_options(options);
  const TemperedRun run =
      simulated_tempering(LayeredTarget(model), {.chains = options.chains,
                                                 .sweeps = kInitialSweeps,
                                                 .ladder = tracking.ladder,
                                                 .log_prior = tracking.log_prior,
                                                 .key = key_of(options, "initial iterations")});
  return log_z_from_occupancies(run.sums.weight.rowwise().sum() / run.sums.samples,
                                run.store.log_prior, run.store.log_z_hat);
}

void subtract_negative(const TemperedModel& model, const TrackedTempering& tempering,
                       Chains& buffer, Parameters& sum) {
  tempering.copy_states(buffer);
  subtract_weighted_negative(model.packed, tempering.weights(), buffer, sum);
}

TrackedTraining::TrackedTraining(const TrackedTrainingOptions& options)
    : TrackedTraining(pretrained_tempering(options)) {}

TrackedTraining::TrackedTraining(std::unique_ptr<TrackedTempering> tempering)
    : tempering_(tempering.get()),
      trainer_(tempering_->model()->model, dna_cases().train,
               {.negative = {.sweeps = TrackingOptions().sweeps},
                .optimiser = Optimiser::rms_spectral(),
                .learning_rate = Optimiser::rms_spectral().default_rate()},
               {}, std::move(tempering)),
      cases_(tempering_->model(), 0, static_cast<int>(all_cases().cols())) {
  cases_.set_layer(0, all_cases());
}

void TrackedTraining::sample() { trainer_.sample(); }

TrainValid TrackedTraining::mean_log_f() {
  cases_.set_model(tempering_->model());
  std::vector<double> log_f(static_cast<std::size_t>(cases_.chains()));
  cases_.log_densities(std::vector<float>{1.0F}, log_f);
  const auto train = dna_cases().train.cols(), valid = dna_cases().valid.cols();
  return {.train = std::accumulate(log_f.begin(), log_f.begin() + train, 0.0) /
                   static_cast<double>(train),
          .valid = std::accumulate(log_f.begin() + train, log_f.end(), 0.0) /
                   static_cast<double>(valid)};
}

}  // namespace boltzmark::experiments

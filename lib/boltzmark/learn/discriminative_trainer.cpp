#include "boltzmark/learn/discriminative_trainer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/learn/checkpoint.hpp"
#include "boltzmark/learn/trainer.hpp"

namespace boltzmark {
namespace {

int batch_size(const LabelledCases& cases, const DiscriminativeOptions& options) {
  if (options.batch < 0 || options.batch > cases.count())
    throw InvalidArgument(fmt::format("batch = {} (must be 1..{}, or 0 for all cases)",
                                      options.batch, cases.count()));
  return options.batch == 0 ? cases.count() : options.batch;
}

}  // namespace

DiscriminativeTrainer::DiscriminativeTrainer(DiscriminativeRbm model, const LabelledCases& cases,
                                             const DiscriminativeOptions& options, StreamKey key)
    : model_(std::move(model)),
      cases_(&cases),
      options_(options),
      key_(key),
      minibatches_(cases.count(), batch_size(cases, options), key),
      gradient_(model_.zero_parameters()) {
  if (cases.inputs() != model_.inputs() || cases.classes() != model_.classes())
    throw InvalidArgument(fmt::format("cases = {} inputs, {} classes (must be the model's {}, {})",
                                      cases.inputs(), cases.classes(), model_.inputs(),
                                      model_.classes()));
  if (!std::isfinite(options.learning_rate))
    throw InvalidArgument(
        fmt::format("learning_rate = {} (must be finite)", options.learning_rate));
  if (options.optimiser.kind != Optimiser::Kind::sgd)
    adaptive_.emplace(gradient_, options.optimiser, options.learning_rate);
}

std::uint64_t DiscriminativeTrainer::updates_per_epoch() const {
  return static_cast<std::uint64_t>(minibatches_.per_epoch());
}

void DiscriminativeTrainer::step() {
  class_gradient(model_, *cases_, minibatches_.cases(updates_), gradient_);
  try {
    if (adaptive_)
      model_.add(adaptive_->step(gradient_), 1);
    else
      model_.add(gradient_, options_.learning_rate);
  } catch (const Error& error) {
    throw Diverged(updates_, error.what());
  }
  ++updates_;
}

void DiscriminativeTrainer::run(std::uint64_t every,
                                const std::function<void(const DiscriminativeTrainer&)>& record) {
  if (every < 1) throw InvalidArgument("every = 0 (must be at least 1)");
  if (updates_ == 0) record(*this);
  while (updates_ < options_.updates) {
    step();
    if (updates_ % every == 0 || updates_ == options_.updates) record(*this);
  }
}

std::uint64_t DiscriminativeTrainer::fingerprint() const {
  const std::string inputs =
      fmt::format("discriminative {} | {} batch {} | {}-{}-{} cases {} | key {} {}",
                  model_.hidden_unit().name(), describe(options_.optimiser, options_.learning_rate),
                  batch_size(*cases_, options_), model_.inputs(), model_.hidden(), model_.classes(),
                  cases_->count(), key_.low, key_.high);
  return hash_bytes(inputs, cases_->hash());
}

std::string DiscriminativeTrainer::checkpoint() const {
  CheckpointWriter out;
  out.write(fingerprint());
  out.write(updates_);
  for (const Eigen::MatrixXd& weights : model_.parameters().weights) out.write(weights);
  for (const Eigen::VectorXd& biases : model_.parameters().biases) out.write(biases);
  if (adaptive_) adaptive_->write(out);
  return out.finish();
}

void DiscriminativeTrainer::restore(std::string_view bytes) {
  CheckpointReader in(bytes);
  if (in.read() != fingerprint())
    throw DataError(
        "checkpoint: of other inputs (must come from the same model size, data, options and seed)");
  const std::uint64_t updates = in.read();
  Parameters values = model_.parameters();
  for (Eigen::MatrixXd& weights : values.weights) in.read(weights);
  for (Eigen::VectorXd& biases : values.biases) in.read(biases);
  std::optional<AdaptiveSteps> adaptive = adaptive_;
  if (adaptive) adaptive->read(in);
  in.finish();
  model_ = DiscriminativeRbm(model_.hidden_unit(), std::move(values.weights[0]),
                             std::move(values.weights[1]), std::move(values.biases[0]),
                             std::move(values.biases[1]));
  adaptive_ = std::move(adaptive);
  updates_ = updates;
}

}  // namespace boltzmark

#include "boltzmark/learn/classes/discriminative_trainer.hpp"

#include <fmt/format.h>

#include <utility>

#include "boltzmark/core/error.hpp"

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
    : Ascent(model.zero_parameters(), options.optimiser, options.learning_rate),
      model_(std::move(model)),
      cases_(&cases),
      options_(options),
      key_(key),
      minibatches_(cases.count(), batch_size(cases, options), key) {
  if (cases.inputs() != model_.inputs() || cases.classes() != model_.classes())
    throw InvalidArgument(fmt::format("cases = {} inputs, {} classes (must be the model's {}, {})",
                                      cases.inputs(), cases.classes(), model_.inputs(),
                                      model_.classes()));
}

std::uint64_t DiscriminativeTrainer::updates_per_epoch() const {
  return static_cast<std::uint64_t>(minibatches_.per_epoch());
}

void DiscriminativeTrainer::fill_gradient(Parameters& gradient) {
  class_gradient(model_, *cases_, minibatches_.cases(updates()), gradient);
}

CheckpointInputs DiscriminativeTrainer::inputs() const {
  CheckpointInputs inputs;
  inputs.add("inputs, hidden units, classes",
             fmt::format("{}-{}-{}", model_.inputs(), model_.hidden(), model_.classes()));
  inputs.add("hidden units", "discriminative " + model_.hidden_unit().name());
  inputs.add("optimiser and rate", describe(options_.optimiser, options_.learning_rate));
  inputs.add("batch", std::to_string(batch_size(*cases_, options_)));
  inputs.add("cases", std::to_string(cases_->count()));
  inputs.add_hash("data", {cases_->hash()});
  inputs.add_hash("seed", {key_.low, key_.high});
  return inputs;
}

void DiscriminativeTrainer::save(CheckpointWriter& out) const {
  write_parameters(model_.parameters(), out);
}

void DiscriminativeTrainer::load(CheckpointReader& in) {
  Parameters values = model_.parameters();
  read_parameters(values, in);
  model_ = DiscriminativeRbm(model_.hidden_unit(), std::move(values.weights[0]),
                             std::move(values.weights[1]), std::move(values.biases[0]),
                             std::move(values.biases[1]));
}

}  // namespace boltzmark

#include "boltzmark/learn/pretraining.hpp"

#include <fmt/format.h>

#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/learn/cases/case_source.hpp"
#include "boltzmark/sample/chains/contrastive_divergence.hpp"

namespace boltzmark {
namespace {

constexpr double kPretrainingDecay = 0.001;
constexpr int kSlowEpochs = 5;     // of the lower momentum
constexpr int kEpochsASweep = 20;  // after so many, CD takes a sweep more

int sweeps_in(int rbm, int epoch) { return rbm == 0 ? 1 : epoch / kEpochsASweep + 1; }

double momentum_in(int epoch) { return epoch < kSlowEpochs ? 0.5 : 0.9; }

Layered start_rbm(int rbm, std::span<const int> sizes, NetworkUnits units, StreamKey key) {
  const StreamKey own = derive_key(key, "pretrained rbm", fmt::format("{}", rbm));
  const NetworkUnits pair{rbm == 0 ? units.visible : units.hidden, units.hidden};
  const Layered drawn = initial_rbm(sizes[0], sizes[1], rbm == 0 ? 0.001 : 0.01, own, pair);
  std::vector<Layer> layers{drawn.layer(0), drawn.layer(1)};
  for (Layer& layer : layers) layer.bias.setZero();
  return Layered(std::move(layers), drawn.weights());
}

void check_epochs(const std::vector<int>& epochs, std::size_t rbms) {
  if (rbms < 2) throw InvalidArgument("sizes (must be of three layers or more to be pretrained)");
  if (epochs.size() != rbms)
    throw InvalidArgument(fmt::format("epochs = {} (must be {} numbers, one for each hidden layer)",
                                      fmt::join(epochs, ","), rbms));
  for (const int epoch : epochs) at_least_one("epochs", epoch);
}

}  // namespace

Layered compose_stack(std::span<const Layered> rbms) {
  if (rbms.empty()) throw InvalidArgument("rbms (must be one or more)");
  std::vector<Layer> layers{rbms.front().layer(0)};
  std::vector<Eigen::MatrixXd> weights;
  for (const Layered& rbm : rbms) {
    Layer& shared = layers.back();
    if (!rbm.is_rbm() || rbm.layer(0).unit != shared.unit ||
        rbm.size(0) != static_cast<int>(shared.bias.size()))
      throw InvalidArgument("rbms (must each stand on the hidden layer of the one before)");
    if (!weights.empty()) shared.bias += rbm.bias(0);
    weights.push_back(rbm.weights(0));
    layers.push_back(rbm.layer(1));
  }
  return Layered(std::move(layers), std::move(weights));
}

Pretraining::Pretraining(std::vector<int> sizes, NetworkUnits units,
                         std::shared_ptr<CaseSource> cases, PretrainingOptions options,
                         StreamKey key)
    : cases_(std::move(cases)), options_(std::move(options)), key_(key) {
  if (!cases_) throw InvalidArgument("cases = none (must be given)");
  check_epochs(options_.epochs, sizes.empty() ? 0 : sizes.size() - 1);
  for (std::size_t l = 0; l + 1 < sizes.size(); ++l)
    rbms_.push_back(start_rbm(static_cast<int>(l), std::span(sizes).subspan(l, 2), units, key));
  plan();
  start_stage();
}

// Epochs of equal settings are one stage.
void Pretraining::plan() {
  const auto per_epoch =
      static_cast<std::uint64_t>(Minibatches(cases_->cases(), options_.batch, key_).per_epoch());
  for (int l = 0; l < static_cast<int>(rbms_.size()); ++l)
    for (int epoch = 0; epoch < options_.epochs[l]; ++epoch) {
      const Stage next{l, sweeps_in(l, epoch), momentum_in(epoch), per_epoch};
      const bool same = !stages_.empty() && stages_.back().rbm == l &&
                        stages_.back().sweeps == next.sweeps &&
                        stages_.back().momentum == next.momentum;
      if (same)
        stages_.back().updates += per_epoch;
      else
        stages_.push_back(next);
    }
}

void Pretraining::start_stage() {
  trainer_.reset();
  if (stage_ == stages_.size()) return;
  const Stage& stage = stages_[stage_];
  const int rbms = static_cast<int>(rbms_.size());
  std::vector<Layered> below;  // as their hidden layers are drawn
  for (int l = 0; l < stage.rbm; ++l)
    below.push_back(with_input_times(rbms_[l], 1, copies_in_stack(l, rbms).visible));
  const StreamKey key = derive_key(key_, "pretraining stage", fmt::format("{}", stage_));
  const auto source =
      std::make_shared<StackedCases>(cases_, std::move(below), updates_before(stage_), key);
  const Layered& start = rbms_[stage.rbm];
  TrainOptions options{.negative = Negative::cd(stage.sweeps),
                       .learning_rate = options_.learning_rate / stage.sweeps,
                       .weight_decay = kPretrainingDecay,
                       .batch = options_.batch,
                       .updates = stage.updates};
  options.optimiser.momentum = stage.momentum;
  const SamplerSetup setup{.model = start,
                           .packing = {.chains = options.batch, .values = source->are_values()},
                           .draws = std::make_shared<PhiloxDraws>(key)};
  trainer_ = std::make_unique<Trainer>(
      start, source, options, key,
      std::make_unique<TiedDivergence>(setup, copies_in_stack(stage.rbm, rbms)));
}

void Pretraining::step() {
  if (finished()) return;
  trainer_->step();
  const Stage& stage = stages_[stage_];
  if (trainer_->updates() < stage.updates) return;
  rbms_[stage.rbm] = trainer_->model();
  ++stage_;
  start_stage();
}

std::uint64_t Pretraining::updates_before(std::size_t stage) const {
  std::uint64_t sum = 0;
  for (std::size_t s = 0; s < stage; ++s) sum += stages_[s].updates;
  return sum;
}

std::uint64_t Pretraining::updates() const {
  return updates_before(stage_) + (finished() ? 0 : trainer_->updates());
}

std::uint64_t Pretraining::total_updates() const { return updates_before(stages_.size()); }

Layered Pretraining::model() const {
  std::vector<Layered> rbms = rbms_;
  if (!finished()) rbms[stages_[stage_].rbm] = trainer_->model();
  return compose_stack(rbms);
}

CheckpointInputs Pretraining::inputs() const {
  CheckpointInputs inputs;
  std::vector<std::string> rbms;
  for (const Layered& rbm : rbms_)
    rbms.push_back(fmt::format("{} {} {} {}", rbm.size(0), rbm.layer(0).unit.name(), rbm.size(1),
                               rbm.layer(1).unit.name()));
  inputs.add("RBMs", fmt::format("{}", fmt::join(rbms, ", ")));
  inputs.add("epochs of pretraining", fmt::format("{}", fmt::join(options_.epochs, ",")));
  inputs.add("batch", std::to_string(options_.batch));
  inputs.add("rate of pretraining", fmt::format("{}", options_.learning_rate));
  inputs.add_hash("data", {cases_->hash(0)});
  inputs.add_hash("seed", {key_.low, key_.high});
  return inputs;
}

// The stage, every RBM as its last finished stage left it, and the run of the one in training.
std::string Pretraining::checkpoint() const {
  CheckpointWriter out;
  inputs().write(out);
  out.write(static_cast<std::uint64_t>(stage_));
  for (const Layered& rbm : rbms_) {
    out.write(rbm.weights(0));
    for (const int layer : {0, 1}) out.write(rbm.bias(layer));
  }
  out.write(finished() ? "" : trainer_->checkpoint());
  return out.finish();
}

void Pretraining::restore(std::string_view bytes) {
  CheckpointReader in(bytes);
  inputs().check(in);
  const std::uint64_t stage = in.read();
  if (stage > stages_.size())
    throw DataError(
        fmt::format("checkpoint: stage {} (must be at most {})", stage, stages_.size()));
  std::vector<Layered> rbms = rbms_;
  for (Layered& rbm : rbms) {
    std::vector<Layer> layers{rbm.layer(0), rbm.layer(1)};
    Eigen::MatrixXd weights = rbm.weights(0);
    in.read(weights);
    for (Layer& layer : layers) in.read(layer.bias);
    rbm = Layered(std::move(layers), {std::move(weights)});
  }
  const std::string run = in.read_text();
  in.finish();
  if (stage == stages_.size() && !run.empty())
    throw DataError("checkpoint: too long (must end with the last RBM)");
  stage_ = static_cast<std::size_t>(stage);
  rbms_ = std::move(rbms);
  start_stage();
  if (!finished()) trainer_->restore(run);
}

}  // namespace boltzmark

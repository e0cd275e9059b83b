#include "boltzmark/learn/trainer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "boltzmark/learn/weighted_negative.hpp"
#include "boltzmark/transition/statistics.hpp"

namespace boltzmark {
namespace {

constexpr int kVisible = 0;
constexpr int kHidden = 1;

// Checks before any member allocates; returns the cases of an update.
int batch_of(const Layered& model, const Eigen::MatrixXf& data, const TrainOptions& options) {
  for (int l = 0; l < model.layers(); ++l) {
    if (model.layer(l).unit.has_scale())
      throw InvalidArgument("model (must have no Gaussian units)");
    require_law(options.rule, model.layer(l).unit);
  }
  if (data.rows() != model.size(kVisible) || data.cols() < 1)
    throw InvalidArgument(fmt::format("data = [{} x {}] (must be [{} x cases], a case or more)",
                                      data.rows(), data.cols(), model.size(kVisible)));
  const Unit unit = model.layer(kVisible).unit;
  const auto lowest = static_cast<float>(unit.lowest());
  const auto highest = static_cast<float>(unit.highest());
  if (!(data.array() >= lowest && data.array() <= highest).all())
    throw InvalidArgument(
        fmt::format("data = a value outside [{}, {}] (must be within, for {} units)", lowest,
                    highest, unit.name()));
  if (options.batch < 0 || options.batch > data.cols())
    throw InvalidArgument(
        fmt::format("batch = {} (must be 1..{}, or 0 for all cases)", options.batch, data.cols()));
  if (!(options.weight_decay >= 0 && std::isfinite(options.weight_decay)))
    throw InvalidArgument(
        fmt::format("weight_decay = {} (must be finite and not negative)", options.weight_decay));
  return options.batch == 0 ? static_cast<int>(data.cols()) : options.batch;
}

// Only tables and tiles need to know: cases may be grey levels.
Packing packing_of(const Layered& model, const Eigen::MatrixXf& data, int chains) {
  const Unit unit = model.layer(kVisible).unit;
  const auto low = static_cast<float>(unit.lowest()), high = static_cast<float>(unit.highest());
  return {.chains = chains, .values = (data.array() == low || data.array() == high).all()};
}

std::unique_ptr<Sampler> sampler_of(const Layered& model, const Eigen::MatrixXf& data,
                                    const TrainOptions& options, StreamKey key,
                                    std::shared_ptr<const Draws> draws) {
  const int chains = batch_of(model, data, options);
  return make_sampler(options.negative,
                      {.model = model,
                       .packing = packing_of(model, data, chains),
                       .rule = options.rule,
                       .key = key,
                       .draws = draws ? std::move(draws) : std::make_shared<PhiloxDraws>(key)});
}

}  // namespace

Trainer::Trainer(Layered model, const Eigen::MatrixXf& data, const TrainOptions& options,
                 StreamKey key, std::shared_ptr<const Draws> draws)
    : Trainer(model, data, options, key, sampler_of(model, data, options, key, std::move(draws))) {}

Trainer::Trainer(Layered model, const Eigen::MatrixXf& data, const TrainOptions& options,
                 StreamKey key, std::unique_ptr<Sampler> sampler)
    : Ascent(model.zero_parameters(), options.optimiser, options.learning_rate),
      model_(std::move(model)),
      data_(&data),
      options_(options),
      key_(key),
      minibatches_(static_cast<int>(data.cols()), batch_of(model_, data, options), key),
      positive_(model_, batch_of(model_, data, options)),
      sampler_(std::move(sampler)),
      negative_(model_, sampler_->chains()) {
  if (!model_.is_rbm()) mean_field_.emplace(model_, options.mean_field);
}

void Trainer::sample() {
  sampler_->set_model(model_);
  load_cases();
  if (model_.is_rbm()) fill_inputs(sampler_->packed(), positive_, kHidden, inputs_);
  sampler_->start_at(positive_, inputs_, case_weights_);
  sampler_->advance(options_.negative.sweeps);
  sampled_ = true;
}

void Trainer::fill_gradient(Parameters& gradient) {
  if (!sampled_) sample();
  sampled_ = false;
  for (Eigen::MatrixXd& weights : gradient.weights) weights.setZero();
  for (Eigen::VectorXd& biases : gradient.biases) biases.setZero();
  fill_means();
  add_statistics(positive_, case_weights_, 1.0 / static_cast<double>(cases_.size()), gradient);
  sampler_->take_states(negative_);
  subtract_weighted_negative(sampler_->negative_packed(), sampler_->weights(), negative_, gradient);
  sampler_->follow(gradient);
  if (options_.weight_decay == 0) return;
  for (std::size_t l = 0; l < gradient.weights.size(); ++l)
    gradient.weights[l] -= options_.weight_decay * model_.weights(static_cast<int>(l));
}

// The positive phase.
void Trainer::fill_means() {
  if (!mean_field_) return set_means(sampler_->packed(), positive_, kHidden, inputs_);
  mean_field_->set_model(model_);
  mean_field_->fill(positive_);
}

// Puts the minibatch's cases side by side as chains. Batch learning loads them once.
void Trainer::load_cases() {
  if (minibatches_.is_whole() && !cases_.empty()) return;
  const std::span<const int> cases = minibatches_.cases(updates());
  cases_.assign(cases.begin(), cases.end());
  const int units = model_.size(kVisible);
  const Unit unit = model_.layer(kVisible).unit;
  for (int c = 0; c < static_cast<int>(cases.size()); ++c) {
    const float* values = data_->col(cases[c]).data();
    float* out = positive_.block(kVisible, c / kChainBlock) + c % kChainBlock;
    for (int u = 0; u < units; ++u)
      out[static_cast<std::size_t>(u) * kChainBlock] = unit.stored(values[u]);
  }
  // A last, smaller minibatch leaves chains over; they move but do not count.
  case_weights_.clear();
  if (static_cast<int>(cases.size()) < positive_.chains()) {
    case_weights_.assign(cases.size(), 1.0F);
    case_weights_.resize(positive_.chains(), 0.0F);
  }
}

// The number of updates asked for may differ, so that a run can be prolonged.
std::uint64_t Trainer::fingerprint() const {
  std::vector<std::string> sizes, units;
  for (int l = 0; l < model_.layers(); ++l) {
    sizes.push_back(std::to_string(model_.size(l)));
    units.push_back(model_.layer(l).unit.name());
  }
  std::string inputs =
      fmt::format("{} {} {} {} {} | {} {} cases {} | key {} {}", sampler_->name(),
                  options_.negative.description(), options_.rule.name(),
                  describe(options_.optimiser, options_.learning_rate), positive_.chains(),
                  fmt::join(sizes, "x"), fmt::join(units, " "), data_->cols(), key_.low, key_.high);
  if (options_.weight_decay != 0) inputs += fmt::format(" | decay {}", options_.weight_decay);
  if (mean_field_)
    inputs += fmt::format(" | mean field {} {}", options_.mean_field.updates,
                          options_.mean_field.tolerance);
  const auto* values = reinterpret_cast<const char*>(data_->data());
  return hash_bytes({values, sizeof(float) * static_cast<std::size_t>(data_->size())},
                    hash_bytes(inputs));
}

void Trainer::save(CheckpointWriter& out) const {
  if (sampled_)
    throw InvalidArgument("checkpoint (must not be made between sample and its update)");
  for (const Eigen::MatrixXd& weights : model_.weights()) out.write(weights);
  for (int l = 0; l < model_.layers(); ++l) out.write(model_.bias(l));
  sampler_->save(out);
}

void Trainer::load(CheckpointReader& in) {
  std::vector<Layer> layers;
  std::vector<Eigen::MatrixXd> weights = model_.weights();
  for (Eigen::MatrixXd& matrix : weights) in.read(matrix);
  for (int l = 0; l < model_.layers(); ++l) {
    layers.push_back(model_.layer(l));
    in.read(layers.back().bias);
  }
  sampler_->restore(in);
  sampled_ = false;
  model_ = Layered(std::move(layers), std::move(weights));
}

}  // namespace boltzmark

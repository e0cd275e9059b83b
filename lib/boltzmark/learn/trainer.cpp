#include "boltzmark/learn/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "boltzmark/transition/statistics.hpp"

namespace boltzmark {
namespace {

constexpr int kVisible = 0;
constexpr int kHidden = 1;

// Checks before any member allocates; returns the batch that the options mean.
int check_inputs(const Layered& model, const Eigen::MatrixXf& data, const TrainOptions& options) {
  if (!model.is_rbm() || model.layer(kVisible).unit.is_gaussian() ||
      model.layer(kHidden).unit.is_gaussian())
    throw InvalidArgument("model (must be an RBM without Gaussian units)");
  if (data.rows() != model.size(kVisible) || data.cols() < 1)
    throw InvalidArgument(fmt::format("data = [{} x {}] (must be [{} x cases], a case or more)",
                                      data.rows(), data.cols(), model.size(kVisible)));
  for (const int l : {kVisible, kHidden}) require_law(options.rule, model.layer(l).unit);
  const Unit unit = model.layer(kVisible).unit;
  const auto lowest = static_cast<float>(unit.lowest());
  const auto highest = static_cast<float>(unit.highest());
  if (!(data.array() >= lowest && data.array() <= highest).all())
    throw InvalidArgument(
        fmt::format("data = a value outside [{}, {}] (must be within, for {} units)", lowest,
                    highest, unit.name()));
  if (!std::isfinite(options.learning_rate))
    throw InvalidArgument(
        fmt::format("learning_rate = {} (must be finite)", options.learning_rate));
  if (options.batch < 0 || options.batch > data.cols())
    throw InvalidArgument(
        fmt::format("batch = {} (must be 1..{}, or 0 for all cases)", options.batch, data.cols()));
  return options.batch == 0 ? static_cast<int>(data.cols()) : options.batch;
}

// Only tables and tiles need to know: cases may be grey levels.
Packing packing_of(const Layered& model, const Eigen::MatrixXf& data, int chains) {
  const Unit unit = model.layer(kVisible).unit;
  const auto low = static_cast<float>(unit.lowest()), high = static_cast<float>(unit.highest());
  return {.chains = chains, .values = (data.array() == low || data.array() == high).all()};
}

TemperingOptions tempering_options(const TrainOptions& options) {
  return {.inverse_temperatures = uniform_ladder(options.negative.temperatures),
          .rule = options.rule,
          .sweeps = options.negative.sweeps};
}

}  // namespace

Diverged::Diverged(std::uint64_t update, const std::string& reason)
    : Error(fmt::format("training diverged at update {}: {} (try a lower learning rate)", update,
                        reason)),
      update_(update) {}

Trainer::Trainer(Layered model, const Eigen::MatrixXf& data, const TrainOptions& options,
                 StreamKey key, std::shared_ptr<const Draws> draws)
    : model_(std::move(model)),
      data_(&data),
      options_(options),
      key_(key),
      draws_(draws ? std::move(draws) : std::make_shared<PhiloxDraws>(key)),
      minibatches_(static_cast<int>(data.cols()), check_inputs(model_, data, options), key),
      positive_(model_, options.batch == 0 ? static_cast<int>(data.cols()) : options.batch),
      negative_(positive_),
      packed_(model_, packing_of(model_, data, positive_.chains())),
      gradient_(model_.zero_parameters()) {
  if (options_.optimiser.kind != Optimiser::Kind::sgd)
    adaptive_.emplace(gradient_, options_.optimiser, options_.learning_rate);
  if (options_.negative.kind == Negative::Kind::pcd) {
    persistent_.emplace(positive_).randomise(key);
  } else if (options_.negative.kind == Negative::Kind::pt) {
    tempering_.emplace(model_, Base::uniform(model_), positive_.chains(),
                       tempering_options(options_));
    tempering_->chains().randomise(key);
  }
}

void Trainer::step() {
  try {
    packed_.update(model_);
    load_cases();
    for (Eigen::MatrixXd& weights : gradient_.weights) weights.setZero();
    for (Eigen::VectorXd& biases : gradient_.biases) biases.setZero();
    fill_inputs(packed_, positive_, kHidden, inputs_);
    set_means(packed_, positive_, kHidden, inputs_);
    add_statistics(positive_, case_weights_, 1.0 / static_cast<double>(cases_.size()), gradient_);
    draw_negative();
    set_means(packed_, negative_, kHidden);
    const std::span<const float> weights = negative_weights();
    const auto samples =
        weights.empty() ? static_cast<std::size_t>(negative_.chains()) : cases_.size();
    add_statistics(negative_, weights, -1.0 / static_cast<double>(samples), gradient_);
    if (adaptive_)
      model_.add(adaptive_->step(gradient_), 1);
    else
      model_.add(gradient_, options_.learning_rate);
  } catch (const Error& error) {
    throw Diverged(updates_, error.what());
  }
  ++updates_;
}

void Trainer::run(std::uint64_t every, const std::function<void(const Trainer&)>& record) {
  if (every < 1) throw InvalidArgument("every = 0 (must be at least 1)");
  if (updates_ == 0) record(*this);
  while (updates_ < options_.updates) {
    step();
    if (updates_ % every == 0 || updates_ == options_.updates) record(*this);
  }
}

Chains* Trainer::persistent() {
  if (tempering_) return &tempering_->chains();
  return persistent_ ? &*persistent_ : nullptr;
}

// Puts the minibatch's cases side by side as chains. Batch learning loads them once.
void Trainer::load_cases() {
  if (minibatches_.is_whole() && !cases_.empty()) return;
  const std::span<const int> cases = minibatches_.cases(updates_);
  cases_.assign(cases.begin(), cases.end());
  const int units = model_.size(kVisible);
  const Unit unit = model_.layer(kVisible).unit;
  for (int c = 0; c < static_cast<int>(cases.size()); ++c) {
    const float* values = data_->col(cases[c]).data();
    float* out = positive_.block(kVisible, c / kChainBlock) + c % kChainBlock;
    for (int u = 0; u < units; ++u)
      out[static_cast<std::size_t>(u) * kChainBlock] = stored_state(unit, values[u]);
  }
  // A last, smaller minibatch leaves chains over; they move but do not count.
  case_weights_.clear();
  if (static_cast<int>(cases.size()) < positive_.chains()) {
    case_weights_.assign(cases.size(), 1.0F);
    case_weights_.resize(positive_.chains(), 0.0F);
  }
}

// Only CD's samples belong to cases; persistent ones all count.
std::span<const float> Trainer::negative_weights() const {
  if (options_.negative.kind == Negative::Kind::cd) return case_weights_;
  return {};
}

void Trainer::draw_negative() {
  switch (options_.negative.kind) {
    case Negative::Kind::cd:
      return draw_cd();
    case Negative::Kind::pcd:
      return draw_persistent();
    case Negative::Kind::pt:
      tempering_->step(model_, packed_, *draws_);
      return tempering_->gather(tempering_->temperatures() - 1, negative_);
  }
}

// h0 ~ Gibbs p(h | v0), T_v, then k - 1 times T_h T_v: sweep counters k n .. k n + k - 1.
void Trainer::draw_cd() {
  const int k = options_.negative.sweeps;
  const std::uint64_t first = updates_ * static_cast<std::uint64_t>(k);
  copy_visible(positive_, negative_);
  draw_layer(packed_, negative_, *draws_, {.rule = Rule::gibbs(), .first_sweep = first}, kHidden,
             inputs_);
  half_sweep(packed_, negative_, *draws_, {.rule = options_.rule, .first_sweep = first}, 0);
  sweep(packed_, negative_, *draws_,
        {.rule = options_.rule, .first_sweep = first + 1, .sweeps = k - 1});
}

void Trainer::draw_persistent() {
  const int k = options_.negative.sweeps;
  sweep(packed_, *persistent_, *draws_,
        {.rule = options_.rule,
         .first_sweep = updates_ * static_cast<std::uint64_t>(k),
         .sweeps = k});
  // The chains keep their own h, which T needs; only the copy gets probabilities.
  copy_visible(*persistent_, negative_);
}

void Trainer::copy_visible(const Chains& from, Chains& to) const {
  const std::size_t values =
      static_cast<std::size_t>(from.blocks()) * from.size(kVisible) * kChainBlock;
  std::copy_n(from.block(kVisible, 0), values, to.block(kVisible, 0));
}

}  // namespace boltzmark

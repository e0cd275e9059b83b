#include "boltzmark/learn/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/transition/statistics.hpp"

namespace boltzmark {
namespace {

void check_weights(std::span<const double> weights, const Chains& chains) {
  if (weights.size() != static_cast<std::size_t>(chains.chains()))
    throw InvalidArgument(
        fmt::format("weights = {} values (must be {})", weights.size(), chains.chains()));
  for (const double weight : weights)
    if (!(weight >= 0 && std::isfinite(weight)))
      throw InvalidArgument(fmt::format("weights = {} (must be finite and not negative)", weight));
  if (*std::max_element(weights.begin(), weights.end()) == 0)
    throw InvalidArgument("weights = 0 everywhere (must have a positive one)");
}

}  // namespace

void subtract_weighted_negative(const PackedModel& model, std::span<const double> weights,
                                Chains& chains, Parameters& sum) {
  for (int l = 1; l < chains.layers(); l += 2) set_means(model, chains, l);
  if (weights.empty()) return add_statistics(chains, {}, -1.0 / chains.chains(), sum);
  check_weights(weights, chains);
  // Relative to the largest, so that float32 holds those that matter however small all are.
  const double largest = *std::max_element(weights.begin(), weights.end());
  std::vector<float> relative(weights.size());
  std::transform(weights.begin(), weights.end(), relative.begin(),
                 [&](double weight) { return static_cast<float>(weight / largest); });
  add_statistics(chains, relative, -1 / std::accumulate(relative.begin(), relative.end(), 0.0),
                 sum);
}

namespace {

constexpr int kCaseLayer = 0;
// With v held an RBM's h is exact after one sweep, and layers above it forget their start in a few.
constexpr int kSweeps = 50;

// A random choice of cases, over again where they are fewer than the chains.
std::vector<int> choose_cases(int cases, int chains, StreamKey key) {
  Minibatches minibatches(cases, std::min(cases, chains), key);
  const std::span<const int> first = minibatches.cases(0);
  std::vector<int> chosen;
  for (int c = 0; c < chains; ++c) chosen.push_back(first[c % first.size()]);
  return chosen;
}

}  // namespace

Chains chains_at_cases(const Layered& model, CaseSource& source, int chains, StreamKey key) {
  if (source.units() != model.size(kCaseLayer))
    throw InvalidArgument(fmt::format("source = {} units (must be {}, as the visible layer)",
                                      source.units(), model.size(kCaseLayer)));
  const StreamKey own = derive_key(key, "chains at cases");
  const PhiloxDraws draws(own);
  Chains states(model, chains);
  states.randomise(own);
  const std::vector<int> cases = choose_cases(source.cases(), chains, own);
  const PackedModel packed(model, {.chains = chains, .values = source.are_values()});
  for (int s = 0; s < kSweeps; ++s) {
    source.fill(states, cases, 0);
    sweep(packed, states, draws, {.first_sweep = static_cast<std::uint64_t>(s)});
  }
  return states;
}

namespace {

constexpr int kVisible = 0;
constexpr int kHidden = 1;

template <class Pointer>
Pointer given(Pointer pointer, const char* name) {
  if (!pointer) throw InvalidArgument(fmt::format("{} = none (must be given)", name));
  return pointer;
}

// Checks before any member allocates; returns the cases of an update.
int batch_of(const Layered& model, const CaseSource& source, const TrainOptions& options) {
  for (int l = 0; l < model.layers(); ++l) {
    if (model.layer(l).unit.has_scale() && (l != kVisible || !model.is_rbm()))
      throw InvalidArgument("model (must have no Gaussian units but the visible ones of an RBM)");
    require_law(options.rule, model.layer(l).unit);
  }
  if (source.units() != model.size(kVisible) || source.cases() < 1)
    throw InvalidArgument(fmt::format("data = [{} x {}] (must be [{} x cases], a case or more)",
                                      source.units(), source.cases(), model.size(kVisible)));
  if (options.batch < 0 || options.batch > source.cases())
    throw InvalidArgument(fmt::format("batch = {} (must be 1..{}, or 0 for all cases)",
                                      options.batch, source.cases()));
  if (options.negative.sweeps < 1)
    throw InvalidArgument(
        fmt::format("negative.sweeps = {} (must be at least 1)", options.negative.sweeps));
  if (!(options.weight_decay >= 0 && std::isfinite(options.weight_decay)))
    throw InvalidArgument(
        fmt::format("weight_decay = {} (must be finite and not negative)", options.weight_decay));
  return options.batch == 0 ? source.cases() : options.batch;
}

std::unique_ptr<Sampler> sampler_of(const Layered& model, CaseSource& source,
                                    const TrainOptions& options, StreamKey key,
                                    std::shared_ptr<const Draws> draws) {
  // Only tables and tiles need to know: cases may be grey levels.
  const Packing packing{.chains = batch_of(model, source, options), .values = source.are_values()};
  std::optional<Chains> start;
  if (options.start_at_cases)
    start = chains_at_cases(model, source, std::max(packing.chains, options.negative.chains), key);
  return make_sampler(options.negative,
                      {.model = model,
                       .packing = packing,
                       .rule = options.rule,
                       .key = key,
                       .start = start ? &*start : nullptr,
                       .draws = draws ? std::move(draws) : std::make_shared<PhiloxDraws>(key),
                       .learning_rate = options.learning_rate,
                       .cases_are_states = options.rule == Rule::gibbs() || source.are_states()});
}

std::shared_ptr<CaseSource> source_of(const Layered& model, CaseValues data) {
  return std::make_shared<GivenCases>(std::move(data), model.layer(kVisible).unit);
}

}  // namespace

Trainer::Trainer(const Layered& model, CaseValues data, const TrainOptions& options, StreamKey key,
                 std::shared_ptr<const Draws> draws)
    : Trainer(model, source_of(model, std::move(data)), options, key, std::move(draws)) {}

Trainer::Trainer(const Layered& model, CaseValues data, const TrainOptions& options, StreamKey key,
                 std::unique_ptr<Sampler> sampler)
    : Trainer(model, source_of(model, std::move(data)), options, key, std::move(sampler)) {}

Trainer::Trainer(const Layered& model, const std::shared_ptr<CaseSource>& source,
                 const TrainOptions& options, StreamKey key, std::shared_ptr<const Draws> draws)
    : Trainer(model, source, options, key,
              sampler_of(model, *given(source, "source"), options, key, std::move(draws))) {
  from_outside_ = false;
}

Trainer::Trainer(Layered model, std::shared_ptr<CaseSource> source, const TrainOptions& options,
                 StreamKey key, std::unique_ptr<Sampler> sampler)
    : Ascent(model.zero_parameters(), options.optimiser, options.learning_rate),
      model_(std::move(model)),
      source_(given(std::move(source), "source")),
      options_(options),
      key_(key),
      minibatches_(source_->cases(), batch_of(model_, *source_, options), key),
      positive_(model_, batch_of(model_, *source_, options)),
      sampler_(given(std::move(sampler), "sampler")),
      negative_(model_, sampler_->chains()) {
  if (!negative_.fit(sampler_->packed()))
    throw InvalidArgument("sampler (must be of a model of the same layers and units)");
  if (!model_.is_rbm())
    mean_field_.emplace(model_, options.mean_field);
  else if (!source_->are_values() && !sampler_->packed().takes_means())
    throw InvalidArgument(
        "sampler (must be packed with values = false, for cases that are no values of their units: the positive "
        "phase reads its weights)");
}

void Trainer::sample() {
  try {
    sampler_->set_model(model_);
  } catch (
      const InvalidArgument& error) {  // parameters that no float holds: of those learnt so far
    throw Error(error.what());
  }
  load_cases();
  if (model_.is_rbm()) fill_inputs(sampler_->packed(), positive_, kHidden, inputs_);
  sampler_->start_at(positive_, inputs_, case_weights_);
  sampler_->advance(options_.negative.sweeps);
  sampled_ = true;
}

void Trainer::fill_gradient(Parameters& gradient) {
  if (!sampled_) sample();
  sampled_ = false;
  set_zero(gradient);
  fill_means();
  add_statistics(positive_, case_weights_, 1.0 / static_cast<double>(cases_.size()), gradient);
  sampler_->take_states(negative_);
  if (negative_.chains() != sampler_->chains() || !negative_.fit(sampler_->negative_packed()))
    throw InvalidArgument(fmt::format("sampler = {} (must give states of the model, of {} chains)",
                                      sampler_->name(), sampler_->chains()));
  for (int l = 0; from_outside_ && l < negative_.layers(); l += 2)
    require_states(negative_.unit(l), negative_.get_layer(l));
  subtract_weighted_negative(sampler_->negative_packed(), sampler_->weights(), negative_, gradient);
  if (model_.has_scales())
    gradient.biases[kVisible].array() /= model_.layer(kVisible).sigma0.array().square();
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

// Batch learning loads cases that stay as they are once.
void Trainer::load_cases() {
  if (minibatches_.is_whole() && !cases_.empty() && !source_->vary()) return;
  const std::span<const int> cases = minibatches_.cases(updates());
  cases_.assign(cases.begin(), cases.end());
  source_->fill(positive_, cases, updates());
  // A last, smaller minibatch leaves chains over; they move but do not count.
  case_weights_.clear();
  if (static_cast<int>(cases.size()) < positive_.chains()) {
    case_weights_.assign(cases.size(), 1.0F);
    case_weights_.resize(positive_.chains(), 0.0F);
  }
}

// The number of updates asked for may differ, so that a run can be prolonged.
CheckpointInputs Trainer::inputs() const {
  std::vector<std::string> sizes, units;
  for (int l = 0; l < model_.layers(); ++l) {
    sizes.push_back(std::to_string(model_.size(l)));
    units.push_back(model_.layer(l).unit.name());
    if (model_.layer(l).unit.has_scale())  // fixed, so that no checkpoint holds them
      units.push_back(fmt::format("{}", fmt::join(model_.layer(l).sigma0, " ")));
  }
  CheckpointInputs inputs;
  inputs.add("layers", fmt::format("{}", fmt::join(sizes, "-")));
  inputs.add("units", fmt::format("{}", fmt::join(units, " ")));
  inputs.add("negative phase",
             fmt::format("{} by {}", options_.negative.description(), options_.rule.name()));
  inputs.add("sampler", sampler_->name());
  inputs.add("optimiser and rate", describe(options_.optimiser, options_.learning_rate));
  inputs.add("weight decay", fmt::format("{}", options_.weight_decay));
  inputs.add("batch", std::to_string(positive_.chains()));
  if (mean_field_)
    inputs.add("mean field", fmt::format("{} updates to {}", options_.mean_field.updates,
                                         options_.mean_field.tolerance));
  inputs.add("start of chains", options_.start_at_cases ? "cases" : "as drawn");
  inputs.add("cases", std::to_string(source_->cases()));
  inputs.add_hash("data", {source_->hash(0)});
  inputs.add_hash("seed", {key_.low, key_.high});
  return inputs;
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

#include "experiments/salakhutdinov2010/support/bound_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include "boltzmark/learn/phases/mean_field.hpp"
#include "boltzmark/learn/pretraining.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "experiments/salakhutdinov2010/support/committed_models.hpp"
#include "experiments/salakhutdinov2010/support/overlaps.hpp"

namespace boltzmark::experiments {
namespace {

constexpr double kRate = 0.005, kRateDecay = 2000;
constexpr int kBatch = 100, kAnnealedChains = 100;
constexpr int kEvaluated = 1000;  // images of a record, of training and test each
constexpr MeanFieldStop kMeanField = {.updates = 50, .tolerance = 1e-6F};
constexpr int kLongestStride = 10;    // updates between two overlaps
constexpr double kSmoothing = 0.05;   // of the base's rates, in shares of the cases
constexpr double kPretraining = 0.3;  // of a trial, as progress shows it

Eigen::MatrixXf spread(const Dataset& data, int count) {
  return data.values.select(spread_cases(data, count));
}

/// The images of MNIST, as training and evaluation need them.
struct Images {
  CaseValues grey = load_dataset("mnist:fit", {.kind = BinariseOptions::Kind::grey}).values;
  Eigen::MatrixXf train = spread(load_dataset("mnist:fit", parse_binarise("sample:1")), kEvaluated);
  Dataset test = load_dataset("mnist:test", parse_binarise("sample:1"));
  Eigen::MatrixXf rates = grey.matrix().rowwise().mean();  // one case, which stands for all
};

/// Loads them once in a process.
const Images& images() {
  static const Images all;
  return all;
}

std::vector<int> layers_of(const std::string& text) {
  std::vector<int> sizes;
  std::istringstream in(text);
  for (std::string size; std::getline(in, size, '-');) sizes.push_back(std::stoi(size));
  return sizes;
}

/// Updates between two overlaps: of short runs so few that the last fifth holds four.
int overlap_stride(int updates) { return std::clamp(updates / 20, 1, kLongestStride); }

double square(double x) { return x * x; }

/// One trial: whom it trains, and what it has recorded.
class BoundTraining {
 public:
  BoundTraining(const Json& inputs, const TrialContext& context);

  bool finished() const { return outputs_.contains("last") || outputs_.contains("diverged_at"); }
  /// Makes an update or a record, whichever is next.
  void advance();
  /// Shows progress, and keeps the state now and then; throws Interrupted.
  void report() const {
    context_.progress(share(), [this] { return checkpoint(); });
  }
  Json take_outputs() { return std::move(outputs_); }

  /// The state in words and numbers, then the bytes of who is in training.
  std::string checkpoint() const;
  void restore(const std::string& state);

 private:
  int updates() const { return static_cast<int>(trainer_->updates()); }
  bool record_is_due() const;
  static std::shared_ptr<CaseSource> make_source(StreamKey key);
  void start_training(Layered start);
  void step();
  void record();
  void finish();
  Estimate log_z(const char* name, int temperatures) const;
  double share() const;

  const Json& inputs_;
  const TrialContext& context_;
  StreamKey key_;
  Eigen::MatrixXf test_;  ///< of the records
  int all_;               ///< updates
  std::optional<Pretraining> pretraining_;
  std::optional<Trainer> trainer_;
  std::optional<Overlaps> overlaps_;
  Json outputs_ = {{"train", Json::array()},
                   {"test", Json::array()},
                   {"log_z", Json::array()},
                   {"log_z_error", Json::array()}};
};

BoundTraining::BoundTraining(const Json& inputs, const TrialContext& context)
    : inputs_(inputs),
      context_(context),
      key_(context.shared_key(fmt::format("{} seed {}", inputs.at("layers").get<std::string>(),
                                          inputs.at("seed").get<int>()))),
      test_(spread(images().test, kEvaluated)),
      all_(inputs.at("updates")) {
  if (inputs.contains("start")) {
    start_training(committed_model(deep_model_file(inputs.at("start").get<std::string>())));
  } else {
    const StreamKey key = derive_key(key_, "pretraining");
    pretraining_.emplace(layers_of(inputs.at("layers")), NetworkUnits{}, make_source(key),
                         PretrainingOptions{.epochs = inputs.at("epochs"), .batch = kBatch}, key);
  }
}

std::shared_ptr<CaseSource> BoundTraining::make_source(StreamKey key) {
  return std::make_shared<DrawnCases>(images().grey, Unit::bernoulli(), key);
}

void BoundTraining::start_training(Layered start) {
  TrainOptions options{
      .negative = parse_negative_description(inputs_.at("negative").get<std::string>()),
      .learning_rate = kRate,
      .batch = kBatch,
      .start_at_cases = true,
      .updates = static_cast<std::uint64_t>(all_)};
  options.optimiser.rate_decay = kRateDecay;
  trainer_.emplace(std::move(start), make_source(key_), options, key_);
  overlaps_.emplace(all_ / 5 / overlap_stride(all_), trainer_->sampler().chains());
  pretraining_.reset();
}

// A model of the same layers takes the place of the one in training until it is restored.
void BoundTraining::restore(const std::string& state) {
  const std::size_t end = state.find('\n') + 1;
  const Json header = Json::parse(state.substr(0, end));
  const std::string_view rest = std::string_view(state).substr(end);
  if (header.at("pretraining")) return pretraining_->restore(rest);
  if (pretraining_) start_training(pretraining_->model());
  outputs_ = header.at("outputs");
  const std::size_t size = header.at("overlaps");
  CheckpointReader in(rest.substr(0, size));
  overlaps_->restore(in);
  in.finish();
  trainer_->restore(rest.substr(size));
}

std::string BoundTraining::checkpoint() const {
  const bool first = pretraining_.has_value();
  std::string overlaps;
  if (!first) {
    CheckpointWriter out;
    overlaps_->save(out);
    overlaps = out.finish();
  }
  const Json header = {
      {"pretraining", first}, {"outputs", outputs_}, {"overlaps", overlaps.size()}};
  return header.dump() + '\n' + overlaps +
         (first ? pretraining_->checkpoint() : trainer_->checkpoint());
}

double BoundTraining::share() const {
  const auto part = [](const auto& made, const auto& all) {
    return static_cast<double>(made) / static_cast<double>(all);
  };
  if (pretraining_)
    return kPretraining * part(pretraining_->updates(), pretraining_->total_updates());
  const double before = inputs_.contains("start") ? 0 : kPretraining;
  return before + (1 - before) * part(updates(), all_);
}

bool BoundTraining::record_is_due() const {
  const int every = inputs_.at("record");
  const auto recorded = static_cast<int>(outputs_.at("train").size());
  return updates() >= recorded * every || (updates() == all_ && (recorded - 1) * every < all_);
}

void BoundTraining::advance() {
  if (pretraining_) {
    pretraining_->step();
    if (pretraining_->finished()) start_training(pretraining_->model());
  } else if (record_is_due()) {
    record();
  } else if (updates() < all_) {
    step();
  } else {
    finish();
  }
}

void BoundTraining::step() {
  try {
    trainer_->step();
  } catch (const Diverged& stop) {
    outputs_["diverged_at"] = stop.update();
    return;
  }
  if (updates() > all_ - all_ / 5 && updates() % overlap_stride(all_) == 0)
    overlaps_->see(trainer_->sampler(), trainer_->model());
}

// Its key is the update's: every method anneals with the same draws.
Estimate BoundTraining::log_z(const char* name, int temperatures) const {
  const Layered& model = trainer_->model();
  const Base base = Base::from_data(model, images().rates, kSmoothing);
  return annealed_importance_sampling(LayeredTarget(model, base),
                                      {.ladder = Ladder::linear(temperatures),
                                       .chains = kAnnealedChains,
                                       .sweeps = temperatures - 1,
                                       .key = derive_key(key_, name, fmt::format("{}", updates())),
                                       .progress = [&](double) { report(); }})
      .estimate;
}

/// Mean of the bounds of log f(v), and its standard error over cases.
struct MeanBound {
  double mean = 0, error = 0;
};

MeanBound mean_bound(const Layered& model, const Eigen::MatrixXf& cases) {
  const std::vector<double> log_f = variational_bounds(model, cases, kMeanField).log_f;
  const auto n = static_cast<double>(log_f.size());
  MeanBound bound;
  for (const double value : log_f) bound.mean += value / n;
  for (const double value : log_f) bound.error += square(value - bound.mean) / (n * (n - 1));
  bound.error = std::sqrt(bound.error);
  return bound;
}

void BoundTraining::record() {
  const Estimate estimate = log_z("record", inputs_.at("temperatures"));
  const Layered& model = trainer_->model();
  outputs_["train"].push_back(mean_bound(model, images().train).mean - estimate.log_z);
  outputs_["test"].push_back(mean_bound(model, test_).mean - estimate.log_z);
  outputs_["log_z"].push_back(estimate.log_z);
  outputs_["log_z_error"].push_back(estimate.std_error);
}

void BoundTraining::finish() {
  const Json& last = inputs_.at("last");
  const Estimate estimate = log_z("last", last.at("temperatures"));
  const MeanBound bound = mean_bound(trainer_->model(), spread(images().test, last.at("cases")));
  const Overlaps::Time time = overlaps_->time();
  outputs_["overlap_time"] = overlap_stride(all_) * time.tau;
  outputs_["overlap_supported"] = time.supported;
  outputs_["last"] = {{"bound", bound.mean - estimate.log_z},
                      {"cases_error", bound.error},
                      {"log_z", estimate.log_z},
                      {"log_z_error", estimate.std_error}};
}

}  // namespace

Json train_by_bound(const Json& inputs, const TrialContext& context) {
  BoundTraining training(inputs, context);
  if (const auto state = context.kept_state()) training.restore(*state);
  while (!training.finished()) {
    training.advance();
    training.report();
  }
  return training.take_outputs();
}

}  // namespace boltzmark::experiments

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "boltzmark/io/datasets/dataset.hpp"
#include "experiments/calibration/support/held_runs.hpp"
#include "experiments/calibration/support/outcomes.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/statistics/bootstrap.hpp"

namespace boltzmark::experiments::calibration_bases {
namespace {

/// What one profile runs from each base.
struct RunSize {
  int models;   ///< every so many of the zoo
  int trained;  ///< so many of those trained, besides
  int sweeps;
  int seeds;
};
constexpr PerProfile<RunSize> kRun{
    .smoke = {101, 1, 100, 1}, .quick = {50, 2, 500, 1}, .paper = {4, 3, 2000, 5}};
constexpr int kChains = 100;
constexpr const char* kAuto = "auto";
constexpr const char* kUniform = "uniform";
constexpr const char* kData = "mnist";  // of which there are rates for models that it trained

bool is_trained(const ZooModel& model) { return model.family() == "trained"; }

std::vector<Json> trials(Profile profile) {
  const RunSize& size = kRun.at(profile);
  std::vector<Json> all;
  for (int seed = 1; seed <= size.seeds; ++seed) {
    int trained = 0;
    for (std::size_t i = 0; i < zoo().size(); ++i) {
      const ZooModel& model = zoo()[i];
      const bool has_data = is_trained(model) && trained++ < size.trained;
      if (i % static_cast<std::size_t>(size.models) != 0 && !has_data) continue;
      for (const char* base : {kUniform, kData, kAuto})
        if (base != kData || is_trained(model))
          all.push_back(
              {{"model", model.name}, {"base", base}, {"seed", seed}, {"sweeps", size.sweeps}});
    }
  }
  return all;
}

// As the command line's --base DATASET.
Base data_base(const Layered& model) {
  static const CaseValues cases = load_dataset("mnist:train").values;
  return Base::from_data(model, cases, 5 * std::ceil(static_cast<double>(cases.cols()) / 100));
}

std::optional<Base> named_base(const Layered& model, const std::string& name) {
  if (name == kAuto) return std::nullopt;
  return name == kData ? data_base(model) : Base::uniform(model);
}

Json run(const Json& inputs, const TrialContext& context) {
  const KnownModel made = make_zoo_model(inputs.at("model"));
  // The same of every base.
  const StreamKey key = context.shared_key(
      fmt::format("{} {}", inputs.at("model").get<std::string>(), inputs.at("seed").get<int>()));
  HeldRuns runs(made.model, kChains, inputs.at("sweeps"), (std::uint64_t{key.high} << 32) + key.low,
                named_base(made.model, inputs.at("base")));
  Json methods = Json::object();
  double done = 0;
  for (const Method& method : registered_methods()) {
    methods[method.name] = outcome_json(runs.estimate(method.name, 1));
    context.progress(++done / static_cast<double>(registered_methods().size()));
  }
  return {{"log_z", made.known.log_z}, {"methods", methods}};
}

using Outcomes = std::vector<ZooOutcome>;

/// Of one method on one model from one base.
struct Errors {
  double bias = 0, rmse = 0;  ///< nats; infinite where an estimate has no number
};

Errors errors_of(const Outcomes& outcomes) {
  double sum = 0, squares = 0;
  for (const ZooOutcome& outcome : outcomes) {
    const double error =
        std::isfinite(outcome.error) ? outcome.error : std::numeric_limits<double>::infinity();
    sum += error;
    squares += error * error;
  }
  const auto count = static_cast<double>(outcomes.size());
  return {sum / count, std::sqrt(squares / count)};
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double ok_share(const Outcomes& outcomes) {
  return static_cast<double>(std::count_if(outcomes.begin(), outcomes.end(),
                                           [](const ZooOutcome& outcome) { return outcome.ok; })) /
         static_cast<double>(outcomes.size());
}

/// What all methods made of one model from each base.
struct ModelOutcomes {
  const ZooModel* model = nullptr;
  std::map<std::string, Outcomes> by_base = {};

  std::map<std::string, Errors> errors(const std::string& base) const {
    std::map<std::string, Outcomes> by_method;
    for (const ZooOutcome& outcome : by_base.at(base)) by_method[outcome.method].push_back(outcome);
    std::map<std::string, Errors> found;
    for (const auto& [method, outcomes] : by_method) found[method] = errors_of(outcomes);
    return found;
  }
  bool is_whole() const { return by_base.count(kAuto) == 1 && by_base.count(kUniform) == 1; }
};

std::vector<ModelOutcomes> by_model(const Outcomes& all) {
  std::vector<ModelOutcomes> models;
  for (const ZooModel& model : zoo()) {
    ModelOutcomes of{.model = &model};
    for (const ZooOutcome& outcome : all)
      if (outcome.model == &model) of.by_base[outcome.base].push_back(outcome);
    if (!of.by_base.empty()) models.push_back(std::move(of));
  }
  return models;
}

Cell number_cell(double value) {
  return std::isfinite(value) ? Cell(value) : Cell(std::string("none"));
}

void add_table(const std::vector<ModelOutcomes>& models, Summary& summary) {
  Table table{.name = "bases",
              .caption =
                  "All methods on each model, by what b = 0 stands for: how many estimates "
                  "are ok, false though ok and refused though right (as in the table of "
                  "methods), and the medians over the methods of the magnitude of the bias "
                  "and of the RMSE.",
              .columns = {{"model", "model"},
                          {"base", "base"},
                          {"runs", "runs"},
                          {"ok", "ok"},
                          {"false", "false"},
                          {"refused though right", "refused"},
                          {"median |bias| / nats", "bias"},
                          {"median RMSE / nats", "rmse"}}};
  const auto count = [](const Outcomes& outcomes, const auto& holds) {
    return static_cast<std::int64_t>(std::count_if(outcomes.begin(), outcomes.end(), holds));
  };
  for (const ModelOutcomes& model : models)
    for (const char* base : {kUniform, kData, kAuto}) {
      if (model.by_base.count(base) == 0) continue;
      const Outcomes& outcomes = model.by_base.at(base);
      std::vector<double> bias, rmse;
      for (const auto& [method, errors] : model.errors(base)) {
        bias.push_back(std::abs(errors.bias));
        rmse.push_back(errors.rmse);
      }
      table.rows.push_back(
          {model.model->name, std::string(base), static_cast<std::int64_t>(outcomes.size()),
           count(outcomes, [](const ZooOutcome& outcome) { return outcome.ok; }),
           count(outcomes, [](const ZooOutcome& outcome) { return outcome.ok && outcome.wrong(); }),
           count(outcomes,
                 [](const ZooOutcome& outcome) { return !outcome.ok && outcome.right(); }),
           number_cell(median(bias)), number_cell(median(rmse))});
    }
  summary.add(std::move(table));
}

/// RMSE of every method on every model by the chosen base against that by another.
void add_figure(const std::vector<ModelOutcomes>& models, Summary& summary) {
  Figure figure{.name = "bases",
                .caption =
                    "RMSE of each method on each model, by the base that --base auto chooses "
                    "against the uniform one and, of models trained on MNIST, against data "
                    "rates. Below the line the chosen base is better.",
                .columns = 2,
                .height = 420};
  for (const char* other : {kUniform, kData}) {
    Panel panel{.title = fmt::format("against {}", other == kData ? "data rates" : "uniform"),
                .x = {.label = fmt::format("RMSE, --base {} / nats", other), .log = true},
                .y = {.label = "RMSE, --base auto / nats", .log = true}};
    double low = std::numeric_limits<double>::infinity(), high = 0;
    for (const bool trained : {true, false}) {
      Series points{.label = trained ? "trained models" : "others",
                    .mark = Mark::points,
                    .colour = trained ? 1 : 2};
      for (const ModelOutcomes& model : models) {
        if (is_trained(*model.model) != trained || model.by_base.count(other) == 0 ||
            !model.is_whole())
          continue;
        const auto by_other = model.errors(other), by_auto = model.errors(kAuto);
        for (const auto& [method, errors] : by_other) {
          const double x = errors.rmse, y = by_auto.at(method).rmse;
          if (!std::isfinite(x) || !std::isfinite(y) || x == 0 || y == 0) continue;
          points.x.push_back(x);
          points.y.push_back(y);
          low = std::min({low, x, y});
          high = std::max({high, x, y});
        }
      }
      if (!points.x.empty()) panel.series.push_back(std::move(points));
    }
    if (panel.series.empty()) continue;
    panel.series.push_back(
        {.label = "equal", .x = {low, high}, .y = {low, high}, .mark = Mark::dashed, .colour = 0});
    figure.panels.push_back(std::move(panel));
  }
  if (!figure.panels.empty()) summary.add(std::move(figure));
}

/// The better of the uniform base and of data rates, where there are any.
struct Better {
  double ok = 0;
  std::map<std::string, double> rmse = {};
};

Better better_of_others(const ModelOutcomes& model) {
  Better better;
  for (const auto& [base, outcomes] : model.by_base) {
    if (base == kAuto) continue;
    better.ok = std::max(better.ok, ok_share(outcomes));
    for (const auto& [method, errors] : model.errors(base)) {
      const auto [found, is_new] = better.rmse.emplace(method, errors.rmse);
      if (!is_new) found->second = std::min(found->second, errors.rmse);
    }
  }
  return better;
}

constexpr double kLeast = 0.05, kMost = 50;  // nats of an RMSE: less is as good, more as bad

// log2 of the ratio of two RMSE, the median over the methods.
double log_ratio(const ModelOutcomes& model, const Better& better) {
  std::vector<double> ratios;
  for (const auto& [method, errors] : model.errors(kAuto))
    ratios.push_back(std::log2(std::clamp(errors.rmse, kLeast, kMost) /
                               std::clamp(better.rmse.at(method), kLeast, kMost)));
  return median(ratios);
}

/// A mean over models, and the model where the value is worst.
void add_measure(const char* claim, const std::vector<ModelOutcomes>& models,
                 const std::vector<double>& values, bool high_is_bad, double distance,
                 const char* against, Summary& summary) {
  const auto worst = high_is_bad ? std::max_element(values.begin(), values.end())
                                 : std::min_element(values.begin(), values.end());
  const auto mean = [](std::span<const double> drawn) {
    return std::accumulate(drawn.begin(), drawn.end(), 0.0) / static_cast<double>(drawn.size());
  };
  const BootstrapInterval interval = bootstrap(
      values, mean,
      {.key = make_key(1, "bases"), .replicates = 2000, .method = BootstrapMethod::percentile});
  Measure measure = interval_measure(
      {.claim = claim,
       .note = fmt::format("worst on {}: {:+.2f}",
                           models[static_cast<std::size_t>(worst - values.begin())].model->name,
                           *worst)},
      interval, values.size());
  measure.power = interval_power(interval, distance);
  measure.power_against = against;
  measure.post_hoc = true;
  summary.add(std::move(measure));
}

void add_claims(std::vector<ModelOutcomes> models, Summary& summary) {
  std::erase_if(models, [](const ModelOutcomes& model) { return !model.is_whole(); });
  if (models.size() < 2) return;
  std::vector<double> ok, rmse;
  for (const ModelOutcomes& model : models) {
    const Better better = better_of_others(model);
    ok.push_back(ok_share(model.by_base.at(kAuto)) - better.ok);
    rmse.push_back(log_ratio(model, better));
  }
  add_measure("K05", models, ok, false, 0.05, "5 % fewer", summary);
  add_measure("K06", models, rmse, true, 0.25, "a ratio that is 19 % greater", summary);
}

void summarise(const Results& results, Summary& summary) {
  if (results.empty()) return;
  const std::vector<ModelOutcomes> models = by_model(read_outcomes(results));
  add_table(models, summary);
  add_figure(models, summary);
  if (results.profile() != Profile::smoke) add_claims(models, summary);
}

}  // namespace

Experiment experiment() {
  return {
      .id = "calibration/bases",
      .item = "Bases",
      .title = "Does the base that is chosen by default serve as well as the better of the others?",
      .paper_did =
          "The papers start from the uniform base, or from the rates of the data. Every method is "
          "run on models of known log Z from both, as far as there are data, and from the base "
          "that the command estimate chooses by default, with the same seeds and sweeps.",
      .settings =
          {.smoke = "A trained model and one other, 100 sweeps.",
           .quick =
               "Two trained models and every 50th of the zoo, 500 sweeps of 100 chains, one seed.",
           .paper = "Three trained models and every fourth of the zoo, 2,000 sweeps, five seeds."},
      .seconds = {.smoke = 4, .quick = 12, .paper = 900},
      .claims = {"K05", "K06"},
      .deviations = {"One attempt each: no refused estimate is tried again.",
                     "The chosen base's pilots and search are not counted among the sweeps."},
      .data =
          [] {
            std::vector<std::string> files = zoo_data();
            files.push_back("mnist/train-images-idx3-ubyte.gz");
            return files;
          }(),
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::calibration_bases

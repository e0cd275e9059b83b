#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "experiments/calibration/support/held_runs.hpp"
#include "experiments/calibration/support/outcomes.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/statistics/interval.hpp"

namespace boltzmark::experiments::calibration_bases {
namespace {

/// What one profile runs from each base.
struct RunSize {
  int models;   ///< every so many of those held out
  int trained;  ///< so many of those trained, besides
  int sweeps;
  int seeds;
};
constexpr PerProfile<RunSize> kRun{
    .smoke = {100, 1, 100, 1}, .quick = {20, 2, 500, 1}, .paper = {2, 100, 2000, 5}};
constexpr int kChains = 100;
constexpr const char* kAuto = "auto";
constexpr const char* kUniform = "uniform";
constexpr const char* kData = "mnist";  // of which there are rates for models that it trained

bool is_trained(const ZooModel& model) { return model.family() == "trained"; }

std::vector<const ZooModel*> models_of(const RunSize& size) {
  std::vector<const ZooModel*> models;
  int trained = 0, held_out = 0;
  for (const ZooModel& model : zoo())
    if (is_trained(model)) {
      if (trained++ < size.trained) models.push_back(&model);
    } else if ((!model.training || model.mended) && !model.unfindable) {
      // Those mended are counted, for others would be picked without them.
      if (held_out++ % size.models == 0 && !model.mended) models.push_back(&model);
    }
  return models;
}

std::vector<std::string> bases_of(const ZooModel& model) {
  if (is_trained(model)) return {kUniform, kData, kAuto};
  return {kUniform, kAuto};
}

std::vector<Json> trials(Profile profile) {
  const RunSize& size = kRun.at(profile);
  std::vector<Json> all;
  for (int seed = 1; seed <= size.seeds; ++seed)
    for (const ZooModel* model : models_of(size))
      for (const std::string& base : bases_of(*model))
        all.push_back(
            {{"model", model->name}, {"base", base}, {"seed", seed}, {"sweeps", size.sweeps}});
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

bool is_served(const ZooOutcome& outcome) { return outcome.ok && !outcome.wrong(); }

double served_share(const Outcomes& outcomes) {
  return static_cast<double>(std::count_if(outcomes.begin(), outcomes.end(), is_served)) /
         static_cast<double>(outcomes.size());
}

/// What all methods made of one model from each of its bases, with the same seeds.
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
};

/// Models of which there is a seed that was run from all bases, and those seeds.
std::vector<ModelOutcomes> by_model(const Outcomes& all) {
  std::vector<ModelOutcomes> models;
  for (const ZooModel& model : zoo()) {
    const Outcomes of_model =
        keep(all, [&](const ZooOutcome& outcome) { return outcome.model == &model; });
    const std::vector<std::string> bases = bases_of(model);
    std::map<int, std::set<std::string>> run;
    for (const ZooOutcome& outcome : of_model) run[outcome.seed].insert(outcome.base);
    ModelOutcomes whole{.model = &model};
    for (const ZooOutcome& outcome : of_model)
      if (run[outcome.seed].size() == bases.size()) whole.by_base[outcome.base].push_back(outcome);
    if (!whole.by_base.empty()) models.push_back(std::move(whole));
  }
  return models;
}

Cell number_cell(double value) {
  return std::isfinite(value) ? Cell(value) : Cell(std::string("none"));
}

const std::vector<Column> kCounts = {{"base", "base"},
                                     {"runs", "runs"},
                                     {"ok", "ok"},
                                     {"false", "false"},
                                     {"refused though right", "refused"}};

std::vector<Cell> counts_of(const std::string& name, const std::string& base,
                            const Outcomes& outcomes) {
  const auto count = [&](const auto& holds) {
    return static_cast<std::int64_t>(std::count_if(outcomes.begin(), outcomes.end(), holds));
  };
  return {name,
          base,
          static_cast<std::int64_t>(outcomes.size()),
          count([](const ZooOutcome& outcome) { return outcome.ok; }),
          count([](const ZooOutcome& outcome) { return outcome.ok && outcome.wrong(); }),
          count([](const ZooOutcome& outcome) { return !outcome.ok && outcome.right(); })};
}

const char* kind_of(const ZooModel& model) {
  return is_trained(model) ? "trained models" : "others";
}

void add_tables(const std::vector<ModelOutcomes>& models, Summary& summary) {
  Table totals{.name = "totals",
               .caption =
                   "All methods, by what b = 0 stands for: how many estimates are ok, false "
                   "though ok and refused though right (as in the table of methods).",
               .columns = {{"models", "models"}}};
  Table table{.name = "bases",
              .caption =
                  "The same model by model, and the medians over the methods of the magnitude "
                  "of the bias and of the RMSE.",
              .columns = {{"model", "model"}}};
  for (Table* of : {&totals, &table})
    of->columns.insert(of->columns.end(), kCounts.begin(), kCounts.end());
  table.columns.insert(table.columns.end(),
                       {{"median |bias| / nats", "bias"}, {"median RMSE / nats", "rmse"}});
  std::map<std::pair<std::string, std::string>, Outcomes> all;
  for (const ModelOutcomes& model : models)
    for (const std::string& base : bases_of(*model.model)) {
      const Outcomes& outcomes = model.by_base.at(base);
      Outcomes& of_kind = all[{kind_of(*model.model), base}];
      of_kind.insert(of_kind.end(), outcomes.begin(), outcomes.end());
      std::vector<double> bias, rmse;
      for (const auto& [method, errors] : model.errors(base)) {
        bias.push_back(std::abs(errors.bias));
        rmse.push_back(errors.rmse);
      }
      std::vector<Cell> row = counts_of(model.model->name, base, outcomes);
      row.push_back(number_cell(median(bias)));
      row.push_back(number_cell(median(rmse)));
      table.rows.push_back(std::move(row));
    }
  for (const auto& [of, outcomes] : all)
    totals.rows.push_back(counts_of(of.first, of.second, outcomes));
  summary.add(std::move(totals));
  summary.add(std::move(table));
}

constexpr double kLeast = 0.05, kMost = 50;  // nats of an RMSE: less is as good, more as bad

double as_told(double rmse) { return std::clamp(rmse, kLeast, kMost); }

/// RMSE of every method on every model by the chosen base against that by another.
void add_figure(const std::vector<ModelOutcomes>& models, Summary& summary) {
  Figure figure{.name = "bases",
                .caption =
                    "RMSE of each method on each model, by the base that --base auto chooses "
                    "against the uniform one and, of models trained on MNIST, against data "
                    "rates; an estimate without a number counts as infinitely far off. Below "
                    "the line the chosen base is better.",
                .columns = 2,
                .height = 420};
  for (const std::string other : {kUniform, kData}) {
    Panel panel{
        .title = other == kData ? "against data rates" : "against the uniform base",
        .x = {.label = fmt::format("RMSE, --base {} / nats", other),
              .log = true,
              .low = kLeast,
              .high = kMost},
        .y = {.label = "RMSE, --base auto / nats", .log = true, .low = kLeast, .high = kMost}};
    for (const bool trained : {true, false}) {
      Series points{.label = trained ? "trained models" : "others",
                    .mark = Mark::points,
                    .colour = trained ? 1 : 2};
      for (const ModelOutcomes& model : models) {
        if (is_trained(*model.model) != trained || model.by_base.count(other) == 0) continue;
        const auto by_auto = model.errors(kAuto);
        for (const auto& [method, errors] : model.errors(other)) {
          points.x.push_back(errors.rmse);
          points.y.push_back(by_auto.at(method).rmse);
        }
      }
      if (!points.x.empty()) panel.series.push_back(std::move(points));
    }
    if (panel.series.empty()) continue;
    panel.series.push_back({.label = "equal",
                            .x = {kLeast, kMost},
                            .y = {kLeast, kMost},
                            .mark = Mark::dashed,
                            .colour = 0});
    figure.panels.push_back(std::move(panel));
  }
  summary.add(std::move(figure));
}

/// What the chosen base lacks of the better of the others; nothing where it is better itself, so that
/// one model does not make up for another.
struct Lack {
  double served = 0;     ///< share of estimates
  double log_ratio = 0;  ///< log2 of RMSE, the median over methods
};

Lack lack_of(const ModelOutcomes& model) {
  double served = 0;
  std::map<std::string, double> least;
  for (const auto& [base, outcomes] : model.by_base) {
    if (base == kAuto) continue;
    served = std::max(served, served_share(outcomes));
    for (const auto& [method, errors] : model.errors(base)) {
      const auto [found, is_new] = least.emplace(method, errors.rmse);
      if (!is_new) found->second = std::min(found->second, errors.rmse);
    }
  }
  std::vector<double> ratios;
  for (const auto& [method, errors] : model.errors(kAuto))
    ratios.push_back(std::log2(as_told(errors.rmse) / as_told(least.at(method))));
  return {.served = std::max(0.0, served - served_share(model.by_base.at(kAuto))),
          .log_ratio = std::max(0.0, median(ratios))};
}

/// Numbers of 0 to 1 that are all 0 have no spread to tell how far off their mean is. It is at most the
/// probability of one that is not 0, which is at most that of which none of so many comes by 2.5 %.
void bound_by_none(Measure& measure, std::size_t models) {
  measure.upper = 1 - std::pow(0.025, 1 / static_cast<double>(models));
  measure.power = 0;
  measure.power_against = "no lack on any model";
  measure.power_of_n = false;
}

void add_claims(const std::vector<ModelOutcomes>& models, Summary& summary) {
  for (const bool trained : {true, false}) {
    std::vector<double> served, log_ratio;
    std::vector<const ZooModel*> of;
    for (const ModelOutcomes& model : models) {
      if (is_trained(*model.model) != trained) continue;
      const Lack lack = lack_of(model);
      served.push_back(lack.served);
      log_ratio.push_back(lack.log_ratio);
      of.push_back(model.model);
    }
    if (of.size() < 2) continue;
    const auto measure_of = [&](const char* claim, const std::vector<double>& values) {
      const auto worst = std::max_element(values.begin(), values.end());
      return mean_measure(
          {.claim = claim,
           .part = kind_of(*of.front()),
           .note =
               *worst > 0
                   ? fmt::format("the most on {}: {:.2f}",
                                 of[static_cast<std::size_t>(worst - values.begin())]->name, *worst)
                   : "none on any model"},
          values);
    };
    Measure lack = measure_of("K05", served);
    if (std::ranges::max(served) == 0) bound_by_none(lack, served.size());
    summary.add(std::move(lack));
    summary.add(measure_of("K06", log_ratio));
  }
}

void summarise(const Results& results, Summary& summary) {
  const std::vector<ModelOutcomes> models = by_model(read_outcomes(results));
  if (models.empty()) return;
  add_tables(models, summary);
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
           .quick = "Two trained models and every 20th of the others held out, 500 sweeps of 100 "
                    "chains, one seed.",
           .paper =
               "All trained models and every second of the others held out, 2,000 sweeps, five "
               "seeds."},
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

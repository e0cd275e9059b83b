#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/io/model_file.hpp"
#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "experiments/carlson2016/support/tracked_training.hpp"
#include "experiments/kit/datasets/data_folders.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/statistics/interval.hpp"
#include "experiments/kit/statistics/power.hpp"

namespace boltzmark::experiments::carlson2016_training_prior {
namespace {

constexpr double kSlopes[] = {0, 2};  // of log r_k = s b_k: uniform, and the paper's
constexpr const char* kModel = "dna-500.npz";

struct Size {
  int repeats, chains, evaluations, ais_temperatures;
};
constexpr PerProfile<Size> kSize{
    .smoke = {2, 32, 4, 100}, .quick = {8, 100, 40, 10000}, .paper = {50, 2000, 100, 100000}};

std::vector<Json> trials(Profile profile) {
  const Size& size = kSize.at(profile);
  std::vector<Json> all{{{"kind", "truth"}, {"temperatures", size.ais_temperatures}}};
  for (int repeat = 0; repeat < size.repeats; ++repeat)
    for (const double slope : kSlopes)
      all.push_back({{"kind", "run"},
                     {"slope", slope},
                     {"repeat", repeat},
                     {"chains", size.chains},
                     {"looks", size.evaluations}});
  return all;
}

std::shared_ptr<const TemperedModel> trained_model() {
  const auto path = find_data_file("models/carlson2016", kModel);
  if (!path)
    throw DataError(
        fmt::format("models/carlson2016/{}: missing (must be in a data folder)", kModel));
  Layered model = read_model(*path);
  const Base base = dna_base(model);
  return std::make_shared<const TemperedModel>(std::move(model), base);
}

Json run_truth(const Json& inputs, const TrialContext& context) {
  const int temperatures = inputs.at("temperatures");
  const AnnealingResult ais = annealed_importance_sampling(LayeredTarget(trained_model()),
                                                           {.ladder = Ladder::linear(temperatures),
                                                            .chains = 100,
                                                            .sweeps = temperatures - 1,
                                                            .key = context.key});
  return {{"log_z", ais.estimate.log_z}, {"std_error", ais.estimate.std_error}};
}

/// Sweeps, those of the run's start included.
double cost(const Json& inputs) {
  return inputs.at("kind") == "truth" ? number(inputs.at("temperatures"))
                                      : 600 + 25 * number(inputs.at("looks"));
}

/// Sum over the weights' elements of their variance from evaluation to evaluation.
class CovarianceTrace {
 public:
  void add(const Eigen::MatrixXd& gradient) {
    ++n_;
    if (mean_.size() == 0) mean_ = Eigen::MatrixXd::Zero(gradient.rows(), gradient.cols());
    const Eigen::MatrixXd step = gradient - mean_;
    mean_ += step / n_;
    squares_ += step.cwiseProduct(gradient - mean_).sum();
  }
  double value() const { return squares_ / (n_ - 1); }

 private:
  double n_ = 0;
  Eigen::MatrixXd mean_;
  double squares_ = 0;
};

/// Evaluates one model with Zhat fixed: gradients of the negative phase, and estimates of log Z.
Json run_evaluations(const Json& inputs, const TrialContext& context) {
  const auto model = trained_model();
  const int evaluations = inputs.at("looks");
  const TrackedTrainingOptions options{.chains = inputs.at("chains"),
                                       .alpha = 0,
                                       .prior_slope = inputs.at("slope"),
                                       .key = context.key};
  TrackedTempering tempering(model, tracking_options(options), initial_log_z(model, options),
                             kSettleSweeps);
  Chains buffer(model->model, options.chains);
  CovarianceTrace trace;
  std::vector<double> log_z;
  for (int evaluation = 0; evaluation < evaluations; ++evaluation) {
    tempering.advance(model);
    Parameters gradient = model->model.zero_parameters();
    subtract_negative(*model, tempering, buffer, gradient);
    trace.add(gradient.weights[0]);
    log_z.push_back(tempering.log_z_full());
    context.progress(static_cast<double>(evaluation + 1) / evaluations);
  }
  return {{"gradient_variance", trace.value()}, {"log_z", log_z}};
}

Json run(const Json& inputs, const TrialContext& context) {
  return inputs.at("kind") == "truth" ? run_truth(inputs, context)
                                      : run_evaluations(inputs, context);
}

/// Root mean square error of the evaluations of one run.
double rmse(const Trial& trial, double truth) {
  double sum = 0;
  const std::vector<double> log_z = numbers(trial.outputs.at("log_z"));
  for (const double value : log_z) sum += (value - truth) * (value - truth);
  return std::sqrt(sum / static_cast<double>(log_z.size()));
}

/// log of the ratio (exp(2 b) / uniform) of a statistic, for every repeat that has both.
template <class Value>
std::vector<double> log_ratios(const Results& results, const Value& value) {
  std::vector<double> ratios;
  for (const Json& repeat : results.inputs("repeat")) {
    const auto uniform =
        results.where({{"kind", "run"}, {"repeat", repeat}, {"slope", kSlopes[0]}});
    const auto sloped = results.where({{"kind", "run"}, {"repeat", repeat}, {"slope", kSlopes[1]}});
    if (uniform.empty() || sloped.empty()) continue;
    ratios.push_back(std::log(value(*sloped.front()) / value(*uniform.front())));
  }
  return ratios;
}

void add_ratio(const std::string& part, const std::vector<double>& ratios, Alternative alternative,
               Table& table, Summary& summary) {
  const Interval mean = mean_interval(ratios);
  const Interval ratio{std::exp(mean.estimate), std::exp(mean.lower), std::exp(mean.upper)};
  table.rows.push_back({part, with_interval(ratio)});
  Measure measure =
      interval_measure({.claim = "C44",
                        .part = part,
                        .note = "geometric mean over repeats",
                        .likely_reason = "another model: the paper shows neither number"},
                       ratio, ratios.size());
  measure.power = mean_difference_power(
      ratios.size(), alternative == Alternative::less ? -1.0 : 1.0, 0.05, alternative);
  measure.power_against = "a mean log ratio of one standard deviation over repeats";
  measure.power_of_n = true;
  summary.add(std::move(measure));
}

void summarise(const Results& results, Summary& summary) {
  const auto truth = results.where({{"kind", "truth"}});
  if (truth.empty() || results.profile() == Profile::smoke) return;
  const double log_z = number(truth.front()->outputs.at("log_z"));
  const auto variances =
      log_ratios(results, [](const Trial& t) { return number(t.outputs.at("gradient_variance")); });
  const auto errors = log_ratios(results, [&](const Trial& t) { return rmse(t, log_z); });
  if (variances.size() < 2) return;
  Table table{.name = "prior",
              .caption =
                  "The prior r_k ~ exp(2 b_k) against the uniform one, on one trained RBM: "
                  "ratios of what a look of 25 sweeps gives, with 95 % intervals over "
                  "repeats.",
              .columns = {{"statistic", "statistic"}, {"exp(2b) / uniform", "ratio", 3}}};
  add_ratio("gradient variance", variances, Alternative::less, table, summary);
  add_ratio("log Z error", errors, Alternative::greater, table, summary);
  summary.add(std::move(table));
}

}  // namespace

Experiment experiment() {
  return {
      .id = "carlson2016/training-prior",
      .item = "Sec. 4.4, prior",
      .title = "Does a prior that favours b = 1 give better gradients and a worse log Z?",
      .paper_did =
          "Uses r_k ~ exp(2 b_k) while training, as it reduces the variance of the "
          "gradient, and says that it is not the best for log Z.",
      .settings = {.smoke = "2 repeats of 4 looks with 32 chains.",
                   .quick = "8 repeats of 40 looks with 100 chains.",
                   .paper = "50 repeats of 100 looks with 2,000 chains."},
      .seconds = {.smoke = 1, .quick = 10, .paper = 2000},
      .claims = {"C44"},
      .deviations = {"A 180-500 RBM of dna trained by PCD-5 stands for one on the way; Zhat is "
                     "fixed after the initial iterations.",
                     "The gradient's variance is that of the weights' negative phase."},
      .data = {"dna/dna_3186x181.csv.gz", "models/carlson2016/dna-500.npz"},
      .trials = trials,
      .cost = cost,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::carlson2016_training_prior

#include "train_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "input.hpp"
#include "output.hpp"

namespace boltzmark::cli {

namespace {

// Values on [-1, 1] are twice as far apart: a step in a weight means four times as much, and the
// weight's gradient is four times as large.
constexpr double kWideRate = 0.005;

bool is_bernoulli(const std::string& units) {
  return units.empty() || Unit::parse(units).is_bernoulli();
}

void check_evaluation(const EnumerationPlan& plan) {
  if (plan.possible) return;
  const std::string what =
      plan.side.empty() ? "needs a side of discrete units (both are continuous"
                        : fmt::format("would enumerate {} units (must be at most 40", plan.units);
  throw InvalidArgument("--evaluate " + what + "; leave --evaluate out)");
}

/// How the parameters start.
std::string initial_text(const TrainArguments& arguments) {
  return arguments.initial == "xavier" ? "xavier" : fmt::format("sd {}", arguments.initial_sd);
}

}  // namespace

Unit parse_units(const char* side, const std::string& text) {
  try {
    return Unit::parse(text);
  } catch (const InvalidArgument& error) {  // "units = 0 (must be ...)"
    throw InvalidArgument(fmt::format("--{}-{}", side, error.what()));
  }
}

double learning_rate(const TrainArguments& arguments) {
  if (arguments.learning_rate > 0) return arguments.learning_rate;
  const Optimiser optimiser = parse_optimiser(arguments.optimiser);
  const bool binary = is_bernoulli(arguments.visible_units) && is_bernoulli(arguments.hidden_units);
  return optimiser.kind == Optimiser::Kind::sgd && !binary ? kWideRate : optimiser.default_rate();
}

int batch_of(const TrainArguments& arguments, int cases, const std::string& data_name) {
  if (arguments.batch > cases)
    throw InvalidArgument(fmt::format("--batch = {} (must be at most the {} cases of {})",
                                      arguments.batch, cases, data_name));
  return arguments.batch > 0 ? arguments.batch : std::min(100, cases);
}

double evaluation_count(const TrainArguments& arguments) {
  return arguments.evaluate > 0 ? 2.0 + arguments.updates / arguments.evaluate : 0.0;
}

bool holds_bits(const Eigen::MatrixXf& values) {
  return (values.array() == 0 || values.array() == 1).all();
}

Dataset load_training(const TrainArguments& arguments) {
  Dataset data = load_dataset(arguments.dataset, parse_binarise(arguments.binarise));
  fit_values(Unit::parse(arguments.visible_units), data.values);
  return data;
}

TrainRun::TrainRun(const TrainArguments& arguments, const Session& session)
    : arguments_(arguments),
      session_(session),
      data_(load_training(arguments)),
      trainer_(make_trainer()) {
  if (arguments_.evaluate > 0) cases_.emplace(data_.values);
}

Trainer TrainRun::make_trainer() const {
  const StreamKey key = make_key(arguments_.seed, "train");
  const auto cases = static_cast<int>(data_.values.cols());
  TrainOptions options{.negative = parse_negative(arguments_.negative),
                       .rule = parse_rule(arguments_.rule),
                       .optimiser = parse_optimiser(arguments_.optimiser),
                       .learning_rate = learning_rate(arguments_),
                       .batch = batch_of(arguments_, cases, data_.name),
                       .updates = static_cast<std::uint64_t>(arguments_.updates)};
  return about_file(data_.name, [&] {
    Layered start = initial_model(key);
    if (arguments_.evaluate > 0) check_evaluation(plan_enumeration(start));
    return Trainer(std::move(start), data_.values, options, key);
  });
}

Layered TrainRun::initial_model(StreamKey key) const {
  const auto visible = static_cast<int>(data_.values.rows());
  const int hidden = arguments_.hidden.front();
  const RbmUnits units{Unit::parse(arguments_.visible_units), Unit::parse(arguments_.hidden_units)};
  if (arguments_.initial == "xavier") return xavier_rbm(visible, hidden, key, units);
  return initial_rbm(visible, hidden, arguments_.initial_sd, key, units);
}

void TrainRun::state_cost() const {
  const Negative negative = trainer_.options().negative;
  const double chains = static_cast<double>(trainer_.options().batch) * negative.temperatures;
  const double units = model().units();
  const double products = static_cast<double>(model().weights(0).size());
  // A product costs 0.05 ns a core and side, a draw and decision 1 ns (4 sides' worth for the
  // statistics of both phases).
  const double update = chains * negative.sweeps * (2 * products * 5e-11 + units * 1e-9) +
                        4 * trainer_.options().batch * products * 5e-11;
  state_plan(session_,
             fmt::format("{} updates of a {}-{} RBM by {}", grouped(arguments_.updates),
                         model().size(0), model().size(1), negative.name()),
             update * arguments_.updates / thread_count() +
                 evaluation_count(arguments_) * plan_enumeration(model()).seconds,
             4.0 * static_cast<double>(data_.values.size()) + 4 * chains * units + 48 * products);
}

std::string TrainRun::heading() const {
  return fmt::format("boltzmark train 1, initial {}\n", initial_text(arguments_));
}

void TrainRun::evaluate() {
  const double value = exact_mean_log_likelihood(model(), *cases_);
  evaluations_.push_back({trainer_.updates(), value});
  if (session_.json) return;
  if (evaluations_.size() == 1) print("    update  mean log-likelihood / nats\n");
  print(fmt::format("{:>10}  {:.6f}\n", trainer_.updates(), value));
  finish_output();
}

void TrainRun::save_model() const { cli::save_model(model(), arguments_.out); }

std::vector<std::string> TrainRun::warnings() const {
  if (!model().layer(0).unit.is_bernoulli() || holds_bits(data_.values) ||
      arguments_.binarise == "grey")
    return {};
  return {"values between 0 and 1 are taken as means (--binarise is for images of bytes)"};
}

void TrainRun::print_result(std::uint64_t resumed_at) const {
  const TrainOptions& options = trainer_.options();
  if (session_.json) {
    std::vector<JsonObject> evaluations;
    for (const Evaluation& evaluation : evaluations_)
      evaluations.push_back(JsonObject()
                                .set("update", evaluation.update)
                                .set("mean_log_likelihood", evaluation.mean_log_likelihood));
    print(JsonObject()
              .set("out", arguments_.out)
              .set("visible", model().size(0))
              .set("visible_units", model().layer(0).unit.name())
              .set("hidden", model().size(1))
              .set("hidden_units", model().layer(1).unit.name())
              .set("negative", options.negative.name())
              .set("rule", options.rule.name())
              .set("optimiser", std::string(options.optimiser.name()))
              .set("learning_rate", options.learning_rate)
              .set("batch", options.batch)
              .set("updates", trainer_.updates())
              .set("resumed_at", resumed_at)
              .set("seed", arguments_.seed)
              .set("evaluations", evaluations)
              .set("seconds", watch_.seconds())
              .set("warnings", warnings()));
    return;
  }
  FactList facts;
  facts.add("wrote", arguments_.out);
  facts.add("model", fmt::format("{}-{} RBM", model().size(0), model().size(1)));
  facts.add("training",
            fmt::format("{} updates of {} cases, {}, {}, {}, rate {}", grouped(trainer_.updates()),
                        options.batch, options.negative.name(), options.rule.name(),
                        options.optimiser.name(), options.learning_rate));
  for (const std::string& warning : warnings()) facts.add("warning", warning);
  facts.add("time", human_seconds(watch_.seconds()));
  if (!evaluations_.empty()) print("\n");
  print(facts.text());
}

}  // namespace boltzmark::cli

#include "experiments/calibration/support/outcomes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <tuple>

#include "boltzmark/estimate/methods.hpp"

namespace boltzmark::experiments {
namespace {

constexpr double kWrongErrors = 5, kRightErrors = 2, kNatsOff = 0.5;
constexpr double kRounding = 1e-6;  // nats, of a bound by all states, and of log Z

/// Methods of one source have one run, or make theirs by the same draws, but those that read cases, which anneal
/// these by draws of their own.
std::string run_of(const std::string& name) {
  const Method& method = find_method(name);
  const bool alone = method.source == Source::own || method.reads.cases;
  return alone ? name : std::string(boltzmark::name(method.source));
}

/// What holds of the outcomes of one model.
struct Tally {
  double holds = 0, all = 0;
};

Interval share_over_models(const std::vector<Tally>& models) {
  const auto share = [&](std::span<const std::size_t> rows) {
    Tally sum;
    for (const std::size_t row : rows) {
      sum.holds += models[row].holds;
      sum.all += models[row].all;
    }
    return sum.holds / sum.all;
  };
  return over_models(models.size(), share, "calibration");
}

}  // namespace

bool ZooOutcome::wrong() const {
  return std::abs(error) > kWrongErrors * std_error && std::abs(error) > kNatsOff;
}

bool ZooOutcome::right() const {
  return std::abs(error) <= kRightErrors * std_error && std::abs(error) <= kNatsOff;
}

ZooOutcome read_outcome(const Trial& trial, const std::string& method) {
  const double truth = number(trial.outputs.at("log_z"));
  const Json& said = trial.outputs.at("methods").at(method);
  ZooOutcome outcome{.model = &find_zoo_model(trial.inputs.at("model")),
                     .base = trial.inputs.value("base", "auto"),
                     .seed = trial.inputs.at("seed"),
                     .method = method,
                     .error = number(said.at("log_z")) - truth,
                     .std_error = number(said.at("std_error")),
                     .sweeps = number(said.at("sweeps")),
                     .ok = said.at("status") == "ok"};
  outcome.covered = number(said.at("lower")) <= truth && truth <= number(said.at("upper"));
  outcome.known =
      said.contains("lower_bound") && number(said.at("lower_bound")) > truth - kRounding;
  return outcome;
}

std::vector<ZooOutcome> read_outcomes(const Results& results) {
  std::vector<ZooOutcome> all;
  for (const Trial& trial : results.trials())
    for (const auto& [method, said] : trial.outputs.at("methods").items())
      all.push_back(read_outcome(trial, method));
  return all;
}

std::vector<ZooOutcome> keep(const std::vector<ZooOutcome>& outcomes,
                             const std::function<bool(const ZooOutcome&)>& holds) {
  std::vector<ZooOutcome> kept;
  std::copy_if(outcomes.begin(), outcomes.end(), std::back_inserter(kept), holds);
  return kept;
}

std::vector<ZooOutcome> independent_runs(const std::vector<ZooOutcome>& outcomes,
                                         const std::function<bool(const ZooOutcome&)>& holds) {
  std::map<std::tuple<const ZooModel*, int, std::string>, ZooOutcome> runs;
  for (const ZooOutcome& outcome : outcomes) {
    const auto [run, first] =
        runs.try_emplace({outcome.model, outcome.seed, run_of(outcome.method)}, outcome);
    if (!first && holds(outcome)) run->second = outcome;
  }
  std::vector<ZooOutcome> all;
  for (const auto& [run, outcome] : runs) all.push_back(outcome);
  return all;
}

Interval over_models(std::size_t models, const RowStatistic& statistic, const char* name) {
  return bootstrap_rows(
      models, statistic,
      {.key = make_key(1, name), .replicates = 2000, .method = BootstrapMethod::percentile});
}

Interval share_of(const std::vector<ZooOutcome>& outcomes,
                  const std::function<bool(const ZooOutcome&)>& holds) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (outcomes.empty()) return {kNone, kNone, kNone};
  std::map<const ZooModel*, Tally> by_model;
  std::uint64_t count = 0;
  for (const ZooOutcome& outcome : outcomes) {
    Tally& tally = by_model[outcome.model];
    tally.all += 1;
    tally.holds += holds(outcome) ? 1 : 0;
    count += holds(outcome) ? 1U : 0U;
  }
  Interval share = proportion_interval(count, outcomes.size());
  if (by_model.size() < 2) return share;
  std::vector<Tally> models;
  for (const ZooModel& model : zoo())  // in an order that is the same everywhere
    if (const auto found = by_model.find(&model); found != by_model.end())
      models.push_back(found->second);
  const Interval clustered = share_over_models(models);
  share.lower = std::min(share.lower, clustered.lower);
  share.upper = std::max(share.upper, clustered.upper);
  return share;
}

}  // namespace boltzmark::experiments

#include "tools/boltzmark/commands/compare/comparison_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/estimate/closing.hpp"
#include "boltzmark/estimate/held/held.hpp"
#include "boltzmark/estimate/held/held_estimate.hpp"
#include "boltzmark/estimate/places/phases.hpp"
#include "experiments/kit/printable.hpp"
#include "tools/boltzmark/progress.hpp"

namespace boltzmark::cli {

using experiments::Json;
using experiments::TrialContext;

/// What the runs of a model share.
struct ComparisonRuns::Prepared {
  PreparedTarget prepared;
  SearchedStates states;
  std::shared_ptr<const Phases> phases;
  LowerBound bound;  ///< what log Z is certainly not below
};

namespace {

// What a run met of the states and masses that searches found.
Held meet(const SearchedStates& searched, const Phases* phases, const Layered& model,
          const ModeSearch& search, MethodRuns& runs) {
  const VisitedStates visited = visited_states(runs.top_states());
  Held held;
  if (phases) held.met = meet_masses(model, search, phases, visited);
  searched.count(visited.states, visited.visits, held.bound);
  return held;
}

// The first group are the methods that share a run, if there are any.
std::vector<std::vector<std::string>> group(const std::vector<std::string>& methods) {
  std::vector<std::vector<std::string>> groups(1);
  for (const std::string& method : methods)
    if (shares_run(method))
      groups.front().push_back(method);
    else
      groups.push_back({method});
  if (groups.front().empty()) groups.erase(groups.begin());
  return groups;
}

// Names the options of a run, and what the files that they name say. A file's name is any bytes, which JSON
// does not hold.
Json describe_options(const Subject& subject, const EstimateArguments& a) {
  return {{"chains", a.chains},
          {"temperatures", a.temperatures},
          {"ladder", experiments::printable_line(a.ladder)},
          {"base", experiments::printable_line(a.base)},
          {"base_smoothing", a.base_smoothing},
          {"prior", a.prior},
          {"states", a.states},
          {"sampler", a.sampler},
          {"bundles", a.bundles},
          {"burn_in", a.burn_in},
          {"summed", a.summed},
          {"data", experiments::printable_line(a.data)},
          {"binarise", a.binarise},
          {"files", hash_of_files(subject.model, a, subject.cases)}};
}

Json describe(const std::string& method, const Estimate& estimate, double moves, double seconds) {
  Json json = experiments::describe_estimate(estimate);
  json["method"] = method;
  json["effective_samples"] = estimate.effective_samples;
  json["moves"] = moves;
  json["seconds"] = seconds;
  return json;
}

ComparisonTrial read_trial(const Json& json, int sweeps, int repeat) {
  const auto number = [&](const char* key) { return experiments::number(json.at(key)); };
  return {.method = json.at("method"),
          .sweeps = sweeps,
          .repeat = repeat,
          .outcome = experiments::read_outcome(json, 0),
          .effective_samples = number("effective_samples"),
          .status = json.at("status"),
          .moves = number("moves"),
          .seconds = number("seconds")};
}

}  // namespace

ComparisonRuns::ComparisonRuns(ComparisonPlan plan, std::vector<Subject> subjects)
    : plan_(std::move(plan)),
      subjects_(std::move(subjects)),
      groups_(group(plan_.methods)),
      prepared_(subjects_.size()) {
  for (const Subject& subject : subjects_)
    options_.push_back(describe_options(subject, plan_.shared));
}

std::vector<Json> ComparisonRuns::trials() const {
  std::vector<Json> all;
  for (std::size_t s = 0; s < subjects_.size(); ++s)
    for (const int sweeps : plan_.sweeps)
      for (int repeat = 0; repeat < plan_.repeats; ++repeat)
        for (const std::vector<std::string>& methods : groups_) {
          Json inputs = options_[s];
          inputs["model"] = experiments::printable_line(subjects_[s].name);
          inputs["sha256"] = subjects_[s].sha256;
          inputs["sweeps"] = sweeps;
          inputs["repeat"] = repeat;
          inputs["methods"] = methods;
          all.push_back(std::move(inputs));
        }
  return all;
}

experiments::Experiment ComparisonRuns::experiment() {
  experiments::Experiment experiment;
  experiment.id = "compare";
  experiment.seconds.quick = 0;
  for (const Subject& subject : subjects_)
    experiment.seconds.quick +=
        sweep_seconds(subject.model, planned_sweeps(plan_) * plan_.shared.chains);
  experiment.timed = true;
  experiment.trials = [this](experiments::Profile) { return trials(); };
  experiment.cost = [this](const Json& inputs) {
    return sweep_seconds(subjects_[find(inputs)].model, inputs.at("sweeps"));
  };
  experiment.run = [this](const Json& inputs, const TrialContext& context) {
    return run(inputs, context);
  };
  return experiment;
}

std::size_t ComparisonRuns::find(const Json& inputs) const {
  const std::string name = inputs.at("model"), sha256 = inputs.at("sha256");
  const auto at = std::find_if(subjects_.begin(), subjects_.end(), [&](const Subject& subject) {
    return experiments::printable_line(subject.name) == name && subject.sha256 == sha256;
  });
  return static_cast<std::size_t>(at - subjects_.begin());
}

void ComparisonRuns::prepare(const Json& inputs) { prepared(inputs); }

bool ComparisonRuns::has_truth(const Json& inputs) const {
  return subjects_[find(inputs)].truth.has_value();
}

const ComparisonRuns::Prepared& ComparisonRuns::prepared(const Json& inputs) {
  const std::size_t s = find(inputs);
  if (prepared_[s]) return *prepared_[s];
  const Subject& subject = subjects_[s];
  const std::uint64_t seed = plan_.shared.seed;
  PreparedTarget made = make_target(subject.model, subject.path, plan_.shared, subject.cases);
  const ModeSearch search = mode_search(subject.model, seed, subject.cases);
  const FoundStates found = find_before(made.target, search, seed, made.chosen, true);
  const LowerBound bound = find_lower_bound(made.target, search, {}, found);
  const double slack = std::max(subject.truth_slack, 1e-6 * std::max(1.0, std::abs(bound.log_z)));
  const auto refuse_truth = [&](const std::string& must) {
    throw DataError(fmt::format("{} = {} (must be log Z, which is {})",
                                subject.truth_given ? "--truth" : subject.path + ": log_z",
                                *subject.truth, must));
  };
  if (subject.truth && *subject.truth < bound.lowest() - slack)
    refuse_truth(fmt::format("certainly {:.6f} or more", bound.lowest()));
  if (subject.truth && bound.all_states && *subject.truth > bound.log_z + bound.error_bound + slack)
    refuse_truth(fmt::format("{:.6f} by enumeration", bound.log_z));
  SearchedStates states = find_states(made.target, search, found);
  prepared_[s] = std::make_shared<const Prepared>(Prepared{.prepared = std::move(made),
                                                           .states = std::move(states),
                                                           .phases = found.phases,
                                                           .bound = bound});
  return *prepared_[s];
}

Json ComparisonRuns::run(const Json& inputs, const TrialContext& context) {
  const Prepared& shared = prepared(inputs);
  const LayeredTarget& target = shared.prepared.target;
  const int sweeps = inputs.at("sweeps");
  EstimateArguments arguments = plan_.shared;
  arguments.sweeps = sweeps;
  arguments.seed += inputs.at("repeat").get<std::uint64_t>();
  MethodSettings settings = make_settings(target.tempered_model().model, arguments);
  adapt_ladder(target, arguments, settings);
  settings.progress = [&](double share) { context.progress(share); };
  MethodRuns runs(target, settings);
  Json estimates = Json::array();
  double shared_seconds = 0;
  std::optional<Held> met;  // of one run: methods that do not share one are trials of their own
  for (const std::string method : inputs.at("methods")) {
    const Stopwatch watch;
    if (estimates.empty() && shares_run(method)) {
      if (settings.tempering == Tempering::parallel)
        runs.replicas();
      else
        runs.tempered();
      shared_seconds = watch.seconds();
    }
    const Stopwatch own;
    Estimate estimate = runs.estimate(method);
    const double seconds = own.seconds() + shared_seconds;
    hold_to_resolution(shared.bound, estimate);
    if (!met)
      met = meet(shared.states, shared.phases.get(), target.tempered_model().model,
                 mode_search(target.tempered_model().model, plan_.shared.seed), runs);
    hold_to_visits(met->bound, estimate);
    if (met->met) hold_to_met(*met->met, estimate);
    // A bound that is log Z itself would refuse by the truth what is to be held against it.
    if (!shared.bound.all_states) refuse_below(estimate, shared.bound.lowest());
    add_unseen(estimate);
    const double moves = method_work(method, settings).moves +
                         double{1} * (sweeps - settings.sweeps) * settings.chains;
    estimates.push_back(describe(method, estimate, moves, seconds));
  }
  return {{"estimates", estimates}};
}

Comparison ComparisonRuns::sum_up(const experiments::Results& results, const Subject& subject,
                                  double truth) const {
  Comparison comparison{.model = subject.name, .truth = truth};
  std::vector<ComparisonTrial>& trials = comparison.trials;
  const auto number = static_cast<std::size_t>(&subject - subjects_.data());
  for (const experiments::Trial& trial : results.trials())
    if (find(trial.inputs) == number)
      for (const Json& estimate : trial.outputs.at("estimates"))
        trials.push_back(
            read_trial(estimate, trial.inputs.at("sweeps"), trial.inputs.at("repeat")));
  // In the order in which lengths and methods were named.
  const auto place = [&](const ComparisonTrial& t) {
    return std::tuple(std::find(plan_.sweeps.begin(), plan_.sweeps.end(), t.sweeps), t.repeat,
                      std::find(plan_.methods.begin(), plan_.methods.end(), t.method));
  };
  std::sort(trials.begin(), trials.end(), [&](const ComparisonTrial& a, const ComparisonTrial& b) {
    return place(a) < place(b);
  });
  sum_up_cells(plan_, subject.model.units(), comparison);
  return comparison;
}

}  // namespace boltzmark::cli

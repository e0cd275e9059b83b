// What experiments make of trials that are made up, or run here.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "boltzmark/random/key.hpp"
#include "experiments/carlson2016/support/models.hpp"
#include "experiments/kit/datasets/data_folders.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/run/interrupt.hpp"
#include "experiments/kit/run/trial_checkpoint.hpp"
#include "experiments/kit/summary.hpp"
#include "experiments/kit/temporary_folder.hpp"

namespace boltzmark::experiments::made {

inline const Experiment& find_experiment(const std::string& id) {
  return *std::find_if(experiments().begin(), experiments().end(),
                       [&](const Experiment& experiment) { return experiment.id == id; });
}

/// Trials of which there were to be no others.
inline Results results_of(const std::vector<Trial>& trials, Profile profile = Profile::paper) {
  std::vector<Json> planned;
  for (const Trial& trial : trials) planned.push_back(trial.inputs);
  return {profile, planned, trials};
}

/// Sums up trials, of which there were to be no others.
inline Summary sum_up(const std::string& id, const std::vector<Trial>& trials,
                      Profile profile = Profile::paper) {
  Summary summary;
  find_experiment(id).summarise(results_of(trials, profile), summary);
  return summary;
}

inline Trial run_trial(const std::string& id, const Json& inputs) {
  const Experiment& experiment = find_experiment(id);
  TrialContext context;
  context.experiment = id;
  context.key = make_key(context.seed, id, inputs.dump());
  return {.inputs = inputs, .outputs = Json::parse(experiment.run(inputs, context).dump())};
}

/// Runs a trial that is stopped at each of these looks at the time, and goes on from what it kept.
///   looks: how many there were in all
inline Json run_stopped(const std::string& id, const Json& inputs, const std::vector<int>& stops,
                        int& looks) {
  const Experiment& experiment = find_experiment(id);
  const TemporaryFolder folder;
  TrialContext context;
  context.experiment = id;
  context.key = make_key(context.seed, id, inputs.dump());
  context.checkpoint = std::make_shared<TrialCheckpoint>(
      folder.path(), TrialKey{.inputs = inputs, .simd = "s", .sources = "a"});
  std::size_t stopped = 0;
  looks = 0;
  context.stopping = [&] {
    const bool stop = ++looks == (stopped < stops.size() ? stops[stopped] : 0);
    stopped += stop ? 1 : 0;
    return stop;
  };
  for (;;) {
    try {
      return experiment.run(inputs, context);
    } catch (const Interrupted&) {
    }
  }
}

inline std::vector<Trial> run_trials(const std::string& id, Profile profile = Profile::smoke) {
  std::vector<Trial> trials;
  for (const Json& inputs : find_experiment(id).trials(profile))
    trials.push_back(run_trial(id, inputs));
  return trials;
}

inline const Table& table_of(const Summary& summary, const std::string& name) {
  for (const auto& item : summary.items())
    if (const auto* table = std::get_if<Table>(&item); table && table->name == name) return *table;
  FAIL("no table " << name);
  throw 0;
}

inline const Figure& figure_of(const Summary& summary, const std::string& name) {
  for (const auto& item : summary.items())
    if (const auto* figure = std::get_if<Figure>(&item); figure && figure->name == name)
      return *figure;
  FAIL("no figure " << name);
  throw 0;
}

// What they return lives as long as the summary.
const Table& table_of(Summary&&, const std::string& name) = delete;
const Figure& figure_of(Summary&&, const std::string& name) = delete;
const Measure& measure_of(Summary&&, const std::string& claim, const std::string& part) = delete;

/// A data folder that has the published RBM, of which plans ask no more than that it is there, before the others.
class PublishedRbmFolder {
 public:
  PublishedRbmFolder() {
    write_text(folder_ / kPublishedCd25File, "");
    std::vector<std::string> folders = data_folders();
    folders.insert(folders.begin(), folder_.path());
    set_data_folders(std::move(folders));
  }
  ~PublishedRbmFolder() { set_data_folders({}); }
  PublishedRbmFolder(const PublishedRbmFolder&) = delete;
  PublishedRbmFolder& operator=(const PublishedRbmFolder&) = delete;

 private:
  TemporaryFolder folder_;
};

/// All paragraphs, one after the other.
inline std::string notes_of(const Summary& summary) {
  std::string text;
  for (const auto& item : summary.items())
    if (const auto* note = std::get_if<std::string>(&item)) text += *note + "\n";
  return text;
}

inline const Measure& measure_of(const Summary& summary, const std::string& claim,
                                 const std::string& part = "") {
  for (const Measure& measure : summary.measures())
    if (measure.claim == claim && measure.part == part) return measure;
  FAIL("no measure of " << claim << " " << part);
  throw 0;
}

/// All measures, by claim and part.
inline std::map<std::string, Measure> claims_of(const Summary& summary) {
  std::map<std::string, Measure> found;
  for (const Measure& measure : summary.measures())
    found[measure.claim + (measure.part.empty() ? "" : " " + measure.part)] = measure;
  return found;
}

inline double real(const Cell& cell) { return std::get<double>(cell); }
inline std::int64_t count(const Cell& cell) { return std::get<std::int64_t>(cell); }
inline std::string text(const Cell& cell) { return std::get<std::string>(cell); }
inline const WithInterval& estimate(const Cell& cell) { return std::get<WithInterval>(cell); }

}  // namespace boltzmark::experiments::made

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiments/kit/results.hpp"
#include "experiments/kit/run/reproduce.hpp"
#include "experiments/kit/run/selection.hpp"
#include "experiments/kit/run/store.hpp"

namespace boltzmark::experiments {

/// One trial of a plan, finished or still to run.
struct PlannedTrial {
  TrialKey key;
  double seconds = 0;  ///< estimated, of 2 cores: its share of the experiment's by cost
  std::shared_ptr<const Trial> finished = nullptr;
  bool selected = true;  ///< this call is to run it
  bool to_run() const { return selected && !finished; }
};

/// One experiment of a plan that makes its own trials, with its store.
struct PlannedExperiment {
  const Experiment* experiment = nullptr;
  std::string folder = {};  ///< of its store, of states that trials keep, and of its results
  std::unique_ptr<TrialStore> store = nullptr;
  std::vector<PlannedTrial> trials = {};
  std::size_t stale = 0;  ///< trials that only other builds have finished

  std::size_t count_to_run() const;
  /// Estimates how long the trials still to run take on 2 cores.
  double seconds_to_run() const;
  Results results(Profile profile) const;
  /// Finds the trials that a run has stored since, as a later run would.
  void read_finished();
};

/// Lists the trials of an experiment, before any is looked up.
///   sources  sources_hash of the experiment; empty: it is made here
/// Throws  InvalidArgument if the experiment lists a trial twice
PlannedExperiment list_trials(const Experiment& experiment, const ReproduceOptions& options,
                              const CellFilter& only, std::string sources = {});
/// Looks up which trials are finished: in the store, and for the paper profile in
/// reports/reference, matched on inputs alone.
void look_up(PlannedExperiment& plan, const ReproduceOptions& options,
             TrialStore::Access access = TrialStore::Access::append);
/// Does both.
PlannedExperiment plan_experiment(const Experiment& experiment, const ReproduceOptions& options,
                                  const CellFilter& only,
                                  TrialStore::Access access = TrialStore::Access::append);

/// Tells whether all that is stored is of another build, seed or SIMD path: what shows it is left as it is, and not
/// replaced by nothing.
bool is_left(const PlannedExperiment& plan);

/// Returns DIR/<profile>/<id>.
std::string experiment_folder(const std::string& out, Profile profile,
                              const Experiment& experiment);

}  // namespace boltzmark::experiments

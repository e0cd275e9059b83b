#pragma once

#include <memory>
#include <optional>
#include <string>

#include "boltzmark/estimate/held/held.hpp"
#include "boltzmark/exact/modes/lower_bound.hpp"
#include "boltzmark/sample/sample_store.hpp"

namespace boltzmark::cli {

/// The samples of a run, and what its log Z is certainly not below.
struct StoredRun {
  SampleStore store;
  LowerBound bound = {};  ///< of a file: its number, error and visits alone, or none
  bool resolved = true;   ///< parameters are not so large that a double does not resolve a nat
  std::shared_ptr<const MetPhases> phases = nullptr;
  Switches switches = {};
  std::optional<Estimate> reverse =
      std::nullopt;  ///< of --both-ways; of a file: log Z, error, status
};

/// Writes a sample store as .npz: float64 D and int32 rung [sweeps, chains]; beta, log_prior and
/// log_z_hat [rungs]; log_f [sweeps, chains, rungs] if collapsed densities were kept; random_rungs;
/// exchanged_rungs (1) of parallel tempering; lower_bound, lower_bound_error, input_rounding and log_f_rounding where there
/// is a bound; visited: LowerBound's searched, met and visits; unresolved where parameters were so large that
/// there is none; phase_log_masses (the lowest double: no mass), phase_errors and phase_shares [phases], and
/// phase_visits; place_log_masses, .. likewise of groups of what is near all places, where there are any;
/// switch_log_masses, .. of units that the run hardly switched, as shares of Z, and where not all were moved
/// unmoved_switches [classes, 8], the members of UnmovedSwitches (of earlier versions the first four);
/// reverse: log Z and error by chains that began at b = 1 (the lowest double: no number), and reverse_status,
/// its place in Status.
/// Throws  DataError naming the file
void save_store(const StoredRun& run, const std::string& path);

/// Reads what save_store wrote; every array is checked. Files of earlier versions have no bound, no visits
/// or no phases.
/// Throws  DataError naming the file
StoredRun load_store(const std::string& path);

}  // namespace boltzmark::cli

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "boltzmark/estimate/held/both_ways.hpp"
#include "boltzmark/estimate/held/held.hpp"
#include "boltzmark/sample/sample_store.hpp"
#include "tools/boltzmark/commands/estimate/estimate_options.hpp"

namespace boltzmark::cli {

/// What `estimate` is asked for.
struct EstimateRequest {
  std::string model = {};
  std::string method = "rts";
  std::string dump = {};
  std::string from = {};
  double target_error = 0;  ///< 0: none
  bool try_again = false;   ///< a refused estimate, with more sweeps
  double max_seconds = 60;  ///< foretold of all attempts, on two cores
  bool force = false;
  bool both_ways = false;  ///< half of the sweeps go the other way, and are held against the rest
  EstimateArguments shared;
};

/// A run that ended with some status.
struct Attempt {
  int sweeps = 0;
  Status status = Status::ok;
};

/// An estimate and what it took.
struct EstimateOutcome {
  Estimate estimate = {};
  int chains = 0;
  int sweeps = 0;
  int temperatures = 0;
  std::optional<std::string> sampler = {};  ///< of the rungs, where there are samples of them
  std::optional<std::string> summed = {};   ///< the layers that marginal weights summed out
  double seconds = 0;
  std::vector<Attempt> attempts = {};  ///< the last one's numbers are those above
  std::string base = {};
  LowerBound bound = {};
  std::optional<KnownLogZ> known = {};    ///< by the model's file
  std::optional<SampleStore> store = {};  ///< of a run that is to be dumped
  VisitedStates visited = {};             ///< by the run, at b = 1
  /// What was found of phases, and met by the run.
  std::shared_ptr<const MetPhases> phases = nullptr;
  Switches switches = {};                  ///< units that it hardly switched
  std::optional<BothWays> both_ways = {};  ///< of the last run, where asked for
};

/// Estimates log Z of a model as it is asked for: once, until a standard error is reached, or until
/// the estimate is ok. Every estimate is held to a lower bound that is certain.
/// Throws  as the methods; DataError naming a file
EstimateOutcome run_estimate(const EstimateRequest& arguments, const Layered& model,
                             const Session& session);
/// Estimates it once on a target that is prepared; the search for modes climbs from cases too.
EstimateOutcome run_held(const EstimateRequest& arguments, const PreparedTarget& prepared,
                         const CaseValues& cases, const Session& session);
/// Estimates log Z from samples that --dump wrote.
EstimateOutcome estimate_stored(const EstimateRequest& arguments);

}  // namespace boltzmark::cli

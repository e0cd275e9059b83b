#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/kit/profile.hpp"
#include "experiments/kit/ranks/rank_link.hpp"
#include "experiments/kit/run/shard.hpp"

namespace boltzmark::experiments {

/// Options of `boltzmark reproduce`.
struct ReproduceOptions {
  std::vector<std::string> ids = {};  ///< ids or paper keys; empty: all
  Profile profile = Profile::quick;
  int jobs = 0;     ///< trials at once; 0: as many as threads
  int threads = 0;  ///< shared by the jobs; 0: all cores
  std::uint64_t seed = 1;
  std::string simd = {};  ///< path whose trials count; empty: that of this process
  std::string out = "out";
  std::string only = {};  ///< `key=value,...` filter on a trial's inputs
  Shard shard = {};       ///< of the trials selected; none: all
  double max_seconds =
      0;  ///< stop after this, between trials or where one keeps its state; 0: never
  double lease_seconds = 60;       ///< a rank that is silent for longer is lost
  double checkpoint_seconds = 30;  ///< between two states that a trial keeps
  double sign_seconds = 10;        ///< between two signs of life in the folder's lock
  bool take_over = false;          ///< a folder whose lock has shown no sign for ten minutes
  bool fresh = false;              ///< ignore the store
  bool keep = false;               ///< merge finished trials into reports/reference
  bool quiet = false;              ///< no plan and no progress on stderr
};

/// Where things stand after `reproduce` or `report`.
struct ReproduceResult {
  std::size_t planned = 0;                ///< trials selected
  std::size_t ran = 0;                    ///< of which run now
  std::size_t reused = 0;                 ///< of which found in the store
  std::vector<std::string> failures;      ///< `ID INPUTS: message` of trials that threw
  std::vector<std::string> exact_failed;  ///< claims of kind E that do not hold
  int ranks = 1, hosts = 1;               ///< that ran it
  int lost_ranks = 0;                     ///< of which silent at the end
  std::size_t reissued = 0;               ///< trials that were given to more than one rank
  bool interrupted = false;               ///< by Ctrl-C
  bool out_of_time = false;               ///< stopped by --max-seconds
  std::string report;                     ///< path of index.html; none of a shard
  /// 0 done; 3 a claim of kind E does not hold; 1 a trial failed or Ctrl-C
  int exit_code() const;
};

/// Runs experiments trial by trial into a store that survives kill -9, and writes the report: anew
/// as each experiment ends, and at last, after Ctrl-C too. A shard leaves the report to a whole run or `report`.
/// Progress goes to stderr, as a bar on a terminal, else a line a minute.
/// Randomness  every trial's streams are keyed by (seed, id, inputs): CSV files are the same bytes
///   for any jobs and threads, and after kill and resume
/// Throws  InvalidArgument for unknown ids or keys; DataError if the folder is in use or unwritable;
///   Error if it is found to be another run's, after which nothing is stored
/// link  null: one process. All ranks call it; those but 0 run trials until rank 0 ends them, and
///   return nothing
ReproduceResult reproduce(const ReproduceOptions& options, RankLink* link = nullptr);

/// Options of `boltzmark report`.
struct ReportOptions {
  Profile profile = Profile::quick;
  std::string out = "out";
};

/// Writes DIR/<profile>/report/{index.html,report.md,claims.json} from the trials in the store, of
/// the seed that manifest.json names; also while a run goes on in that folder.
/// Throws  DataError if there is no store
ReproduceResult report(const ReportOptions& options);

}  // namespace boltzmark::experiments

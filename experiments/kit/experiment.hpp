#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "boltzmark/core/saves_on_the_way.hpp"
#include "boltzmark/random/key.hpp"
#include "experiments/kit/profile.hpp"

namespace boltzmark::experiments {

/// Inputs and outputs of a trial. Keys are sorted, so equal inputs have equal text.
/// A number that is not finite is stored as null; read numbers back with `number`.
using Json = nlohmann::json;

/// One finished trial, as the store keeps it.
struct Trial {
  Json inputs;
  Json outputs = nullptr;
  double seconds = 0;
  std::string revision = {};    ///< git revision of the build that ran it
  std::string simd = {};        ///< SIMD path that it ran on
  std::string host = {};        ///< machine that ran it; none: it was stored before there was one
  bool from_reference = false;  ///< read from reports/reference, matched on inputs alone
};

class TrialCheckpoint;  // trial_checkpoint.hpp

/// What a trial gets beside its inputs.
class TrialContext {
 public:
  /// The key of the trial's own streams, from the seed, the experiment's id and the inputs: the
  /// same whatever other trials run, and in whatever order.
  StreamKey key;
  std::uint64_t seed = 1;
  std::string experiment;                             ///< the experiment's id
  std::function<void(double)> on_progress = nullptr;  ///< set by the runner, as what follows
  std::function<bool()> stopping = nullptr;           ///< the run's time is over, or Ctrl-C
  std::shared_ptr<const TrialCheckpoint> checkpoint = nullptr;
  double checkpoint_seconds = 30;  ///< between two writes
  /// Told why a write failed, of the first in a row: the trial goes on.
  std::function<void(const std::string& why)> on_unsaved = nullptr;

  /// Returns a key that all trials of the experiment share, so that comparisons can be paired:
  /// `shared_key("repeat 3")` gives both operators the same initial weights and minibatches.
  StreamKey shared_key(std::string_view name) const;
  /// Reports the share of the trial that is done (0..1). Call it at least once a second or so in
  /// long trials.
  /// Throws  Interrupted if the user asked to stop; let it pass
  void progress(double fraction) const;

  /// Returns the state that a stopped run of this very trial kept last; none: it begins.
  std::optional<std::string> kept_state() const;
  /// Reports progress and keeps the trial's state every half minute, and when the run is to stop:
  /// by Ctrl-C, and here also where --max-seconds are over. A trial that goes on from such a state
  /// must end with the bytes of one that was never stopped. For the trial's own thread.
  /// A state on the way that cannot be written ends nothing: the trial goes on, and tries again.
  /// Throws  Interrupted once the state is kept, or at once if nobody waits for the trial any more;
  ///   DataError if it is to stop and its state cannot be written
  void progress(double fraction, const std::function<std::string()>& state) const;

 private:
  mutable double kept_at_ = 0;  ///< steady clock; 0: not yet
  mutable SavesOnTheWay on_the_way_;
};

class Results;  // results.hpp
class Summary;  // summary.hpp

/// One table or figure of a paper: the description reads like the paper's methods section.
///   trials lists the inputs of every trial of a profile, in the order of the CSV files;
///   run does one trial: a pure function of inputs and context, called on several threads at once;
///   summarise turns whatever trials are finished into tables, figures and measures of claims: it
///   must cope with missing trials (--only, --max-seconds), which show as "not run".
/// A good trial lasts 0.1 s to a few minutes: it is the unit of caching, resuming and --jobs.
struct Experiment {
  std::string id;                         ///< "<paper>/<item>"; the source is experiments/<id>.cpp
  std::string item;                       ///< as the paper calls it: "Fig. 3 (top)"
  std::string title;                      ///< a question in one line, which the verdicts answer
  std::string paper_did;                  ///< what the paper did, one paragraph
  PerProfile<std::string> settings = {};  ///< what this program runs, one paragraph per profile
  PerProfile<double> seconds = {};        ///< estimated time on 2 cores
  std::vector<std::string> claims = {};   ///< ids of the claims that it measures: {"B15", "B16"}
  std::vector<std::string> deviations = {};  ///< from the paper, one sentence each
  std::vector<std::string> data = {};  ///< files read, relative to datasets/: part of a trial's key
  bool checks = false;  ///< its numbers come from verification/checks: part of a trial's key too
  bool alone = false;   ///< runs with no other trial beside it (it measures time)
  bool timed = false;   ///< its outputs have `seconds`, in which two runs of a trial may differ
  /// The id of another experiment that makes and stores the trials, so that `data`, `alone`,
  /// `seconds`, `trials`, `cost` and `run` are that one's; none: its own.
  std::string trials_of = {};
  std::function<std::vector<Json>(Profile)> trials = nullptr;
  /// How long a trial takes, relative to the experiment's others; none: all alike.
  std::function<double(const Json& inputs)> cost = nullptr;
  std::function<Json(const Json& inputs, const TrialContext& context)> run = nullptr;
  std::function<void(const Results& results, Summary& summary)> summarise = nullptr;

  std::string paper() const { return id.substr(0, id.find('/')); }
};

/// Reads a stored number: null, which stands for a number that was not finite, becomes NaN.
double number(const Json& value);
/// Reads a stored array of numbers.
std::vector<double> numbers(const Json& value);

/// Lists every experiment, in the order of experiments/kit/registry.cpp.
const std::vector<Experiment>& experiments();

}  // namespace boltzmark::experiments

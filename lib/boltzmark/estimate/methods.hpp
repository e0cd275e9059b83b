#pragma once

#include <Eigen/Core>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "boltzmark/core/progress.hpp"
#include "boltzmark/model/case_values.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/sample/estimate.hpp"
#include "boltzmark/sample/tempering/parallel_tempering.hpp"
#include "boltzmark/sample/tempering/simulated_tempering.hpp"

namespace boltzmark {

struct BothWays;
struct Modes;
struct SharedChains;
class LayeredTarget;

/// What samples every rung of a ladder.
enum class Tempering {
  simulated,  ///< each chain draws its rung: rungs are random
  parallel    ///< bundles of a chain a rung, which exchange rungs: each has a fixed share
};

/// The settings that all methods share.
struct MethodSettings {
  int chains = 100;
  int sweeps = 10000;  ///< total per chain, initial stage included
  /// None: 100 rungs, or one a sweep where chains are annealed.
  std::optional<Ladder> ladder = std::nullopt;
  Eigen::VectorXd log_prior = {};  ///< log r_k up to a constant [rungs]; empty: uniform
  States states = States::collapsed;
  bool keep_log_f = false;  ///< keep collapsed densities in the store
  /// Whose samples a method reads that reads samples of rungs; none: those it names itself.
  std::optional<Tempering> tempering = std::nullopt;
  int bundles = 0;   ///< of parallel tempering, a chain a rung each; 0: what `chains` allow, or one
  int burn_in = -1;  ///< sweeps of parallel tempering before any is kept; below 0: a fifth
  bool annealed_start = false;  ///< of parallel tempering, as ReplicaOptions has it
  /// Where tempered chains begin, at b = 1, as SimulatedTemperingOptions and ReplicaOptions have it.
  SetStates top_start = nullptr;
  Eigen::VectorXd log_z_hat = {};  ///< of simulated chains that begin there, which need it [rungs]
  StreamKey key = {};
  CaseValues cases = {};  ///< observed states for RAISE [visible x cases]; empty: sampled
  /// Takes states at b = 1 of as many chains as the method's work says.
  TopStates* top_states = nullptr;
  /// Has several processes make the annealed chains of a method that shares_chains, as
  /// AnnealingOptions::shared says; other methods leave it.
  const SharedChains* shared = nullptr;
  Progress progress = nullptr;  ///< the share done, 1 at the end; may throw to stop
};

/// What a method makes of its settings.
struct MethodWork {
  int chains = 0;  ///< that are moved together
  int sweeps = 0;  ///< per chain
  int temperatures = 0;
  double moves =
      0;  ///< sweeps of single chains in all; those that no number depends on are not made
};

/// What a method's numbers come from.
enum class Source {
  tempered,    ///< one run of simulated tempering; a sample store serves every such method
  annealed,    ///< chains that go once through the ladder
  adaptive,    ///< tempering whose Zhat changes while it runs
  continuous,  ///< tempering with a continuous inverse temperature
  parallel,    ///< parallel tempering
  own          ///< none of these
};

/// Names a source as lists do: "samples", "annealing", ...
std::string_view name(Source source);

/// Which of the settings a method reads that not every method does.
struct Reads {
  bool log_prior = false;
  bool states = false;
  /// Given, they take the place of a tempered run, and of the prior and the states with it.
  bool cases = false;
};

struct Method;

/// Sends chains through the ladder from its other end, down from modes or up from the base, and puts beside it
/// what the method told. The settings are of this run alone: its sweeps, the log Zhat of the one that told if it
/// was simulated tempering, and a key that this one did not have, or the two are not independent.
using OtherWay = std::function<BothWays(const Method&, const Estimate& told, const LayeredTarget&,
                                        const Modes&, const MethodSettings&)>;

/// A method of estimating log Z: all that the command line, `compare` and the tests know of it.
struct Method {
  std::string name = {};  ///< as the command line takes it
  std::string summary = {};
  Source source = Source::own;
  Reads reads = {};
  /// Estimates log Z of a target, by a sampler of its own; null if it reads a tempered run.
  std::function<Estimate(const Target&, const MethodSettings&)> run = nullptr;
  /// Returns what the method will do, before there is any ladder or chain.
  std::function<MethodWork(const MethodSettings&)> work = nullptr;
  /// Returns the bytes that are kept of every sweep of all chains.
  std::function<double(const MethodSettings&)> sweep_bytes = nullptr;
  /// Returns the bytes that a chain's rungs take, of all sweeps together; null: none.
  std::function<double(const MethodSettings&)> rung_bytes = nullptr;
  OtherWay other_way = nullptr;  ///< null: its chains begin at no one end of the ladder
  bool shares_chains = false;    ///< has other processes make some of them (settings.shared)
  bool shares_states = false;    ///< and each knows but its own states at b = 1
  double square_matrices = 0;    ///< of rungs x rungs doubles, that are there at once
  double cell_seconds = 0;       ///< besides the sweeps, of a sample and a rung on one thread
  double pair_seconds = 0;       ///< and of a sample and a pair of rungs

  /// Estimates log Z from a tempered run that other methods read too; source `tempered` has it.
  std::function<Estimate(const TemperedRun&)> from_run = nullptr;
  /// Does so from a stored one; null if a store alone does not do.
  std::function<Estimate(const SampleStore&, States)> from_store = nullptr;
  bool reads_log_f = false;  ///< can use collapsed states
  /// The states that it reads stored samples by unless others are asked for; none: default_states.
  std::optional<States> stored_states = std::nullopt;
  bool any_tempering = false;  ///< can read samples of parallel tempering as well as of simulated

  /// Throws  InvalidArgument if it has no name, or if a function is missing or of another source
  void check() const;
};

/// What samples take in memory.  Units  bytes
inline constexpr double kSampleBytes = 8 + 4;  ///< D and its rung
inline constexpr double kInfluenceBytes = 10;  ///< of a sample, while the error is computed
/// Of a chain and a rung: densities, and sums of weights of a run and of its initial rounds.
inline constexpr double kRungBytes = 8 * (1 + 3 + 5);

/// Densities, probabilities and estimates take so long for a sample and a rung on one thread.
inline constexpr double kCellSeconds = 8e-9;

/// Returns the ladder of a tempered run: the settings', or 100 rungs.
Ladder tempering_ladder(const MethodSettings& settings);
/// Returns the work of all chains making all sweeps on that ladder, or of replicas that are worth it.
MethodWork tempering_work(const MethodSettings& settings);
/// Returns the work of chains that wander over the ladder whatever other methods temper by.
MethodWork wandering_work(const MethodSettings& settings);

/// Returns the states that a store is read by unless others are asked for: collapsed if it has
/// them.
States default_states(const SampleStore& store);

/// Makes the tempered run that methods of source `tempered` read, which is the same whether
/// settings.top_states are taken or not.
/// Randomness  settings.key: each chain's units and rung, whatever the threads
/// Throws      InvalidArgument on settings out of range; what settings.progress throws
TemperedRun run_tempering(const Target& target, const MethodSettings& settings);

/// Returns how parallel tempering is run: whole ladders, and the sweeps that make the same moves as
/// the settings' chains.
/// Throws  InvalidArgument if a chain would make fewer than 2 sweeps, or none after the burn-in
ReplicaOptions replica_options(const MethodSettings& settings);
/// Returns the work of these.
MethodWork replica_work(const MethodSettings& settings);
/// Samples by parallel tempering.
/// Randomness, Throws  as parallel_tempering_samples and replica_options
SampleStore run_replicas(const Target& target, const MethodSettings& settings);

/// Makes a method that reads more of a tempered run than its samples.
Method reader_of_runs(std::string name, std::string summary,
                      std::function<Estimate(const TemperedRun&)> from_run);
/// Makes a method that reads the samples of a tempered run, stored or not.
Method reader_of_stores(std::string name, std::string summary,
                        std::function<Estimate(const SampleStore&, States)> from_store);

/// Lists every method, in the order in which they are shown. References to them stay valid.
const std::deque<Method>& registered_methods();
/// Adds a method of one's own, which everything that goes by a method's name then knows. Not while
/// other threads use the methods.
/// Throws  InvalidArgument as Method::check, or if there is a method of that name
void register_method(Method method);
/// Throws  InvalidArgument if there is no such method
const Method& find_method(std::string_view name);

/// Tells whether a method's own run tempers collapsed states, as thorough a search for wells as there is.
bool tempers_collapsed(const Method& method, const MethodSettings& settings);

/// Returns what a method will do. Stepping stones move whole ladders of one chain a rung: as many
/// as the chains allow, or one, with as many sweeps as make up for the chains left over or added.
/// Throws  InvalidArgument if there is no such method
MethodWork method_work(std::string_view method, const MethodSettings& settings);

/// Estimates log Z from a tempered run, by the sums of collapsed states where only these were kept.
/// Throws  InvalidArgument if the method is not of source `tempered`
Estimate estimate_from(std::string_view method, const TemperedRun& run);
/// Estimates log Z from a stored one, as `estimate --from` does; none: collapsed states if stored.
/// Throws  InvalidArgument if the method is not of source `tempered`, does not read the states
/// asked for, or needs what is not stored
Estimate estimate_from(std::string_view method, const SampleStore& store,
                       std::optional<States> states = std::nullopt);
/// Refuses settings that no run has, or a tempering that the method does not read.
/// Throws  InvalidArgument
void check_settings(const Method& method, const MethodSettings& settings);

/// Estimates log Z by any method. Only RAISE with cases needs a target of layers. Samples of parallel
/// tempering (settings.tempering) serve methods of any_tempering.
/// Its status is by the run's own samples, which know nothing of a mode that no chain met: estimate_held, or
/// hold_to_found, holds an estimate of layers to what is found beside it.
/// Randomness  as run_tempering, or run_replicas
/// Throws      InvalidArgument if there is no such method, it cannot read the samples asked for, or on
///   settings out of range; what settings.progress throws
Estimate estimate_log_z(std::string_view method, const Target& target,
                        const MethodSettings& settings);

/// Estimates log Z of a target by several methods with the same settings: those that read samples
/// share one tempered run. The target must outlive it.
class MethodRuns {
 public:
  MethodRuns(const Target& target, MethodSettings settings)
      : target_(&target), settings_(std::move(settings)) {}
  MethodRuns(const Target&&, MethodSettings) = delete;  ///< it must outlive the runs
  MethodRuns(const MethodRuns&) = delete;
  MethodRuns& operator=(const MethodRuns&) = delete;

  /// Returns the tempered run, which the first call makes.
  /// Randomness, Throws  as run_tempering
  const TemperedRun& tempered();
  /// Returns the samples of parallel tempering, which the first call makes.
  /// Randomness, Throws  as run_replicas
  const SampleStore& replicas();
  /// Estimates log Z by any method.
  /// Randomness, Throws  as estimate_log_z
  Estimate estimate(std::string_view method);
  /// Returns the states at b = 1 that the run behind the last estimate met, without visits where its
  /// method tells none.  Invariant  there was an estimate
  TopStates& top_states() { return *last_top_; }

 private:
  const Target* target_;
  MethodSettings settings_;
  std::optional<TopStates> tempered_top_, replicas_top_, own_top_;  ///< of the runs
  TopStates* last_top_ = nullptr;
  std::optional<TemperedRun> run_;
  std::optional<SampleStore> replicas_;
};

/// Computes about how many bytes a method needs: its chains, its ladder, and what it keeps of every
/// sweep, of which the collapsed densities (settings.keep_log_f) are 8 bytes a rung.
/// Throws  InvalidArgument if there is no such method
double method_bytes(std::string_view method, const MethodSettings& settings, const Layered& model);

}  // namespace boltzmark

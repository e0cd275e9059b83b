#pragma once

#include <Eigen/Core>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "boltzmark/sample/estimate.hpp"
#include "boltzmark/sample/simulated_tempering.hpp"
#include "boltzmark/target/layered_target.hpp"

namespace boltzmark {

/// What a method's numbers come from.
enum class Source {
  tempered,    ///< one run of simulated tempering; a sample store serves every such method
  annealed,    ///< chains that go once through the ladder
  adaptive,    ///< tempering whose Zhat changes while it runs
  continuous,  ///< tempering with a continuous inverse temperature
  parallel     ///< parallel tempering
};

/// A registered method of estimating log Z.
struct MethodInfo {
  std::string name;  ///< as the command line takes it
  std::string summary;
  Source source = Source::tempered;
  bool reads_log_f = false;  ///< can use collapsed states
};

/// Lists every method, in the order in which they are shown.
const std::vector<MethodInfo>& registered_methods();
/// Throws  InvalidArgument if there is no such method
const MethodInfo& find_method(std::string_view name);

/// The settings that all methods share.
struct MethodSettings {
  int chains = 100;
  int sweeps = 10000;  ///< total per chain, initial stage included
  /// None: 100 rungs, or one a sweep where chains are annealed.
  std::optional<Ladder> ladder = std::nullopt;
  Eigen::VectorXd log_prior = {};  ///< log r_k up to a constant [rungs]; empty: uniform
  States states = States::collapsed;
  bool keep_log_f = false;  ///< keep collapsed densities in the store
  StreamKey key = {};
  Eigen::MatrixXf cases = {};  ///< observed states for RAISE [visible x cases]; empty: sampled
  std::function<void(double)> progress = nullptr;  ///< the share done; may throw to stop
};

/// What a method makes of its settings.
struct MethodWork {
  int chains = 0;  ///< that are moved together
  int sweeps = 0;  ///< per chain
  int temperatures = 0;
  double moves =
      0;  ///< sweeps of single chains in all; those that no number depends on are not made
};

/// Returns what a method will do. Stepping stones move whole ladders of one chain a rung: as many
/// as the chains allow, or one, with as many sweeps as make up for the chains left over or added.
/// Throws  InvalidArgument if there is no such method
MethodWork method_work(std::string_view method, const MethodSettings& settings);

/// Makes the tempered run that methods of source `tempered` read.
/// Randomness  settings.key: each chain's units and rung, whatever the threads
/// Throws      InvalidArgument on settings out of range; what settings.progress throws
TemperedRun run_tempering(const Target& target, const MethodSettings& settings);
/// Estimates log Z from a tempered run, by the sums of collapsed states where only these were kept.
/// Throws  InvalidArgument if the method is not of source `tempered`
Estimate estimate_from(std::string_view method, const TemperedRun& run);
/// Estimates log Z from a stored one, as `estimate --from` does; none: collapsed states if stored.
/// Throws  InvalidArgument if the method is not of source `tempered`, does not read the states
/// asked
///   for, or needs what is not stored
Estimate estimate_from(std::string_view method, const SampleStore& store,
                       std::optional<States> states = std::nullopt);
/// Estimates log Z by any method. Only RAISE with cases needs a target of layers.
/// Randomness  as run_tempering
/// Throws      InvalidArgument if there is no such method, or on settings out of range; what
///   settings.progress throws
Estimate estimate_log_z(std::string_view method, const Target& target,
                        const MethodSettings& settings);

/// Estimates log Z of a target by several methods with the same settings: those that read samples
/// share one tempered run. The target must outlive it.
class MethodRuns {
 public:
  MethodRuns(const Target& target, MethodSettings settings)
      : target_(&target), settings_(std::move(settings)) {}

  /// Returns the tempered run, which the first call makes.
  /// Randomness, Throws  as run_tempering
  const TemperedRun& tempered();
  /// Estimates log Z by any method.
  /// Randomness, Throws  as estimate_log_z
  Estimate estimate(std::string_view method);

 private:
  const Target* target_;
  MethodSettings settings_;
  std::optional<TemperedRun> run_;
};

}  // namespace boltzmark

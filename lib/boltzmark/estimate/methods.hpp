#pragma once

#include <deque>
#include <optional>
#include <string_view>
#include <utility>

#include "boltzmark/estimate/method.hpp"
#include "boltzmark/model/layered.hpp"

namespace boltzmark {

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

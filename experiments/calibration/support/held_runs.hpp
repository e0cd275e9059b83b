#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "boltzmark/estimate/held/held_estimate.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "experiments/kit/experiment.hpp"

namespace boltzmark::experiments {

/// An estimate after its attempts.
struct HeldOutcome {
  Estimate estimate;
  int sweeps = 0;     ///< that all attempts had
  double lowest = 0;  ///< what log Z is certainly not below, as far as was found
  std::vector<std::string> statuses = {};  ///< of the attempts
};

/// What stands before a model's runs: its base, chosen or given, and what a search finds.
struct Ground {
  ModeSearch search;
  ChosenBase base;
  LayeredTarget target;
  FoundStates found;
  bool uniform = false;  ///< the base

  /// Randomness  seed, as the command line's    Throws  InvalidArgument as choose_auto_base
  Ground(const Layered& model, int chains, int sweeps, std::uint64_t seed,
         std::optional<Base> given = std::nullopt);

  /// What the command line would have found for a method: without the states of a tempered search where the
  /// method's run is as thorough itself.
  FoundStates found_for(const Method& method, const MethodSettings& settings) const;
};

/// What `boltzmark estimate MODEL` does by any method, the base chosen or given, refused estimates tried
/// again and each held to a certified lower bound; but that the methods which read samples share each
/// attempt's run.
class HeldRuns {
 public:
  /// Randomness, Throws  as Ground
  HeldRuns(const Layered& model, int chains, int sweeps, std::uint64_t seed,
           std::optional<Base> base = std::nullopt);

  /// Throws  InvalidArgument as estimate_log_z
  HeldOutcome estimate(const std::string& method, int attempts);

 private:
  /// One attempt's run, shared, and what it is held to by the states that it met.
  struct Attempt {
    MethodRuns runs;
    std::optional<Held> held = std::nullopt;
    Attempt(const LayeredTarget& target, const MethodSettings& settings) : runs(target, settings) {}
  };

  Attempt& attempt(int sweeps, int number);
  Held held_of(const Method& method, Attempt& attempt);
  MethodSettings settings(int sweeps, int number) const;

  std::uint64_t seed_;
  int chains_, sweeps_;
  Ground ground_;
  LowerBound searched_;  ///< by the searches alone
  std::map<int, std::unique_ptr<Attempt>> attempts_;
};

/// Writes what read_outcomes reads of an estimate.
Json outcome_json(const HeldOutcome& held);

}  // namespace boltzmark::experiments

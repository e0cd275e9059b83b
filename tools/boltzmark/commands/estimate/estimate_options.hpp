#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/estimate/places/chosen_base.hpp"
#include "boltzmark/exact/modes/modes.hpp"
#include "boltzmark/io/dataset.hpp"
#include "boltzmark/model/base.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "tools/boltzmark/command.hpp"

namespace boltzmark::cli {

/// The options that `estimate`, `compare` and `score` share.
struct EstimateArguments {
  int chains = 100;
  int sweeps = 10000;
  int temperatures = 0;  ///< 0: not given
  std::string ladder = "linear";
  std::string base = "auto";
  double base_smoothing = -1;  ///< below 0: not given
  std::string prior = "uniform";
  std::string states;   ///< empty: the default
  std::string sampler;  ///< empty: the method's own
  int bundles = 0;      ///< 0: not given
  int burn_in = -1;     ///< below 0: not given
  std::string summed;   ///< empty: the default
  std::string data;
  std::string binarise;  ///< empty: not given
  std::uint64_t seed = 1;
};

/// Adds the options; `sweeps` unless the command has its own.
void add_estimate_options(Command& command, EstimateArguments& arguments, bool with_sweeps);

/// Adds --strict.
void add_strict(Command& command, bool& strict);
/// The exit code of a command that ends with an estimate: 4 if it is not ok and that is asked for.
int exit_code(const Estimate& estimate, bool strict);

/// Parses joint or collapsed.
States parse_states(const std::string& text);

/// Lists the options that are not as they would be if they had not been given.
std::vector<std::string> given_options(const EstimateArguments& arguments);
/// Foretells the seconds that a method takes besides its sweeps.
double estimator_seconds(const std::string& method, const MethodSettings& settings);

/// Throws  InvalidArgument if an option is given that none of the methods reads, or without what it is of
void refuse_idle_options(const std::vector<std::string>& methods,
                         const EstimateArguments& arguments);

/// What commands call enumeration by, which is none of the registered methods.
inline constexpr const char* kExact = "exact";
inline bool is_exact(std::string_view method) { return method == kExact; }

/// Names a side: odd or even.
std::string parity_name(int parity);
/// Returns the parity of the layers that marginal weights sum out: 1 the odd ones, 0 the even ones.
int summed_side(const Layered& model, const EstimateArguments& arguments);
/// Names these layers, odd or even; none where a method, or "exact", has no marginal weights.
/// Throws  InvalidArgument if they have the visible units, and the method is to observe those
std::optional<std::string> summed_layers(const std::string& method, const Layered& model,
                                         const EstimateArguments& arguments);

/// Names what samples the rungs, tempering or parallel; none where a method does so by itself.
std::optional<std::string> sampler_of(const std::string& method,
                                      const EstimateArguments& arguments);

/// What chains are moved on, and how its base came about.
struct PreparedTarget {
  LayeredTarget target;
  std::string base;   ///< "uniform", "modes" or the data set's name
  ChosenBase chosen;  ///< with what its choice found of the model
};

/// Makes the target of a model file with the base that the options name; auto is the best of
/// choose_auto_base, the modes climbed to from `cases` too.
/// Randomness  keys of their own, whatever the run's
/// Throws  DataError naming the file or the data set, InvalidArgument about the options
PreparedTarget make_target(const Layered& model, const std::string& path,
                           const EstimateArguments& arguments, const CaseValues& cases);

/// Turns the options into settings, the ladder's file and the data of RAISE read.
/// Throws  as make_base
MethodSettings make_settings(const Layered& model, const EstimateArguments& arguments);
/// Hashes what files that the options name say: the ladder's, the base's data, and the cases read.
/// Throws  as make_settings and make_target
std::string hash_of_files(const Layered& model, const EstimateArguments& arguments,
                          const CaseValues& cases);
/// Sets whose samples and which states are asked for, of which no file is read.
void set_sampler(const EstimateArguments& arguments, MethodSettings& settings);

/// Refuses an estimate that needs more memory than is free, on so many ranks of this host.
/// Throws  InvalidArgument
void require_memory_of(const std::string& method, const Layered& model,
                       const EstimateArguments& arguments, const MethodSettings& settings,
                       int ranks = 1);

/// States what an estimate will take.  Throws  InvalidArgument as require_memory_of
void state_estimate(const Session& session, const std::string& method, const Layered& model,
                    const EstimateArguments& arguments, const MethodSettings& settings,
                    const std::string& base);

/// Replaces `--ladder adaptive` by rungs from a pilot run, a fifth of the sweeps, which it takes
/// off.
void adapt_ladder(const LayeredTarget& target, const EstimateArguments& arguments,
                  MethodSettings& settings);

}  // namespace boltzmark::cli

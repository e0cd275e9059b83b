#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "boltzmark/sample/chains/adaptive_chains.hpp"
#include "boltzmark/sample/chains/sampler.hpp"

namespace boltzmark {

/// How a trainer draws the negative samples of a gradient: one of negative_phases(), with its
/// settings, of which a phase reads those that its form and its options name.
struct Negative {
  std::string kind = "cd";
  int sweeps = 1;        ///< k of every update
  int temperatures = 1;  ///< of a ladder from b = lowest to 1, where there is one
  double lowest = 0;
  int chains = 0;  ///< in all, those at other temperatures too; 0: a state for each case of a batch
  int every =
      1;  ///< sweeps from one tempered transition, or run of adaptive tempering, to the next
  std::optional<double> fast_rate = {};  ///< of fast weights; none: the trainer's learning rate
  double fast_decay = 0.95;              ///< what is left of fast weights after an update

  CouplingOptions coupling = {};  ///< of slow and fast chains
  AdaptingFactor factor = {};
  WeightSharing weights = WeightSharing::own;

  /// Throws  InvalidArgument if sweeps < 1, temperatures < 1 (tt, st and cast: < 2) or lowest is
  /// not in [0, 1)
  static Negative cd(int sweeps);
  static Negative pcd(int sweeps);
  static Negative fpcd(int sweeps);
  static Negative tt(int temperatures, double lowest);
  static Negative pt(int temperatures, int sweeps, double lowest = 0);
  static Negative st(int temperatures, double lowest);
  static Negative cast(int temperatures, double lowest);

  /// Tells whether chains are tempered, or swapped by energies as those of a ladder of one are.
  bool has_ladder() const { return temperatures > 1 || kind == "pt"; }
  /// Writes it as the command line takes it: cd:25, pcd:10, pt:10:1 (10 temperatures, k = 1).
  std::string name() const;
  /// Writes the name and every option that the phase reads and whose value is not its default:
  /// "pcd:1 --chains 50".
  std::string description() const;
  friend bool operator==(const Negative&, const Negative&) = default;
};

/// Reads the numbers between the colons of a negative phase's text, in their order.
class Fields;

/// A setting of negative phases that has an option of its own on the command line.
struct NegativeOption {
  std::string_view form;     ///< its name and its value: "--chains N"
  std::string_view meaning;  ///< of the value, with its default
  std::string_view range;    ///< "an integer from 1"
  /// Sets it; tells whether the text is a value of its range.
  bool (*set)(Negative& negative, std::string_view text);
  std::string (*write)(const Negative& negative);  ///< its value, as `set` reads it

  std::string_view name() const { return form.substr(0, form.find(' ')); }
};

/// Lists every option of negative phases, one line each.
std::span<const NegativeOption> negative_options();

/// What help, parsing, the trainer and the tests know of a kind of negative phase.
struct NegativePhase {
  std::string_view form;     ///< its name and its fields: pt:T:K
  std::string_view meaning;  ///< of the fields
  std::string_view example;  ///< pt:10:1
  std::string_view options;  ///< the names of those it reads, with blanks between
  bool samples;              ///< is a sampler of a model that does not change too
  Negative (*parse)(Fields& fields);
  std::string (*write)(const Negative& negative);  ///< the fields, as `parse` reads them
  std::unique_ptr<Sampler> (*make)(const Negative& negative, const SamplerSetup& setup);

  std::string_view name() const { return form.substr(0, form.find(':')); }
  bool reads(const NegativeOption& option) const;
};

/// Lists every kind of negative phase, one line each.
std::span<const NegativePhase> negative_phases();
/// Writes their forms and meanings in one sentence, for a help text.
std::string describe_negative_phases();

/// Parses a negative phase.  Throws  InvalidArgument naming the forms there are
Negative parse_negative(std::string_view text);
/// Parses what Negative::description writes: a negative phase, then its options.
/// Throws  InvalidArgument as parse_negative and set_negative_option
Negative parse_negative_description(std::string_view text);
/// Sets an option by its name, as "--chains".
/// Throws  InvalidArgument if there is none of that name, the phase does not read it, or the value
/// is outside its range
void set_negative_option(Negative& negative, std::string_view name, std::string_view value);

/// Parses what samples a model that does not change: `gibbs`, which is plain sweeps, or a negative
/// phase that serves without cases and gradients; of st the factor vanishes, 10 / t, as states that a
/// constant one keeps at b = 1 do not follow the model.
/// Throws  InvalidArgument naming the forms there are
Negative parse_sampler(std::string_view text);
/// Writes their forms and meanings in one sentence, for a help text.
std::string describe_samplers();

/// Makes the sampler of a negative phase.
/// Throws  InvalidArgument if there is no such kind, it tempers a Gaussian layer, or sweeps, temperatures, chains or
///   every are below 1, 1, 0 and 1
std::unique_ptr<Sampler> make_sampler(const Negative& negative, const SamplerSetup& setup);

}  // namespace boltzmark

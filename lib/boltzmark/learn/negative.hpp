#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "boltzmark/sample/sampler.hpp"

namespace boltzmark {

/// How a trainer draws the negative samples of a gradient: one of negative_phases(), with its
/// settings.
struct Negative {
  std::string_view kind = "cd";
  int sweeps = 1;        ///< k of every update
  int temperatures = 1;  ///< of a ladder from b = 0 to 1, where there is one

  /// Throws  InvalidArgument if sweeps < 1 or temperatures < 1
  static Negative cd(int sweeps);
  static Negative pcd(int sweeps);
  static Negative pt(int temperatures, int sweeps);

  /// Writes it as the command line takes it: cd:25, pcd:10, pt:10:1 (10 temperatures, k = 1).
  std::string name() const;
  friend bool operator==(const Negative&, const Negative&) = default;
};

/// Reads the numbers between the colons of a negative phase's text, in their order.
class Fields {
 public:
  explicit Fields(std::string_view text) : left_(text) {}
  /// Reads a whole number from 1 on; returns 1 where there is none, and `whole` is false then.
  int count();
  /// Tells whether every field has been read, and each was in its range.
  bool whole() const { return good_ && left_.empty(); }

 private:
  std::string_view left_;  ///< from a colon on
  bool good_ = true;
};

/// What help, parsing, the trainer and the tests know of a kind of negative phase.
struct NegativePhase {
  std::string_view form;     ///< its name and its fields: pt:T:K
  std::string_view meaning;  ///< of the fields
  std::string_view example;  ///< pt:10:1
  Negative (*parse)(Fields& fields);
  std::string (*write)(const Negative& negative);  ///< the fields, as `parse` reads them
  std::unique_ptr<Sampler> (*make)(const Negative& negative, const SamplerSetup& setup);

  std::string_view name() const { return form.substr(0, form.find(':')); }
};

/// Lists every kind of negative phase, one line each.
std::span<const NegativePhase> negative_phases();
/// Writes their forms and meanings in one sentence, for a help text.
std::string describe_negative_phases();

/// Parses a negative phase.  Throws  InvalidArgument naming the forms there are
Negative parse_negative(std::string_view text);

/// Makes the sampler of a negative phase.  Throws  InvalidArgument if there is no such kind
std::unique_ptr<Sampler> make_sampler(const Negative& negative, const SamplerSetup& setup);

}  // namespace boltzmark

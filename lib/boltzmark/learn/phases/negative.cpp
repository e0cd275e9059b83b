#include "boltzmark/learn/phases/negative.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/number.hpp"
#include "boltzmark/random/draws.hpp"
#include "boltzmark/sample/chains/contrastive_divergence.hpp"
#include "boltzmark/sample/chains/persistent_chains.hpp"

namespace boltzmark {
namespace {

template <class Value>
bool take(const std::optional<Value>& parsed, Value& value) {
  value = parsed.value_or(value);
  return parsed.has_value();
}

bool read_count(std::string_view text, int& value) {
  return take(parse_number<int>(text), value) && value > 0;
}

}  // namespace

class Fields {
 public:
  explicit Fields(std::string_view text) : left_(text) {}
  /// Reads a whole number from `least` on; returns it where there is none, and `whole` is false
  /// then.
  int count(int least = 1) {
    int value = least;
    good_ = read_count(next(), value) && value >= least && good_;
    return good_ ? value : least;
  }
  /// Reads a lowest inverse temperature, in [0, 1); returns 0 where there is none, and `whole` is
  /// false then.
  double inverse_temperature() {
    double value = 0;
    good_ = take(parse_number<double>(next()), value) && value >= 0 && value < 1 && good_;
    return good_ ? value : 0;
  }
  bool more() const { return !left_.empty(); }
  /// Tells whether every field has been read, and each was in its range.
  bool whole() const { return good_ && left_.empty(); }

 private:
  std::string_view next() {
    const std::string_view field = left_.substr(0, left_.find(':', 1));
    left_.remove_prefix(field.size());
    return field.substr(field.empty() ? 0 : 1);
  }

  std::string_view left_;  ///< from a colon on
  bool good_ = true;
};

namespace {

std::string write_sweeps(const Negative& negative) { return fmt::format("{}", negative.sweeps); }

std::string write_lowest(const Negative& negative) {
  return fmt::format("{}:{}", negative.temperatures, negative.lowest);
}

// Reads the fields T:LOW.
template <Negative (*Make)(int, double)>
Negative parse_lowest(Fields& fields) {
  const int temperatures = fields.count(2);
  return Make(temperatures, fields.inverse_temperature());
}

std::string write_ladder(const Negative& negative) {
  std::string fields = fmt::format("{}:{}", negative.temperatures, negative.sweeps);
  if (negative.lowest != 0) fields += fmt::format(":{}", negative.lowest);
  return fields;
}

Negative parse_ladder(Fields& fields) {
  const int temperatures = fields.count();
  const int sweeps = fields.count();
  return Negative::pt(temperatures, sweeps, fields.more() ? fields.inverse_temperature() : 0);
}

// A setup of as many states as --chains makes of them: one for every `share` of the chains.
SamplerSetup asked_for(const Negative& negative, SamplerSetup setup, int share) {
  if (negative.chains == 0) return setup;
  if (negative.chains % share != 0)
    throw InvalidArgument(fmt::format("--chains = {} (must be a multiple of {} with {})",
                                      negative.chains, share, negative.name()));
  setup.packing.chains = negative.chains / share;
  return setup;
}

// One chain a case.
std::unique_ptr<Sampler> make_case_chains(const Negative& /*negative*/, const SamplerSetup& setup) {
  return std::make_unique<ContrastiveDivergence>(setup);
}

std::unique_ptr<Sampler> make_persistent(const Negative& negative, const SamplerSetup& setup) {
  return std::make_unique<PersistentChains>(asked_for(negative, setup, 1));
}

std::unique_ptr<Sampler> make_ladders(const Negative& negative, const SamplerSetup& setup) {
  return std::make_unique<PersistentLadders>(asked_for(negative, setup, negative.temperatures),
                                             uniform_ladder(negative.temperatures, negative.lowest),
                                             negative.sweeps);
}

AdaptiveOptions adaptive_options(const Negative& negative) {
  return {.inverse_temperatures = uniform_ladder(negative.temperatures, negative.lowest),
          .factor = negative.factor,
          .weights = negative.weights};
}

std::unique_ptr<Sampler> make_runs(const Negative& negative, const SamplerSetup& setup) {
  return std::make_unique<AdaptiveRuns>(asked_for(negative, setup, 1), adaptive_options(negative),
                                        negative.every);
}

// Both halves count: together they are as many as the cases, one more if these are odd, unless
// --chains says otherwise.
std::unique_ptr<Sampler> make_pairs(const Negative& negative, const SamplerSetup& setup) {
  Negative all = negative;
  if (all.chains == 0) all.chains = setup.packing.chains + setup.packing.chains % 2;
  return std::make_unique<CoupledChains>(asked_for(all, setup, 2), adaptive_options(negative),
                                         negative.coupling);
}

std::unique_ptr<Sampler> make_fast(const Negative& negative, const SamplerSetup& setup) {
  return std::make_unique<FastWeights>(asked_for(negative, setup, 1),
                                       negative.fast_rate.value_or(setup.learning_rate),
                                       negative.fast_decay);
}

std::unique_ptr<Sampler> make_transitions(const Negative& negative, const SamplerSetup& setup) {
  return std::make_unique<PersistentTransitions>(
      asked_for(negative, setup, 1), uniform_ladder(negative.temperatures, negative.lowest),
      negative.every);
}

bool read_rate(std::string_view text, double& value) {
  return take(parse_number<double>(text), value) && value >= 0 && std::isfinite(value);
}

constexpr NegativeOption kOptions[] = {
    {"--chains N",
     "chains in all, those at other temperatures too (default: a state for each case of a batch; "
     "cast: for every two cases, rounded up)",
     "an integer from 1",
     [](Negative& negative, std::string_view text) { return read_count(text, negative.chains); },
     [](const Negative& negative) { return fmt::format("{}", negative.chains); }},
    {"--every N",
     "updates from one tempered transition to the next (default: 1), or from one run of adaptive "
     "tempering, of as many sweeps, to the next (default: 50)",
     "an integer from 1",
     [](Negative& negative, std::string_view text) { return read_count(text, negative.every); },
     [](const Negative& negative) { return fmt::format("{}", negative.every); }},
    {"--lag N", "sweeps from one swap of slow and fast chains to the next (default: 50)",
     "an integer from 1",
     [](Negative& negative, std::string_view text) {
       return read_count(text, negative.coupling.lag);
     },
     [](const Negative& negative) { return fmt::format("{}", negative.coupling.lag); }},
    {"--swap S",
     "when slow and fast chains swap: last (at every lag, the last state at b = 1), lag (at every "
     "lag, if at b = 1), each (after every sweep that ends at b = 1) or entry (on arrival there; "
     "default: last; last and entry lean to states that b = 1 is seldom left from)",
     "last, lag, each or entry",
     [](Negative& negative, std::string_view text) {
       return take(parse_swap_rule(text), negative.coupling.swap);
     },
     [](const Negative& negative) { return std::string(boltzmark::name(negative.coupling.swap)); }},
    {"--factor F",
     "Wang-Landau factor: constant:X, or vanishing:X for X / t (default: constant:10)",
     "constant:X or vanishing:X, X positive and finite",
     [](Negative& negative, std::string_view text) {
       return take(parse_adapting_factor(text), negative.factor);
     },
     [](const Negative& negative) { return negative.factor.name(); }},
    {"--weights W",
     "adaptive weights: own of every chain, or shared, the mean over the chains (default: own)",
     "own or shared",
     [](Negative& negative, std::string_view text) {
       return take(parse_weight_sharing(text), negative.weights);
     },
     [](const Negative& negative) { return std::string(boltzmark::name(negative.weights)); }},
    {"--fast-rate X", "learning rate of the fast weights (default: that of the model at its start)",
     "a number from 0",
     [](Negative& negative, std::string_view text) {
       return read_rate(text, negative.fast_rate.emplace());
     },
     [](const Negative& negative) {
       return negative.fast_rate ? fmt::format("{}", *negative.fast_rate) : std::string();
     }},
    {"--fast-decay X", "what is left of the fast weights after an update (default: 0.95)",
     "a number from 0 to 1",
     [](Negative& negative, std::string_view text) {
       return read_rate(text, negative.fast_decay) && negative.fast_decay <= 1;
     },
     [](const Negative& negative) { return fmt::format("{}", negative.fast_decay); }},
};

constexpr NegativePhase kPhases[] = {
    {"cd:K", "K sweeps from the cases", "cd:25", "", false,
     [](Fields& fields) { return Negative::cd(fields.count()); }, write_sweeps, make_case_chains},
    {"pcd:K", "K sweeps of persistent chains", "pcd:10", "--chains", false,
     [](Fields& fields) { return Negative::pcd(fields.count()); }, write_sweeps, make_persistent},
    {"fpcd:K", "K sweeps of persistent chains under fast weights", "fpcd:1",
     "--chains --fast-rate --fast-decay", false,
     [](Fields& fields) { return Negative::fpcd(fields.count()); }, write_sweeps, make_fast},
    {"pt:T:K[:LOW]", "T inverse temperatures, 1 or more, from LOW or 0 to 1, K sweeps", "pt:10:1",
     "--chains", true, parse_ladder, write_ladder, make_ladders},
    {"tt:T:LOW", "a sweep, then a tempered transition over T inverse temperatures from 1 to LOW",
     "tt:20:0.9", "--chains --every", true, parse_lowest<Negative::tt>, write_lowest,
     make_transitions},
    {"st:T:LOW", "adaptive simulated tempering, T inverse temperatures, 2 or more, from 1 to LOW",
     "st:20:0.9", "--chains --every --factor --weights", true, parse_lowest<Negative::st>,
     write_lowest, make_runs},
    {"cast:T:LOW", "chains coupled to such ones", "cast:20:0.9",
     "--chains --lag --swap --factor --weights", false, parse_lowest<Negative::cast>, write_lowest,
     make_pairs},
};

// Writes what `text` says of every phase: "a, b or c".
template <class Text>
std::string enumerate(const Text& text) {
  std::string all;
  for (const NegativePhase& phase : kPhases) {
    const bool last = &phase + 1 == std::end(kPhases);
    if (!all.empty()) all += last ? " or " : ", ";
    all += text(phase);
  }
  return all;
}

// So of what samples without training: "gibbs, a, b".
constexpr std::string_view kPlainSweeps = "gibbs";
template <class Text>
std::string list_samplers(const Text& text) {
  std::string all(kPlainSweeps);
  for (const NegativePhase& phase : kPhases)
    if (phase.samples) all += ", " + text(phase);
  return all;
}

const NegativePhase& phase_of(std::string_view name) {
  for (const NegativePhase& phase : kPhases)
    if (phase.name() == name) return phase;
  throw InvalidArgument(fmt::format("negative = {} (must be {})", name, enumerate([](auto& phase) {
                                      return std::string(phase.name());
                                    })));
}

[[noreturn]] void refuse(std::string_view text) {
  throw InvalidArgument(fmt::format(
      "negative = {} (must be {}: K 1 or more, T 2 or more (of pt 1), LOW from 0 to below "
      "1; such as {})",
      text, enumerate([](auto& phase) { return std::string(phase.form); }),
      enumerate([](auto& phase) { return std::string(phase.example); })));
}

}  // namespace

Negative Negative::cd(int sweeps) { return {"cd", at_least_one("sweeps", sweeps), 1}; }

Negative Negative::pcd(int sweeps) { return {"pcd", at_least_one("sweeps", sweeps), 1}; }

Negative Negative::fpcd(int sweeps) { return {"fpcd", at_least_one("sweeps", sweeps), 1}; }

Negative Negative::pt(int temperatures, int sweeps, double lowest) {
  uniform_ladder(temperatures, lowest);
  if (temperatures == 1 && lowest != 0)
    throw InvalidArgument(fmt::format("lowest = {} (must be 0 of one temperature)", lowest));
  return {"pt", at_least_one("sweeps", sweeps), temperatures, lowest};
}

namespace {

Negative tempered(std::string_view kind, int temperatures, double lowest) {
  if (temperatures < 2)
    throw InvalidArgument(fmt::format("temperatures = {} (must be at least 2)", temperatures));
  uniform_ladder(temperatures, lowest);
  return {.kind = std::string(kind), .temperatures = temperatures, .lowest = lowest};
}

}  // namespace

Negative Negative::tt(int temperatures, double lowest) {
  return tempered("tt", temperatures, lowest);
}

Negative Negative::st(int temperatures, double lowest) {
  Negative negative = tempered("st", temperatures, lowest);
  negative.every = 50;
  return negative;
}

Negative Negative::cast(int temperatures, double lowest) {
  return tempered("cast", temperatures, lowest);
}

std::string Negative::name() const {
  return fmt::format("{}:{}", kind, phase_of(kind).write(*this));
}

std::string Negative::description() const {
  std::string text = name();
  const Negative defaults = parse_negative(text);
  for (const NegativeOption& option : kOptions)
    if (phase_of(kind).reads(option) && option.write(*this) != option.write(defaults))
      text += fmt::format(" {} {}", option.name(), option.write(*this));
  return text;
}

bool NegativePhase::reads(const NegativeOption& option) const {
  const std::size_t at = options.find(option.name());
  if (at == std::string_view::npos) return false;
  const std::size_t end = at + option.name().size();
  return end == options.size() || options[end] == ' ';
}

std::span<const NegativePhase> negative_phases() { return kPhases; }

std::span<const NegativeOption> negative_options() { return kOptions; }

std::string describe_negative_phases() {
  return enumerate([](auto& phase) { return fmt::format("{} ({})", phase.form, phase.meaning); });
}

namespace {

// None where the text, of such a setting, is not of the phase's form.
std::optional<Negative> parse_as(const NegativePhase& phase, std::string_view text,
                                 std::string_view setting) {
  const std::string_view name = text.substr(0, text.find(':'));
  if (phase.name() != name) return std::nullopt;
  Fields fields(text.substr(name.size()));
  try {
    const Negative negative = phase.parse(fields);
    return fields.whole() ? std::optional(negative) : std::nullopt;
  } catch (const InvalidArgument& error) {  // of fields that do not go together
    throw InvalidArgument(fmt::format("{} = {}: {}", setting, text, error.what()));
  }
}

}  // namespace

Negative parse_negative(std::string_view text) {
  for (const NegativePhase& phase : kPhases)
    if (const auto negative = parse_as(phase, text, "negative")) return *negative;
  refuse(text);
}

Negative parse_sampler(std::string_view text) {
  if (text == kPlainSweeps) return Negative::pcd(1);
  for (const NegativePhase& phase : kPhases)
    if (auto negative = parse_as(phase, text, "sampler"); negative && phase.samples) {
      negative->factor.vanishing = phase.options.find("--factor") != std::string_view::npos;
      return *negative;
    }
  throw InvalidArgument(fmt::format(
      "sampler = {} (must be {}; T 2 or more, but 1 or more of pt, and 0 <= LOW < 1)", text,
      list_samplers([](const NegativePhase& phase) { return std::string(phase.form); })));
}

std::string describe_samplers() {
  return list_samplers(
      [](const NegativePhase& phase) { return fmt::format("{} ({})", phase.form, phase.meaning); });
}

Negative parse_negative_description(std::string_view text) {
  const auto next_word = [&text] {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    return word;
  };
  Negative negative = parse_negative(next_word());
  while (!text.empty()) {
    const std::string_view name = next_word();
    set_negative_option(negative, name, next_word());
  }
  return negative;
}

void set_negative_option(Negative& negative, std::string_view name, std::string_view value) {
  for (const NegativeOption& option : kOptions) {
    if (option.name() != name) continue;
    if (!phase_of(negative.kind).reads(option))
      throw InvalidArgument(
          fmt::format("{} is given (must not be, with {})", name, negative.name()));
    if (!option.set(negative, value))
      throw InvalidArgument(fmt::format("{} = {} (must be {})", name, value, option.range));
    return;
  }
  throw InvalidArgument(fmt::format("{} (must be an option of negative phases)", name));
}

std::unique_ptr<Sampler> make_sampler(const Negative& negative, const SamplerSetup& setup) {
  const NegativePhase& phase = phase_of(negative.kind);
  if (negative.sweeps < 1 || negative.temperatures < 1 || negative.chains < 0 || negative.every < 1)
    throw InvalidArgument(fmt::format(
        "sweeps, temperatures, chains, every = {}, {}, {}, {} (must be at least 1, 1, 0 "
        "and 1)",
        negative.sweeps, negative.temperatures, negative.chains, negative.every));
  if (negative.has_ladder()) require_temperable(setup.model);
  return phase.make(negative, setup);
}

}  // namespace boltzmark

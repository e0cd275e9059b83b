#include "boltzmark/learn/negative.hpp"

#include <fmt/format.h>

#include <charconv>

#include "boltzmark/core/error.hpp"
#include "boltzmark/sample/contrastive_divergence.hpp"
#include "boltzmark/sample/persistent_chains.hpp"
#include "boltzmark/sample/persistent_ladders.hpp"

namespace boltzmark {
namespace {

int positive(int value, const char* name) {
  if (value < 1) throw InvalidArgument(fmt::format("{} = {} (must be at least 1)", name, value));
  return value;
}

std::string write_sweeps(const Negative& negative) { return fmt::format("{}", negative.sweeps); }

std::string write_ladder(const Negative& negative) {
  return fmt::format("{}:{}", negative.temperatures, negative.sweeps);
}

Negative parse_ladder(Fields& fields) {
  const int temperatures = fields.count();
  return Negative::pt(temperatures, fields.count());
}

template <class Chosen>
std::unique_ptr<Sampler> make_chains(const Negative&, const SamplerSetup& setup) {
  return std::make_unique<Chosen>(setup);
}

std::unique_ptr<Sampler> make_ladders(const Negative& negative, const SamplerSetup& setup) {
  return std::make_unique<PersistentLadders>(setup, negative.temperatures, negative.sweeps);
}

constexpr NegativePhase kPhases[] = {
    {"cd:K", "K sweeps from the cases", "cd:25",
     [](Fields& fields) { return Negative::cd(fields.count()); }, write_sweeps,
     make_chains<ContrastiveDivergence>},
    {"pcd:K", "K sweeps of persistent chains", "pcd:10",
     [](Fields& fields) { return Negative::pcd(fields.count()); }, write_sweeps,
     make_chains<PersistentChains>},
    {"pt:T:K", "T temperatures, K sweeps", "pt:10:1", parse_ladder, write_ladder, make_ladders},
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

const NegativePhase& phase_of(std::string_view name) {
  for (const NegativePhase& phase : kPhases)
    if (phase.name() == name) return phase;
  throw InvalidArgument(fmt::format("negative = {} (must be {})", name, enumerate([](auto& phase) {
                                      return std::string(phase.name());
                                    })));
}

[[noreturn]] void refuse(std::string_view text) {
  throw InvalidArgument(
      fmt::format("negative = {} (must be {}, such as {})", text,
                  enumerate([](auto& phase) { return std::string(phase.form); }),
                  enumerate([](auto& phase) { return std::string(phase.example); })));
}

}  // namespace

Negative Negative::cd(int sweeps) { return {"cd", positive(sweeps, "sweeps"), 1}; }

Negative Negative::pcd(int sweeps) { return {"pcd", positive(sweeps, "sweeps"), 1}; }

Negative Negative::pt(int temperatures, int sweeps) {
  return {"pt", positive(sweeps, "sweeps"), positive(temperatures, "temperatures")};
}

std::string Negative::name() const {
  return fmt::format("{}:{}", kind, phase_of(kind).write(*this));
}

int Fields::count() {
  const std::string_view field = left_.substr(0, left_.find(':', 1));
  const std::string_view digits = field.substr(field.empty() ? 0 : 1);
  int value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  good_ = good_ && error == std::errc() && stop == digits.data() + digits.size() && value >= 1;
  left_.remove_prefix(field.size());
  return good_ ? value : 1;
}

std::span<const NegativePhase> negative_phases() { return kPhases; }

std::string describe_negative_phases() {
  return enumerate([](auto& phase) { return fmt::format("{} ({})", phase.form, phase.meaning); });
}

Negative parse_negative(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  for (const NegativePhase& phase : kPhases) {
    if (phase.name() != name) continue;
    Fields fields(text.substr(name.size()));
    const Negative negative = phase.parse(fields);
    if (fields.whole()) return negative;
  }
  refuse(text);
}

std::unique_ptr<Sampler> make_sampler(const Negative& negative, const SamplerSetup& setup) {
  return phase_of(negative.kind).make(negative, setup);
}

}  // namespace boltzmark

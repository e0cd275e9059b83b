#include "experiments/kit/ranks/rank_messages.hpp"

#include <cstdint>
#include <cstring>

#include "boltzmark/core/error.hpp"

namespace boltzmark::experiments {
namespace {

/// What stands before the text. Ranks have one build, and so one layout.
struct Heading {
  std::uint64_t number;
  std::int32_t attempt;
  std::int32_t kind;
};

}  // namespace

std::string encode(const RankNote& note) {
  const Heading heading{note.number, note.attempt, static_cast<std::int32_t>(note.kind)};
  std::string bytes(sizeof heading, '\0');
  std::memcpy(bytes.data(), &heading, sizeof heading);
  return bytes + note.text;
}

RankNote decode(std::string_view bytes) {
  Heading heading{};
  if (bytes.size() < sizeof heading) throw Error("a message between ranks is too short");
  std::memcpy(&heading, bytes.data(), sizeof heading);
  return {.kind = static_cast<RankNote::Kind>(heading.kind),
          .number = heading.number,
          .attempt = heading.attempt,
          .text = std::string(bytes.substr(sizeof heading))};
}

}  // namespace boltzmark::experiments

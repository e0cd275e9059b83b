#include "experiments/kit/printable.hpp"

#include <cstdint>

namespace boltzmark::experiments {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool is_control(std::uint32_t character) {
  return character < 0x20 || (character >= 0x7F && character < 0xA0);
}

// The first byte of UTF-8 says how many there are; 0 if it cannot be the first.
int length_of(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  if (first >= 0xF0 && first < 0xF5) return 4;
  return 0;
}

// The shortest form alone is UTF-8, and surrogates are none; XML has no U+FFFE and U+FFFF.
bool is_allowed(std::uint32_t character, int length) {
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = character >= 0xD800 && character < 0xE000;
  return character >= kLeast[length] && character < 0x110000 && !surrogate &&
         (character & 0xFFFE) != 0xFFFE;
}

/// The character that bytes begin with, and how many of them it takes; 0 if they begin with none.
struct FirstCharacter {
  std::uint32_t character = 0;
  int length = 0;
};

FirstCharacter first_character(std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes.front());
  const int length = length_of(first);
  if (length == 0 || bytes.size() < static_cast<std::size_t>(length)) return {};
  std::uint32_t character = length == 1 ? first : first & (0x7FU >> length);
  for (int i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(bytes[i]);
    if ((next & 0xC0U) != 0x80) return {};
    character = character << 6U | (next & 0x3FU);
  }
  return is_allowed(character, length) ? FirstCharacter{character, length} : FirstCharacter{};
}

}  // namespace

std::string printable_line(std::string_view bytes) {
  std::string line;
  while (!bytes.empty()) {
    const auto [character, length] = first_character(bytes);
    if (length == 0)
      line += kReplacement;
    else if (is_control(character))
      line += ' ';
    else
      line += bytes.substr(0, length);
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return line;
}

std::string escaped(std::string_view text, std::string_view special, std::string_view before) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out += before;
    out += c;
  }
  return out;
}

}  // namespace boltzmark::experiments

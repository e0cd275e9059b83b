#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace boltzmark {

/// Reads a text that is a number and nothing else, as std::from_chars takes it: no sign +, no space.
/// Returns  none if it is no number, or beyond what a Number holds
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc{} || end != last) return std::nullopt;
  return value;
}

}  // namespace boltzmark

#include "boltzmark/learn/negative.hpp"

#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

[[noreturn]] void refuse(std::string_view text) {
  throw InvalidArgument(fmt::format(
      "negative = {} (must be cd:K, pcd:K or pt:TEMPERATURES:K, such as cd:25 or pt:10:1)", text));
}

int parse_count(std::string_view digits, std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value < 1) refuse(text);
  return value;
}

int positive(int value, const char* name) {
  if (value < 1) throw InvalidArgument(fmt::format("{} = {} (must be at least 1)", name, value));
  return value;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t colon = text.find(':');
    fields.push_back(text.substr(0, colon));
    if (colon == std::string_view::npos) return fields;
    text.remove_prefix(colon + 1);
  }
}

}  // namespace

Negative Negative::cd(int sweeps) { return {Kind::cd, positive(sweeps, "sweeps"), 1}; }

Negative Negative::pcd(int sweeps) { return {Kind::pcd, positive(sweeps, "sweeps"), 1}; }

Negative Negative::pt(int temperatures, int sweeps) {
  return {Kind::pt, positive(sweeps, "sweeps"), positive(temperatures, "temperatures")};
}

std::string Negative::name() const {
  if (kind == Kind::pt) return fmt::format("pt:{}:{}", temperatures, sweeps);
  return fmt::format("{}:{}", kind == Kind::cd ? "cd" : "pcd", sweeps);
}

Negative parse_negative(std::string_view text) {
  const std::vector<std::string_view> fields = split(text);
  if (fields.size() == 2 && fields[0] == "cd") return Negative::cd(parse_count(fields[1], text));
  if (fields.size() == 2 && fields[0] == "pcd") return Negative::pcd(parse_count(fields[1], text));
  if (fields.size() == 3 && fields[0] == "pt")
    return Negative::pt(parse_count(fields[1], text), parse_count(fields[2], text));
  refuse(text);
}

}  // namespace boltzmark

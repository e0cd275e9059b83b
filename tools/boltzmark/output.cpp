#include "output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "boltzmark/core/error.hpp"
#include "command.hpp"
#include "experiments/kit/printable.hpp"

namespace boltzmark::cli {
namespace {

std::string padded(const std::string& text, int width, bool right) {
  const std::string space(std::max(0, width - display_width(text)), ' ');
  return right ? space + text : text + space;
}

void put(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    throw Error("standard output cannot be written");
}

}  // namespace

std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<std::string> not_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

JsonObject& JsonObject::set(const std::string& key, double value) {
  if (!std::isfinite(value))
    throw Error(fmt::format("{} = {} (must be finite to be written as JSON)", key, value));
  json_[key] = value;
  return *this;
}

std::string JsonObject::text() const {
  // Names of files may hold any bytes; JSON is UTF-8, and escapes the first set of control characters alone.
  const std::string dumped =
      json_.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string text;
  for (std::size_t i = 0; i < dumped.size(); ++i) {
    const auto byte = static_cast<unsigned char>(dumped[i]);
    if (byte == 0x7F)
      text += "\\u007f";
    else if (byte == 0xC2 && static_cast<unsigned char>(dumped[i + 1]) < 0xA0)
      text += fmt::format("\\u{:04x}", static_cast<unsigned char>(dumped[++i]));
    else
      text += dumped[i];
  }
  return text;
}

TextTable::TextTable(std::vector<std::string> headings) {
  for (std::string& heading : headings) {
    right_.push_back(heading.starts_with('>'));
    if (right_.back()) heading.erase(0, 1);
  }
  rows_.push_back(std::move(headings));
}

void TextTable::add(std::vector<std::string> cells) {
  if (cells.size() != right_.size()) throw Error("a table's row has the wrong number of cells");
  for (std::string& cell : cells) cell = experiments::printable_line(cell);
  rows_.push_back(std::move(cells));
}

std::string TextTable::text() const {
  std::vector<int> widths(right_.size(), 0);
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row[i]));
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    int column = 0;
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      line += padded(row[i], widths[i], right_[i]) + "  ";
      column += widths[i] + 2;
    }
    const std::string& last = row.back();
    const int room = std::max(kColumns - column, 20);
    line += right_.back()                ? padded(last, widths.back(), true)
            : display_width(last) > room ? wrap(last, room, column).substr(column)
                                         : last;
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

void FactList::add(const std::string& name, const std::string& value) {
  facts_.emplace_back(name, experiments::printable_line(value));
}

std::string FactList::text() const {
  int width = 0;
  for (const auto& [name, value] : facts_) width = std::max(width, display_width(name));
  std::string text;
  for (const auto& [name, value] : facts_) {
    text += padded(name, width, false) + "  ";
    text += wrap(value, std::max(kColumns - width - 2, 20), width + 2).substr(width + 2) + "\n";
  }
  return text;
}

void print(std::string_view text) {
  std::string shown;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    shown += experiments::printable_line(text.substr(from, end - from));
    if (end < text.size()) shown += '\n';
    from = end + 1;
  }
  put(shown);
}

void print(const JsonObject& object) { put(object.text() + "\n"); }

void finish_output() {
  if (std::fflush(stdout) != 0) throw Error("standard output cannot be written");
}

void complain(const std::string& message) {
  std::fputs(("boltzmark: " + experiments::printable_line(message) + "\n").c_str(), stderr);
}

int display_width(std::string_view text) {
  // Continuation bytes of UTF-8 take no column.
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string join_or(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return text;
}

std::string grouped(std::uint64_t count) {
  const std::string digits = fmt::format("{}", count);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ' ';
    text += digits[i];
  }
  return text;
}

std::string human_seconds(double seconds) {
  if (seconds < 0.001)
    return fmt::format("{:.0f} us", seconds > 0 ? std::max(1.0, seconds * 1e6) : 0.0);
  if (seconds < 0.9995) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (seconds < 60) return fmt::format("{:.3g} s", seconds);
  const auto whole = static_cast<std::uint64_t>(std::min(seconds, 1e18));
  if (seconds < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  if (seconds < 2 * 86400) return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
  return fmt::format("{:.3g} days", seconds / 86400);
}

std::string short_number(double value) { return fmt::format("{:.3g}", value); }

}  // namespace boltzmark::cli

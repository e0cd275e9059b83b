#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace boltzmark::cli {

/// The width that help and tables keep to.
inline constexpr int kColumns = 96;

/// Returns the value if it is finite, else none: JSON has no NaN, and writes null.
std::optional<double> finite(double value);
/// Returns the text if it is not empty, else none.
std::optional<std::string> not_empty(const std::string& text);

/// One JSON object, keys in the order in which they were set.
class JsonObject {
 public:
  /// Throws  Error if the number is not finite: JSON has no NaN
  JsonObject& set(const std::string& key, double value);
  /// Sets a whole number, a truth, a text, an object or a list of these.
  template <class Value>
  JsonObject& set(const std::string& key, const Value& value) {
    static_assert(!std::is_floating_point_v<Value>, "must be double, which is checked");
    json_[key] = value;
    return *this;
  }
  /// Sets null where there is no value.
  template <class Value>
  JsonObject& set(const std::string& key, const std::optional<Value>& value) {
    return value ? set(key, *value) : set_null(key);
  }
  JsonObject& set_null(const std::string& key) { return set(key, nullptr); }

  /// Writes the object on one line.
  std::string text() const;

 private:
  friend void to_json(nlohmann::ordered_json& json, const JsonObject& object) {
    json = object.json_;
  }

  nlohmann::ordered_json json_ = nlohmann::ordered_json::object();
};

/// A table for people: columns aligned, the last one wrapped at kColumns.
class TextTable {
 public:
  /// A heading that starts with '>' has its column aligned to the right.
  explicit TextTable(std::vector<std::string> headings);
  /// Shapes  as many cells as headings
  void add(std::vector<std::string> cells);
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> right_;
};

/// A list of facts for people: "name   value".
class FactList {
 public:
  void add(const std::string& name, const std::string& value);
  std::string text() const;

 private:
  std::vector<std::pair<std::string, std::string>> facts_;
};

/// Writes lines of printable UTF-8 to stdout (experiments/kit/printable.hpp).  Throws  Error if it cannot be written
void print(std::string_view text);
/// Writes one JSON object and a newline to stdout.
void print(const JsonObject& object);
/// Flushes stdout.  Throws  Error if something could not be written
void finish_output();

/// Writes one line of printable UTF-8 on stderr, whatever the message holds.
void complain(const std::string& message);

/// Counts the columns that a UTF-8 text takes.
int display_width(std::string_view text);
/// Writes "a, b or c".
std::string join_or(const std::vector<std::string>& words);
/// Writes a count with thousands separated: "1 048 576".
std::string grouped(std::uint64_t count);
/// Writes a time for people: "0.31 s", "4 min 10 s", "2.5 h".
std::string human_seconds(double seconds);
/// Writes a small number with few digits: "0.0023", "1.2e-13".
std::string short_number(double value);

}  // namespace boltzmark::cli

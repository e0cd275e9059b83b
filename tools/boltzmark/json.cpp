#include <fmt/format.h>

#include <cmath>

#include "boltzmark/core/error.hpp"
#include "output.hpp"

namespace boltzmark::cli {

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
  // Names of files may hold any bytes; JSON is UTF-8.
  return json_.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace boltzmark::cli

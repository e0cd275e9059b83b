#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "boltzmark/core/error.hpp"
#include "output.hpp"

namespace boltzmark::cli {

std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

struct JsonObject::Data {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
};

JsonObject::JsonObject() : data_(std::make_unique<Data>()) {}
JsonObject::~JsonObject() = default;
JsonObject::JsonObject(const JsonObject& other) : data_(std::make_unique<Data>(*other.data_)) {}
JsonObject::JsonObject(JsonObject&&) noexcept = default;

JsonObject& JsonObject::set(const std::string& key, double value) {
  if (!std::isfinite(value))
    throw Error(fmt::format("{} = {} (must be finite to be written as JSON)", key, value));
  data_->json[key] = value;
  return *this;
}

JsonObject& JsonObject::set(const std::string& key, std::optional<double> value) {
  return value ? set(key, *value) : set_null(key);
}

JsonObject& JsonObject::set(const std::string& key, std::optional<int> value) {
  return value ? set(key, *value) : set_null(key);
}

JsonObject& JsonObject::set_null(const std::string& key) {
  data_->json[key] = nullptr;
  return *this;
}

JsonObject& JsonObject::set(const std::string& key, int value) {
  data_->json[key] = value;
  return *this;
}

JsonObject& JsonObject::set(const std::string& key, std::uint64_t value) {
  data_->json[key] = value;
  return *this;
}

JsonObject& JsonObject::set(const std::string& key, bool value) {
  data_->json[key] = value;
  return *this;
}

JsonObject& JsonObject::set(const std::string& key, const std::string& value) {
  data_->json[key] = value;
  return *this;
}

JsonObject& JsonObject::set(const std::string& key, const char* value) {
  return set(key, std::string(value));
}

JsonObject& JsonObject::set(const std::string& key, const std::optional<std::string>& value) {
  return value ? set(key, *value) : set_null(key);
}

JsonObject& JsonObject::set(const std::string& key, const std::vector<std::string>& values) {
  data_->json[key] = values;
  return *this;
}

JsonObject& JsonObject::set(const std::string& key, const std::vector<int>& values) {
  data_->json[key] = values;
  return *this;
}

JsonObject& JsonObject::set(const std::string& key, const std::vector<JsonObject>& values) {
  auto& array = data_->json[key] = nlohmann::ordered_json::array();
  for (const JsonObject& value : values) array.push_back(value.data_->json);
  return *this;
}

JsonObject& JsonObject::set(const std::string& key, const JsonObject& value) {
  data_->json[key] = value.data_->json;
  return *this;
}

std::string JsonObject::text() const {
  // Names of files may hold any bytes; JSON is UTF-8.
  return data_->json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace boltzmark::cli

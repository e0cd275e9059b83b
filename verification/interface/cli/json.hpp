#pragma once

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "verification/interface/cli/program.hpp"

namespace cli_test {

using Json = nlohmann::ordered_json;
using Keys = std::vector<std::string>;

/// Runs the program with --json and reads the one object that it prints.
inline Json json_of(Arguments arguments, int code = 0) {
  arguments.emplace_back("--json");
  const Run result = run(arguments);
  INFO(result.err);
  REQUIRE(result.code == code);
  CHECK(result.err.empty());
  CHECK(lines(result.out) == 1);
  return Json::parse(result.out);
}

/// Lists an object's keys in their order.
inline Keys keys(const Json& object) {
  Keys all;
  for (const auto& [key, value] : object.items()) all.push_back(key);
  return all;
}

}  // namespace cli_test

#include "verification/ranks/stored.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "experiments/kit/files.hpp"
#include "verification/ranks/launched.hpp"

namespace ranks_test {

using boltzmark::experiments::read_text;
using Json = nlohmann::json;

const std::map<std::string, std::string>& expected() {
  static const auto files = [] {
    const Folder folder;
    const StudyRun whole = run_study(1, folder / "out", {"--sleep", "0"});
    REQUIRE(whole.code == 0);
    REQUIRE(Json::parse(whole.out)["ranks"] == 1);
    return result_files(folder / "out");
  }();
  REQUIRE(files.size() == 2);
  return files;
}

std::string store_of(const std::string& out) { return out + "/quick/toy/one/trials.jsonl"; }

int stored(const std::string& out) {
  if (!std::filesystem::exists(store_of(out))) return 0;
  const std::string text = read_text(store_of(out));
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

void check_goes_on(const std::string& out) {
  const int lines = stored(out);
  CHECK(lines > 0);
  const StudyRun rest = run_study(1, out, {"--sleep", "0"});
  INFO(rest.err);
  REQUIRE(rest.code == 0);
  CHECK(Json::parse(rest.out)["reused"] == lines);
  CHECK(result_files(out) == expected());
}

}  // namespace ranks_test

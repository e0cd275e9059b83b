// What a run leaves when it ends: its seed in the report, an exit code, signals as they were.
#include <catch2/catch.hpp>
#include <csignal>

#include "experiments/kit/files.hpp"
#include "experiments/kit/report/report.hpp"
#include "experiments/kit/run/interrupt.hpp"
#include "experiments/kit/run/reproduce.hpp"
#include "verification/interface/kit/toys.hpp"

namespace boltzmark::experiments {

TEST_CASE("a report names the seed whole, and trials of another than the kept ones' are not kept") {
  const TemporaryFolder folder;
  const std::uint64_t seed = 4294967301;  // 2^32 + 5
  reproduce({.seed = seed, .out = folder.path(), .quiet = true}, toy_experiments(), {toy_claims()});
  CHECK_THAT(read_text(folder.path() + "/quick/report/report.md"),
             Catch::Contains("seed 4294967301."));
  CHECK_THROWS_WITH(
      reproduce({.seed = 7, .out = folder.path(), .keep = true}, toy_experiments(), {toy_claims()}),
      Catch::Contains("seed = 7 with --keep"));
}

TEST_CASE("an exact claim that fails is the exit code, whatever else went wrong") {
  ReproduceResult result;
  result.failures = {"x"};
  CHECK(result.exit_code() == 1);
  result.exact_failed = {"T01"};
  CHECK(result.exit_code() == 3);
}

TEST_CASE("a run that ends hands signals back to whoever had them") {
  const auto handler = [](int) {};
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const auto before = std::signal(number, handler);
    { const InterruptGuard guard; }
    CHECK(std::signal(number, before) == static_cast<void (*)(int)>(handler));
  }
}

}  // namespace boltzmark::experiments

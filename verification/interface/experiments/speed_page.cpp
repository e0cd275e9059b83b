#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "experiments/speed/numpy_facts.hpp"
#include "experiments/speed/page.hpp"
#include "verification/interface/io/files.hpp"

using namespace boltzmark;
using namespace boltzmark::speed;

namespace {

std::string timed_run(const std::string& who, double microseconds) {
  return fmt::format(
      R"({{"run_type":"iteration","run_name":"sweep/4x2/{}/threads:1/real_time","real_time":{}}})",
      who, microseconds);
}

// The page of a run in which NumPy, by some name, took sixty times as long.
std::string page_against(const std::string& numpy, const std::string& facts) {
  const io_test::Folder folder;
  folder.write("bench.json", fmt::format(R"({{"context":{{"numpy":"{}"}},"benchmarks":[{},{}]}})",
                                         facts, timed_run("boltzmark", 2), timed_run(numpy, 120)));
  write_page(folder / "");
  return io_test::read_all(folder / "speed.html");
}

bool holds(const std::string& page, const std::string& words) {
  return page.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("the BLAS of a bare Debian's NumPy, and one without a name, are no peers") {
  const auto with = [](std::vector<std::string> files) {
    return has_fast_blas({.version = "1.24.2", .blas = std::move(files)});
  };
  CHECK_FALSE(with({"libblas.so.3.11.0"}));
  CHECK_FALSE(with({"libblas.so.3.11.0", "liblapack.so.3.11.0"}));
  CHECK_FALSE(with({}));
  CHECK(with({"libblas.so.3", "liblapack.so.3", "libopenblasp-r0.3.21.so"}));
  CHECK(with({"libscipy_openblas64_-99b71e71.so"}));
  CHECK(with({"libmkl_rt.so.2"}));
}

TEST_CASE("NumPy is named with its BLAS, the kernels of that and its threads") {
  const NumpyFacts facts = parse_numpy_facts(
      R"({"version":"1.24.2","blas":["libopenblasp-r0.3.21.so"],"core":"SkylakeX","threads":2})");
  CHECK(describe_numpy(facts) ==
        "NumPy 1.24.2 with libopenblasp-r0.3.21.so, kernels for SkylakeX, 2 threads");
  const NumpyFacts bare = parse_numpy_facts(
      R"({"version":"1.24.2","blas":["libblas.so.3.11.0"],"core":null,"threads":null})");
  CHECK(describe_numpy(bare) == "NumPy 1.24.2 with libblas.so.3.11.0, not an optimised one");
  CHECK_THROWS_AS(parse_numpy_facts("nothing"), DataError);
}

TEST_CASE(
    "the speed page takes no ratio to a NumPy on the reference BLAS, but says what to install") {
  const std::string fair = page_against(kNumpy, "NumPy 1.24.2 with libopenblasp-r0.3.21.so");
  CHECK(holds(fair, "The peer is NumPy 1.24.2 with libopenblasp-r0.3.21.so."));
  CHECK(holds(fair, "60.00"));
  CHECK_FALSE(holds(fair, "libopenblas0-pthread"));
  const std::string slow = page_against(kSlowNumpy, "NumPy 1.24.2 with libblas.so.3.11.0");
  CHECK(holds(slow, "No ratio to NumPy: it is NumPy 1.24.2 with libblas.so.3.11.0."));
  CHECK(holds(slow, "libopenblas0-pthread"));
  CHECK_FALSE(holds(slow, "60.00"));
}

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "experiments/speed/contender.hpp"
#include "experiments/speed/numpy_facts.hpp"
#include "experiments/speed/page.hpp"
#include "experiments/speed/workload.hpp"
#include "verification/interface/io/files.hpp"

using namespace boltzmark;
using namespace boltzmark::speed;

namespace {

std::string timed_run(const std::string& who, double microseconds,
                      const std::string& work = "sweep/4x2") {
  return fmt::format(
      R"({{"run_type":"iteration","run_name":"{}/{}/threads:1/real_time","real_time":{}}})", work,
      who, microseconds);
}

void write_page_of(const std::vector<std::string>& runs, const std::string& facts,
                   const io_test::Folder& folder) {
  folder.write("bench.json", fmt::format(R"({{"context":{{"numpy":"{}"}},"benchmarks":[{}]}})",
                                         facts, fmt::join(runs, ",")));
  write_page(folder / "");
}

// The page of a run in which NumPy, by some name, took sixty times as long.
std::string page_against(const std::string& numpy, const std::string& facts) {
  const io_test::Folder folder;
  write_page_of({timed_run("boltzmark", 2), timed_run(numpy, 120)}, facts, folder);
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

TEST_CASE("the speed page's ratios are of medians") {
  const io_test::Folder folder;
  write_page_of({timed_run("Eigen", 60), timed_run("Eigen", 10), timed_run("boltzmark", 2),
                 timed_run("Eigen", 20)},
                "none", folder);
  const std::string page = io_test::read_all(folder / "speed.html");
  CHECK(holds(page, ">10.00<"));
  CHECK_FALSE(holds(page, ">5.00<"));  // of the best
}

TEST_CASE("sweeps of many chains are drawn per chain, those of square models as they are") {
  const io_test::Folder folder;
  const auto run = [](const char* family, const char* size, double microseconds) {
    return timed_run("boltzmark", microseconds, fmt::format("{}/{}", family, size));
  };
  write_page_of({run(kChainScaling, "16 chains", 32), run(kChainScaling, "64 chains", 96),
                 run(kSizeScaling, "100 units", 50)},
                "none", folder);
  CHECK(io_test::read_all(folder / "scaling-figure.csv") ==
        "panel,series,x,y,lower,upper\n"
        "1,\"boltzmark, 1 thread\",16,2,,\n"
        "1,\"boltzmark, 1 thread\",64,1.5,,\n"
        "2,\"boltzmark, 1 thread\",100,50,,\n");
}

TEST_CASE("a sweep has a multiply-add for each weight and chain on the way up, and one down") {
  CHECK(speed::Size{3, 2, 5}.multiply_adds(4) == 240);
}

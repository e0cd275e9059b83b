// Enumerations of more than 40 units: chunks as large as at 40, their sums added in two levels.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/exact/enumeration/chunk_total.hpp"
#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/exact/enumeration/fast_sum.hpp"
#include "boltzmark/exact/enumeration/plain.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "verification/exact/support/enumeration_models.hpp"

using namespace enumeration_test;

namespace {

constexpr double kUnit = 0x1p-53;

struct StoppedEarly : std::runtime_error {
  StoppedEarly() : std::runtime_error("stopped") {}
};

/// The checkpoint of one enumeration of many units, with what it holds.
struct GroupFile {
  GroupFile() { std::filesystem::remove(path); }
  ~GroupFile() { std::filesystem::remove(path); }
  std::string text() const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string path =
      (std::filesystem::temp_directory_path() / ("boltzmark-groups-" + std::to_string(getpid())))
          .string();
};

/// 41 units without weights, the top one with a bias, and one that is summed out: each half of the
/// states is alike.
Bipartite halves() {
  Eigen::VectorXd bias = Eigen::VectorXd::Zero(41);
  bias[40] = 1;
  return enumerate_side(Layered::rbm(Eigen::MatrixXd::Zero(1, 41), Eigen::VectorXd::Zero(1), bias),
                        1, 41);
}

using SumOf = std::function<Scaled(std::uint64_t chunk)>;

/// Takes the sums that are given for the chunks from the first one that is left to `end`, some at a
/// time, and stops there unless that is the last.
ChunkDriver given_sums(const SumOf& sum, std::uint64_t end) {
  return [=](const EnumerationChunks& chunks) {
    std::vector<Scaled> some;
    for (std::uint64_t chunk = chunks.first; chunk < end; ++chunk) {
      some.push_back(sum(chunk));
      if (some.size() < 4000 && chunk + 1 < end) continue;
      chunks.take(some);
      some.clear();
    }
    if (end < chunks.end) throw StoppedEarly();
  };
}

std::size_t words(const std::string& text) {
  std::istringstream in(text);
  return static_cast<std::size_t>(
      std::distance(std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()));
}

}  // namespace

TEST_CASE("above 40 units a chunk has the states of one at 40, and the error stays below 1e-8",
          "[log_z][groups]") {
  for (const int n : {39, 40, 41, 43, 48, 56, 62}) {
    CAPTURE(n);
    const Bipartite sides = enumerate_side(random_rbm(5, n, 0.1, 3), 1, 62);
    const std::uint64_t chunks = n <= 40 ? 16384 : std::uint64_t{1} << (n - 26);
    const PlainSum plain(sides);
    const auto fast = FastSum<double>::make(sides);
    const auto coarse = FastSum<float>::make(sides);
    REQUIRE(fast);
    REQUIRE(coarse);
    CHECK(plain.chunks() == chunks);
    CHECK(fast->chunks() == chunks);
    CHECK(coarse->chunks() == chunks);
    CHECK(fast->error_bound() < 1e-8);
    CHECK(plain.error_bound() < 1e-8);
  }
  // Values that are no power of two, and more than 2^14 chunks of up to 40 units never.
  const Bipartite mixed = enumerate_side(random_network({2, 0, 0}, {6, 5, 36}, 0.1, 3), 0, 56);
  REQUIRE(mixed.states == 729 * (std::uint64_t{1} << 36));
  CHECK(PlainSum(mixed).chunks() == 729 * 1024);
  const auto fast = FastSum<double>::make(mixed);
  REQUIRE(fast);
  CHECK(fast->chunks() <= 729 * 1024);  // whole slabs
  CHECK(fast->chunks() > 729 * 1024 * 0.9);
  CHECK(PlainSum(enumerate_side(random_network({0, 2}, {5, 38}, 0.1, 3), 1)).chunks() <= 16384);
}

TEST_CASE("a sum in two levels keeps to its bound where one level drifts from the truth",
          "[log_z][groups]") {
  // Equal terms round the same way for long: in one level by up to u each.
  const std::uint64_t terms = std::uint64_t{1} << 20, group = 1 << 10;
  const Scaled term{1 / 3.0, 0};
  ChunkTotal one(0), two(group);
  for (std::uint64_t k = 0; k < terms; ++k) {
    one.add(term);
    two.add(term);
  }
  const double truth = std::log(1 / 3.0) + 20 * std::log(2.0);
  const auto error = [&](const ChunkTotal& total) {  // of the sum, relative: terms are 2^20 / 3
    const Scaled value = total.total().value();
    return std::abs(std::ldexp(value.mantissa, static_cast<int>(value.exponent) - 20) * 3 - 1);
  };
  CAPTURE(truth);
  CHECK(additions_of(terms, 0) == terms);
  CHECK(additions_of(terms, group) == 2048);
  CHECK(error(two) <= 2048 * kUnit + 4 * kUnit);
  CHECK(error(one) > 2048 * kUnit + 4 * kUnit);
  CHECK(std::abs(two.total().log() - truth) < 1e-12);
}

TEST_CASE("41 units are enumerated to their log Z, whoever sums their chunks", "[log_z][groups]") {
  const GroupFile file;
  ExactOptions options{.checkpoint = file.path};
  std::uint64_t end = 0;
  // Chunks of a half are alike, so that one of each is summed, and the last one of all.
  options.driver = [&](const EnumerationChunks& chunks) {
    end = chunks.end;
    const std::uint64_t half = end / 2;
    const Scaled low = chunks.sum(0, 1).front(), high = chunks.sum(half, 1).front();
    chunks.take(std::vector<Scaled>(half, low));
    chunks.take(std::vector<Scaled>(half - 1, high));
    chunks.take(chunks.sum(end - 1, 1));
  };
  const ExactLogZ result = sum_states(halves(), options);
  CHECK(end == 32768);
  CHECK(result.states == std::uint64_t{1} << 41);
  CHECK(result.enumerated_units == 41);
  CHECK(result.error_bound < 1e-8);
  CHECK(std::abs(result.log_z - (41 * std::log(2.0) + softplus(1.0))) <= result.error_bound);
}

TEST_CASE("an enumeration of 41 units that is stopped anywhere goes on to the same bits",
          "[log_z][groups]") {
  const GroupFile file;
  const SumOf sum = [](std::uint64_t chunk) {
    return Scaled{1 + std::fmod(static_cast<double>(chunk) * 0.6180339887498949, 1.0),
                  static_cast<std::int64_t>(chunk % 7)};
  };
  const auto run_to = [&](std::uint64_t end) {
    return sum_states(
        halves(),
        {.checkpoint = file.path, .checkpoint_seconds = 0, .driver = given_sums(sum, end)});
  };
  ChunkTotal whole(16384);
  for (std::uint64_t chunk = 0; chunk < 32768; ++chunk) whole.add(sum(chunk));
  const ExactLogZ expected = run_to(32768);
  const std::string text = file.text();
  CHECK(expected.log_z == whole.total().log());
  // Within the first group, at its end, and within the second.
  for (const std::uint64_t stop : {5000, 16383, 16384, 16385, 30000}) {
    INFO(stop);
    std::filesystem::remove(file.path);
    CHECK_THROWS_AS(run_to(stop), StoppedEarly);
    CHECK(run_to(32768).log_z == expected.log_z);
    CHECK(file.text() == text);
  }
  // Of up to 40 units the file is as it always was: no sum of a group.
  CHECK(words(text) == 10);
  std::filesystem::remove(file.path);
  exact_log_z(random_rbm(20, 8, 0.3, 4), {.checkpoint = file.path});
  CHECK(words(file.text()) == 8);
  CHECK(file.text().starts_with("boltzmark-enumeration-3 "));
}

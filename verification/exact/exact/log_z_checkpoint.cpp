#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/core/simd.hpp"
#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "verification/exact/support/enumeration_models.hpp"

using namespace enumeration_test;

namespace {

// Tests run side by side: the process number keeps their files apart.
struct TemporaryFile {
  TemporaryFile() { std::filesystem::remove(path); }
  ~TemporaryFile() { std::filesystem::remove(path); }
  std::string path = (std::filesystem::temp_directory_path() /
                      ("boltzmark-checkpoint-test-" + std::to_string(getpid())))
                         .string();
};

struct Stop : std::runtime_error {
  Stop() : std::runtime_error("stop") {}
};

/// Runs until a fraction is done and then throws, as an interrupt would.
void run_until(const Layered& model, const std::string& path, double fraction) {
  const ExactOptions options{.progress =
                                 [=](double done) {
                                   if (done > fraction) throw Stop();
                                 },
                             .checkpoint = path,
                             .checkpoint_seconds = 0};
  CHECK_THROWS_AS(exact_log_z(model, options), Stop);
}

}  // namespace

TEST_CASE("a resumed enumeration gives the bits of an uninterrupted one", "[log_z][checkpoint]") {
  const TemporaryFile file;
  const Layered model = random_rbm(784, 20, 0.3, 4);
  const ThreadLimit limit(1);  // rounds are as long as there are threads
  const double whole = exact_log_z(model).log_z;
  run_until(model, file.path, 0.3);
  REQUIRE(std::filesystem::exists(file.path));
  CHECK_FALSE(std::filesystem::exists(file.path + ".partial"));
  run_until(model, file.path, 0.6);
  double first = -1;
  const ExactOptions options{.progress =
                                 [&](double done) {
                                   if (first < 0) first = done;
                                 },
                             .checkpoint = file.path};
  CHECK(exact_log_z(model, options).log_z == whole);
  CHECK(first > 0.6);
  CHECK(exact_log_z(model, {.checkpoint = file.path}).log_z == whole);
}

TEST_CASE("a checkpoint of another model or precision, or a damaged one, is refused",
          "[log_z][checkpoint]") {
  const TemporaryFile file;
  const Layered model = random_rbm(20, 8, 0.3, 4);
  exact_log_z(model, {.checkpoint = file.path});
  CHECK_THROWS_AS(exact_log_z(random_rbm(20, 8, 0.3, 5), {.checkpoint = file.path}), DataError);
  CHECK_THROWS_AS(
      exact_log_z(model, {.precision = Precision::float_precision, .checkpoint = file.path}),
      DataError);
  std::string content;
  std::getline(std::ifstream(file.path), content);
  for (const std::string& damaged :
       {std::string(), std::string("hello"), content.substr(0, content.size() / 2),
        "X" + content.substr(1), content + "\nmore"}) {
    std::ofstream(file.path, std::ios::trunc) << damaged;
    CHECK_THROWS_AS(exact_log_z(model, {.checkpoint = file.path}), DataError);
  }
  std::ofstream(file.path, std::ios::trunc) << content.substr(0, content.find(' ') + 9);
  CHECK_THROWS_WITH(exact_log_z(model, {.checkpoint = file.path}),
                    Catch::Contains("damaged or cut short"));
  CHECK_THROWS_AS(exact_log_z(model, {.checkpoint = "/"}), DataError);
}

TEST_CASE("an enumeration goes on where its sums cannot be saved, and tells so once in a row",
          "[log_z][checkpoint]") {
  const TemporaryFile folder;  // none yet
  const Layered model = random_rbm(784, 20, 0.3, 4);
  const ThreadLimit limit(1);  // rounds are as long as there are threads
  const double whole = exact_log_z(model).log_z;
  const std::string path = folder.path + "/sums";
  int told = 0, rounds = -1;  // the start is told too
  ExactOptions options{.checkpoint = path, .checkpoint_seconds = 0};
  options.progress = [&](double) { ++rounds; };
  options.on_unsaved = [&](const std::string& why) {
    ++told;
    CHECK_THAT(why, Catch::StartsWith(path + ": cannot be written: ") &&
                        Catch::Contains("the work goes on"));
  };
  const ExactLogZ unsaved = exact_log_z(model, options);
  CHECK(unsaved.log_z == whole);
  REQUIRE(rounds >= 4);
  CHECK(told == 1);
  REQUIRE(unsaved.unsaved);
  CHECK_THROWS_AS(std::rethrow_exception(unsaved.unsaved), DataError);
  CHECK(exact_log_z(model, {.checkpoint = path}).unsaved);  // nobody listens
  // The folder is there for every second save, and for the last one.
  told = 0;
  options.progress = [&, round = 0](double) mutable {
    const int next = ++round;
    if (next % 2 == 0 || next == rounds)
      std::filesystem::create_directory(folder.path);
    else if (next < rounds)
      std::filesystem::remove_all(folder.path);
  };
  const ExactLogZ saved = exact_log_z(model, options);
  CHECK(saved.log_z == whole);
  CHECK(told == rounds / 2);
  CHECK_FALSE(saved.unsaved);
  CHECK(std::filesystem::exists(path));
  std::filesystem::remove_all(folder.path);
}

TEST_CASE("a checkpoint of an enumeration is refused on another SIMD path", "[log_z][checkpoint]") {
  const TemporaryFile file;
  const Layered model = random_rbm(20, 8, 0.3, 4);
  {
    const ForcedSimdPath first(simd_paths().back());
    exact_log_z(model, {.checkpoint = file.path});
    CHECK_NOTHROW(exact_log_z(model, {.checkpoint = file.path}));
  }
  for (const std::string& path : simd_paths()) {
    const ForcedSimdPath other(path);
    INFO(path);
    if (path == simd_paths().back())
      CHECK_NOTHROW(exact_log_z(model, {.checkpoint = file.path}));
    else
      CHECK_THROWS_AS(exact_log_z(model, {.checkpoint = file.path}), DataError);
  }
}

TEST_CASE("a checkpoint is refused where one number alone of what is enumerated is another",
          "[log_z][checkpoint]") {
  const TemporaryFile file;
  // Both sides of several kinds of units; Gaussian ones have means and sigmas.
  const Bipartite sides = enumerate_side(random_network({0, 3, -1}, {3, 4, 2}, 0.5, 6), 1);
  const Bipartite gaussian = enumerate_side(random_network({-2, 0}, {5, 4}, 0.5, 6), 1);
  using Change = std::function<void(Bipartite&)>;
  const std::map<std::string, Change> changes = {
      {"a weight", [](Bipartite& s) { s.weights(1, 2) += 1e-9; }},
      {"two weights' places", [](Bipartite& s) { std::swap(s.weights(0, 1), s.weights(1, 1)); }},
      {"an enumerated unit's bias", [](Bipartite& s) { s.bias[3] += 1e-9; }},
      {"another unit's bias", [](Bipartite& s) { s.other_input[2] += 1e-9; }},
      {"the constant", [](Bipartite& s) { s.constant += 1e-9; }},
      {"a mean", [](Bipartite& s) { s.other_mean[1] += 1e-9; }},
      {"a sigma", [](Bipartite& s) { s.other_sigma[0] += 1e-9; }},
      {"a unit's type", [](Bipartite& s) { s.other[1] = Unit::multivalued(7); }},
      {"an enumerated unit's type", [](Bipartite& s) { s.enumerated[1] = Unit::multivalued(1); }}};
  for (const Bipartite* of : {&sides, &gaussian}) {
    std::filesystem::remove(file.path);
    const ExactOptions options{.checkpoint = file.path};
    const double log_z = sum_states(*of, options).log_z;
    CHECK(sum_states(*of, options).log_z == log_z);
    for (const auto& [what, change] : changes) {
      INFO(what);
      Bipartite changed = *of;
      change(changed);
      CHECK_THROWS_AS(sum_states(changed, options), DataError);
    }
    CHECK(sum_states(*of, options).log_z == log_z);
  }
}

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "enumeration_models.hpp"

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
  CHECK_THROWS_AS(exact_log_z(model, {.checkpoint = "/"}), DataError);
  CHECK_THROWS_AS(exact_log_z(model, {.checkpoint = "/nowhere/at/all"}), DataError);
}

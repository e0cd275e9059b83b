// log Z by enumeration on the ranks of mpirun: the bits of one process.
#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "boltzmark/exact/enumeration/chunk_total.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/io/model_file.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/ranks/chunk_ranks.hpp"
#include "verification/ranks/launched.hpp"

namespace ranks_test {
namespace {

using namespace boltzmark;
using boltzmark::experiments::read_text;

/// A random model of two layers of these units.
Layered model_of(Unit visible, int rows, Unit hidden, int columns) {
  Stream stream(make_key(7, "ranks"), Purpose::test);
  const auto draw = [&](int count) {
    Eigen::VectorXd values(count);
    for (double& value : values) value = 0.5 * stream.normal();
    return values;
  };
  Eigen::MatrixXd weights(rows, columns);
  for (int column = 0; column < columns; ++column) weights.col(column) = draw(rows);
  std::vector<Layer> layers(2);
  layers[0].unit = visible;
  layers[0].bias = draw(rows);
  if (visible == Unit::gaussian()) layers[0].sigma0 = Eigen::VectorXd::Ones(rows);
  layers[1].unit = hidden;
  layers[1].bias = draw(columns);
  return {layers, {weights}};
}

/// What `exact --json` tells of a model with an option, but the time.
std::string told(int ranks, const std::string& model, const char* option, const char* value) {
  const StudyRun run =
      run_to_end(ranks, {BOLTZMARK_PROGRAM, "exact", model, "--json", option, value});
  INFO(run.err);
  REQUIRE(run.code == 0);
  auto json = nlohmann::json::parse(run.out);
  json.erase("seconds");
  return json.dump();
}

TEST_CASE("exact on 2 to 5 ranks gives the bits of one process, of every unit and precision") {
  const Folder folder;
  const Layered models[] = {model_of(Unit::bernoulli(), 30, Unit::bernoulli(), 18),
                            model_of(Unit::bernoulli(), 25, Unit::bernoulli(), 24),
                            model_of(Unit::multivalued(3), 14, Unit::multivalued(3), 11),
                            model_of(Unit::continuous(), 10, Unit::multivalued(1), 18),
                            model_of(Unit::gaussian(), 10, Unit::bernoulli(), 20)};
  int ranks = 1;
  for (const Layered& model : models) {
    const std::string path = folder / "model.npz";
    write_model(model, path);
    ranks = ranks == 5 ? 2 : ranks + 1;
    for (const char* precision : {"double", "float"}) {
      const auto of = [&](int count) { return told(count, path, "--precision", precision); };
      INFO(ranks << " ranks, " << precision);
      CHECK(of(ranks) == of(1));
    }
  }
}

TEST_CASE("exact of 18 and 22 units gives the same bits on any number of ranks and with threads") {
  const Folder folder;
  const std::string path = folder / "model.npz";
  for (const int units : {18, 22}) {
    write_model(model_of(Unit::bernoulli(), 25, Unit::bernoulli(), units), path);
    const std::string one = told(1, path, "--threads", "1");
    for (int ranks = 1; ranks <= 5; ++ranks) {
      INFO(units << " units, " << ranks << " ranks");
      CHECK(told(ranks, path, "--threads", "2") == one);
    }
  }
}

/// Runs a slow enumeration to its end.
std::string end_of(int ranks, const std::string& out) {
  Launched launched(ranks, study(out, {"--exact", "24", "--sleep", "5"}));
  REQUIRE(launched.wait());
  INFO(launched.err());
  REQUIRE(launched.code() == 0);
  return launched.out();
}

std::string log_z_line(const std::string& text) { return text.substr(text.find("log Z")); }

TEST_CASE("sums that come early are added in the order of chunks") {
  const Folder one, three;
  const std::string expected = log_z_line(end_of(1, one / "out"));
  Launched job(3, study(three / "out", {"--exact", "24", "--sleep", "5", "--slow-rank", "1"}));
  REQUIRE(job.wait());
  CHECK(job.code() == 0);
  CHECK(log_z_line(job.out()) == expected);
  // The logarithm hides the last bits of the sum, which the checkpoint has.
  CHECK(read_text(three / "out.sums") == read_text(one / "out.sums"));
}

TEST_CASE(
    "an enumeration of which ranks are killed in turn goes on, on any number, to the same bits") {
  const Folder whole, killed;
  const std::string expected = log_z_line(end_of(1, whole / "out"));
  const std::string out = killed / "out", sums = out + ".sums";
  std::string saved;
  for (const int rank : {1, 2, 0}) {
    Launched job(3, study(out, {"--exact", "24", "--sleep", "1000"}));
    REQUIRE(
        wait_until(30, [&] { return std::filesystem::exists(sums) && read_text(sums) != saved; }));
    kill(pid_of(out, rank), SIGKILL);
    REQUIRE(job.wait(20));
    CHECK(job.code() != 0);
    REQUIRE(wait_for_none(out, 3));
    saved = read_text(sums);
  }
  const std::string rest = end_of(2, out);
  CHECK(rest.find("from 0 of") == std::string::npos);
  CHECK(log_z_line(rest) == expected);
}

TEST_CASE(
    "an enumeration of which random ranks of 4 are killed at random moments ends with the same bits") {
  const Folder whole, killed;
  const std::string expected = log_z_line(end_of(1, whole / "out"));
  const std::string out = killed / "out", sums = out + ".sums";
  std::mt19937 draws(2);
  const auto below = [&](int n) { return static_cast<int>(draws() % static_cast<unsigned>(n)); };
  int kills = 0;
  std::string rest;
  for (int start = 0; rest.empty() && start < 60; ++start) {
    const std::string saved = std::filesystem::exists(sums) ? read_text(sums) : "";
    Launched job(4, study(out, {"--exact", "24", "--sleep", "200"}));
    REQUIRE(wait_until(30, [&] {
      return (std::filesystem::exists(sums) && read_text(sums) != saved) || job.wait(0);
    }));
    std::this_thread::sleep_for(std::chrono::milliseconds(below(700)));
    const int rank = below(4);
    if (!job.wait(0)) kill(pid_of(out, rank), SIGKILL);
    REQUIRE(job.wait(20));
    INFO(start << ": rank " << rank << " " << job.err());
    CHECK(wait_for_none(out, 4));
    if (job.code() == 0) rest = job.out();
    kills += job.code() != 0;
  }
  CHECK(kills >= 5);
  CHECK(log_z_line(rest) == expected);
}

TEST_CASE("what a stopped rank was to sum is summed by another, to the same bits") {
  const Folder whole;
  const std::string expected = log_z_line(end_of(1, whole / "out"));
  for (int attempt = 1;; ++attempt) {
    const Folder stopped;
    const std::string out = stopped / "out";
    Launched job(3, study(out, {"--exact", "24", "--sleep", "300", "--lease", "2"}));
    REQUIRE(wait_until(30, [&] { return std::filesystem::exists(out + ".sums"); }));
    kill(pid_of(out, 1), SIGSTOP);
    const bool ended = job.wait_with_stopped_rank();
    if (!ended && attempt < 3) continue;
    INFO(job.out() << job.err());
    REQUIRE(ended);
    CHECK(job.code() == 0);
    CHECK(log_z_line(job.out()).starts_with(expected));
    break;
  }
}

TEST_CASE("runs of chunks last about a second, and every rank has several") {
  using boltzmark::experiments::run_length;
  CHECK(run_length(16384, 2, 1000) == 16);
  CHECK(run_length(16384, 2, 1) == 256);
  CHECK(run_length(100, 64, 10) == 1);
  CHECK(run_length(1, 2, 0) == 1);
  CHECK(run_length(0, 2, 0) == 1);
  // 56 units: not a thousand million runs.
  CHECK(run_length(std::uint64_t{1} << 30, 1000, 1e9) == 4096);
}

/// Stops an enumeration of 41 units before its last three chunks, the sums of the others given.
void leave_three_chunks(const std::string& model, const std::string& sums) {
  struct Stopped {};
  const auto stop = [](const EnumerationChunks& chunks) {
    chunks.take(std::vector<Scaled>(chunks.end - 3, Scaled{1 / 3.0, 26}));
    throw Stopped();
  };
  CHECK_THROWS_AS(exact_log_z(read_model(model), {.max_enumerated_units = 41,
                                                  .checkpoint = sums,
                                                  .checkpoint_seconds = 0,
                                                  .driver = stop}),
                  Stopped);
}

TEST_CASE(
    "an enumeration that is stopped keeps its sums of a second before, or all if it is told") {
  const Folder folder;
  const std::string model = folder / "model.npz", sums = folder / "sums";
  write_model(model_of(Unit::bernoulli(), 40, Unit::bernoulli(), 36), model);  // takes minutes
  const auto text_of_sums = [&] { return std::filesystem::exists(sums) ? read_text(sums) : ""; };
  // Sums are saved every second, or seldomer where the ranks are not alone.
  const auto wait_for_others = [&](const std::string& before) {
    REQUIRE(wait_until(60, [&] { return text_of_sums() != before; }));
  };
  const std::vector<std::string> words = {BOLTZMARK_PROGRAM, "exact", model, "--threads", "1",
                                          "--checkpoint",    sums};
  {
    Launched job(3, words);
    wait_for_others("");
    job.signal(SIGINT);
    REQUIRE(job.wait(20));
    CHECK(job.code() != 0);
    CHECK(std::filesystem::exists(sums));
  }
  const std::string saved = read_text(sums);
  Launched job(3, words);
  wait_for_others(saved);
  const pid_t rank_0 = job.rank(0);
  REQUIRE(rank_0 > 0);
  kill(rank_0, SIGTERM);  // as Slurm does, which then waits
  REQUIRE(job.wait(20));
  INFO(job.err());
  CHECK(job.err().find("going on from") != std::string::npos);
  CHECK(job.err().find("interrupted: the sums are saved in " + sums) != std::string::npos);
  CHECK(read_text(sums) != saved);
}

TEST_CASE("exact --max-units goes on on any number of ranks, and foretells the time on them") {
  const Folder folder;
  const std::string model = folder / "model.npz", sums = folder / "sums";
  write_model(model_of(Unit::bernoulli(), 41, Unit::bernoulli(), 41), model);
  leave_three_chunks(model, sums);
  const std::string saved = read_text(sums);
  std::string results[2], ends[2];
  for (const int ranks : {1, 3}) {
    INFO(ranks << " ranks");
    { std::ofstream(sums) << saved; }
    Launched job(ranks, {BOLTZMARK_PROGRAM, "exact", model, "--json", "--max-units", "41",
                         "--threads", "1", "--checkpoint", sums});
    REQUIRE(job.wait(300));
    INFO(job.err());
    REQUIRE(job.code() == 0);
    auto json = nlohmann::json::parse(job.out());
    json.erase("seconds");
    CHECK(json["error_bound"] < 1e-8);
    CHECK(json["states"] == std::uint64_t{1} << 41);
    results[ranks == 3] = json.dump();
    ends[ranks == 3] = read_text(sums);
    // 2^41 states of 41 units at 60 ns a state and core with 784 of them.
    CHECK(job.err().find(ranks == 1 ? "about 1 h 54 min and" : "about 38 min 19 s and") !=
          std::string::npos);
  }
  CHECK(results[0] == results[1]);
  CHECK(ends[0] == ends[1]);
}

}  // namespace
}  // namespace ranks_test

// Estimates whose chains are shared by the ranks of mpirun: the bytes of one process.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <regex>

#include "boltzmark/io/model_file.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/kit/files.hpp"
#include "verification/ranks/launched.hpp"

namespace ranks_test {
namespace {

using namespace boltzmark;
using Arguments = std::vector<std::string>;

/// A random RBM of 20 by 12 units.
std::string saved_model(const Folder& folder, std::uint64_t seed = 9) {
  Stream stream(make_key(seed, "ranks"), Purpose::test);
  Eigen::MatrixXd weights(20, 12);
  for (double& weight : weights.reshaped()) weight = 0.3 * stream.normal();
  const std::string path = folder / "model.npz";
  write_model(Layered::rbm(weights, Eigen::VectorXd::Zero(20), Eigen::VectorXd::Zero(12)), path);
  return path;
}

StudyRun estimate_on(int ranks, const std::string& model, const Arguments& options) {
  Arguments words = {BOLTZMARK_PROGRAM, "estimate", model, "--quiet"};
  words.insert(words.end(), options.begin(), options.end());
  return run_to_end(ranks, words);
}

/// What --json prints, but the time.
std::string told(int ranks, const std::string& model, Arguments options) {
  options.emplace_back("--json");
  const StudyRun run = estimate_on(ranks, model, options);
  INFO(ranks << " ranks: " << run.err);
  REQUIRE(run.code == 0);
  auto json = nlohmann::ordered_json::parse(run.out);
  json.erase("seconds");
  return json.dump();
}

TEST_CASE("estimate by ais and raise on 2 to 5 ranks tells the bytes of one process") {
  const Folder folder;
  const std::string model = saved_model(folder);
  for (const char* method : {"ais", "raise"})
    for (const auto& [chains, ranks] :
         {std::pair{"16", 2}, {"17", 2}, {"17", 5}, {"100", 3}, {"100", 4}}) {
      const Arguments options = {"--method", method, "--chains", chains, "--sweeps", "200"};
      INFO(method << ", " << chains << " chains, " << ranks << " ranks");
      CHECK(told(ranks, model, options) == told(1, model, options));
    }
  for (const char* method : {"ais", "raise"}) {
    const Arguments options = {"--method", method,        "--chains",  "40", "--sweeps",
                               "200",      "--both-ways", "--threads", "1"};
    CHECK(told(3, model, options) == told(1, model, options));
  }
}

TEST_CASE("estimate on ranks finds its sweeps, tries again and takes cases as one process does") {
  const Folder folder;
  const std::string model = saved_model(folder);
  std::string cases;
  for (int c = 0; c < 40; ++c) {
    for (int i = 0; i < 20; ++i) cases += (i * c + c / 3) % 3 == 0 ? "1 " : "0 ";
    cases += "\n";
  }
  experiments::write_text(folder / "cases.txt", cases);
  const Arguments all[] = {
      {"--method", "ais", "--chains", "100", "--sweeps", "200", "--target-error", "0.1"},
      {"--method", "ais", "--chains", "40", "--sweeps", "2", "--auto", "--ladder", "geometric",
       "--temperatures", "3"},
      {"--method", "ais", "--chains", "40", "--sweeps", "300", "--ladder", "adaptive"},
      {"--method", "raise", "--chains", "40", "--sweeps", "100", "--data", folder / "cases.txt"}};
  for (const Arguments& options : all) {
    INFO(options[5] << " " << options[6] << " " << options[7]);
    CHECK(told(3, model, options) == told(1, model, options));
  }
}

TEST_CASE("estimate on ranks refuses methods whose chains learn from each other, and one chain") {
  const Folder folder;
  const std::string model = saved_model(folder);
  const std::pair<Arguments, std::string> all[] = {
      {{}, "--method = rts (must be run without mpirun, or by `compare`)"},
      {{"--method", "smc"}, "--method = smc (must be run without mpirun, or by `compare`)"},
      {{"--method", "exact"}, "--method = exact (must be run without mpirun, or by `exact`)"},
      {{"--method", "ais", "--chains", "1"}, "--chains = 1"},
      {{"--method", "ais", "--dump", folder / "run.npz"}, "must be one that reads samples"},
      {{"--method", "raise", "--data", folder / "none.txt"}, "none.txt"}};
  for (const auto& [options, text] : all) {
    const StudyRun run = estimate_on(3, model, options);
    INFO(run.err);
    CHECK(run.code == 2);
    CHECK(run.out.find("log Z") == std::string::npos);
    const auto at = run.err.find("boltzmark: ");
    REQUIRE(at != std::string::npos);
    CHECK(run.err.find("boltzmark: ", at + 1) == std::string::npos);
    CHECK_THAT(run.err, Catch::Contains(text));
  }
}

/// Two programs that are the ranks of one job; options of mpirun may stand before each.
Arguments two_programs(const Arguments& first, const Arguments& second) {
  Arguments words = {BOLTZMARK_MPIRUN, "--oversubscribe", "--bind-to", "none", "-n", "1"};
  words.insert(words.end(), first.begin(), first.end());
  words.insert(words.end(), {":", "-n", "1"});
  words.insert(words.end(), second.begin(), second.end());
  return words;
}

TEST_CASE("ranks whose files of one name say different things are refused") {
  const Folder here, there;
  const auto words_in = [](const Folder& folder, const Arguments& options) {
    Arguments words = {"-wdir",    folder / ".", BOLTZMARK_PROGRAM, "estimate", "model.npz",
                       "--method", "ais",        "--sweeps",        "100",      "--quiet"};
    words.insert(words.end(), options.begin(), options.end());
    return words;
  };
  const auto check_refused = [&](const Arguments& options, const std::string& text) {
    Launched job(1, two_programs(words_in(here, options), words_in(there, options)));
    REQUIRE(job.wait(60));
    INFO(job.out() << job.err());
    CHECK(job.code() == 2);
    CHECK_THAT(job.err(), Catch::Contains("rank 1 on host ") && Catch::Contains(text));
  };
  saved_model(here);
  saved_model(there);
  experiments::write_text(here / "ladder.txt", "0 0.5 1\n");
  experiments::write_text(there / "ladder.txt", "0 0.6 1\n");
  check_refused({"--ladder", "ladder.txt"}, "data, ladder and base = ");
  saved_model(there, 10);
  check_refused({}, "model.npz = ");
}

TEST_CASE("what rank 0 decides of further attempts holds on all ranks") {
  const Folder folder;
  const std::string model = saved_model(folder);
  const auto within = [&](const std::string& seconds) {
    return Arguments{"--method", "ais",           "--chains",  "52",     "--sweeps",
                     "2",        "--ladder",      "geometric", "--auto", "--temperatures",
                     "3",        "--max-seconds", seconds};
  };
  const auto words_within = [&](const std::string& seconds) {
    Arguments words = {BOLTZMARK_PROGRAM, "estimate", model, "--quiet", "--json"};
    for (const std::string& word : within(seconds)) words.push_back(word);
    return words;
  };
  Launched job(1, two_programs(words_within("1e9"), words_within("1e-9")));
  REQUIRE(job.wait(60));
  INFO(job.err());
  REQUIRE(job.code() == 0);
  auto json = nlohmann::ordered_json::parse(job.out());
  CHECK(json["attempts"].size() > 1);
  json.erase("seconds");
  CHECK(json.dump() == told(1, model, within("1e9")));
}

TEST_CASE("an estimate is refused by the memory that all ranks of a host take") {
  const Folder folder;
  const std::string model = saved_model(folder);
  const auto needed = [&](int ranks) {
    const StudyRun run =
        estimate_on(ranks, model, {"--method", "ais", "--chains", "2000000000", "--sweeps", "100"});
    INFO(run.err);
    CHECK(run.code == 2);
    const std::regex said("memory for .* = ([0-9.]+) ([GT])iB ");
    std::smatch found;
    REQUIRE(std::regex_search(run.err, found, said));
    return std::stod(found[1]) * (found[2] == "T" ? 1024 : 1);
  };
  CHECK(needed(3) == Approx(3 * needed(1)).epsilon(0.01));  // told to three digits
}

TEST_CASE("a rank that fails alone ends all ranks, and says so") {
  const Folder folder;
  const std::string model = saved_model(folder), good = folder / "ladder.txt",
                    once = folder / "once";
  experiments::write_text(good, "0 0.5 1\n");
  const auto estimate = [&](const std::string& ladder) {
    return Arguments{BOLTZMARK_PROGRAM, "estimate", model,      "--method", "ais",
                     "--sweeps",        "100",      "--ladder", ladder,     "--quiet"};
  };
  // The second rank's ladder is there when it is read first, and empty afterwards.
  const std::string feed = "cat " + good + " >" + once + "; while : >" + once + "; do :; done",
                    script = "mkfifo " + once + "; timeout 30 sh -c '" + feed + "' & exec \"$@\"";
  Arguments feeding = {"sh", "-c", script, "sh"};
  for (const std::string& word : estimate(once)) feeding.push_back(word);
  Launched job(1, two_programs(estimate(good), feeding));
  REQUIRE(job.wait(40));
  INFO(job.err());
  CHECK(job.code() != 0);
  CHECK_THAT(job.err(), Catch::Contains("boltzmark: rank 1 on host ") &&
                            Catch::Contains("once: not a ladder"));
}

TEST_CASE("the exit code of an estimate that is not ok is that of one process, with --strict") {
  const Folder folder;
  const std::string model = saved_model(folder);
  const Arguments options = {"--method", "ais",      "--chains",       "32", "--sweeps",
                             "2",        "--strict", "--temperatures", "2"};
  const StudyRun one = estimate_on(1, model, options), two = estimate_on(2, model, options);
  CHECK(one.code == 4);
  CHECK(two.code == 4);
}

}  // namespace
}  // namespace ranks_test

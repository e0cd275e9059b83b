// What does not fit into memory is foretold and refused, before it is taken.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/io/formats/npz.hpp"
#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/cli/program.hpp"
#include "verification/skip.hpp"

using namespace cli_test;

namespace {

constexpr double kMiB = 1 << 20;

/// Runs the program on a machine that has so much memory.
Run run_small(double mebibytes, const Arguments& arguments) {
  return run_under(fmt::format("ulimit -v {:.0f}", 1024 * mebibytes), arguments);
}

}  // namespace

TEST_CASE("what does not fit into memory is refused in one line that names what to lower") {
  if (kSanitized) return skip("the sanitizers' own memory is beyond any limit");
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(10, 6, 0.5, 3), folder / "m.npz"),
                    data = folder.write("d.csv", "0,1,0,1,0,1,0,1,0,1\n1,1,1,0,0,0,1,1,1,0\n"),
                    out = folder / "o.npz";
  const std::vector<std::pair<Arguments, std::string>> cases = {
      {{"estimate", model, "--temperatures", "2147483647"}, "--temperatures"},
      {{"estimate", model, "--method", "mbar", "--temperatures", "5000"}, "--temperatures"},
      {{"estimate", model, "--method", "rts-mixed", "--temperatures", "20000"}, "--temperatures"},
      {{"estimate", model, "--method", "sd", "--temperatures", "20000"}, "--temperatures"},
      {{"estimate", model, "--method", "ti-continuous", "--chains", "1000000", "--sweeps", "10"},
       "--chains"},
      {{"estimate", model, "--chains", "2147483647", "--sweeps", "2"}, "--chains"},
      {{"estimate", model, "--method", "ais", "--chains", "2147483647", "--sweeps", "2"},
       "--chains"},
      {{"estimate", model, "--sweeps", "2147483647", "--dump", out}, "--sweeps"},
      {{"compare", model, "--methods", "ais,mbar", "--temperatures", "5000", "--out",
        folder / "compared"},
       "--temperatures"},
      {{"score", model, data, "--method", "mbar", "--temperatures", "5000"}, "--temperatures"},
      {{"sample", model, "--chains", "2147483647", "--out", out}, "--chains"},
      {{"sample", model, "--sweeps", "2147483647", "--every", "1", "--out", out}, "--every"},
      {{"modes", model, "--starts", "2147483647"}, "--starts"}};
  for (const auto& [arguments, option] : cases) {
    INFO(fmt::format("{}", fmt::join(arguments, " ")));
    check_refused(run_small(2048, arguments), {"memory for", "(must fit into", option});
    CHECK_FALSE(std::filesystem::exists(out));
  }
  CHECK(run_small(2048, {"estimate", model, "--sweeps", "200"}).code == 0);
  // Threads beyond those that there are take nothing.
  CHECK(run_small(2048, {"estimate", model, "--sweeps", "200", "--threads", "2147483647"}).code ==
        0);
}

TEST_CASE("training that does not fit says how long it would take, too") {
  if (kSanitized) return skip("the sanitizers' own memory is beyond any limit");
  const io_test::Folder folder;
  const std::string data = folder.write("d.csv", "0,1,0,1,0,1,0,1,0,1\n1,1,1,0,0,0,1,1,1,0\n");
  for (const Arguments& kind :
       {Arguments{}, Arguments{"--labels", folder.write("l.csv", "0\n1\n"), "--discriminative"}}) {
    Arguments all = {"train", data, "--hidden", "1048576", "--out", folder / "o.npz"};
    all.insert(all.end(), kind.begin(), kind.end());
    check_refused(run_small(512, all),
                  {"memory for", kind.empty() ? "10-1048576 units, which take about" : "",
                   "(must fit into", "--hidden"});
  }
}

TEST_CASE("a model's arrays are held to each other before any is read") {
  const io_test::Folder folder;
  const std::string path = folder / "m.npz";
  // Weights that could not be read, and are not.
  const auto written = [&](const Eigen::MatrixXd& weights, int b, int c, bool deep) {
    boltzmark::NpzWriter file(path);
    file.add(deep ? "W0" : "W", weights);
    file.add(deep ? "b0" : "b", Eigen::VectorXd(Eigen::VectorXd::Zero(b)));
    file.add(deep ? "b1" : "c", Eigen::VectorXd(Eigen::VectorXd::Zero(c)));
    if (deep) {
      file.add("W1", Eigen::MatrixXd(Eigen::MatrixXd::Zero(c + 1, 2)));
      file.add("b2", Eigen::VectorXd(Eigen::VectorXd::Zero(2)));
    }
    file.commit();
  };
  const Eigen::MatrixXd broken = Eigen::MatrixXd::Constant(4, 3, std::nan(""));
  written(broken, 3, 3, false);
  check_refused(run({"describe", path}), {path, "b has 3 values (must have 4"});
  written(broken, 4, 2, false);
  check_refused(run({"describe", path}), {path, "c has 2 values (must have 3"});
  written(broken, 4, 3, true);
  check_refused(run({"describe", path}), {path, "W1 has shape (4, 2) (must have 3 rows"});
  written(broken, 4, 3, false);
  check_refused(run({"describe", path}), {path, "W holds NaN"});
}

TEST_CASE("a data file whose numbers do not fit into memory is refused before they are made") {
  if (kSanitized) return skip("the sanitizers' own memory is beyond any limit");
  const io_test::Folder folder;
  const auto holes = [&](const char* name, boltzmark::ElementType type, std::uint64_t cases) {
    const std::string header = boltzmark::npy_header(type, {cases, 1000});
    const std::string path = folder.write(name, header);
    std::filesystem::resize_file(path, header.size() + cases * 1000 * element_size(type));
    return path;
  };
  // Bytes stay what they are.
  const std::string bytes = holes("bytes.npy", boltzmark::ElementType::uint8, 200000);
  CHECK(run_small(900, {"describe", bytes}).code == 0);
  // Where the file would fit, but not its numbers.
  const std::string path = holes("integers.npy", boltzmark::ElementType::int16, 200000);
  std::ofstream(path, std::ios::binary | std::ios::in | std::ios::ate).seekp(-1, std::ios::end)
      << '\x01';  // 256, no byte
  check_refused(run_small(900, {"describe", path}),
                {path, "needs 763 MiB (must fit into the", "free"});
}

TEST_CASE("no method takes more memory than it foretells") {
  if (kSanitized) return skip("the sanitizers' own memory is beyond any limit");
  const io_test::Folder folder;
  const auto model = random_rbm(10, 6, 0.5, 3);
  const std::string path = saved(model, folder / "m.npz");
  const auto peak = [&](const std::string& method, const boltzmark::MethodSettings& settings) {
    const Run result = run({"estimate", path, "--method", method, "--base", "uniform", "--threads",
                            "2", "--chains", std::to_string(settings.chains), "--sweeps",
                            std::to_string(settings.sweeps), "--temperatures",
                            std::to_string(settings.ladder->rungs())});
    REQUIRE(result.code == 0);
    return result.peak_bytes;
  };
  const auto settings = [](int chains, int sweeps, int rungs) {
    return boltzmark::MethodSettings{
        .chains = chains, .sweeps = sweeps, .ladder = boltzmark::Ladder::linear(rungs)};
  };
  const double idle = peak("ais", settings(2, 4, 2));
  // Many chains, many rungs, all of them visited, and many sweeps.
  for (const auto& large : {settings(15000, 4, 20), settings(200, 60, 250), settings(50, 6000, 3)})
    for (const boltzmark::Method& method : boltzmark::registered_methods()) {
      if (method.source == boltzmark::Source::own) continue;
      const double foretold = boltzmark::method_bytes(method.name, large, model),
                   taken = peak(method.name, large) - idle;
      INFO(fmt::format("{} of {} chains, {} sweeps, {} rungs: {:.1f} MiB, foretold {:.1f}",
                       method.name, large.chains, large.sweeps, large.ladder->rungs(), taken / kMiB,
                       foretold / kMiB));
      CHECK(taken <= foretold + 8 * kMiB);  // what the allocator keeps, and short-lived vectors
    }
}

// That every command with --seed draws otherwise with another one, in each of its parts.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/io/formats/npz.hpp"
#include "boltzmark/learn/cases/case_source.hpp"
#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/cli/program.hpp"

namespace {

using namespace cli_test;

std::string random_csv(int cases, int units, int levels, std::uint64_t seed) {
  boltzmark::Stream stream(boltzmark::make_key(seed, "seeds"), boltzmark::Purpose::test);
  std::string text;
  for (int i = 0; i < cases * units; ++i)
    text += fmt::format("{}{}", stream.below(static_cast<std::uint64_t>(levels)),
                        i % units == units - 1 ? "\n" : ",");
  return text;
}

}  // namespace

TEST_CASE("each part of a training has draws of its seed") {
  const io_test::Folder folder;
  const std::string data = folder.write("d.csv", random_csv(30, 6, 2, 1)),
                    labels = folder.write("l.csv", random_csv(30, 1, 3, 2)),
                    model = folder / "m.npz";
  const auto trained = [&](const Arguments& options, const char* seed) {
    Arguments all = {"train", data, "--out", model, "--force", "--seed", seed};
    all.insert(all.end(), options.begin(), options.end());
    const Run result = run(all);
    INFO(result.err);
    REQUIRE(result.code == 0);
    return io_test::read_all(model);
  };
  const std::vector<Arguments> parts = {
      {"--hidden", "4", "--updates", "0"},  // initial weights
      {"--hidden", "4", "--updates", "3"},
      {"--hidden", "4", "--hidden", "3", "--pretrain", "2,2", "--updates", "0"},
      {"--discriminative", "--labels", labels, "--hidden", "4", "--updates", "0"}};
  for (const Arguments& part : parts) {
    INFO(fmt::format("{}", fmt::join(part, " ")));
    const std::string first = trained(part, "1");
    CHECK(trained(part, "1") == first);
    CHECK(trained(part, "2") != first);
  }
}

TEST_CASE("the pilot of an adaptive ladder has draws of its seed") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(8, 5, 1, 3), folder / "m.npz"),
                    dump = folder / "d.npz";
  const auto ladder = [&](const char* seed) {
    json_of({"estimate", model, "--base", "uniform", "--ladder", "adaptive", "--temperatures", "6",
             "--sweeps", "400", "--chains", "20", "--dump", dump, "--force", "--seed", seed});
    return boltzmark::Npz(dump).read("beta").bytes;
  };
  const auto first = ladder("1");
  CHECK(ladder("1") == first);
  CHECK(ladder("2") != first);
}

TEST_CASE("cases drawn anew are evaluated by their draws of the first update") {
  const io_test::Folder folder;
  const boltzmark::Layered start = random_rbm(6, 4, 0.5, 3);
  const std::string model = saved(start, folder / "m.npz"),
                    data = folder.write("d.csv", random_csv(30, 6, 256, 4));
  const Json told =
      json_of({"train", data, "--binarise", "fresh", "--start", model, "--hidden", "4", "--updates",
               "2", "--evaluate", "1", "--seed", "5", "--out", folder / "o.npz"});
  Eigen::MatrixXf levels(6, 30);
  std::istringstream text(io_test::read_all(data));
  for (float& level : levels.reshaped()) {
    char comma = 0;
    text >> level;
    text.get(comma);
    level /= 255;
  }
  boltzmark::DrawnCases source(levels, boltzmark::Unit::bernoulli(),
                               boltzmark::make_key(5, "train"));
  boltzmark::Chains drawn(start, 30);
  std::vector<int> all(30);
  std::iota(all.begin(), all.end(), 0);
  source.fill(drawn, all, 0);
  const boltzmark::Cases cases(drawn.get_layer(0));
  const double mean =
      cases.mean(boltzmark::log_unnormalised(start, cases)) - boltzmark::exact_log_z(start).log_z;
  CHECK(told["evaluations"][0]["mean_log_likelihood"].get<double>() == Approx(mean).epsilon(1e-6));
  // The same cases as validation are drawn by draws of their own, of the same means.
  const Json both = json_of({"train", data, "--binarise", "fresh", "--start", model, "--hidden",
                             "4", "--updates", "2", "--evaluate", "1", "--validate", data, "--seed",
                             "5", "--out", folder / "o.npz", "--force"});
  const Json& first = both["evaluations"][0];
  CHECK(first["mean_log_likelihood"] == told["evaluations"][0]["mean_log_likelihood"]);
  CHECK(first["validation_mean_log_likelihood"] != first["mean_log_likelihood"]);
  CHECK(first["validation_mean_log_likelihood"].get<double>() == Approx(mean).epsilon(0.2));
}

TEST_CASE("estimate says by how much it is off from what a model's file says, and on which side") {
  const io_test::Folder folder;
  const std::string model = folder / "m.npz";
  REQUIRE(run({"make", "random:20:6:0.5:1", "--out", model}).code == 0);
  const Arguments estimate = {"estimate", model, "--sweeps", "500"};
  const Json found = json_of(estimate);
  const double off = found["log_z"].get<double>() - found["known_log_z"].get<double>();
  REQUIRE(std::abs(off) > 1e-4);
  const std::string said = run(estimate).out;
  CHECK_THAT(said, Catch::Contains("the estimate is off by"));
  CHECK_THAT(said, Catch::Contains(fmt::format(" {:+.4f}\n", off)));
}

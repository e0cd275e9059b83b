// log Z by enumeration, as the command tells it.
#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>

#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/cli/program.hpp"

namespace {

using namespace cli_test;

}  // namespace

TEST_CASE("exact agrees with brute force within its own error bound") {
  const io_test::Folder folder;
  for (const auto& [visible, hidden] : {std::pair{1, 1}, {6, 3}, {3, 6}, {8, 8}, {5, 12}}) {
    const auto model = random_rbm(visible, hidden, 1.5, 10 * visible + hidden);
    const std::string path = saved(model, folder / "m.npz");
    const Json result = json_of({"exact", path});
    CHECK(keys(result) == Keys{"log_z", "error_bound", "states", "enumerated_units", "seconds"});
    const int enumerated = std::min(visible, hidden);
    CHECK(result["enumerated_units"] == enumerated);
    CHECK(result["states"] == (1 << enumerated));
    // Brute force adds 2^(m+n) <= 2^17 positive terms: its relative error is below
    // 2^17 * 2^-52 = 3e-11 in the worst case.
    const double truth = brute_log_z(model);
    const double log_z = result["log_z"];
    CHECK(std::abs(log_z - truth) <= result["error_bound"].get<double>() + 3e-11);
    CHECK(result["error_bound"].get<double>() < 1e-9);
    CHECK(result["seconds"].get<double>() >= 0);
    const Json single = json_of({"exact", path, "--precision", "float"});
    CHECK(std::abs(single["log_z"].get<double>() - truth) <=
          single["error_bound"].get<double>() + 3e-11);
    CHECK(single["error_bound"].get<double>() > 100 * result["error_bound"].get<double>());
  }
}

TEST_CASE("exact prints log Z to the first digit of its error bound") {
  const io_test::Folder folder;
  const auto check = [&](double bias, const char* precision) {
    const std::string path = saved(
        independent_rbm(Eigen::VectorXd::Constant(4, bias), Eigen::VectorXd::Constant(3, bias)),
        folder / "m.npz");
    const double bound = json_of({"exact", path, "--precision", precision})["error_bound"];
    const std::string shown = run({"exact", path, "--precision", precision}).out.substr(13);
    const std::string number = shown.substr(0, shown.find(' '));
    INFO(number << " within " << bound);
    const double truth = 7 * std::log1p(std::exp(bias));
    const auto decimals = static_cast<double>(number.size() - number.find('.') - 1);
    const double last = std::pow(10.0, -decimals);
    CHECK(std::abs(std::stod(number) - truth) <= bound + last / 2);
    CHECK(last <= bound * 1.000001);
    CHECK((last > bound / 10.000001 || decimals >= 14));
  };
  for (const double bias :
       {0.3, 0.0, 2.0, -40.0})  // 0: 4.852030 ends in 0; -40: less than the bound
    for (const char* precision : {"float", "double"}) check(bias, precision);
}

TEST_CASE("exact refuses parameters whose sum no double holds, by a number") {
  const io_test::Folder folder;
  const auto model = boltzmark::Layered::rbm(Eigen::MatrixXd::Constant(4, 3, 1e308),
                                             Eigen::VectorXd::Zero(4), Eigen::VectorXd::Zero(3));
  const Run refused = run({"exact", saved(model, folder / "m.npz")});
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Catch::Contains("parameters = inf (must be below 2^49 nats)"));
}

TEST_CASE("exact gives the same number for any threads and after a checkpoint") {
  const io_test::Folder folder;
  const std::string path = saved(random_rbm(20, 18, 1, 5), folder / "m.npz");
  const Json one = json_of({"exact", path, "--threads", "1"});
  const Json two = json_of({"exact", path, "--threads", "2"});
  const Json kept = json_of({"exact", path, "--checkpoint", folder / "part"});
  const Json again = json_of({"exact", path, "--checkpoint", folder / "part"});
  CHECK(one["log_z"] == two["log_z"]);
  CHECK(one["log_z"] == kept["log_z"]);
  CHECK(one["log_z"] == again["log_z"]);
}

TEST_CASE(
    "Ctrl-C leaves an enumeration's sums, from which the same command goes on to the same bits") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(200, 28, 0.1, 3), folder / "m.npz"),
                    sums = folder / "sums";
  const Arguments command = {"exact", model, "--json", "--threads", "1", "--checkpoint", sums};
  Run stopped;
  // Soon, but not before the program listens.
  for (const int wait : {200, 400, 800, 1600}) {
    std::filesystem::remove(sums);
    Process process(command);
    std::this_thread::sleep_for(std::chrono::milliseconds(wait));
    process.signal(SIGINT);
    stopped = process.wait();
    if (stopped.code != 1 || stopped.err.find("are saved") != std::string::npos) break;
  }
  INFO(stopped.err);
  REQUIRE(stopped.code == 1);
  CHECK_THAT(stopped.err, Catch::Contains("interrupted: the sums are saved in " + sums));
  const Run rest = run(command);
  CHECK(rest.code == 0);
  CHECK_THAT(rest.err, Catch::Contains("going on from ") && Catch::Contains(" % in " + sums));
  const double whole = json_of({"exact", model})["log_z"];
  CHECK(Json::parse(rest.out)["log_z"] == whole);
}

TEST_CASE("exact tells log Z before it fails for sums that cannot be saved at its end") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(200, 28, 0.1, 3), folder / "m.npz"),
                    sums = folder / "kept/sums";
  std::filesystem::create_directory(folder / "kept");
  const Arguments command = {"exact", model, "--json", "--threads", "1", "--checkpoint", sums};
  for (const int wait : {200, 400, 800, 1600}) {
    std::filesystem::remove(sums);
    Process process(command);
    std::this_thread::sleep_for(std::chrono::milliseconds(wait));
    process.signal(SIGINT);
    const Run stopped = process.wait();
    if (stopped.code != 1 || stopped.err.find("are saved") != std::string::npos) break;
  }
  Process process(command);
  REQUIRE(process.wait_for_message("going on from"));
  std::filesystem::remove_all(folder / "kept");
  const Run rest = process.wait();
  INFO(rest.err);
  CHECK(rest.code == 2);
  CHECK_THAT(rest.err, Catch::Contains(sums + ": cannot be written: "));
  REQUIRE_FALSE(rest.out.empty());
  CHECK(Json::parse(rest.out)["log_z"] == json_of({"exact", model})["log_z"]);
}

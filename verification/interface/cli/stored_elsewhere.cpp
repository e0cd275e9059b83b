// Samples of elsewhere, and what a run leaves in its dump of units that it never switched.
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <string>

#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/cli/program.hpp"
#include "verification/interface/cli/stored_arrays.hpp"

using namespace cli_test;

TEST_CASE(
    "samples of elsewhere need six arrays, whose weights are known up to a constant and no more") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(8, 5, 0.5, 3), folder / "m.npz"),
                    dump = folder / "d.npz", changed = folder / "c.npz";
  const Json live = json_of({"estimate", model, "--states", "joint", "--chains", "50", "--sweeps",
                             "2000", "--temperatures", "8", "--dump", dump});
  REQUIRE(live["status"] == "ok");
  StoredArrays whole = read_stored(dump), own;
  for (const char* name : {"D", "rung", "beta", "log_prior", "log_z_hat", "random_rungs"})
    own[name] = whole[name];
  const auto read = [&](const char* name, const char* method,
                        const std::function<double(double, std::size_t)>& change) {
    StoredArrays other = own;
    for (std::size_t i = 0; i < other[name].values.size(); ++i)
      other[name].values[i] = change(other[name].values[i], i);
    return json_of({"estimate", "--from", write_stored(other, changed), "--method", method});
  };
  const auto same = [](double x, std::size_t) { return x; };
  const auto by_five = [](double x, std::size_t) { return x + 5; };
  const auto halved = [](double x, std::size_t) { return x / 2; };
  for (const char* method : {"rts", "ts", "sd", "rsd", "bar", "mbar", "ti"}) {
    INFO(method);
    const Json right = read("log_z_hat", method, same);
    CHECK(right["status"] == "ok");
    CHECK_THAT(right["warnings"].dump(), Catch::Contains("without a lower bound"));
    const Json moved = read("log_z_hat", method, by_five);
    CHECK(moved["status"] == "ok");
    CHECK(moved["log_z"].get<double>() == Approx(right["log_z"].get<double>()).epsilon(1e-12));
    const Json wrong = read("D", method, halved);
    CHECK(wrong["status"] == "not_converged");
    CHECK_THAT(wrong["warnings"].dump(),
               Catch::Contains("the stored rungs are not those of such D"));
  }
  CHECK(read("log_z_hat", "rts", same)["log_z"] == live["log_z"]);
  // BAR and MBAR do not read the weights, whatever they are.
  CHECK(read("log_z_hat", "rts", halved)["status"] == "not_converged");
  CHECK(read("log_z_hat", "mbar", halved)["status"] == "ok");
}

TEST_CASE("a run that never switched units of some weight together is refused, stored or not") {
  // Each of 24 hidden units holds forty visible ones, by weights that no chain of tempering crosses, at a
  // twenty-fifth of the mass without.
  constexpr int kGates = 24, kPatch = 40;
  Eigen::MatrixXd w = Eigen::MatrixXd::Zero(kGates * kPatch, kGates);
  for (int j = 0; j < kGates; ++j) w.col(j).segment(j * kPatch, kPatch).setConstant(6);
  const double closed = kPatch * std::log(2.0), opened = kPatch * std::log1p(std::exp(6.0));
  const io_test::Folder folder;
  const std::string dump = folder / "d.npz", changed = folder / "c.npz",
                    model = saved(
                        boltzmark::Layered::rbm(
                            w, Eigen::VectorXd::Zero(w.rows()),
                            Eigen::VectorXd::Constant(kGates, std::log(0.04) + closed - opened)),
                        folder / "m.npz");
  const double log_z = kGates * (closed + std::log(1.04));
  const auto says = [](const Json& estimate) {
    return estimate["warnings"].dump().find("units that the run never switched") !=
           std::string::npos;
  };
  const Json live = json_of({"estimate", model, "--base", "uniform", "--chains", "60", "--sweeps",
                             "400", "--temperatures", "20", "--dump", dump});
  CHECK(live["log_z"].get<double>() < log_z - 0.5);
  CHECK(live["status"] != "ok");
  CHECK(says(live));
  StoredArrays whole = read_stored(dump);
  CHECK(whole["switch_log_masses"].values.size() >= kGates);
  CHECK(says(json_of({"estimate", "--from", dump})));
  // Of masses that spread by their size two errors less are nothing, but what their chains surely hold is read, too.
  StoredArrays unsure = whole;
  for (double& error : unsure["switch_errors"].values) error = 10;
  CHECK(says(json_of({"estimate", "--from", write_stored(unsure, changed)})));
  unsure.erase("switch_log_least");
  CHECK_FALSE(says(json_of({"estimate", "--from", write_stored(unsure, changed)})));
  for (double& share : whole["switch_shares"].values) share = 0.04;  // as if it had
  CHECK_FALSE(says(json_of({"estimate", "--from", write_stored(whole, changed)})));
  whole["switch_errors"].values[0] = -1;
  check_refused(run({"estimate", "--from", write_stored(whole, changed)}),
                {changed, "switch_errors = -1"});
  // Of units that were drawn among those that were not moved, a row each: how often, mass, error, met.
  whole["switch_errors"].values[0] = 0;
  whole["unmoved_switches"] = {
      // what no sample had, by chance, error, and of one besides
      {0.5, 0.9, 0.01, 0.6, 0.6, 0.01, 0, 0.01, 2, 0.2, 0, 0.2, 0, 0, 0, 0},
      {2, 8}};
  CHECK(says(json_of({"estimate", "--from", write_stored(whole, changed)})));
  whole["unmoved_switches"].values[5] = 0.6;
  CHECK_FALSE(says(json_of({"estimate", "--from", write_stored(whole, changed)})));
  whole["unmoved_switches"].values[5] = 0.01;
  whole["unmoved_switches"].values[4] = 0.01;
  CHECK_FALSE(says(json_of({"estimate", "--from", write_stored(whole, changed)})));
  whole["unmoved_switches"].values[6] = -1;
  check_refused(run({"estimate", "--from", write_stored(whole, changed)}),
                {changed, "unmoved_switches must have rows of eight"});
  whole["unmoved_switches"] = {{0.5, 0.3, 0.01, 0, 2, 0.2, 0, 0.1}, {2, 4}};  // as once
  CHECK(says(json_of({"estimate", "--from", write_stored(whole, changed)})));
  whole["unmoved_switches"].values[3] = 0.3;
  CHECK_FALSE(says(json_of({"estimate", "--from", write_stored(whole, changed)})));
  whole["unmoved_switches"].values[1] = -0.3;
  check_refused(run({"estimate", "--from", write_stored(whole, changed)}),
                {changed, "unmoved_switches must have rows of eight"});
  whole["unmoved_switches"] = {{0.5, 0.3, 0.01}, {1, 3}};
  check_refused(run({"estimate", "--from", write_stored(whole, changed)}),
                {changed, "unmoved_switches must have rows of eight"});
  REQUIRE(
      run({"compare", model, "--methods", "rts", "--sweeps", "400", "--repeats", "2", "--chains",
           "60", "--temperatures", "20", "--base", "uniform", "--out", folder / "out"})
          .code == 0);
  CHECK_THAT(io_test::read_all(folder / "out/estimates.csv"), !Catch::Contains(",ok"));
}

TEST_CASE("a run whose rare units are too many to be moved is refused as it was, read again") {
  // Gates of forty units each at e^-5 of the mass without, more than are moved, none of which is met.
  constexpr int kGates = 80, kPatch = 40;
  Eigen::MatrixXd w = Eigen::MatrixXd::Zero(kGates * kPatch, kGates);
  for (int j = 0; j < kGates; ++j) w.col(j).segment(j * kPatch, kPatch).setConstant(6);
  const double opened = kPatch * (std::log1p(std::exp(6.0)) - std::log(2.0));
  const io_test::Folder folder;
  const std::string dump = folder / "d.npz",
                    model = saved(
                        boltzmark::Layered::rbm(w, Eigen::VectorXd::Zero(w.rows()),
                                                Eigen::VectorXd::Constant(kGates, -4.2 - opened)),
                        folder / "m.npz");
  const Json live = json_of({"estimate", model, "--base", "uniform", "--chains", "50", "--sweeps",
                             "100", "--temperatures", "10", "--dump", dump});
  const StoredArrays whole = read_stored(dump);
  REQUIRE(whole.contains("unmoved_switches"));
  CHECK_FALSE(whole.contains("switch_log_masses"));
  const Json again = json_of({"estimate", "--from", dump});
  CHECK_THAT(live["warnings"].dump(), Catch::Contains("units that the run never switched"));
  CHECK_THAT(again["warnings"].dump(), Catch::Contains("units that the run never switched"));
  CHECK(again["status"] == live["status"]);
  CHECK(again["log_z"] == live["log_z"]);
}

TEST_CASE("compare holds runs to the ends of continuous units that they never came to") {
  // Blocks of a continuous unit and forty of two values, free where it is at -1: six percent beyond a barrier near 0,
  // which no bound tells. Of 24 the logarithm is 1.398.
  constexpr int kBlocks = 24, kVisible = 40;
  Eigen::MatrixXd w = Eigen::MatrixXd::Zero(kBlocks * kVisible, kBlocks);
  for (int j = 0; j < kBlocks; ++j) w.col(j).segment(j * kVisible, kVisible).setConstant(4);
  const boltzmark::Layered model(
      {boltzmark::Layer{
           boltzmark::Unit::multivalued(1), Eigen::VectorXd::Constant(w.rows(), 4), {}},
       boltzmark::Layer{boltzmark::Unit::continuous(),
                        Eigen::VectorXd::Constant(kBlocks, -148.82257080078125),
                        {}}},
      {w});
  const io_test::Folder folder;
  REQUIRE(run({"compare", saved(model, folder / "m.npz"), "--methods", "rts", "--sweeps", "1000",
               "--repeats", "2", "--base", "uniform", "--truth", "4119.241369", "--out",
               folder / "out"})
              .code == 0);
  const std::string estimates = io_test::read_all(folder / "out/estimates.csv");
  CHECK_THAT(estimates, Catch::Contains("4117.8"));
  CHECK_THAT(estimates, Catch::Contains(",not_converged"));
  CHECK_THAT(estimates, !Catch::Contains(",ok"));
}

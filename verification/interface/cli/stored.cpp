// Samples that were stored and then damaged: every array is held to the others.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/cli/program.hpp"
#include "verification/interface/cli/stored_arrays.hpp"

using namespace cli_test;

namespace {

/// Turns [a, b, rest] into [b, a, rest].
StoredArray transposed(const StoredArray& from) {
  StoredArray to = from;
  std::swap(to.shape[0], to.shape[1]);
  const std::size_t a = from.shape[0], b = from.shape[1], rest = from.values.size() / (a * b);
  for (std::size_t i = 0; i < a; ++i)
    for (std::size_t j = 0; j < b; ++j)
      for (std::size_t k = 0; k < rest; ++k)
        to.values[(j * a + i) * rest + k] = from.values[(i * b + j) * rest + k];
  return to;
}

}  // namespace

TEST_CASE("an array of a dump that does not fit the others is refused by its name and shape") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(8, 5, 1.5, 3), folder / "m.npz"),
                    dump = folder / "d.npz", changed = folder / "c.npz";
  REQUIRE(run({"estimate", model, "--chains", "30", "--sweeps", "300", "--temperatures", "8",
               "--dump", dump})
              .code == 0);
  const StoredArrays whole = read_stored(dump);
  for (const char* name : {"D", "rung", "beta", "log_prior", "log_z_hat", "log_f", "random_rungs"})
    REQUIRE(whole.contains(name));
  const auto refused = [&](const std::string& name, const std::function<void(StoredArray&)>& change,
                           const std::string& said) {
    StoredArrays other = whole;
    change(other[name]);
    write_stored(other, changed);
    INFO(name << ": " << said);
    for (const char* method : {"rts", "ti", "mbar"})
      check_refused(run({"estimate", "--from", changed, "--method", method}), {changed, said});
  };
  CHECK(run({"estimate", "--from", write_stored(whole, changed)}).code == 0);
  const auto first = [](double value) { return [=](StoredArray& a) { a.values[0] = value; }; };
  refused("log_prior", first(5), "log_prior has shares that add up to");
  refused("random_rungs", first(7), "random_rungs = 7 (must be 0 or 1)");
  refused("lower_bound_error", first(-1), "lower_bound_error = -1 (must not be negative)");
  refused("input_rounding", first(-1), "input_rounding = -1 (must not be negative)");
  for (const auto& [name, array] : whole) {
    if (name == "beta") continue;  // which the others are held to
    const auto one_less = [](StoredArray& a) {
      a.values.resize(a.values.size() * (a.shape[0] - 1) / a.shape[0]);
      --a.shape[0];
    };
    const auto flat = [](StoredArray& a) { a.shape = {1, a.values.size()}; };
    if (name == "D" || name == "phase_log_masses") {
      refused(name, one_less, "has shape");
      continue;
    }
    if (array.shape[0] > 1) refused(name, one_less, name + " has shape");
    refused(name, flat, name + " has shape");
  }
  for (const char* name : {"rung", "log_f"})
    refused(
        name, [](StoredArray& a) { a = transposed(a); }, std::string(name) + " has shape");
  refused(
      "log_f", [](StoredArray& a) { std::swap(a.shape[1], a.shape[2]); }, "log_f has shape");
}

TEST_CASE("samples that were stored are held to the states that the run met, as the run was") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(8, 5, 0.5, 3), folder / "m.npz"),
                    dump = folder / "d.npz", changed = folder / "c.npz";
  const Json live = json_of({"estimate", model, "--chains", "30", "--sweeps", "2000",
                             "--temperatures", "8", "--dump", dump});
  REQUIRE(live["status"] == "ok");
  StoredArrays whole = read_stored(dump);
  REQUIRE(whole.contains("visited"));
  const std::vector<double> visited = whole["visited"].values;
  CHECK(visited[0] <= double{live["lower_bound"]} + 1e-9);
  CHECK((visited[1] > 0 && visited[1] <= 1 && visited[2] > 1));
  const auto read = [&](const std::vector<double>& values) {
    whole["visited"].values = values;
    return Arguments{"estimate", "--from", write_stored(whole, changed)};
  };
  CHECK(json_of(read(visited))["status"] == "ok");
  const Json unmet = json_of(read({visited[0], 0, 30}));
  CHECK(unmet["status"] == "not_converged");
  CHECK(unmet["log_z"] == live["log_z"]);
  CHECK_THAT(unmet["warnings"].dump(), Catch::Contains("hardly met some modes"));
  for (const std::vector<double>& bad :
       {std::vector<double>{visited[0], 1.5, 30}, {visited[0], 0.5, 0}, {visited[0], -0.1, 30}})
    check_refused(run(read(bad)), {changed, "visited = "});
  whole.erase("visited");  // as earlier versions wrote it
  CHECK(json_of({"estimate", "--from", write_stored(whole, changed)})["status"] == "ok");
}

TEST_CASE("samples that were stored are held to the phases that annealing found, as the run was") {
  const io_test::Folder folder;
  const std::string model = folder / "m.npz", dump = folder / "d.npz", changed = folder / "c.npz";
  REQUIRE(run({"make", "votes:200:60:8:10:1", "--out", model}).code == 0);
  const auto refused_for = [](const Json& estimate, const char* said) {
    CHECK(estimate["status"] != "ok");
    CHECK_THAT(estimate["warnings"].dump(), Catch::Contains(said));
  };
  // From the uniform base a run never meets the phase that holds the mass.
  const Json live = json_of({"estimate", model, "--base", "uniform", "--chains", "50", "--sweeps",
                             "500", "--temperatures", "20", "--dump", dump});
  refused_for(live, "short annealing from bases near modes finds");
  const Json read = json_of({"estimate", "--from", dump});
  refused_for(read, "short annealing from bases near modes finds");
  CHECK(read["log_z"] == live["log_z"]);

  StoredArrays whole = read_stored(dump);
  for (const char* name : {"lower_bound", "lower_bound_error", "visited"}) whole.erase(name);
  for (const char* name : {"phase_log_least", "place_log_least", "place_log_masses", "place_errors",
                           "place_shares", "place_visits", "switch_log_masses", "switch_log_least",
                           "switch_errors", "switch_shares", "switch_visits"}) {
    CHECK(whole.contains(name));
    whole.erase(name);
  }
  const auto of_phases = [&](std::vector<double> log_masses, std::vector<double> errors,
                             std::vector<double> shares, double visits) {
    const auto set = [&](const char* name, std::vector<double> values) {
      whole[name].shape = {values.size()};
      whole[name].values = std::move(values);
    };
    set("phase_log_masses", std::move(log_masses));
    set("phase_errors", std::move(errors));
    set("phase_shares", std::move(shares));
    set("phase_visits", {visits});
    return Arguments{"estimate", "--from", write_stored(whole, changed)};
  };
  const double z = live["log_z"], none = std::numeric_limits<double>::lowest();
  CHECK(json_of(of_phases({z, none}, {0, 0}, {1, 0}, 100))["status"] == "ok");
  refused_for(json_of(of_phases({z + 1, none}, {0, 0}, {1, 0}, 100)), "finds");
  CHECK(json_of(of_phases({z + 1, none}, {0.3, 0}, {1, 0}, 100))["status"] == "ok");
  refused_for(json_of(of_phases({none, z}, {0, 0}, {1, 0}, 100)), "hardly met");
  CHECK(json_of(of_phases({none, z}, {0, 0}, {1, 0}, 0))["status"] == "ok");
  check_refused(run(of_phases({z, -z}, {0, -1}, {1, 0}, 100)), {changed, "phase_errors = -1"});
  check_refused(run(of_phases({z, NAN}, {0, 0}, {1, 0}, 100)), {changed, "phase_log_masses"});
  check_refused(run(of_phases({z, -z}, {0, 0}, {1.5, 0}, 100)), {changed, "phase_shares = 1.5"});
  check_refused(run(of_phases({z, -z}, {0, 0}, {1, 0}, -1)), {changed, "phase_visits = -1"});
  check_refused(run(of_phases({z, -z}, {0}, {1, 0}, 1)), {changed, "phase_errors has shape"});
  check_refused(run(of_phases({}, {}, {}, 1)), {changed, "phase_log_masses has shape"});
  check_refused(run(of_phases({z, -z}, {0, INFINITY}, {1, 0}, 1)), {changed, "phase_errors"});
  // And to groups of what is near all places: in sum most of such a Z, and never met.
  of_phases({z, none}, {0, 0}, {1, 0}, 100);
  const auto of_places = [&](double met) {
    StoredArrays both = whole;
    const auto set = [&](const char* name, double value) {
      both[name].shape = {1};
      both[name].values = {value};
    };
    set("place_log_masses", z - 0.5);
    set("place_errors", 0);
    set("place_shares", met);
    set("place_visits", 100);
    return Arguments{"estimate", "--from", write_stored(both, changed)};
  };
  CHECK(json_of(of_places(0.6))["status"] == "ok");
  refused_for(json_of(of_places(0)), "hardly met");
  check_refused(run(of_places(-1)), {changed, "place_shares = -1"});
  // A mass that is known to a factor, of which surely some is there.
  of_phases({z, z - 0.5}, {0, 1}, {1, 0}, 100);
  CHECK(json_of({"estimate", "--from", write_stored(whole, changed)})["status"] == "ok");
  whole["phase_log_least"].shape = {2};
  whole["phase_log_least"].values = {z, z - 3};
  refused_for(json_of({"estimate", "--from", write_stored(whole, changed)}), "hardly met");
  whole["phase_log_least"].values[0] = -INFINITY;
  check_refused(run({"estimate", "--from", write_stored(whole, changed)}),
                {changed, "phase_log_least"});
  whole.erase("phase_log_least");
  of_phases({z}, {0}, {1}, 1);
  whole["phase_log_masses"].shape = {};  // a number, as NumPy saves one
  check_refused(run({"estimate", "--from", write_stored(whole, changed)}),
                {changed, "phase_log_masses has shape"});
  for (const char* name : {"phase_log_masses", "phase_errors", "phase_shares", "phase_visits"})
    whole.erase(name);  // as earlier versions wrote it
  CHECK(json_of({"estimate", "--from", write_stored(whole, changed)})["status"] == "ok");
}

TEST_CASE("collapsed densities that are not those of the states stored beside them are refused") {
  const io_test::Folder folder;
  const std::string dump = folder / "d.npz", changed = folder / "c.npz";
  // Models of every temper: easy, peaked, with data's base, and hard ones whose chains are stuck.
  const std::vector<std::pair<boltzmark::Layered, Arguments>> runs = {
      {random_rbm(8, 5, 0.3, 3), {}},
      {random_rbm(12, 8, 3, 4), {}},
      {random_rbm(30, 20, 4, 5), {"--sweeps", "60"}},
      {random_rbm(12, 8, 2, 6), {"--summed", "even"}},
      {random_rbm(12, 8, 2, 7), {"--ladder", "geometric", "--base", "uniform"}}};
  for (const auto& [model, options] : runs) {
    Arguments all = {"estimate",       saved(model, folder / "m.npz"),
                     "--chains",       "50",
                     "--temperatures", "8",
                     "--dump",         dump,
                     "--force"};
    all.insert(all.end(), options.begin(), options.end());
    const bool short_run = std::find(all.begin(), all.end(), "--sweeps") != all.end();
    if (!short_run) all.insert(all.end(), {"--sweeps", "200"});
    REQUIRE(run(all).code == 0);
    INFO(model.size(0) << " " << model.weights(0)(0, 0));
    CHECK(run({"estimate", "--from", dump}).code == 0);
    const StoredArrays whole = read_stored(dump);
    const auto refused = [&](const std::string& name,
                             const std::function<void(StoredArray&)>& change) {
      StoredArrays other = whole;
      change(other[name]);
      write_stored(other, changed);
      check_refused(run({"estimate", "--from", changed}), {changed, "log_f"});
    };
    const std::size_t rungs = whole.at("beta").shape[0];
    refused("log_f", [](StoredArray& a) { std::fill(a.values.begin(), a.values.end(), 0.0); });
    refused("log_f", [&](StoredArray& a) {  // the rungs' order
      for (std::size_t n = 0; n < a.values.size(); n += rungs)
        std::reverse(a.values.begin() + static_cast<std::ptrdiff_t>(n),
                     a.values.begin() + static_cast<std::ptrdiff_t>(n + rungs));
    });
    refused("log_f", [](StoredArray& a) {  // as if the first index ran fastest
      StoredArray turned = a;
      turned.shape = {a.shape[2], a.shape[0] * a.shape[1]};
      a.values = transposed(turned).values;
    });
    refused("D", [](StoredArray& a) {
      for (double& d : a.values) d = 2 * d + 10;
    });
  }
}

TEST_CASE("samples of a ladder of a few wide steps are read as they were written") {
  const io_test::Folder folder;
  const std::string model = folder / "well.npz", dump = folder / "dump.npz";
  REQUIRE(run({"make", "well:10:6:3:1", "--out", model}).code == 0);
  for (const char* temperatures : {"2", "3", "5"}) {
    INFO(temperatures);
    const Json live = json_of({"estimate", model, "--temperatures", temperatures, "--sweeps",
                               "1000", "--dump", dump, "--force"});
    CHECK(json_of({"estimate", "--from", dump})["log_z"] == live["log_z"]);
  }
}

TEST_CASE("collapsed densities whose sweeps and chains are exchanged are refused, of any shape") {
  const io_test::Folder folder;
  const std::string dump = folder / "d.npz", changed = folder / "c.npz",
                    model = saved(random_rbm(12, 8, 2, 8), folder / "m.npz");
  // As many kept sweeps as chains, which no shape tells apart.
  REQUIRE(run({"estimate", model, "--chains", "100", "--sweeps", "200", "--temperatures", "8",
               "--dump", dump, "--base", "uniform"})
              .code == 0);
  StoredArrays square = read_stored(dump);
  const std::size_t sweeps = std::min<std::size_t>(100, square.at("D").shape[0]);
  for (const char* name : {"D", "rung", "log_f"}) {
    StoredArray& array = square[name];
    const std::size_t row = array.values.size() / array.shape[0];
    array.values.resize(sweeps * row);
    array.shape[0] = sweeps;
    if (sweeps == 100) continue;
    array = transposed(array);
    array.values.resize(sweeps * array.values.size() / array.shape[0]);
    array.shape[0] = sweeps;
    array = transposed(array);
  }
  REQUIRE(square.at("D").shape[0] == square.at("D").shape[1]);
  CHECK(run({"estimate", "--from", write_stored(square, changed)}).code == 0);
  square["log_f"] = transposed(square["log_f"]);
  check_refused(run({"estimate", "--from", write_stored(square, changed)}), {changed, "log_f"});
}

TEST_CASE("stored samples are held to the gap between both ways, as the run was") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(8, 5, 0.5, 3), folder / "m.npz"),
                    dump = folder / "d.npz", changed = folder / "c.npz";
  const Json live = json_of({"estimate", model, "--chains", "30", "--sweeps", "2000",
                             "--temperatures", "8", "--both-ways", "--dump", dump});
  REQUIRE(live["status"] == "ok");
  const Json again = json_of({"estimate", "--from", dump});
  CHECK(again["both_ways"] == live["both_ways"]);
  CHECK(again["status"] == "ok");
  // Another method's estimate is held to the same chains from b = 1.
  const Json other = json_of({"estimate", "--from", dump, "--method", "mbar"});
  CHECK(other["both_ways"]["forward"]["log_z"] == other["log_z"]);
  CHECK(other["both_ways"]["forward"]["log_z"] != live["log_z"]);
  CHECK(other["both_ways"]["reverse"] == live["both_ways"]["reverse"]);
  StoredArrays whole = read_stored(dump);
  const auto of_reverse = [&](std::vector<double> numbers, double status) {
    whole["reverse"].values = std::move(numbers);
    whole["reverse_status"].values = {status};
    return Arguments{"estimate", "--from", write_stored(whole, changed)};
  };
  const double z = live["log_z"], none = std::numeric_limits<double>::lowest();
  CHECK(json_of(of_reverse({z + 0.4, 0.1}, 0))["status"] == "ok");
  for (const char* method : {"rts", "mbar"}) {
    Arguments words = of_reverse({z + 2, 0.1}, 1);
    words.insert(words.end(), {"--method", method});
    const Json apart = json_of(words);
    CHECK(apart["status"] == "not_converged");
    CHECK(apart["both_ways"]["gap"].get<double>() == Approx(2).margin(0.3));
    CHECK(apart["both_ways"]["reverse"]["status"] == "few_effective_samples");
    CHECK_THAT(apart["warnings"].dump(), Catch::Contains("these never met those"));
  }
  const Json stayed = json_of(of_reverse({none, none}, 3));
  CHECK(stayed["status"] == "not_converged");
  CHECK(stayed["both_ways"]["reverse"]["log_z"].is_null());
  CHECK_THAT(stayed["warnings"].dump(), Catch::Contains("(unvisited_rung)"));
  for (const std::vector<double>& bad :
       {std::vector<double>{NAN, 0.1}, {z, -0.1}, {INFINITY, 0.1}, {z, NAN}, {z, INFINITY}})
    check_refused(run(of_reverse(bad, 0)), {changed, "reverse "});
  for (const double bad : {-1, 5})
    check_refused(run(of_reverse({z, 0.1}, bad)), {changed, "reverse_status = "});
  whole.erase("reverse");  // as earlier versions wrote it
  whole.erase("reverse_status");
  CHECK_FALSE(json_of({"estimate", "--from", write_stored(whole, changed)}).contains("both_ways"));
}

TEST_CASE("stored samples have the error by which single precision rounds log f, as the run had") {
  // Twenty pairs of units joined by a weight that a float holds 0.0039 too high: log f is off by
  // 0.078, the input of a unit by far less.
  const io_test::Folder folder;
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(20);
  const Eigen::MatrixXd weights = 100000.1211 * Eigen::MatrixXd::Identity(20, 20);
  const std::string model = saved(boltzmark::Layered::rbm(weights, none, none), folder / "m.npz"),
                    dump = folder / "d.npz";
  const auto told = [](Arguments words) {  // which says besides that rounding is told
    words.push_back("--json");
    const Run result = run(words);
    REQUIRE(result.code == 0);
    return Json::parse(result.out);
  };
  const Json live =
      told({"estimate", model, "--sweeps", "300", "--temperatures", "10", "--dump", dump});
  const Json again = told({"estimate", "--from", dump});
  CHECK(again["std_error"].get<double>() > 0.078);
  CHECK(again["std_error"] == live["std_error"]);
}

TEST_CASE("stored samples of parallel tempering say that chains exchanged their rungs") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(8, 5, 0.5, 3), folder / "m.npz"),
                    dump = folder / "d.npz", changed = folder / "c.npz";
  REQUIRE(run({"estimate", model, "--method", "mbar", "--sampler", "parallel", "--chains", "40",
               "--sweeps", "300", "--temperatures", "5", "--dump", dump})
              .code == 0);
  StoredArrays all = read_stored(dump);
  CHECK(all["random_rungs"].values == std::vector<double>{0});
  CHECK(all["exchanged_rungs"].values == std::vector<double>{1});
  CHECK(json_of({"estimate", "--from", dump, "--method", "mbar"})["sampler"] == "parallel");
  // Chains that each held their rung are no parallel tempering.
  StoredArrays held = all;
  held.erase("exchanged_rungs");
  CHECK(json_of({"estimate", "--from", write_stored(held, changed), "--method", "mbar"})["sampler"]
            .is_null());
  // Chains that were to exchange their rungs, and never did.
  std::vector<double>& rungs = all["rung"].values;
  for (std::size_t i = 0; i < rungs.size(); ++i) rungs[i] = static_cast<double>(i % 40 % 5);
  const Json still =
      json_of({"estimate", "--from", write_stored(all, changed), "--method", "mbar"});
  CHECK(still["status"] == "not_converged");
  CHECK_THAT(still["warnings"].dump(), Catch::Contains("round trips"));
}

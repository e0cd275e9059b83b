#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "boltzmark/estimate/held/held_estimate.hpp"
#include "boltzmark/io/formats/npz.hpp"
#include "verification/checks/known/known_model.hpp"
#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/cli/program.hpp"

namespace {

using namespace cli_test;
std::vector<std::string> methods() {
  std::vector<std::string> names;
  const Json list = json_of({"list", "estimators"});
  for (const Json& method : list["estimators"]) names.push_back(method["name"]);
  return names;
}

const Arguments kShort = {"--chains", "64", "--sweeps", "600", "--temperatures", "5"};

// A model on which every method does well in few sweeps.
boltzmark::Layered easy_rbm() { return random_rbm(6, 4, 0.5, 3); }

}  // namespace

TEST_CASE(
    "what single precision changes of log f is in estimates, compared and held, and ends no search") {
  // Twenty pairs of units joined by a weight that a float holds 0.0039 too high, or too low.
  const io_test::Folder folder;
  for (const double weight : {100000.1211, 100000.1289}) {
    const double off = std::abs(static_cast<double>(static_cast<float>(weight)) - weight);
    const double truth = 20 * (weight + std::log1p(3 * std::exp(-weight)));
    const std::string model =
        saved(boltzmark::Layered::rbm(weight * Eigen::MatrixXd::Identity(20, 20),
                                      Eigen::VectorXd::Zero(20), Eigen::VectorXd::Zero(20)),
              folder / "m.npz");
    INFO(weight);
    const auto json_output = [](Arguments arguments) {  // which says besides that rounding is told
      arguments.push_back("--json");
      const Run result = run(arguments);
      REQUIRE(result.code == 0);
      return Json::parse(result.out);
    };
    const Arguments run_of = {model, "--sweeps", "10000", "--temperatures",
                              "30",  "--chains", "400"};
    Arguments estimate = run_of, compare = run_of;
    estimate.insert(estimate.begin(), "estimate");
    const Json told = json_output(estimate);
    CHECK(told["status"] == "ok");
    CHECK(told["std_error"].get<double>() >= 20 * off);
    CHECK(told["lower"].get<double>() < truth);
    CHECK(told["upper"].get<double>() > truth);
    compare.insert(compare.begin(), "compare");
    for (const std::string& more :
         {std::string("--methods"), std::string("rts"), std::string("--repeats"), std::string("2"),
          std::string("--truth"), std::to_string(truth), std::string("--out"), folder / "c",
          std::string("--fresh")})
      compare.push_back(more);
    const Json cell = json_output(compare)["cells"][0];
    CHECK(cell["refused"] == 0);
    CHECK(cell["covered"] == 2);
    Arguments search = estimate;
    search.insert(search.end(), {"--target-error", "0.01"});
    check_refused(run(search), {"--target-error = 0.01 (must be above the 0.078 nats"});
  }
}

TEST_CASE("estimate_held is what estimate does, of every kind of method") {
  const io_test::Folder folder;
  const boltzmark::KnownModel known = boltzmark::make_known_model("tilted:20:8:0.4:1");
  const std::string path = saved(known.model, folder / "m.npz");
  for (const std::string method : {"rts", "ais", "ss", "mbar", "sams"}) {
    const Json told =
        json_of({"estimate", path, "--method", method, "--sweeps", "300", "--seed", "3"});
    const boltzmark::HeldEstimate held =
        boltzmark::estimate_held(method, known.model, 3, {.sweeps = 300});
    INFO(method);
    CHECK(told["log_z"] == held.estimate.log_z);
    CHECK(told["std_error"] == held.estimate.std_error);
    CHECK(told["upper"] == held.estimate.upper);
    CHECK(told["status"] == std::string(boltzmark::name(held.estimate.status)));
    CHECK(told["lower_bound"] == held.held.bound.log_z);
    CHECK(told["base"] == (held.chosen.of_modes ? "modes" : "uniform"));
  }
}

TEST_CASE("every method estimates log Z of an easy model within 5 of its standard errors") {
  const io_test::Folder folder;
  const auto model = easy_rbm();
  const double truth = brute_log_z(model);
  const std::string path = saved(model, folder / "m.npz");
  const std::vector<std::string> all = methods();
  REQUIRE(all.size() >= 19);
  for (const std::string& method : all) {
    const Json result = json_of(with({"estimate", path, "--method", method}, kShort));
    INFO(result.dump());
    CHECK(keys(result) ==
          Keys{"method",  "log_z",       "std_error",         "lower",          "upper",
               "chains",  "sweeps",      "total_sweeps",      "attempts",       "temperatures",
               "sampler", "summed",      "effective_samples", "seconds",        "seed",
               "base",    "lower_bound", "lower_bound_error", "lower_bound_of", "known_log_z",
               "status",  "warnings"});
    CHECK(result["method"] == method);
    // Stepping stones have whole ladders: 12 of 5 chains, whose 640 sweeps make the same moves.
    const bool ladders = method == "ss";
    CHECK(result["chains"] == (ladders ? 60 : 64));
    CHECK(result["sweeps"] == (ladders ? 640 : 600));
    CHECK(result["temperatures"] == 5);
    // A deterministic regression: the seed is fixed. 5 standard errors would fail one seed in a
    // million; adaptive methods have few islands, hence the floor.
    const double error = std::abs(result["log_z"].get<double>() - truth);
    CHECK(error < 5 * result["std_error"].get<double>() + 0.02);
  }
  const Json exact = json_of({"estimate", path, "--method", "exact"});
  CHECK(std::abs(exact["log_z"].get<double>() - truth) < 1e-9);
  CHECK(exact["std_error"] == 0.0);
}

TEST_CASE("the same seed gives the same estimate for any threads, and another seed another") {
  const io_test::Folder folder;
  const std::string path = saved(random_rbm(30, 20, 1, 3), folder / "m.npz");
  for (const std::string method : {"rts", "ais", "smc", "ss", "wang-landau", "ti-continuous"}) {
    const Arguments base = with({"estimate", path, "--method", method}, kShort);
    const double one = json_of(with(base, {"--threads", "1"}))["log_z"];
    INFO(method);
    CHECK(json_of(with(base, {"--threads", "2"}))["log_z"] == one);
    CHECK(json_of(with(base, {"--seed", "2"}))["log_z"] != one);
  }
}

TEST_CASE("samples of a model that no precision resolves are refused, as its run was") {
  const io_test::Folder folder;
  const auto shape = random_rbm(8, 5, 0.3, 4);
  // Of a double, and of the single precision of samplers.
  for (const double bias : {6e14, 8e14, -6e14, 3e7}) {
    INFO("bias " << bias);
    std::vector<boltzmark::Layer> layers = {shape.layer(0), shape.layer(1)};
    layers[1].bias[2] = bias;
    const std::string model = saved(boltzmark::Layered(layers, shape.weights()), folder / "m.npz"),
                      dump = folder / "dump.npz";
    const Arguments options = {"--chains",       "20", "--sweeps", "400",
                               "--temperatures", "8",  "--base",   "uniform"};
    Arguments command = {"estimate", model, "--dump", dump, "--force"};
    command.insert(command.end(), options.begin(), options.end());
    const Json live = json_of(command);
    CHECK(live["status"] != "ok");
    CHECK(live["warnings"].dump().find("parameters are so large") != std::string::npos);
    for (const char* method : {"rts", "ti", "mbar"}) {
      const Json stored = json_of({"estimate", "--from", dump, "--method", method});
      CHECK(stored["status"] != "ok");
      CHECK(stored["warnings"].dump().find("parameters are so large") != std::string::npos);
    }
    const std::string truth = bias == 3e7 ? "30000010" : "0";
    const Json cell = json_of({"compare", model, "--truth", truth, "--methods", "rts", "--sweeps",
                               "400", "--repeats", "2", "--chains", "20", "--temperatures", "8",
                               "--base", "uniform", "--out", folder / "out"})["cells"][0];
    CHECK(cell["refused"] == 2);
  }
}

TEST_CASE("what longer tours may hold is in the error of every command that judges a run") {
  const io_test::Folder folder;
  const std::string model = folder / "m.npz", dump = folder / "d.npz";
  const double log_z = json_of({"make", "parity:40:7:6", "--out", model})["log_z"];
  const auto is_told = [](const Json& found) {
    return found["status"] == "ok" && found["std_error"] > 0.2 &&
           found["warnings"].dump().find("longer tours") != std::string::npos;
  };
  const Json live = json_of({"estimate", model, "--dump", dump, "--sweeps", "10000"});
  INFO(live.dump());
  CHECK(is_told(live));
  CHECK(is_told(json_of({"estimate", "--from", dump})));
  const Json cell = json_of({"compare", model, "--methods", "rts", "--sweeps", "10000", "--repeats",
                             "2", "--out", folder / "out"})["cells"][0];
  INFO(cell.dump());
  CHECK(cell["mean_std_error"] > 0.15);
  const Json reached = json_of({"estimate", model, "--sweeps", "2000", "--target-error", "0.35"});
  INFO(reached.dump());
  CHECK((reached["std_error"] <= 0.35 ||
         reached["warnings"].dump().find("target error was not reached") != std::string::npos));
  CHECK(std::abs(reached["log_z"].get<double>() - log_z) < 1);
}

TEST_CASE("an estimate from a dump is the one that the run gave") {
  const io_test::Folder folder;
  const std::string path = saved(easy_rbm(), folder / "m.npz");
  const std::string dump = folder / "s.npz";
  for (const std::string states : {"joint", "collapsed"}) {
    const Json run_result =
        json_of(with({"estimate", path, "--states", states, "--dump", dump, "--force"}, kShort));
    const boltzmark::Npz file(dump);
    const auto ratio = file.read("D"), rung = file.read("rung");
    CHECK(ratio.type == boltzmark::ElementType::float64);
    CHECK(rung.type == boltzmark::ElementType::int32);
    CHECK(ratio.shape == rung.shape);
    CHECK(ratio.shape[1] == 64);
    CHECK(file.contains("log_f") == (states == "collapsed"));
    for (const char* name : {"beta", "log_prior", "log_z_hat"})
      CHECK(file.read(name).shape == std::vector<std::uint64_t>{5});
    const Json again = json_of({"estimate", "--from", dump});
    CHECK(again["log_z"].get<double>() == Approx(run_result["log_z"].get<double>()).epsilon(1e-12));
    CHECK(std::isfinite(
        json_of({"estimate", "--from", dump, "--method", "mbar"})["log_z"].get<double>()));
  }
  CHECK(json_of({"estimate", "--from", dump})["seed"].is_null());
  // Of rungs that were not drawn only those methods are named that read stored samples.
  const std::string parallel = folder / "p.npz";
  json_of(with({"estimate", path, "--method", "ti", "--sampler", "parallel", "--dump", parallel},
               kShort));
  const Run unread = run({"estimate", "--from", parallel, "--method", "rts"});
  check_refused(unread, {"must be ", "mbar", "rungs that were not drawn"});
  CHECK(unread.err.find("or ss") == std::string::npos);
  const double joint =
      json_of({"estimate", "--from", dump, "--states", "joint"})["log_z"].get<double>();
  CHECK(joint != json_of({"estimate", "--from", dump})["log_z"].get<double>());
  json_of(with({"estimate", path, "--states", "joint", "--dump", dump, "--force"}, kShort));
  for (const Arguments& idle : {Arguments{"--states", "collapsed"},
                                {"--ladder", "nofile"},
                                {"--sweeps", "99999"},
                                {"--target-error", "1e-4"},
                                {"--method", "mbar", "--states", "joint"}}) {
    INFO(idle.front());
    CHECK(run(with({"estimate", "--from", dump}, idle)).code == 2);
  }
  const Run damaged = run({"estimate", "--from", path});
  CHECK(damaged.code == 2);
  CHECK(damaged.err.find("has no array beta") != std::string::npos);
}

TEST_CASE(
    "samples of parallel tempering are asked for, told, stored and read back, and only where read") {
  const io_test::Folder folder;
  const auto model = easy_rbm();
  const double truth = brute_log_z(model);
  const std::string path = saved(model, folder / "m.npz"), dump = folder / "d.npz";
  const Arguments bundled = with(kShort, {"--sampler", "parallel", "--bundles", "8"});
  for (const std::string method :
       {"ti-riemann", "ti", "ti-simpson", "ti-corrected", "bar", "mbar", "ss"}) {
    INFO(method);
    const Json other = json_of(with({"estimate", path, "--method", method}, kShort));
    const Json result = json_of(with({"estimate", path, "--method", method}, bundled));
    CHECK(other["sampler"] == (method == "ss" ? "parallel" : "tempering"));
    CHECK(result["sampler"] == "parallel");
    CHECK(result["status"] == "ok");
    CHECK(result["chains"] == 40);
    CHECK(result["sweeps"] == 960);  // as many moves as 600 of 64 chains
    CHECK(std::abs(result["log_z"].get<double>() - truth) <
          5 * result["std_error"].get<double>() + 1e-12);
    CHECK(result["log_z"] != other["log_z"]);
    const Json longer =
        json_of(with({"estimate", path, "--method", method, "--burn-in", "500"}, bundled));
    CHECK(longer["log_z"] != result["log_z"]);
    CHECK(longer["std_error"] != result["std_error"]);
    if (method == "ss") continue;
    const Json dumped =
        json_of(with({"estimate", path, "--method", method, "--dump", dump, "--force"}, bundled));
    const Json stored = json_of({"estimate", "--from", dump, "--method", method});
    for (const char* key : {"log_z", "std_error", "sampler", "status"}) {
      CHECK(dumped[key] == result[key]);
      CHECK(stored[key] == result[key]);
    }
  }
  CHECK(json_of(with({"estimate", path, "--method", "ss", "--sampler", "tempering"},
                     kShort))["sampler"] == "tempering");
  const auto refused = [&](const Arguments& options, const std::string& said) {
    check_refused(run(with({"estimate", path}, options)), {said});
  };
  for (const char* method : {"rts", "ts", "sd", "rsd", "rts-mixed", "ti-rb"})
    refused({"--method", method, "--sampler", "parallel"},
            "--sampler = parallel (must be tempering");
  refused({"--method", "ais", "--sampler", "parallel"}, "--sampler (must be left out");
  refused({"--method", "bar", "--bundles", "8"}, "--bundles (must be left out");
  refused({"--method", "bar", "--burn-in", "8"}, "--burn-in (must be left out");
  refused({"--method", "ss", "--bundles", "4"}, "--bundles = 4 (must be an integer from 5");
  refused({"--method", "bar", "--sampler", "parallel", "--prior", "exp:1"},
          "--prior (must be left");
  refused({"--method", "ti", "--sampler", "parallel", "--states", "joint"},
          "--states (must be left");
  refused({"--method", "ti", "--sampler", "parallel", "--burn-in", "20000"},
          "burn-in = 20000 (must leave 2 of the 10000 sweeps");
  const Json compared =
      json_of({"compare", path, "--methods", "bar,ti,ais", "--sampler", "parallel", "--sweeps",
               "300", "--repeats", "3", "--temperatures", "5", "--out", folder / "compare"});
  CHECK(compared["cells"].size() == 3);
}

TEST_CASE("an estimate that the machine's memory cannot hold is refused before it starts") {
  const io_test::Folder folder;
  const std::string path = saved(easy_rbm(), folder / "m.npz");
  const std::string dump = folder / "s.npz", out = folder / "compared";
  const std::string data = folder.write("data.csv", "0,1,0,1,0,1\n");
  const Arguments chains = {"--chains", "1000000"};
  for (const Arguments& command :
       {Arguments{"estimate", path, "--dump", dump, "--sweeps", "2000000000"},
        Arguments{"estimate", path, "--method", "mbar", "--sweeps", "2000000000"},
        Arguments{"estimate", path, "--method", "ss", "--sweeps", "2000000000"},
        Arguments{"estimate", path, "--method", "ti-continuous", "--sweeps", "2000000000"},
        Arguments{"score", path, data, "--method", "rts", "--sweeps", "2000000000"},
        Arguments{"compare", path, "--sweeps", "2000000000", "--out", out}}) {
    const Run refused = run(with(command, chains));
    INFO(refused.err);
    CHECK(refused.code == 2);
    CHECK(refused.err.find("(must fit into the") != std::string::npos);
  }
  CHECK(!std::filesystem::exists(dump));
  CHECK(!std::filesystem::exists(out));
}

TEST_CASE("compare books the updates that stepping stones make, and as many as other methods") {
  const io_test::Folder folder;
  const std::string path = saved(easy_rbm(), folder / "m.npz");
  const Json result =
      json_of({"compare", path, "--methods", "rts,ss", "--sweeps", "400", "--repeats", "2",
               "--chains", "7", "--temperatures", "10", "--out", folder / "compared"});
  // One ladder of 10 chains for 7: 280 sweeps.
  for (const Json& cell : result["cells"]) CHECK(cell["unit_updates"] == 7 * 400 * 10);
}

TEST_CASE("ladders, priors and bases change the run and not what it estimates") {
  const io_test::Folder folder;
  const auto model = easy_rbm();
  const double truth = brute_log_z(model);
  const std::string path = saved(model, folder / "m.npz");
  const std::string ladder = folder / "ladder.txt";
  folder.write("ladder.txt", "0 0.2 0.5 1\n");
  const std::vector<Arguments> variants = {
      {"--ladder", "geometric"}, {"--ladder", "adaptive"}, {"--ladder", "salakhutdinov-murray"},
      {"--prior", "exp:2"},      {"--states", "joint"},    {"--target-error", "0.02"}};
  for (const Arguments& variant : variants) {
    const Json result = json_of(with(with({"estimate", path}, kShort), variant));
    INFO(result.dump());
    CHECK(std::abs(result["log_z"].get<double>() - truth) < 5 * result["std_error"].get<double>());
  }
  const Json custom = json_of({"estimate", path, "--ladder", ladder, "--sweeps", "600"});
  CHECK(custom["temperatures"] == 4);
  folder.write("ladder.txt", "0 0.5 0.2 1\n");
  CHECK(run({"estimate", path, "--ladder", ladder}).code == 2);
}

TEST_CASE("the smoothing of a base counts, and a prior weighs, as the options say") {
  const io_test::Folder folder;
  const std::string path = saved(easy_rbm(), folder / "m.npz"), dump = folder / "s.npz",
                    data = folder.write("d.csv", "0,1,0,1,0,1\n1,1,1,0,0,0\n");
  const auto estimate = [&](const Arguments& more) {
    return json_of(with(with({"estimate", path, "--dump", dump, "--force"}, kShort), more));
  };
  const auto log_z = [&](const Arguments& more) {
    return estimate(with({"--base", data}, more))["log_z"].get<double>();
  };
  // 5 to the first hundred cases is what is added unless asked otherwise.
  CHECK(log_z({"--base-smoothing", "5"}) == log_z({}));
  CHECK(log_z({"--base-smoothing", "50"}) != log_z({}));
  // r_k ~ e^(2 b_k) on five rungs from 0 to 1.
  estimate({"--prior", "exp:2"});
  const Eigen::VectorXd log_prior = boltzmark::Npz(dump).read("log_prior").vector();
  REQUIRE(log_prior.size() == 5);
  for (int k = 0; k < 5; ++k) CHECK(log_prior[k] - log_prior[0] == Approx(0.5 * k).margin(1e-12));
}

TEST_CASE("grey levels of a base are made bits as --binarise says") {
  const io_test::Folder folder;
  const std::string path = saved(easy_rbm(), folder / "m.npz");
  // Forty images of 2 x 3 bytes.
  std::string idx{0, 0, 8, 3, 0, 0, 0, 40, 0, 0, 0, 2, 0, 0, 0, 3}, bits;
  for (int i = 0; i < 240; ++i) {
    const int level = (i * 37 + i / 6 * 11) % 256;
    idx += static_cast<char>(level);
    bits += std::string(level > 50 ? "1" : "0") + (i % 6 < 5 ? ',' : '\n');
  }
  const std::string levels = folder.write("i.idx", idx), cases = folder.write("d.csv", bits);
  const auto log_z = [&](const Arguments& base) {
    return json_of(with(with({"estimate", path}, kShort), base))["log_z"].get<double>();
  };
  const double asked = log_z({"--base", levels, "--binarise", "threshold:50"});
  CHECK(asked == log_z({"--base", cases}));
  CHECK(asked != log_z({"--base", levels}));
}

TEST_CASE("a base is smoothed by five for each hundred of its cases that is begun") {
  const io_test::Folder folder;
  const std::string path = saved(easy_rbm(), folder / "m.npz");
  std::string bits;
  for (int i = 0; i < 250 * 6; ++i)
    bits += std::string(i * 7 % 13 < 5 ? "1" : "0") + (i % 6 < 5 ? ',' : '\n');
  const std::string data = folder.write("d.csv", bits);
  const auto log_z = [&](const Arguments& more) {
    return json_of(with(with({"estimate", path, "--base", data}, kShort), more))["log_z"]
        .get<double>();
  };
  CHECK(log_z({}) == log_z({"--base-smoothing", "15"}));
  CHECK(log_z({}) != log_z({"--base-smoothing", "10"}));
}

TEST_CASE("the prior of an adaptive ladder is that of its own rungs") {
  const io_test::Folder folder;
  const std::string path = saved(easy_rbm(), folder / "m.npz"), dump = folder / "s.npz";
  json_of(
      with({"estimate", path, "--ladder", "adaptive", "--prior", "exp:2", "--dump", dump}, kShort));
  const boltzmark::Npz file(dump);
  const Eigen::VectorXd beta = file.read("beta").vector(),
                        log_prior = file.read("log_prior").vector();
  REQUIRE(beta.size() == 5);
  REQUIRE(std::abs(beta[1] - 0.25) > 0.001);  // unlike the pilot's
  for (int k = 0; k < 5; ++k)
    CHECK(log_prior[k] - log_prior[0] == Approx(2 * beta[k]).margin(1e-12));
}

TEST_CASE("score by sampling is the mean of log f less the estimated log Z") {
  const io_test::Folder folder;
  const auto model = random_rbm(16, 4, 0.5, 9);
  const std::string path = saved(model, folder / "m.npz");
  const Json exact = json_of({"score", path, "bas"});
  const Json sampled = json_of(with({"score", path, "bas", "--method", "rts"}, kShort));
  CHECK(keys(sampled) == keys(exact));
  const double mean_f = exact["mean_log_likelihood"].get<double>() + exact["log_z"].get<double>();
  CHECK(sampled["mean_log_likelihood"].get<double>() + sampled["log_z"].get<double>() ==
        Approx(mean_f).epsilon(1e-12));
  CHECK(std::abs(sampled["log_z"].get<double>() - exact["log_z"].get<double>()) <
        5 * sampled["std_error"].get<double>());
}

TEST_CASE("compare writes its tables and figures, and covers the truth") {
  const io_test::Folder folder;
  const std::string path = saved(easy_rbm(), folder / "m.npz");
  const std::string out = folder / "compared";
  const Json result = json_of({"compare", path, "--methods", "rts,ais,mbar", "--sweeps", "200,600",
                               "--repeats", "4", "--temperatures", "5", "--out", out});
  CHECK(keys(result) == Keys{"truth", "summed", "models", "cells", "files"});
  CHECK(result["files"] == Json{"compare.csv", "estimates.csv", "rmse.svg", "bias.svg"});
  CHECK(result["cells"].size() == 6);
  CHECK(result["truth"].get<double>() == Approx(brute_log_z(easy_rbm())).epsilon(1e-12));
  for (const Json& cell : result["cells"]) {
    CHECK(cell["rmse"].get<double>() < 0.2);
    CHECK(cell["rmse_lower"].get<double>() < cell["rmse"].get<double>());
    CHECK(cell["rmse"].get<double>() < cell["rmse_upper"].get<double>());
  }
  for (const char* file : {"compare.csv", "estimates.csv", "rmse.svg", "bias.svg"})
    CHECK(std::filesystem::exists(out + "/" + file));
  CHECK(run({"compare", saved(random_rbm(45, 42, 1, 1), folder / "big.npz")}).code == 2);
}

TEST_CASE("the repeats of compare are the estimates of as many seeds, no two alike") {
  const io_test::Folder folder;
  const std::string path = saved(easy_rbm(), folder / "m.npz");
  const Arguments shared = {"--chains", "20", "--temperatures", "5", "--base", "uniform"};
  const std::string out = folder / "compared";
  const Json result =
      json_of(with({"compare", path, "--methods", "rts,ais,smc,ss,sams,ti-continuous", "--sweeps",
                    "200", "--repeats", "3", "--seed", "7", "--out", out},
                   shared));
  for (const Json& cell : result["cells"]) {
    INFO(cell["method"]);
    CHECK(cell["std_dev"].get<double>() > 1e-6);
  }
  std::istringstream csv(io_test::read_all(out + "/estimates.csv"));
  std::string line;
  std::getline(csv, line);
  CHECK(line.starts_with("model,method,sweeps,repeat,log_z,"));
  int lines = 0;
  for (; std::getline(csv, line); ++lines) {
    std::istringstream words(line);
    std::string model, method, sweeps, repeat, log_z;
    for (std::string* word : {&model, &method, &sweeps, &repeat, &log_z})
      std::getline(words, *word, ',');
    INFO(line);
    const Json alone = json_of(with({"estimate", path, "--method", method, "--sweeps", sweeps,
                                     "--seed", std::to_string(7 + std::stoi(repeat))},
                                    shared));
    CHECK(std::stod(log_z) == Approx(alone["log_z"].get<double>()).epsilon(1e-12));
  }
  CHECK(lines == 18);
}

TEST_CASE("an extreme model ends estimate and score with a status and a reason, not with a crash") {
  const io_test::Folder folder;
  const auto model = boltzmark::Layered::rbm(Eigen::MatrixXd::Constant(10, 6, 1e9),
                                             Eigen::VectorXd::Constant(10, 1e9),
                                             Eigen::VectorXd::Constant(6, 1e9));
  const std::string path = saved(model, folder / "m.npz");
  const std::string data = folder.write("data.csv", "0,1,0,1,0,1,0,1,0,1\n1,1,1,0,0,0,1,1,1,0\n");
  for (const Arguments& command : {Arguments{"estimate", path}, Arguments{"score", path, data}})
    for (const std::string rungs : {"2", "5"}) {
      const Arguments all = with(command, {"--method", "ti-continuous", "--temperatures", rungs,
                                           "--sweeps", "1000", "--base", "uniform"});
      const Run text = run(all);
      INFO(text.out << text.err);
      CHECK(text.code == 0);
      CHECK_THAT(text.out, Catch::Contains("no estimate") && Catch::Contains("not_converged"));
      const Json result = json_of(all);
      CHECK(result["log_z"].is_null());
      CHECK(result["status"] == "not_converged");
      CHECK_FALSE(result["warnings"].empty());
    }
}

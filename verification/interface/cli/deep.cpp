// The score of deep models: exact, bounded, and of single cases.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "boltzmark/learn/initial.hpp"
#include "boltzmark/learn/phases/mean_field.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/cli/program.hpp"

namespace {

using namespace cli_test;
boltzmark::Layered deep_model(const std::vector<int>& sizes, double sd) {
  return boltzmark::initial_network(sizes, sd, boltzmark::make_key(sizes.size(), "deep score"));
}

const char* const kCases = "1,0,1,1,0,0\n0,0,1,0,1,1\n1,1,1,1,0,1\n0,1,0,0,0,1\n1,0,1,1,0,0\n";

}  // namespace

TEST_CASE("the score of a deep model is exact where it can be enumerated, its bound beside it") {
  const io_test::Folder folder;
  const std::string data = folder.write("d.csv", kCases);
  for (const std::vector<int>& sizes : {std::vector{6, 5, 4}, std::vector{6, 3, 4, 2}}) {
    const boltzmark::Layered model = deep_model(sizes, 1);
    const std::string path = saved(model, folder / "m.npz");
    const Json score = json_of({"score", path, data});
    CHECK(score["method"] == "exact");
    CHECK(score["status"] == "ok");
    Eigen::MatrixXf cases(6, 5);
    cases << 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 1, 1, 1,
        0;
    const double truth = boltzmark::exact_mean_log_likelihood(model, boltzmark::Cases(cases));
    CHECK(score["mean_log_likelihood"].get<double>() == Approx(truth).margin(1e-11));
    double bound = -score["log_z"].get<double>();
    for (const double log_f : boltzmark::variational_bounds(model, cases).log_f) bound += log_f / 5;
    CHECK(score["bound"].get<double>() == Approx(bound).margin(1e-11));
    CHECK(bound < truth);
    // One update bounds less closely, in truth and in what is said of it.
    const Json early = json_of({"score", path, data, "--mean-field", "1"});
    CHECK(early["mean_field_updates"] == 1);
    CHECK(early["bound"].get<double>() < score["bound"].get<double>());
    // log Z by sampling, and single cases: eight standard errors, never by chance.
    const Arguments by_ais = {"score",    path,  data,           "--method", "ais",
                              "--sweeps", "500", "--true-cases", "5"};
    const Json sampled = json_of(by_ais);
    CHECK_THAT(run(by_ais).out,
               Catch::Contains(fmt::format("5 of 5 cases by AIS, error {:.3g};",
                                           sampled["true_std_error"].get<double>())));
    CHECK(std::abs(sampled["mean_log_likelihood"].get<double>() - truth) <
          8 * sampled["std_error"].get<double>() + 1e-9);
    CHECK(sampled["true_cases"] == 5);
    CHECK(std::abs(sampled["true_mean_log_likelihood"].get<double>() - truth) <
          8 * sampled["true_std_error"].get<double>() + 1e-9);
    CHECK(sampled["true_status"] == "ok");
    const double error_of_cases =
        json_of({"score", path, data, "--sweeps", "500", "--true-cases", "5"})["true_std_error"];
    CHECK(sampled["true_std_error"].get<double>() ==
          Approx(std::hypot(error_of_cases, sampled["std_error"].get<double>())).epsilon(1e-9));
    CHECK(sampled["true_bound"].get<double>() ==
          Approx(sampled["bound"].get<double>()).margin(1e-9));
  }
}

TEST_CASE("a score tells the mean-field updates that were made, and whether they were too few") {
  const io_test::Folder folder;
  const std::string data = folder.write("d.csv", kCases);
  const boltzmark::Layered model = deep_model({6, 5, 4}, 1);
  const std::string path = saved(model, folder / "m.npz");
  const int made = boltzmark::variational_bounds(
                       model, boltzmark::experiments::load_dataset(data).values.matrix())
                       .updates;
  REQUIRE(made > 1);
  REQUIRE(made < 500);
  // Exact, and bounded alone with log Z by AIS.
  const std::string large = saved(deep_model({6, 41, 42}, 0.05), folder / "large.npz");
  for (const Arguments& score :
       {Arguments{"score", path, data}, {"score", large, data, "--sweeps", "300"}}) {
    const Json whole = json_of(score), early = json_of(with(score, {"--mean-field", "1"}));
    CHECK(whole["status"] == "ok");
    const bool exact = early["method"] == "exact";  // the likelihood stands without the bound
    CHECK(early["status"] == (exact ? "ok" : "not_converged"));
    CHECK(early["mean_field_updates"] == 1);
    CHECK_THAT(early["warnings"].dump(), Catch::Contains("after 1 updates"));
    CHECK(early["mean_log_likelihood"] == whole["mean_log_likelihood"]);
    CHECK(run(with(score, {"--mean-field", "1", "--strict"})).code == (exact ? 0 : 4));
    CHECK(run(with(score, {"--strict"})).code == 0);
  }
  CHECK(json_of({"score", path, data})["mean_field_updates"] == made);
  const Json enough = json_of({"score", path, data, "--mean-field", "500"});
  CHECK(enough["mean_field_updates"] == made);
  CHECK(enough["status"] == "ok");
}

TEST_CASE("a bound has the log Z of annealing with the side summed out that --summed says") {
  const io_test::Folder folder;
  const std::string data = folder.write("d.csv", kCases);
  const boltzmark::Layered model = deep_model({6, 41, 42}, 0.05);
  const std::string path = saved(model, folder / "m.npz");
  double fitted = 0;  // E_q[log f(v, h)] + H(q)
  for (const double log_f : boltzmark::variational_bounds(
                                model, boltzmark::experiments::load_dataset(data).values.matrix())
                                .log_f)
    fitted += log_f / 5;
  const auto score = [&](const char* side) {
    const Json told = json_of({"score", path, data, "--sweeps", "300", "--summed", side});
    CHECK(told["bound"].get<double>() + told["log_z"].get<double>() ==
          Approx(fitted).epsilon(1e-9));
    const Json alone = json_of(
        {"estimate", path, "--method", "ais", "--sweeps", "300", "--summed", side, "--data", data});
    CHECK(told["log_z"] == alone["log_z"]);
    return told["log_z"].get<double>();
  };
  CHECK(score("odd") != score("even"));
}

TEST_CASE("true cases of classes of unlike sizes count by their class's share of all cases") {
  // Without weights log p(v) is known, and AIS has no error.
  const io_test::Folder folder;
  const auto bias = Eigen::VectorXd::LinSpaced(784, -2, 1);
  const std::string path = saved({{{boltzmark::Unit::bernoulli(), bias, {}},
                                   {boltzmark::Unit::bernoulli(), Eigen::VectorXd::Zero(2), {}},
                                   {boltzmark::Unit::bernoulli(), Eigen::VectorXd::Zero(2), {}}},
                                  {Eigen::MatrixXd::Zero(784, 2), Eigen::MatrixXd::Zero(2, 2)}},
                                 folder / "m.npz");
  const boltzmark::Dataset data = boltzmark::experiments::load_dataset("mnist:test", {});
  std::vector<double> cases(10, 0);
  for (const int label : data.labels) ++cases.at(static_cast<std::size_t>(label));
  // Three cases are of three classes, and stand for the cases of these.
  for (const int count : {30, 3}) {
    std::vector<double> chosen(10, 0), sums(10, 0);
    for (const int c : boltzmark::spread_cases(data, count)) {
      const auto label = static_cast<std::size_t>(data.labels[static_cast<std::size_t>(c)]);
      ++chosen[label];
      sums[label] += data.values.col(c).cast<double>().dot(bias);
    }
    double represented = 0, sum = 0;
    for (std::size_t k = 0; k < 10; ++k) {
      if (chosen[k] == 0) continue;
      represented += cases[k];
      sum += cases[k] * sums[k] / chosen[k];
    }
    CHECK((represented < 10000) == (count == 3));
    const double mean = sum / represented - bias.array().exp().log1p().sum();
    const Json score = json_of({"score", path, "mnist:test", "--true-cases", std::to_string(count),
                                "--sweeps", "10", "--chains", "2", "--method", "exact"});
    CHECK(score["true_mean_log_likelihood"].get<double>() == Approx(mean).epsilon(1e-7));
    CHECK(score["true_bound"].get<double>() == Approx(mean).epsilon(1e-7));
  }
}

// Of 16 equal cases a mean has a quarter of the error of one, of AIS as of the cases.
TEST_CASE("errors of true cases are those of their mean, of AIS and of the cases apart") {
  const io_test::Folder folder;
  const std::string path = saved(deep_model({6, 5, 4}, 1), folder / "m.npz");
  const auto score = [&](const std::string& cases, const char* true_cases) {
    return json_of({"score", path, folder.write("d.csv", cases), "--sweeps", "50", "--true-cases",
                    true_cases});
  };
  std::string equal;
  for (int i = 0; i < 16; ++i) equal += "1,0,1,1,0,0\n";
  const double one = score("1,0,1,1,0,0\n", "1")["true_std_error"];
  const Json many = score(equal, "16");
  const std::string said =
      run({"score", path, folder.write("d.csv", equal), "--sweeps", "50", "--true-cases", "16"})
          .out;
  CHECK_THAT(said,
             Catch::Contains(fmt::format(" bound {:.10g}\n", many["true_bound"].get<double>())));
  CHECK(many["true_std_error"].get<double>() / one > 1 / 8.0);
  CHECK(many["true_std_error"].get<double>() / one < 1 / 2.0);
  // What the cases have in common is no spread: what AIS adds stays below eight of its errors.
  CHECK(many["true_std_error_cases"].get<double>() < 8 * many["true_std_error"].get<double>());
  const Json some = score(kCases, "5");
  CHECK(some["true_std_error_cases"].get<double>() ==
        Approx(some["std_error_cases"].get<double>()).epsilon(0.2));
  CHECK(some["true_std_error_cases"].get<double>() > 4 * some["true_std_error"].get<double>());
}

// Bounds of small models are log f itself: of a hundred right cases some are off by more than 95 % of them.
TEST_CASE("true cases that are right together are ok, and --strict hears of those that are not") {
  const io_test::Folder folder;
  const std::string path = saved(deep_model({6, 5, 4}, 0.5), folder / "m.npz");
  std::string cases;
  for (int k = 0; k < 64; ++k) {
    for (int i = 0; i < 6; ++i) cases += fmt::format("{}{}", k >> i & 1, i < 5 ? "," : "\n");
  }
  const std::string data = folder.write("d.csv", cases);
  int ok = 0;
  for (const char* seed : {"1", "2", "3", "4"}) {
    const Json score = json_of({"score", path, data, "--true-cases", "64", "--sweeps", "100",
                                "--chains", "200", "--seed", seed});
    INFO(score.dump());
    ok += score["true_status"] == "ok";
    CHECK(std::abs(score["true_mean_log_likelihood"].get<double>() -
                   score["mean_log_likelihood"].get<double>()) <
          6 * score["true_std_error"].get<double>());
  }
  CHECK(ok >= 3);
  const Run strict = run({"score", path, data, "--true-cases", "64", "--sweeps", "100", "--chains",
                          "10", "--json", "--strict"});
  CHECK(Json::parse(strict.out)["true_status"] == "few_effective_samples");
  CHECK(Json::parse(strict.out)["status"] == "ok");
  CHECK(strict.code == 4);
}

TEST_CASE("a deep model with a Gaussian layer is scored exactly, without a bound") {
  const io_test::Folder folder;
  const std::string data = folder.write("d.csv", kCases);
  const boltzmark::Layered bits = deep_model({6, 4, 3}, 1);
  std::vector<boltzmark::Layer> layers{bits.layer(0), bits.layer(1), bits.layer(2)};
  layers[2].unit = boltzmark::Unit::gaussian();
  layers[2].sigma0 = Eigen::VectorXd::Ones(3);
  const boltzmark::Layered model(layers, bits.weights());
  const Json score = json_of({"score", saved(model, folder / "m.npz"), data});
  CHECK(score["status"] == "ok");
  CHECK(score["bound"].is_null());
  CHECK(std::isfinite(score["mean_log_likelihood"].get<double>()));
}

TEST_CASE("a deep model that is too large to enumerate is bounded, with log Z by AIS") {
  const io_test::Folder folder;
  const std::string data = folder.write("d.csv", kCases);
  const boltzmark::Layered model = deep_model({6, 41, 42}, 0.05);
  const std::string path = saved(model, folder / "m.npz");
  const Arguments arguments = {"score", path, data, "--sweeps", "300"};
  const Json score = json_of(arguments);
  CHECK(score["method"] == "ais");
  CHECK(score["mean_log_likelihood"].is_null());
  CHECK(score["bound"].get<double>() < 0);
  CHECK(score["bound"].get<double>() > -6 * std::log(2) - 1);  // small weights: nearly uniform
  const auto bounds = boltzmark::variational_bounds(
      model, boltzmark::experiments::load_dataset(data).values.matrix());
  const Eigen::Map<const Eigen::ArrayXd> log_f(bounds.log_f.data(), 5);
  CHECK(score["std_error_cases"].get<double>() ==
        Approx(std::sqrt((log_f - log_f.mean()).square().sum() / 5 / 4)).epsilon(1e-6));
  Arguments again = arguments;
  again.insert(again.end(), {"--threads", "1"});
  CHECK(json_of(again)["bound"] == score["bound"]);
  again = arguments;
  again.insert(again.end(), {"--seed", "2"});
  CHECK(json_of(again)["bound"] != score["bound"]);
  // 36 units could be enumerated, but not within ten minutes.
  const std::string slow = saved(deep_model({6, 36, 37}, 0.05), folder / "slow.npz");
  CHECK(json_of({"score", slow, data, "--method", "ais", "--sweeps", "300"})["mean_log_likelihood"]
            .is_null());
  CHECK(json_of({"score", slow, data, "--sweeps", "300"})["method"] == "ais");
  const Run text = run({"score", path, data, "--sweeps", "300"});
  CHECK(text.out.find("not enumerated: see the bound") != std::string::npos);
  CHECK_FALSE(json_of({"score", saved(random_rbm(6, 3, 1, 1), folder / "rbm.npz"), data})
                  .contains("mean_field_updates"));
}

// Three sweeps from a uniform base never meet all of forty units on, which the cases are.
TEST_CASE("true cases above probability 1 are not ok, but of units that have a density") {
  const io_test::Folder folder;
  const auto score = [&](boltzmark::Unit unit, int visible, const Arguments& more) {
    std::string row = "1";
    for (int i = 1; i < visible; ++i) row += ",1";
    const boltzmark::Layer hidden{boltzmark::Unit::bernoulli(), Eigen::VectorXd::Zero(2), {}};
    const std::string model =
        saved({{{unit, Eigen::VectorXd::Constant(visible, 50), {}}, hidden, hidden},
               {Eigen::MatrixXd::Zero(visible, 2), Eigen::MatrixXd::Zero(2, 2)}},
              folder / "m.npz");
    return json_of(
        with({"score", model, folder.write("d.csv", row + "\n" + row + "\n"), "--true-cases", "2"},
             more));
  };
  const Json bits =
      score(boltzmark::Unit::bernoulli(), 40,
            {"--method", "ais", "--sweeps", "3", "--chains", "100", "--base", "uniform"});
  INFO(bits.dump());
  CHECK(bits["true_mean_log_likelihood"].get<double>() > 100);
  CHECK(bits["true_status"] == "not_converged");
  CHECK_THAT(bits["warnings"].dump(), Catch::Contains("more probable than 1"));
  // The density 50 e^(50 (x - 1)) is 50 at 1, but for e^-100 of it.
  const Json values = score(boltzmark::Unit::continuous(), 3, {"--sweeps", "50"});
  CHECK(values["true_mean_log_likelihood"].get<double>() == Approx(3 * std::log(50.0)));
  CHECK(values["true_status"] == "ok");
}

// Weights of 30 whose second mode three sweeps of AIS from a uniform base miss.
TEST_CASE("a score above probability 1 is not ok") {
  const io_test::Folder folder;
  const std::string data = folder.write("d.csv", "1,1,1,1,1,1\n1,1,1,1,1,1\n");
  const boltzmark::Layered model =
      boltzmark::Layered::rbm(Eigen::MatrixXd::Constant(6, 6, 30),
                              Eigen::VectorXd::Constant(6, -60), Eigen::VectorXd::Constant(6, -60));
  const Json score = json_of({"score", saved(model, folder / "m.npz"), data, "--method", "ais",
                              "--sweeps", "3", "--chains", "4", "--base", "uniform"});
  CHECK(score["mean_log_likelihood"].get<double>() > 1);
  CHECK(score["status"] == "below_bound");
  // Both modes are certain: all on, 6 * 6 * 30 - 12 * 60, which is the case's, and all off, 0.
  CHECK(score["lower_bound"].get<double>() == Approx(360).margin(1e-6));
  const Json exact = json_of({"score", folder / "m.npz", data});
  CHECK(exact["status"] == "ok");
  CHECK(exact["mean_log_likelihood"].get<double>() <= 1e-9);
}

TEST_CASE("a score refuses what it cannot compute, and options that say nothing") {
  const io_test::Folder folder;
  const std::string data = folder.write("d.csv", kCases);
  const std::string deep = saved(deep_model({6, 41, 42}, 0.05), folder / "deep.npz");
  const std::string rbm = saved(random_rbm(6, 3, 1, 1), folder / "rbm.npz");
  const auto refused = [](const Arguments& arguments, const std::string& said) {
    const Run result = run(arguments);
    INFO(result.err);
    CHECK(result.code == 2);
    CHECK(lines(result.err) == 1);
    CHECK(result.err.find(said) != std::string::npos);
  };
  refused({"score", deep, data, "--method", "exact"},
          "deep.npz: enumerated hidden units = 41 (must be at most 40");
  refused({"score", deep, data, "--mean-field", "0"}, "--mean-field = 0");
  refused({"score", deep, data, "--mean-field", "5x"}, "--mean-field = 5x");
  refused({"score", deep, data, "--true-cases", "6"}, "--true-cases = 6 (must be at most the 5");
  refused({"score", rbm, data, "--mean-field", "5"}, "--mean-field is given (must come with");
  const std::string gaussian =
      saved(boltzmark::Layered(
                {{boltzmark::Unit::gaussian(), Eigen::VectorXd::Zero(6), Eigen::VectorXd::Ones(6)},
                 {boltzmark::Unit::bernoulli(), Eigen::VectorXd::Zero(3), {}},
                 {boltzmark::Unit::bernoulli(), Eigen::VectorXd::Zero(2), {}}},
                {Eigen::MatrixXd::Zero(6, 3), Eigen::MatrixXd::Zero(3, 2)}),
            folder / "g.npz");
  refused({"score", gaussian, data, "--mean-field", "5"}, "and no Gaussian one");
  refused({"score", rbm, data, "--true-cases", "2"}, "--true-cases is given (must come with");
}

TEST_CASE(
    "either side of a deep model is summed out as --summed says, and every output tells which") {
  const io_test::Folder folder;
  const boltzmark::Layered model =
      deep_model({6, 4, 3}, 1);  // 9 units of even layers, 4 of odd ones
  const std::string path = saved(model, folder / "m.npz");
  const double truth = json_of({"exact", path})["log_z"];
  const auto estimate = [&](const Arguments& more) {
    Arguments all = {"estimate", path, "--sweeps", "300"};
    all.insert(all.end(), more.begin(), more.end());
    return json_of(all);
  };
  for (const std::string method : {"ais", "smc", "raise", "rts"}) {
    INFO(method);
    const Json none = estimate({"--method", method}),
               odd = estimate({"--method", method, "--summed", "odd"}),
               even = estimate({"--method", method, "--summed", "even"}),
               larger = estimate({"--method", method, "--summed", "larger"});
    CHECK(odd["summed"] == "odd");
    CHECK(even["summed"] == "even");
    CHECK(larger["summed"] == "even");
    CHECK(larger["log_z"] == even["log_z"]);
    CHECK(odd["log_z"] != even["log_z"]);
    CHECK((none["log_z"] == odd["log_z"] || none["log_z"] == even["log_z"]));
    for (const Json& each : {odd, even})  // never by chance
      CHECK(std::abs(each["log_z"].get<double>() - truth) < 8 * each["std_error"].get<double>());
  }
  CHECK(estimate({"--method", "wang-landau"})["summed"].is_null());
  CHECK(json_of({"describe", path})["summed"] == estimate({"--method", "ais"})["summed"]);
  const Run text =
      run({"estimate", path, "--method", "ais", "--sweeps", "300", "--summed", "even"});
  CHECK(text.out.find("even layers") != std::string::npos);
  CHECK(json_of({"compare", path, "--methods", "ais,smc", "--sweeps", "20", "--repeats", "2",
                 "--summed", "even", "--out", folder / "compare"})["summed"] == "even");
  const std::string data = folder.write("d.csv", kCases);
  const Arguments score = {"score", path, data, "--method", "ais", "--sweeps", "300"};
  Arguments summed = score;
  summed.insert(summed.end(), {"--summed", "even"});
  CHECK(json_of(summed)["summed"] == "even");
  CHECK(json_of({"score", path, data})["summed"].is_null());
  const std::string rbm = saved(random_rbm(6, 3, 1, 1), folder / "rbm.npz");
  CHECK(json_of({"estimate", rbm, "--method", "ais", "--sweeps", "50"})["summed"] == "odd");
  // Cases say nothing of the deeper layers that RAISE would have to start from.
  const Run cases = run({"estimate", path, "--method", "raise", "--data", data});
  CHECK(cases.code == 2);
  CHECK(lines(cases.err) == 1);
  CHECK(cases.err.find("--data with raise (must be cases of an RBM") != std::string::npos);
  const Arguments refused[] = {
      {"estimate", rbm, "--method", "raise", "--data", data, "--summed", "even"},
      {"estimate", rbm, "--method", "raise", "--data", data, "--summed", "larger"},
      {"estimate", path, "--method", "wang-landau", "--summed", "even"},
      {"estimate", path, "--method", "rts", "--states", "joint", "--summed", "even"},
      {"estimate", path, "--method", "exact", "--summed", "odd"},
      {"estimate", path, "--summed", "both"},
      {"score", path, data, "--summed", "even"},
      {"score", path, data, "--true-cases", "2", "--summed", "even"}};
  // Nothing reads a base of log Z where that is exact, true cases neither.
  for (const char* option : {"--base", "--data"})
    for (const Arguments& more :
         {Arguments{}, Arguments{"--true-cases", "2", "--sweeps", "20", "--method", "exact"}}) {
      Arguments arguments = {"score", path, data, option, data};
      arguments.insert(arguments.end(), more.begin(), more.end());
      const Run result = run(arguments);
      INFO(result.err);
      CHECK(result.code == 2);
      CHECK(result.err.find(option) != std::string::npos);
    }
  for (const Arguments& arguments : refused) {
    const Run result = run(arguments);
    INFO(result.err);
    CHECK(result.code == 2);
    CHECK(lines(result.err) == 1);
    CHECK(result.err.find("--summed") != std::string::npos);
  }
}

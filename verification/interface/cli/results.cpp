#include <catch2/catch.hpp>
#include <filesystem>
#include <map>

#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/cli/program.hpp"

namespace {

using namespace cli_test;

}  // namespace

TEST_CASE("spectrum tells no relaxation time that rounding alone makes, in JSON as in words") {
  // Two spins of weight w: a Gibbs sweep's second eigenvalue is tanh(w)^2.
  const io_test::Folder folder;
  const auto pair = [&](double weight) {
    const auto spin = [] {
      return boltzmark::Layer{
          .unit = boltzmark::Unit::multivalued(1), .bias = Eigen::VectorXd::Zero(1), .sigma0 = {}};
    };
    return saved({{spin(), spin()}, {Eigen::MatrixXd::Constant(1, 1, weight)}}, folder / "m.npz");
  };
  const Json resolved = json_of({"spectrum", pair(10), "--rule", "gibbs"});
  CHECK(resolved["relaxation_time"].get<double>() ==
        Approx(std::pow(std::cosh(10.0), 2)).epsilon(1e-5));
  for (const double weight : {17.0, 20.0, 30.0}) {
    const std::string path = pair(weight);
    CHECK(json_of({"spectrum", path, "--rule", "gibbs"})["relaxation_time"].is_null());
    CHECK_THAT(run({"spectrum", path, "--rule", "gibbs"}).out,
               Catch::Contains("at the limit of rounding"));
  }
}

TEST_CASE(
    "a bias of any size has its root mean square, and a spectrum where a double resolves it") {
  // Two hidden units that the second visible one moves, the first held on by its bias.
  const io_test::Folder folder;
  const auto held = [&](double bias) {
    return saved(
        {{{.unit = boltzmark::Unit::bernoulli(), .bias = Eigen::Vector2d(bias, 0), .sigma0 = {}},
          {.unit = boltzmark::Unit::bernoulli(), .bias = Eigen::Vector2d::Zero(), .sigma0 = {}}},
         {Eigen::MatrixXd::Identity(2, 2)}},
        folder / "m.npz");
  };
  const Json far = json_of({"spectrum", held(1e13), "--rule", "flip"});
  CHECK(far["slem"].get<double>() == Approx(std::exp(-1.0)).epsilon(1e-9));
  check_refused(run({"spectrum", held(1e17), "--rule", "flip"}), {"m.npz", "2^49"});
  const auto root_mean_square = [&](double bias) {
    return json_of({"describe", held(bias)})["layers"][0]["biases"]["root_mean_square"]
        .get<double>();
  };
  CHECK(root_mean_square(3) == std::sqrt(4.5));
  CHECK(root_mean_square(0) == 0);
  CHECK(root_mean_square(1e300) == Approx(1e300 / std::sqrt(2)).epsilon(1e-12));
  CHECK(root_mean_square(1e-200) == Approx(1e-200 / std::sqrt(2)).epsilon(1e-12));
  CHECK(root_mean_square(1e-310) == Approx(1e-310 / std::sqrt(2)).epsilon(1e-6));
}

TEST_CASE("spectrum of independent units is the closed form") {
  const io_test::Folder folder;
  // One unit under T: eigenvalues 1 and -(1 - p*)/p* = -e^-|bias|, ties 0; under G: 1 and 0. A
  // sweep multiplies one eigenvalue per unit; a random-scan step averages them.
  const Eigen::Vector2d b(0.5, -1.5);
  const Eigen::Vector2d c(0.25, 2.0);
  const std::string path = saved(independent_rbm(b, c), folder / "m.npz");
  const Json flip = json_of({"spectrum", path, "--rule", "flip"});
  CHECK(keys(flip) == Keys{"rule", "states", "slem", "second_eigenvalue", "relaxation_time",
                           "stationarity_error", "irreducible", "aperiodic"});
  const double slem = std::exp(-0.25);
  CHECK(flip["rule"] == "flip");
  CHECK(flip["states"] == 16);
  CHECK(flip["slem"].get<double>() == Approx(slem).margin(1e-12));
  CHECK(flip["second_eigenvalue"].get<double>() == Approx(std::exp(-0.75)).margin(1e-12));
  CHECK(flip["relaxation_time"].get<double>() == Approx(1 / (1 - slem)).epsilon(1e-10));
  CHECK(flip["stationarity_error"].get<double>() < 1e-12);
  CHECK(flip["irreducible"] == true);
  CHECK(flip["aperiodic"] == true);

  const Json gibbs = json_of({"spectrum", path, "--rule", "gibbs"});
  CHECK(gibbs["slem"].get<double>() == Approx(0).margin(1e-12));
  const Json random = json_of({"spectrum", path, "--rule", "gibbs", "--scan", "random"});
  CHECK(random["slem"].get<double>() == Approx(0.75).margin(1e-12));

  // The blend's eigenvalue is a times T's.
  const Json blend = json_of({"spectrum", path, "--rule", "blend:0.5"});
  CHECK(blend["slem"].get<double>() == Approx(0.5 * slem).margin(1e-12));
}

TEST_CASE("spectrum says where a relaxation time is rounding") {
  // Two pairs of units held to be equal by e^(4 k): 1 - SLEM is of the order of e^(-4 k).
  const io_test::Folder folder;
  for (const auto& [k, told] : {std::pair(2, "steps"), std::pair(10, "more than 1e+12 steps")}) {
    const std::string path = saved(boltzmark::Layered::rbm(Eigen::MatrixXd::Constant(2, 2, 4.0 * k),
                                                           Eigen::VectorXd::Constant(2, -4.0 * k),
                                                           Eigen::VectorXd::Constant(2, -4.0 * k)),
                                   folder / (std::to_string(k) + ".npz"));
    const Run result = run({"spectrum", path, "--rule", "gibbs"});
    INFO(result.out);
    CHECK_THAT(result.out, Catch::Contains(told));
    CHECK((result.out.find("rounding") != std::string::npos) == (k == 10));
  }
}

TEST_CASE("spectrum shows that Metropolis without the tie rule is periodic at ties") {
  const io_test::Folder folder;
  const Eigen::Vector2d zero = Eigen::Vector2d::Zero();
  const std::string path = saved(independent_rbm(zero, zero), folder / "m.npz");
  const Json result = json_of({"spectrum", path, "--rule", "metropolis"});
  CHECK(result["slem"].get<double>() == Approx(1).margin(1e-12));
  CHECK(result["relaxation_time"].is_null());
  CHECK((result["irreducible"] == false || result["aperiodic"] == false));
}

TEST_CASE("spectrum tells a chain that moves in turns from one that does not reach all states") {
  const io_test::Folder folder;
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(1);
  // Metropolis flips every unit at ties: one pair of units takes two of its four states in turn.
  const std::string path = saved(independent_rbm(zero, zero), folder / "m.npz");
  const Json turns = json_of({"spectrum", path, "--rule", "metropolis"});
  CHECK(turns["irreducible"] == false);
  CHECK(turns["aperiodic"] == false);
  // A unit at a time it reaches all of them, in an even number of steps or in an odd one.
  const Json steps = json_of({"spectrum", path, "--rule", "metropolis", "--scan", "random"});
  CHECK(steps["irreducible"] == true);
  CHECK(steps["aperiodic"] == false);
  CHECK_THAT(run({"spectrum", path, "--rule", "metropolis", "--scan", "random"}).out,
             Catch::Contains("irreducible         yes\naperiodic           no\n"));
  CHECK(json_of({"spectrum", path, "--rule", "gibbs"})["aperiodic"] == true);
}

TEST_CASE("score agrees with brute force") {
  const io_test::Folder folder;
  const auto model = random_rbm(4, 3, 1, 3);
  const std::string path = saved(model, folder / "m.npz");
  const std::string data = folder.write("d.csv", "0,1,0,1\n1,1,1,0\n0,1,0,1\n0,0,0,0\n");
  const Json result = json_of({"score", path, data});
  CHECK(keys(result) == Keys{"method", "mean_log_likelihood", "bound", "std_error",
                             "std_error_cases", "log_z", "summed", "lower_bound", "seconds",
                             "status", "warnings"});
  CHECK(result["lower_bound"].is_null());
  const std::vector<Eigen::Vector4d> cases = {
      {0, 1, 0, 1}, {1, 1, 1, 0}, {0, 1, 0, 1}, {0, 0, 0, 0}};
  const double log_z = brute_log_z(model);
  double mean = 0;
  for (const auto& v : cases) mean += (brute_log_f(model, v) - log_z) / 4;
  double variance = 0;
  for (const auto& v : cases) variance += std::pow(brute_log_f(model, v) - log_z - mean, 2) / 3;
  CHECK(result["method"] == "exact");
  CHECK(result["mean_log_likelihood"].get<double>() == Approx(mean).margin(1e-10));
  CHECK(result["std_error_cases"].get<double>() == Approx(std::sqrt(variance / 4)).margin(1e-10));
  CHECK(result["log_z"].get<double>() == Approx(log_z).margin(1e-10));
  CHECK(result["bound"].is_null());
  CHECK(result["std_error"] == 0);
  CHECK(result["status"] == "ok");
  CHECK(result["warnings"].empty());
  const std::string one = folder.write("one.csv", "0,1,0,1\n");
  const Json single = json_of({"score", path, one});
  CHECK(single["std_error_cases"].is_null());
  CHECK(single["warnings"] == Json{"one case: its spread is unknown"});
  CHECK_THAT(run({"score", path, one}).out, Catch::Contains("unknown over one case"));
}

TEST_CASE("a data set's name means its test cases to score, and its training ones to describe") {
  const io_test::Folder folder;
  const std::string path = saved(random_rbm(16, 3, 1, 2), folder / "m.npz"),
                    name = "artificial-modes-0.1";
  const auto mean = [&](const std::string& data) {
    return json_of({"score", path, data})["mean_log_likelihood"].get<double>();
  };
  CHECK(mean(name) == mean(name + ":test"));
  CHECK(mean(name) != mean(name + ":train"));
  const auto sha256 = [](const std::string& data) { return json_of({"describe", data})["sha256"]; };
  CHECK(sha256(name) == sha256(name + ":train"));
  CHECK(sha256(name) != sha256(name + ":test"));
}

TEST_CASE("a model of zeros scores Bars and Stripes at -16 log 2") {
  const io_test::Folder folder;
  const std::string path =
      saved(independent_rbm(Eigen::VectorXd::Zero(16), Eigen::VectorXd::Zero(3)), folder / "m.npz");
  const Json result = json_of({"score", path, "bas"});
  CHECK(result["mean_log_likelihood"].get<double>() == Approx(-16 * std::log(2)).margin(1e-10));
}

TEST_CASE("convert keeps every bit through .npz and .mat") {
  const io_test::Folder folder;
  const std::string path = saved(random_rbm(7, 5, 2, 4), folder / "a.npz");
  const Json first = json_of({"convert", path, folder / "b.mat"});
  CHECK(first["layers"] == std::vector<int>{7, 5});
  json_of({"convert", folder / "b.mat", folder / "c.npz"});
  CHECK(io_test::read_all(path) == io_test::read_all(folder / "c.npz"));
  CHECK(run({"convert", path, folder / "c.npz"}).code == 2);
  CHECK(run({"convert", path, folder / "c.npz", "--force"}).code == 0);
}

TEST_CASE("describe tells models from data sets and names the side to enumerate") {
  const io_test::Folder folder;
  const std::string path = saved(random_rbm(7, 5, 2, 4), folder / "a.npz");
  const Json model = json_of({"describe", path});
  CHECK(model["kind"] == "model");
  CHECK(model["layers"].size() == 2);
  CHECK(model["enumerated_side"] == "hidden");
  CHECK(model["states"] == 32);
  const boltzmark::Layered written = boltzmark::read_model(path);
  for (int l = 0; l < 2; ++l) {
    CHECK(model["layers"][l]["units"] == written.size(l));
    CHECK(model["layers"][l]["biases"]["lowest"] == written.bias(l).minCoeff());
    CHECK(model["layers"][l]["biases"]["highest"] == written.bias(l).maxCoeff());
  }
  CHECK(model["weights"][0]["highest"] == written.weights(0).maxCoeff());
  const std::string wide = saved(random_rbm(41, 42, 0.1, 4), folder / "wide.npz");
  CHECK(json_of({"describe", wide})["enumerable"] == false);
  // What `exact` refuses is not enumerable either.
  const std::string beyond =
      saved(boltzmark::Layered::rbm(Eigen::MatrixXd::Constant(2, 1, 1e300),
                                    Eigen::VectorXd::Zero(2), Eigen::VectorXd::Zero(1)),
            folder / "beyond.npz");
  CHECK(run({"exact", beyond}).code == 2);
  CHECK(json_of({"describe", beyond})["enumerable"] == false);
  CHECK(json_of({"describe", beyond})["states"].is_null());
  CHECK_THAT(run({"describe", beyond}).out, Catch::Contains("parameters so large"));
  const Json data = json_of({"describe", "bas"});
  CHECK(data["kind"] == "dataset");
  CHECK(data["cases"] == 32);
  CHECK(data["units"] == 16);
  CHECK(data["mean_activity"] == 0.5);
  CHECK(data["binary"] == true);
  CHECK(json_of({"describe", folder.write("d.csv", "0,1,1\n1,0.5,1\n")})["binary"] == false);
  CHECK(run({"describe", path}).out.find("7 x 5") != std::string::npos);
}

TEST_CASE("describe tells an image's rows before its columns, and how many classes there are") {
  CHECK(json_of({"describe", io_test::fixture("u1_cube.npy")})["image"] == std::vector<int>{3, 4});
  CHECK(json_of({"describe", "artificial-modes-0.1"})["classes"] == 4);
  const Json plain = json_of({"describe", io_test::fixture("f4_c.npy")});
  CHECK(plain["classes"] == 0);
  CHECK(plain["image"].is_null());
}

TEST_CASE("list shows what there is, and only that") {
  const Json all = json_of({"list"});
  CHECK(keys(all) == Keys{"experiments", "rules", "estimators", "datasets", "models", "claims"});
  CHECK(all["rules"].size() == 4);
  CHECK(all["datasets"][0]["name"] == "mnist");
  CHECK(all["claims"].size() >= 37);
  CHECK(all["claims"][0]["id"] == "B01");
  CHECK(all["claims"][0]["kind"] == "E");
  CHECK(all["claims"][0]["test"] == "≤ 10⁻¹²");
  for (const Json& claim : all["claims"])  // what each part asserts, the same once
    if (claim["id"] == "S24") CHECK(claim["test"] == "> 40; < 60");
  CHECK_THAT(run({"list", "claims"}).out, Catch::Contains("S24  C     > 40; < 60  "));
  CHECK_FALSE(all["experiments"].empty());
  CHECK(keys(json_of({"list", "rules"})) == Keys{"rules"});
  CHECK(run({"list", "rules"}).out.find("metropolis") != std::string::npos);
  for (const Json& data : all["datasets"])
    if (data["name"] == "dna") {
      CHECK(data["train_cases"] == 2000);
      CHECK(data["test_cases"] == 1186);
    }
  for (const Json& experiment : all["experiments"])
    if (experiment["id"] == "yokoyama2019/fig2") {
      CHECK(experiment["smoke_seconds"] == 2);
      CHECK(experiment["quick_seconds"] == 12);
      CHECK(experiment["paper_seconds"] == 120);
    }
}

TEST_CASE("a model of a data folder is found by its path below it, and listed") {
  const io_test::Folder folder;
  std::filesystem::create_directories(folder / "outside/deeper");
  const std::string path = folder / "outside/one.npz";
  REQUIRE(run({"make", "random:7:5:0.5:1", "--out", path}).code == 0);
  std::filesystem::create_directories(folder / "outside/a/b/c/d");
  for (const char* below : {"outside/a/b/c/three.npz", "outside/a/b/c/d/four.npz"})
    std::filesystem::copy_file(path, folder / below);
  folder.write("outside/damaged.npz", "PK\x03\x04 no more");
  folder.write("cases.csv", "0,1,0,1,0,1,1\n1,1,0,0,0,1,0\n");
  REQUIRE(run({"sample", path, "--chains", "2", "--sweeps", "2", "--out",
               folder / "outside/states.npz"})
              .code == 0);
  const Environment here{{"BOLTZMARK_DATA", folder / ""}};
  const auto found = [&](Arguments words) {
    words.emplace_back("--json");
    const Run result = run(words, here);
    INFO(result.err);
    REQUIRE(result.code == 0);
    return Json::parse(result.out);
  };
  const Json described = found({"describe", "outside/one.npz"});
  CHECK(described["file"] == path);
  CHECK(described["log_z"].is_number());
  const Json exact = found({"exact", "outside/one.npz"});
  CHECK(exact["log_z"] == json_of({"exact", path})["log_z"]);
  CHECK(found({"estimate", "outside/one.npz", "--sweeps", "200"})["known_log_z"] ==
        described["log_z"]);
  const std::string cases = folder / "cases.csv";
  CHECK(found({"score", "outside/one.npz", cases})["log_z"] ==
        json_of({"score", path, cases})["log_z"]);
  CHECK(run({"compare", "outside/one.npz", "--methods", "ais", "--sweeps", "20", "--repeats", "2",
             "--out", folder / "compare"},
            here)
            .code == 0);
  // In any of the folders that are named.
  const std::string named = ":" + (folder / "none") + "::" + (folder / "");
  CHECK(run({"describe", "outside/one.npz"}, {{"BOLTZMARK_DATA", named}}).code == 0);
  // So are cases of one's own.
  io_test::Folder mine;
  mine.write("mine.csv", "0,1,0\n1,0,1\n");
  const Run own = run({"describe", "mine.csv", "--json"}, {{"BOLTZMARK_DATA", mine / ""}});
  REQUIRE(own.code == 0);
  CHECK(Json::parse(own.out)["units"] == 3);
  CHECK(run({"describe", "mine.csv"}).code == 2);
  check_refused(run({"exact", "outside/one.npz"}), {"outside/one.npz: "});
  check_refused(run({"exact", "outside/two.npz"}, here), {"outside/two.npz: "});
  // What leads out of a data folder is no path below it.
  check_refused(run({"exact", "outside/../outside/one.npz"}, here),
                {"outside/../outside/one.npz: "});
  std::map<std::string, std::string> files;
  const Json listed = found({"list", "models"});
  for (const Json& model : listed["models"])
    if (model.contains("file")) files[model["file"]] = model["description"];
  CHECK(files.at("outside/one.npz").find("a file: 7-5, log Z ") == 0);
  CHECK(files.at("models/salakhutdinov2010/mnist-20-30.npz").find("784-20-30") !=
        std::string::npos);
  CHECK(files.contains("models/bruegge2013/bas-pt/00.npz"));
  CHECK(files.contains("outside/a/b/c/three.npz"));  // no deeper ones are looked for
  for (const char* none :
       {"outside/a/b/c/d/four.npz", "outside/damaged.npz", "outside/states.npz", "cases.csv"})
    CHECK_FALSE(files.contains(none));
}

TEST_CASE("bytes of a file's name that are no UTF-8 are replaced in JSON, not left out") {
  const io_test::Folder folder;
  const std::string path = saved(random_rbm(3, 2, 1, 1), folder / "m\xff.npz");
  CHECK(json_of({"describe", path})["file"] == folder / "m\xEF\xBF\xBD.npz");  // U+FFFD
  const std::string umlaut = saved(random_rbm(3, 2, 1, 1), folder / "m\xC3\xBC.npz");
  CHECK(json_of({"describe", umlaut})["file"] == umlaut);
  // Two names that are alike then are two models all the same, each with runs of its own.
  const std::string other = saved(random_rbm(3, 8, 1, 2), folder / "m\xfe.npz"),
                    cases = folder.write("d\xff.csv", "0,1,1\n1,0,0\n");
  const Json compared = json_of({"compare", path, other, "--base", cases, "--methods", "rts",
                                 "--sweeps", "200", "--repeats", "2", "--out", folder / "o\xff"});
  REQUIRE(compared["cells"].size() == 2);
  for (const int m : {0, 1}) {
    const double truth = json_of({"exact", m == 0 ? path : other})["log_z"];
    CHECK(double{compared["models"][m]["truth"]} == Approx(truth));
    CHECK(std::abs(double{compared["cells"][m]["bias"]}) < 0.5);
  }
  CHECK(std::abs(double{compared["models"][0]["truth"]} - double{compared["models"][1]["truth"]}) >
        2);
}

TEST_CASE("describe says on demand which base an estimate would begin from") {
  const io_test::Folder folder;
  const std::string votes = folder / "votes.npz", flat = folder / "flat.npz";
  REQUIRE(run({"make", "votes:200:60:8:10:1", "--out", votes}).code == 0);
  REQUIRE(run({"make", "random:20:10:0.1:1", "--out", flat}).code == 0);
  for (const std::string& path : {votes, flat}) {
    const Json plain = json_of({"describe", path}), told = json_of({"describe", path, "--base"});
    CHECK_FALSE(plain.contains("base"));
    const Json estimate = json_of({"estimate", path, "--sweeps", "50"});
    CHECK(told["base"] == estimate["base"]);
  }
  CHECK(json_of({"describe", votes, "--base"})["base"] == "modes");
  check_refused(run({"describe", "dna", "--base"}), {"--base (must go with a Boltzmann machine"});
  check_refused(run({"describe", flat, "--binarise", "grey"}),
                {"--binarise (must go with a data set"});
  check_refused(run({"describe", "no.such", "--base"}), {"no.such"});
}

TEST_CASE("doctor reports the SIMD path that was asked for") {
  Process process({"doctor", "--json"}, {{"BOLTZMARK_SIMD", "sse4"}});
  const Run result = process.wait();
  const Json health = Json::parse(result.out);
  CHECK(health["simd"] == "SSE4");
  CHECK(health["simd_requested"] == "sse4");
  CHECK(health["simd_paths"].back() == "sse4");
  CHECK(result.code == (health["problems"].empty() ? 0 : 1));
  CHECK(json_of({"doctor", "--threads", "1"}, result.code)["threads"] == 1);
  const Json broken = json_of({"doctor", "--out", "/proc/out"}, 1);
  CHECK(broken["out_writable"] == false);
}

TEST_CASE("doctor tells of a data set whose test file alone is damaged") {
  const io_test::Folder folder;
  folder.write("t10k-images-idx3-ubyte", "no images");
  const Run result = run({"doctor", "--json"}, {{"BOLTZMARK_DATA", folder / ""}});
  CHECK(result.code == 1);
  const Json health = Json::parse(result.out);
  CHECK_THAT(health["problems"].dump(), Catch::Contains("t10k-images-idx3-ubyte"));
  for (const Json& set : health["datasets"])
    CHECK(set["intact"] == (set["found"] == true && set["name"] != "mnist"));
}

TEST_CASE("verify runs the checks that are named, by check, subject or claim") {
  const Json flip = json_of({"verify", "flip", "--cases", "2"});
  CHECK(keys(flip) == Keys{"holds", "failed", "seconds", "checks"});
  REQUIRE_FALSE(flip["checks"].empty());
  for (const Json& check : flip["checks"]) {
    CHECK(keys(check) == Keys{"name", "subject", "statement", "claim", "cases", "value", "bound",
                              "holds", "detail"});
    CHECK(check["subject"] == "flip");
    CHECK(check["holds"] == true);
  }
  const Json claim = json_of({"verify", "B01", "--cases", "2"});
  for (const Json& check : claim["checks"]) CHECK(check["claim"] == "B01");
  const std::string all = fmt::format("{}", claim["checks"].size());
  CHECK_THAT(run({"verify", "B01", "--cases", "1"}).out,
             Catch::Contains("\n" + all + " of " + all + " checks hold ("));
}

TEST_CASE("verify draws its models of the seed, as many as are asked for") {
  const auto checks = [](const char* seed, int cases) {
    return json_of({"verify", "flip", "--cases", std::to_string(cases), "--seed", seed})["checks"];
  };
  const Json first = checks("1", 2);
  CHECK(checks("1", 2) == first);
  CHECK(checks("2", 2) != first);
  CHECK(checks("1", 3) != first);
  // A bound is of the check, whatever the models.
  const Json second = checks("2", 2);
  std::size_t others = 0;
  for (std::size_t c = 0; c < first.size(); ++c) {
    CHECK(first[c]["bound"] == second[c]["bound"]);
    others += first[c]["value"] != second[c]["value"];
  }
  CHECK(others > 0);
}

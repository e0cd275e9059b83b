// Modes and lower bounds on the command line.
#include <catch2/catch.hpp>
#include <cmath>
#include <span>

#include "boltzmark/io/formats/npz.hpp"
#include "verification/checks/known/known_model.hpp"
#include "verification/exact/support/well_models.hpp"
#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/io/files.hpp"

namespace {

using namespace cli_test;
using well_models::golf_hole;
using well_models::hidden_well;
using well_models::Planted;

const Arguments kTempering = {"--sweeps", "1000", "--temperatures", "50",
                              "--chains", "32",   "--base",         "uniform"};

// A dump as versions before the lower bound wrote it.
void forget_bound(const std::string& from, const std::string& to) {
  const boltzmark::Npz file(from);
  boltzmark::NpzWriter older(to);
  for (const char* name : {"D", "rung", "beta", "log_prior", "log_z_hat", "random_rungs"}) {
    boltzmark::Array array = file.read(name);
    const std::vector<std::uint64_t> shape = array.shape;
    array.shape = {array.count()};
    if (array.type == boltzmark::ElementType::float64) {
      const Eigen::VectorXd values = array.vector();
      older.add(name, std::span<const double>(values.data(), array.count()), shape);
    } else {
      const std::vector<std::int32_t> values = array.integers();
      older.add(name, std::span<const std::int32_t>(values), shape);
    }
  }
  older.commit();
}

}  // namespace

TEST_CASE("an estimate that misses a golf hole is below_bound, stored and read again too") {
  const io_test::Folder folder;
  const Planted planted = golf_hole(60, 8);
  const std::string path = saved(planted.model, folder / "m.npz");
  const std::string dump = folder / "s.npz", old = folder / "old.npz";
  const Json result = json_of(with({"estimate", path, "--dump", dump}, kTempering));
  INFO(result.dump());
  CHECK(result["log_z"].get<double>() < planted.log_z - 10);
  CHECK(result["status"] == "below_bound");
  CHECK(result["lower_bound"].get<double>() == Approx(planted.log_z).epsilon(1e-12));
  CHECK(result["lower_bound_error"].get<double>() < 1e-8);
  CHECK(keys(result["lower_bound_of"]) ==
        Keys{"side", "states", "all_states", "modes", "listed", "mean_field"});
  CHECK(result["lower_bound_of"]["side"] == "hidden");
  CHECK(result["lower_bound_of"]["states"] == 256);
  CHECK(result["lower_bound_of"]["all_states"] == true);
  CHECK(result["lower_bound_of"]["listed"].get<double>() == Approx(planted.log_z).epsilon(1e-12));
  CHECK(result["lower_bound_of"]["mean_field"].get<double>() < planted.log_z - 1e-6);
  const Json again = json_of({"estimate", "--from", dump, "--method", "mbar"});
  CHECK(again["status"] == "below_bound");
  CHECK(again["lower_bound"] == result["lower_bound"]);
  CHECK(again["lower_bound_of"].is_null());
  forget_bound(dump, old);
  const Json older = json_of({"estimate", "--from", old});
  CHECK(older["lower_bound"].is_null());
  CHECK(older["status"] == "ok");
  REQUIRE(older["warnings"].size() == 1);
  CHECK_THAT(older["warnings"][0].get<std::string>(), Catch::Contains("without a lower bound"));
  const Run text = run(with({"estimate", path}, kTempering));
  CHECK_THAT(text.out, Catch::Contains("log Z at least") &&
                           Catch::Contains("by all 256 states of the hidden side: log Z itself"));
  const char* pointer = "below_bound (log Z itself is listed: `boltzmark exact` gives it)";
  CHECK_THAT(text.out, Catch::Contains(pointer));
  // Not of an estimate that is ok, nor of a bound that is of some states.
  const std::string easy = saved(random_rbm(8, 6, 0.1, 1), folder / "e.npz"),
                    wide = saved(golf_hole(60, 20).model, folder / "w.npz");
  for (const std::string& other : {easy, wide})
    CHECK_THAT(run(with({"estimate", other}, kTempering)).out,
               !Catch::Contains("log Z itself is listed"));
}

TEST_CASE("every method is refused below the bound, and compare counts it") {
  const io_test::Folder folder;
  const Planted planted = golf_hole(60, 8);
  const std::string path = saved(planted.model, folder / "m.npz");
  for (const char* method : {"ais", "raise", "smc", "ss", "wang-landau"}) {
    const Json result = json_of(with({"estimate", path, "--method", method}, kTempering));
    INFO(result.dump());
    CHECK(result["status"] == "below_bound");
  }
  // A bound that lists all states is the truth, which a comparison refuses nothing by; what annealing
  // from other bases finds refuses there too, and an island that found the hole alone.
  const std::string larger = saved(golf_hole(60, 18).model, folder / "l.npz");
  const auto refused = [&](const std::string& file, const char* base) {
    const Json compared =
        json_of({"compare", file, "--methods", "ais,smc", "--sweeps", "500", "--repeats", "2",
                 "--chains", "1000", "--base", base, "--out", folder / "c"});
    int all = 0;
    for (const Json& cell : compared["cells"]) all += cell["refused"].get<int>();
    return all;
  };
  CHECK(refused(path, "auto") == 0);
  CHECK(refused(path, "uniform") == 4);
  CHECK(refused(larger, "uniform") == 4);
}

TEST_CASE("RAISE is refused where its cases never are in a mode that the model is in") {
  // Modes all on and all off, half a nat apart: cases of one alone weigh it as if it were all.
  const io_test::Folder folder;
  const std::string path = folder / "m.npz";
  json_of({"make", "tilted:40:10:3:0.5", "--out", path});
  std::string on, off;
  for (int i = 0; i < 40; ++i) {
    on += i == 0 ? "1" : ",1";
    off += i == 0 ? "0" : ",0";
  }
  const auto status = [&](const std::string& cases) {
    return json_of({"estimate", path, "--method", "raise", "--data", folder.write("c.csv", cases),
                    "--chains", "100", "--sweeps", "2000"})["status"];
  };
  CHECK(status(on + "\n" + on + "\n") != "ok");
  CHECK(status(off + "\n" + off + "\n") != "ok");
  std::string both;  // as likely as they are, nearly
  for (int i = 0; i < 40; ++i) both += on + "\n" + off + "\n" + on + "\n";
  CHECK(status(both) == "ok");
  CHECK(status(on + "\n" + off + "\n" + on + "\n") == "few_effective_samples");
}

TEST_CASE("RAISE is refused where RTS by the run that its cases are from says otherwise") {
  const io_test::Folder folder;
  const std::string well = folder / "m.npz";
  const double log_z = json_of({"make", "well:200:16:5:2", "--out", well})["log_z"];
  const Json raise =
      json_of({"estimate", well, "--method", "raise", "--sweeps", "2000", "--seed", "2"});
  INFO(raise.dump());
  CHECK(raise["log_z"].get<double>() > log_z + 5 * raise["std_error"].get<double>());
  CHECK(raise["status"] == "not_converged");
  CHECK_THAT(raise["warnings"][0].get<std::string>(), Catch::Contains("RTS by the run"));
  const std::string easy = folder / "e.npz";
  json_of({"make", "random:30:10:0.3:1", "--out", easy});
  CHECK(json_of({"estimate", easy, "--method", "raise", "--sweeps", "2000"})["status"] == "ok");
}

TEST_CASE("a score of cases in a well that AIS misses is below_bound by them") {
  const io_test::Folder folder;
  const Planted planted = golf_hole(60, 8);
  const std::string path = saved(planted.model, folder / "m.npz");
  std::string row = "1";
  for (int i = 1; i < 60; ++i) row += ",1";
  const std::string data = folder.write("d.csv", row + "\n" + row + "\n");
  const Json score = json_of(with({"score", path, data, "--method", "ais"}, kTempering));
  INFO(score.dump());
  CHECK(score["status"] == "below_bound");
  CHECK(score["lower_bound"].get<double>() == Approx(planted.log_z).epsilon(1e-9));
}

TEST_CASE("the base is that of the modes where a pilot finds it better, and uniform where not") {
  const io_test::Folder folder;
  const auto base_of = [&](const boltzmark::Layered& model, const Arguments& more) {
    return json_of(with({"estimate", saved(model, folder / "m.npz"), "--sweeps", "200"}, more));
  };
  // A free visible unit gains nothing by rates other than 1/2, and one of bias 4 gains.
  CHECK(base_of(independent_rbm(Eigen::VectorXd::Zero(30), Eigen::VectorXd::Zero(5)), {})["base"] ==
        "uniform");
  const boltzmark::Layered biased =
      independent_rbm(Eigen::VectorXd::Constant(30, 4), Eigen::VectorXd::Zero(5));
  const Json found = base_of(biased, {});
  CHECK(found["base"] == "modes");
  CHECK(found["log_z"].get<double>() ==
        Approx(30 * std::log1p(std::exp(4)) + 5 * std::log(2)).margin(0.05));
  CHECK(base_of(biased, {"--base", "auto", "--threads", "1"})["log_z"] == found["log_z"]);
  CHECK(base_of(biased, {"--base", "uniform"})["base"] == "uniform");
  std::vector<boltzmark::Layer> spins(
      2, {boltzmark::Unit::multivalued(1), Eigen::VectorXd::Ones(4), {}});
  CHECK(base_of({spins, {Eigen::MatrixXd::Zero(4, 4)}}, {})["base"] == "uniform");
  check_refused(run({"estimate", folder / "m.npz", "--base-smoothing", "3"}), {"--base DATASET"});
}

TEST_CASE("a score's certain bound counts no state twice, whatever rounding its cases have") {
  const io_test::Folder folder;
  const auto bound_of = [&](const boltzmark::Layered& model, const std::vector<std::string>& values,
                            int units) {
    const std::string path = saved(model, folder / "m.npz");
    std::string rows;  // all of them
    const auto base = static_cast<int>(values.size());
    for (int state = 0, all = static_cast<int>(std::pow(base, units)); state < all; ++state)
      for (int u = 0, left = state; u < units; ++u, left /= base)
        rows += values[left % base] + (u + 1 < units ? "," : "\n");
    const std::string data = folder.write("d.csv", rows);
    const Json score = json_of({"score", path, data, "--method", "ais", "--sweeps", "500"});
    CHECK(score["status"] == "ok");
    const double log_z = json_of({"exact", path})["log_z"];
    CHECK(score["lower_bound"].get<double>() <= log_z + 1e-12);
    return log_z - score["lower_bound"].get<double>();
  };
  boltzmark::Layered spins = boltzmark::make_known_model("glass:4:4:0.3:1").model;
  CHECK(bound_of(spins, {"1", "0.9999999", "-1", "-0.9999999"}, 4) < 1e-9);
  CHECK(bound_of(random_rbm(4, 3, 1, 2), {"0", "1"}, 4) < 1e-9);
}

TEST_CASE("modes lists the wells, the likeliest first, and those that data lead to") {
  const io_test::Folder folder;
  const std::string path = saved(golf_hole(64, 8).model, folder / "m.npz");
  const std::string out = folder / "modes.npz", image = folder / "modes.pgm";
  const Json found = json_of({"modes", path, "--out", out, "--image", image});
  CHECK(keys(found) == Keys{"side", "climbs", "modes", "seed", "seconds"});
  REQUIRE(found["modes"].size() == 2);
  CHECK(keys(found["modes"][0]) == Keys{"log_f", "basin"});
  // All on: 64 log(1 + e^10) less what 8 hidden units cost; all off: 64 log 2.
  CHECK(found["modes"][0]["log_f"].get<double>() == Approx(64 * std::log(2) + 13).epsilon(1e-9));
  CHECK(found["modes"][1]["log_f"].get<double>() == Approx(64 * std::log(2)).epsilon(1e-12));
  // A quarter as many again; a step away from either mode by 8 hidden and 64 visible units, and the
  // signs of their weights.
  CHECK(found["climbs"] == 128 + 32 + 2 * (8 + 64) + 2 * (8 + 64));
  const boltzmark::Npz file(out);
  const Eigen::MatrixXd hidden = file.read("hidden").matrix();
  CHECK(hidden.row(0).minCoeff() == 1);
  CHECK(hidden.row(1).maxCoeff() == 0);
  const Eigen::MatrixXd visible = file.read("visible").matrix();
  CHECK(visible(0, 0) == Approx(1 / (1 + std::exp(-10))).epsilon(1e-6));
  CHECK(visible(1, 5) == 0.5);
  const std::string pixels = io_test::read_all(image);
  const std::string head = "P5\n19 10\n255\n";
  REQUIRE(pixels.size() == head.size() + 19 * 10);
  CHECK(pixels.starts_with(head));
  const auto pixel = [&](int x, int y) {
    return static_cast<unsigned char>(pixels[head.size() + static_cast<std::size_t>(y * 19 + x)]);
  };
  CHECK(pixel(0, 0) == 128);   // the frame
  CHECK(pixel(1, 1) == 255);   // the well
  CHECK(pixel(10, 1) == 128);  // 1/2
  const std::string narrow = saved(hidden_well(40, 20).model, folder / "w.npz");
  std::string row;
  const auto well = hidden_well(40, 20);
  for (int i = 0; i < 40; ++i)
    row += (i ? "," : "") + std::string(well.visible(i, 0) > 0 ? "1" : "0");
  const std::string data = folder.write("d.csv", row + "\n");
  const auto climbs = [&](const Arguments& more) {
    return json_of(with({"modes", narrow}, more))["climbs"].get<int>();
  };
  CHECK(climbs({"--data", data}) > climbs({}));
}

TEST_CASE(
    "modes are the same for any threads, of another seed's climbs others, and refuse bad input") {
  const io_test::Folder folder;
  const std::string path = saved(random_rbm(30, 12, 1.5, 3), folder / "m.npz");
  const auto modes = [&](const char* threads, const char* seed) {
    return json_of({"modes", path, "--threads", threads, "--seed", seed})["modes"];
  };
  CHECK(modes("1", "1") == modes("2", "1"));
  CHECK(modes("1", "1") != modes("1", "2"));
  check_refused(run({"modes", folder / "none.npz"}), {"none.npz"});
  check_refused(run({"modes", path, "--starts", "0"}), {"--starts = 0"});
  check_refused(run({"modes", path, "--binarise", "grey"}),
                {"--binarise is given (must come with --data)"});
  check_refused(run({"modes", path, "--image", folder / "a.pgm"}),
                {"--image (must go with a square"});
  check_refused(run({"modes", path, "--out", folder / "a.txt"}), {"must end in .npz"});
  check_refused(run({"modes", path, "--data", folder.write("d.csv", "0,1\n")}), {"has 2 units"});
  check_refused(run({"modes", path, "--out", path}), {"is both --out and MODEL"});
  const std::string smooth =
      saved({{{boltzmark::Unit::gaussian(), Eigen::VectorXd::Zero(4), Eigen::VectorXd::Ones(4)},
              {boltzmark::Unit::continuous(), Eigen::VectorXd::Zero(4), {}}},
             {Eigen::MatrixXd::Zero(4, 4)}},
            folder / "c.npz");
  check_refused(run({"modes", smooth}), {"c.npz: ", "Gaussian"});
  CHECK(folder.entries() == 3);
  CHECK(run({"modes", path, "--out", folder / "states.npz", "--force"}).code == 0);
}

TEST_CASE("modes binarises the grey levels that it climbs from as it is told to") {
  const io_test::Folder folder;
  const std::string path = saved(random_rbm(12, 12, 3, 5), folder / "m.npz"),
                    grey = folder.write("grey.csv", "0,100,200,0,100,200,0,100,200,0,100,255\n"),
                    low = folder.write("low.csv", "0,1,1,0,1,1,0,1,1,0,1,1\n"),
                    high = folder.write("high.csv", "0,0,1,0,0,1,0,0,1,0,0,1\n");
  const auto modes = [&](const Arguments& data) {
    Json found = json_of(with({"modes", path, "--starts", "4", "--data"}, data));
    found.erase("seconds");
    return found;
  };
  CHECK(modes({grey, "--binarise", "threshold:50"}) == modes({low}));
  CHECK(modes({grey, "--binarise", "threshold:150"}) == modes({high}));
  CHECK(modes({grey, "--binarise", "threshold:50"}) != modes({high}));
}

TEST_CASE("modes says where log f is a density, which is no bound of log Z") {
  const io_test::Folder folder;
  const auto told = [&](boltzmark::Unit hidden) {
    const boltzmark::Layered model({{boltzmark::Unit::continuous(), Eigen::VectorXd::Zero(2), {}},
                                    {hidden, Eigen::VectorXd::Constant(1, 0.5), {}}},
                                   {Eigen::Vector2d(3, 1)});
    const Run found = run({"modes", saved(model, folder / (hidden.name() + ".npz"))});
    CHECK(found.code == 0);
    return found.out.find("density, no bound of log Z") != std::string::npos;
  };
  CHECK(told(boltzmark::Unit::continuous()));
  CHECK_FALSE(told(boltzmark::Unit::multivalued(1)));
}

// Rounded to four places it would be above, and so not certain, of every other model.
TEST_CASE("what log Z certainly is not below is told without rounding up") {
  const io_test::Folder folder;
  bool rounds_up = false;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const std::string path = saved(random_rbm(8, 4, 1, seed), folder / "m.npz");
    const Arguments estimate = {"estimate", path, "--sweeps", "300", "--base", "uniform"};
    const Json found = json_of(estimate);
    const double lowest =
        found["lower_bound"].get<double>() - found["lower_bound_error"].get<double>();
    const std::string text = run(estimate).out, head = "log Z at least";
    const std::size_t at = text.find(head);
    REQUIRE(at != std::string::npos);
    const double told = std::stod(text.substr(at + head.size()));
    CHECK(told <= lowest);
    CHECK(told > lowest - 1.01e-4);
    rounds_up = rounds_up || std::round(lowest * 1e4) / 1e4 > lowest;
  }
  CHECK(rounds_up);
}

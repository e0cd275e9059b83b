// Models that carry their log Z: made, described, compared by, and dropped where parameters change.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "boltzmark/io/formats/npz.hpp"
#include "boltzmark/io/model_file.hpp"
#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/cli/program.hpp"

using namespace cli_test;

TEST_CASE("a made model carries its log Z, which describe shows and compare scores by") {
  const io_test::Folder folder;
  const std::string path = folder / "m.npz";
  const Json made = json_of({"make", "random:12:6:0.2:3", "--out", path});
  CHECK(keys(made) ==
        Keys{"out", "family", "layers", "log_z", "log_z_error", "log_z_by", "seconds"});
  CHECK(made["layers"] == Json{12, 6});
  const double log_z = made["log_z"];
  CHECK(log_z == Approx(json_of({"exact", path})["log_z"].get<double>()).epsilon(1e-13));
  const Json described = json_of({"describe", path});
  CHECK(described["log_z"] == log_z);
  CHECK(described["log_z_by"] == "enumeration");
  CHECK(made["log_z_by"] == "enumeration");
  CHECK(made["log_z_error"] == described["log_z_error"]);
  CHECK(made["log_z_error"].get<double>() < 1e-9);  // rounding
  CHECK(run({"describe", path}).out.find("known log Z") != std::string::npos);
  CHECK(run({"make", "random:12:6:0.2:3", "--out", path}).code == 2);

  // What cannot be enumerated is compared by what its file says.
  const std::string big = folder / "big.npz";
  const double known = json_of({"make", "product:10:10:5:0.5:1", "--out", big})["log_z"];
  const Json compared = json_of({"compare", big, "--methods", "ais", "--sweeps", "50", "--repeats",
                                 "2", "--chains", "16", "--out", folder / "c"});
  CHECK(compared["truth"] == known);
}

TEST_CASE("made conjunctions carry a log Z that enumeration finds, and the bytes of their seed") {
  const io_test::Folder folder;
  const std::string path = folder / "m.npz", same = folder / "same.npz",
                    other = folder / "other.npz";
  const Json made = json_of({"make", "conjunctions:14:10:5:3:6:1", "--out", path});
  CHECK(made["log_z"] == Approx(json_of({"exact", path})["log_z"].get<double>()).epsilon(1e-13));
  const Json described = json_of({"describe", path});
  CHECK(described["log_z"] == made["log_z"]);
  CHECK(described["log_z_error"] == made["log_z_error"]);
  CHECK(described["log_z_by"] == "a sum along the line");
  json_of({"make", "conjunctions:14:10:5:3:6:1", "--out", same});
  json_of({"make", "conjunctions:14:10:5:3:6:2", "--out", other});
  CHECK(io_test::read_all(same) == io_test::read_all(path));
  CHECK(io_test::read_all(other) != io_test::read_all(path));
}

TEST_CASE(
    "a log Z in a file that a bound refutes is a warning, which leaves the estimate as it is") {
  const io_test::Folder folder;
  const boltzmark::Layered model = random_rbm(10, 4, 0.5, 1);
  const std::string path = folder / "m.npz";
  boltzmark::write_model(model, path);
  const double truth = json_of({"exact", path})["log_z"];
  Json estimates[3];
  int i = 0;
  for (const double told : {truth, truth - 1, truth + 1}) {
    boltzmark::write_known_model(model, {.log_z = told, .error = 0, .by = "hand"}, path);
    estimates[i] = json_of({"estimate", path, "--sweeps", "500"});
    CHECK((estimates[i]["warnings"].dump().find("lower than log Z certainly is") !=
           std::string::npos) == (told < truth));
    CHECK(estimates[i]["log_z"] == estimates[0]["log_z"]);
    CHECK(estimates[i]["status"] == estimates[0]["status"]);
    // Enumeration knows better, and says so.
    const Run exact = run({"exact", path});
    CHECK(exact.code == 0);
    CHECK((exact.err.find("says that its log Z is") != std::string::npos) == (told != truth));
    ++i;
  }
}

TEST_CASE("convert keeps what a file says of log Z where the parameters are the same bits") {
  const io_test::Folder folder;
  const std::string made = folder / "m.npz";
  const double log_z = json_of({"make", "random:12:6:0.2:3", "--out", made})["log_z"];
  const auto converted = [&](const std::string& name, const std::string& precision) {
    const Run result = run({"convert", made, folder / name, "--precision", precision});
    CHECK(result.code == 0);
    return std::pair(json_of({"describe", folder / name})["log_z"], result.err);
  };
  const auto [same, nothing] = converted("same.npz", "double");
  CHECK(same == log_z);
  CHECK(nothing.empty());
  for (const auto& [name, precision] :
       {std::pair("float.npz", "float"), std::pair("double.mat", "double")}) {
    const auto [none, said] = converted(name, precision);
    CHECK(none.is_null());
    CHECK_THAT(said, Catch::Contains("without the log Z that " + made + " says"));
  }
}

TEST_CASE("changed parameters drop the log Z that a file says, and a damaged one is refused") {
  const io_test::Folder folder;
  const std::string path = folder / "m.npz", changed = folder / "changed.npz";
  run({"make", "random:12:6:0.2:3", "--out", path});
  const boltzmark::Npz file(path);
  const auto copy = [&](const std::string& to, double shift, double log_z) {
    boltzmark::NpzWriter out(to);
    for (const std::string name : {"W", "b", "c"}) {
      const boltzmark::Array array = file.read(name);
      if (name == "W") {
        out.add(name, array.matrix());
      } else {
        Eigen::VectorXd values = array.vector();
        if (name == "c") values[2] += shift;
        out.add(name, values);
      }
    }
    out.add("log_z", Eigen::VectorXd(Eigen::VectorXd::Constant(1, log_z)));
    out.add("log_z_error", Eigen::VectorXd(Eigen::VectorXd::Zero(1)));
    out.add("log_z_by", std::vector<std::uint8_t>{'m', 'e'}, {2});
    const boltzmark::Array of = file.read("log_z_of");
    std::vector<std::int64_t> digest(1);
    std::memcpy(digest.data(), of.bytes.data(), sizeof digest[0]);
    out.add("log_z_of", digest, {1});
    out.commit();
  };
  copy(folder / "same.npz", 0, 5);
  CHECK(json_of({"describe", folder / "same.npz"})["log_z"] == 5.0);
  CHECK(json_of({"describe", folder / "same.npz"})["log_z_by"] == "me");
  copy(changed, 1e-12, 5);
  CHECK(json_of({"describe", changed})["log_z"].is_null());
  copy(folder / "nan.npz", 0, NAN);
  const Run refused = run({"describe", folder / "nan.npz"});
  CHECK(refused.code == 2);
  CHECK(refused.err.find("log_z") != std::string::npos);
  // Single precision has other parameters.
  REQUIRE(run({"convert", path, folder / "float.npz", "--precision", "float"}).code == 0);
  CHECK(json_of({"describe", folder / "float.npz"})["log_z"].is_null());
}

TEST_CASE("how a log Z is known is written as long as it may be read") {
  const io_test::Folder folder;
  const auto described = [&](std::size_t count) {
    std::vector<std::uint8_t> text;
    for (std::size_t i = 0; i < count; ++i) text.insert(text.end(), {0xe2, 0x82, 0xac});
    boltzmark::NpzWriter out(folder / "m.npz");
    out.add("W", Eigen::MatrixXd(Eigen::MatrixXd::Zero(2, 1)));
    out.add("b", Eigen::VectorXd(Eigen::VectorXd::Zero(2)));
    out.add("c", Eigen::VectorXd(Eigen::VectorXd::Zero(1)));
    out.add("log_z", Eigen::VectorXd(Eigen::VectorXd::Constant(1, 2)));
    out.add("log_z_by", text, {text.size()});
    out.commit();
    return run({"describe", folder / "m.npz"});
  };
  CHECK(described(4096).code == 0);  // as many characters as NumPy's own strings may have
  CHECK(described(5462).code == 2);
}

TEST_CASE(
    "a log Z is read that NumPy saved as a number, with or without its error and how it is known") {
  const Json scalar = json_of({"describe", io_test::fixture("known_scalar.npz")});
  CHECK(scalar["log_z"] == 1.25);
  CHECK(scalar["log_z_error"].is_null());
  CHECK(scalar["log_z_by"].is_null());
  const Json text = json_of({"describe", io_test::fixture("known_text.npz")});
  CHECK(text["log_z"] == 1.25);
  CHECK(text["log_z_error"] == 0.5);
  CHECK(text["log_z_by"] == "a sum");
  // Converted, a file says what it said, and no more.
  const io_test::Folder folder;
  const std::string copy = folder / "copy.npz";
  REQUIRE(run({"convert", io_test::fixture("known_scalar.npz"), copy}).code == 0);
  CHECK(json_of({"describe", copy})["log_z"] == 1.25);
  CHECK(json_of({"describe", copy})["log_z_error"].is_null());
  CHECK(json_of({"describe", copy})["log_z_by"].is_null());
  // An author may have any name.
  const std::string umlaut = io_test::fixture("known_umlaut.npz");
  CHECK(json_of({"describe", umlaut})["log_z_by"] == "Müller, √2, 𝔽");
  REQUIRE(run({"convert", umlaut, folder / "bytes.npz"}).code == 0);
  CHECK(json_of({"describe", folder / "bytes.npz"})["log_z_by"] == "Müller, √2, 𝔽");
  // What a terminal would obey is shown as text.
  const std::string escape = io_test::fixture("known_unicode.npz");
  CHECK(json_of({"describe", escape})["log_z_error"] == 0.0);
  CHECK(run({"describe", escape}).out.find('\x1b') == std::string::npos);
  CHECK(run({"describe", escape}).out.find("a sum") != std::string::npos);
  const std::string red = folder / "\x1b[31mred.npz";
  std::filesystem::copy_file(copy, red);
  const std::string shown = run({"describe", red}).out;
  CHECK(shown.find('\x1b') == std::string::npos);
  CHECK_THAT(shown, Catch::Contains(" [31mred.npz\n"));
  CHECK(json_of({"describe", red})["file"] == red);
  // A second line of a name is none of the result, and the second set of controls is none of text.
  const std::string lines = folder / "a\nstatus  ok\xC2\x9B[31m.npz";
  std::filesystem::copy_file(copy, lines);
  CHECK_THAT(run({"describe", lines}).out, Catch::Contains("a status  ok [31m.npz\n"));
  const std::string escaped = run({"describe", lines, "--json"}).out;
  CHECK_THAT(escaped, Catch::Contains("a\\nstatus  ok\\u009b[31m.npz"));
  CHECK(Json::parse(escaped)["file"] == lines);
  // Nor does what is said on stderr.
  const std::string without = run({"convert", red, folder / "\x1b[31m.mat"}).err;
  CHECK_THAT(without, Catch::Contains("without the log Z"));
  CHECK(without.find('\x1b') == std::string::npos);
  check_refused(run({"describe", io_test::fixture("known_texts.npz")}),
                {"log_z_by", "(2)", "text"});
  const Json estimate =
      json_of({"estimate", io_test::fixture("known_scalar.npz"), "--sweeps", "200"});
  CHECK(estimate["known_log_z"] == 1.25);
}

TEST_CASE("a file's log Z is dropped where one number alone of its parameters is another") {
  const io_test::Folder folder;
  const auto network = [](const std::vector<int>& units) {
    std::vector<boltzmark::Layer> layers(units.size());
    std::vector<Eigen::MatrixXd> weights;
    for (std::size_t l = 0; l < units.size(); ++l) {
      const auto size = static_cast<Eigen::Index>(4 - l);
      layers[l] = {.unit = boltzmark::Unit::from_code(units[l]),
                   .bias = Eigen::VectorXd::LinSpaced(size, -1, 1),
                   .sigma0 = {}};
      if (layers[l].unit.has_scale()) layers[l].sigma0 = Eigen::VectorXd::Ones(size);
      if (l > 0) weights.push_back(Eigen::MatrixXd::Constant(size + 1, size, 0.25));
    }
    weights[0](0, 1) = -0.5;
    return boltzmark::Layered(std::move(layers), std::move(weights));
  };
  // The file of one model with the truth of another's.
  const auto with_truth_of = [&](const boltzmark::Layered& model, const std::string& truth) {
    const std::string path = folder / "mixed.npz", own = folder / "own.npz";
    boltzmark::write_model(model, own);
    const boltzmark::Npz parameters(own), known(truth);
    boltzmark::NpzWriter file(path);
    for (const boltzmark::Npz* from : {&parameters, &known})
      for (const std::string& name : from->names()) {
        if (from == &known && !name.starts_with("log_z")) continue;
        const boltzmark::Array array = from->read(name);
        const auto as = [&]<class Number>(Number) {
          std::vector<Number> values(array.bytes.size() / sizeof(Number));
          std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
          file.add(name, std::span<const Number>(values), array.shape);
        };
        if (array.type == boltzmark::ElementType::float64) as(double{});
        if (array.type == boltzmark::ElementType::int32) as(std::int32_t{});
        if (array.type == boltzmark::ElementType::int64) as(std::int64_t{});
        if (array.type == boltzmark::ElementType::uint8) as(std::uint8_t{});
      }
    file.commit();
    return json_of({"describe", path})["log_z"];
  };
  const auto changed = [](const boltzmark::Layered& model, int layer, const auto& change) {
    std::vector<boltzmark::Layer> layers;
    for (int l = 0; l < model.layers(); ++l) layers.push_back(model.layer(l));
    std::vector<Eigen::MatrixXd> weights = model.weights();
    change(layers[static_cast<std::size_t>(layer)], weights);
    return boltzmark::Layered(std::move(layers), std::move(weights));
  };
  using Weights = std::vector<Eigen::MatrixXd>;
  for (const std::vector<int>& units : {std::vector<int>{0, 0}, {0, 3, 2}, {-2, 0}}) {
    const boltzmark::Layered model = network(units);
    const std::string truth = folder / "truth.npz";
    boltzmark::write_known_model(model, {.log_z = 5, .error = 0, .by = "me"}, truth);
    CHECK(with_truth_of(model, truth) == 5.0);
    const auto dropped = [&](const char* what, int layer, const auto& change) {
      INFO(what << " of layer " << layer << " of " << units.size());
      CHECK(with_truth_of(changed(model, layer, change), truth).is_null());
    };
    for (int l = 0; l < model.layers(); ++l) {
      dropped("a bias", l, [](boltzmark::Layer& layer, Weights&) { layer.bias[1] += 1e-12; });
      if (l + 1 == model.layers()) continue;
      dropped("a weight", l, [&](boltzmark::Layer&, Weights& weights) {
        weights[static_cast<std::size_t>(l)](2, 1) += 1e-12;
      });
    }
    dropped("two weights' places", 0, [](boltzmark::Layer&, Weights& weights) {
      std::swap(weights[0](0, 1), weights[0](1, 0));
    });
    if (units[0] == -2)
      dropped("a sigma", 0, [](boltzmark::Layer& layer, Weights&) { layer.sigma0[2] = 1.5; });
    else
      dropped("the units", 0, [](boltzmark::Layer& layer, Weights&) {
        layer.unit = boltzmark::Unit::multivalued(1);
      });
    dropped("the hidden units", 1, [](boltzmark::Layer& layer, Weights&) {
      layer.unit = boltzmark::Unit::multivalued(5);
    });
  }
}

TEST_CASE("a model that cannot be made leaves nothing behind") {
  const io_test::Folder folder;
  for (const Arguments& bad : {Arguments{"make", "ising:5:1", "--out", folder / "m.npz"},
                               {"make", "ising:4:critical", "--out", folder / "m.mat"},
                               {"make", "nothing", "--out", folder / "m.npz"},
                               {"make", "conjunctions:9:4:10:2:1:1", "--out", folder / "m.npz"},
                               {"make", "ising:4:critical"}}) {
    const Run refused = run(bad);
    CHECK(refused.code == 2);
    CHECK(lines(refused.err) == 1);
  }
  CHECK(folder.entries() == 0);
}

// What the page of conventions says, held to what the program does.
#include <catch2/catch.hpp>
#include <sstream>

#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "experiments/kit/files.hpp"
#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/cli/program.hpp"

namespace {

using namespace cli_test;
using boltzmark::Layer;
using boltzmark::Layered;
using boltzmark::Unit;

std::string page() { return run({"help", "conventions"}).out; }

// The number that follows a text in the page, as it is printed there: six digits after the point.
double printed(const std::string& text, const std::string& before) {
  const std::size_t at = text.find(before);
  REQUIRE(at != std::string::npos);
  return std::stod(text.substr(at + before.size()));
}

constexpr double kPrinted = 5.01e-7;  // what rounding to six digits may leave

/// One visible unit of a kind and a Bernoulli one, weight 1, biases 0.
Layered pair_of(Unit visible) {
  Layer layer{.unit = visible, .bias = Eigen::VectorXd::Zero(1), .sigma0 = {}};
  if (visible.has_scale()) layer.sigma0 = Eigen::VectorXd::Ones(1);
  return {{layer, {.bias = Eigen::VectorXd::Zero(1), .sigma0 = {}}}, {Eigen::MatrixXd::Ones(1, 1)}};
}

}  // namespace

TEST_CASE("docs/conventions.md is what boltzmark help conventions prints, and names every method") {
  const std::string text = page();
  CHECK(text == io_test::read_all(boltzmark::experiments::source_path("docs/conventions.md")));
  for (const boltzmark::Method& method : boltzmark::registered_methods())
    CHECK(text.find("\n| " + method.name + " |") != std::string::npos);
}

TEST_CASE("the worked example of the conventions is what exact, score and estimate give") {
  const std::string text = page();
  const io_test::Folder folder;
  const Eigen::Vector2d weights(std::log(3.0), std::log(2.0)), bias(std::log(2.0), 0);
  const std::string model =
      saved(Layered::rbm(weights, bias, Eigen::VectorXd::Zero(1)), folder / "two.npz");
  const double log_z = json_of({"exact", model}).at("log_z");
  CHECK(std::abs(log_z - std::log(27.0)) < 1e-12);
  CHECK(std::abs(printed(text, "so that log Z = ") - log_z) < kPrinted);
  const auto scored = json_of({"score", model, folder.write("case.csv", "1,1\n")});
  CHECK(std::abs(printed(text, "log p = log(14/27) = ") -
                 double(scored.at("mean_log_likelihood"))) < kPrinted);
  const auto estimate = json_of({"estimate", model, "--method", "ti", "--base", "uniform"});
  CHECK(double(estimate.at("lower")) < log_z);
  CHECK(double(estimate.at("upper")) > log_z);
}

TEST_CASE("log Z of every type of unit is what the conventions work out by hand") {
  std::istringstream text(page());
  std::string line;
  while (std::getline(text, line) && !line.starts_with("| visible unit |")) {
  }
  std::getline(text, line);  // the rule below the head
  int types = 0;
  for (; std::getline(text, line) && line.starts_with("| "); ++types) {
    INFO(line);
    const std::string unit = line.substr(2, line.find(" |") - 2);
    const double said = std::stod(line.substr(line.rfind("| ", line.size() - 3) + 2));
    CHECK(std::abs(boltzmark::exact_log_z(pair_of(Unit::parse(unit))).log_z - said) < kPrinted);
  }
  CHECK(types == 5);
}

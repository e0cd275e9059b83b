// Spectra against SLEPc: vectors/spectrum.json, made by vectors/spectrum.py, which also runs here where
// SLEPc is installed.
#include <Eigen/Core>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "boltzmark/exact/spectrum/spectrum.hpp"
#include "experiments/kit/files.hpp"
#include "verification/skip.hpp"

namespace {

using namespace boltzmark;
using nlohmann::json;

// The generator of spectrum.py, written out again.
Layered model_of(const json& c) {
  const int n = c.at("visible"), m = c.at("hidden");
  const double scale = c.at("scale");
  std::uint64_t seed = c.at("seed");
  const auto next = [&] {
    seed = seed * 16807 % 2147483647;
    return scale * (2 * (static_cast<double>(seed) / 2147483647.0) - 1);
  };
  Eigen::MatrixXd weights(n, m);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) weights(i, j) = next();
  Eigen::VectorXd visible(n), hidden(m);
  for (double& b : visible) b = next();
  for (double& b : hidden) b = next();
  return Layered::rbm(weights, visible, hidden);
}

// Both solvers stop at residuals of 1e-12 or below, of eigenvalues that are well conditioned here.
void check_spectrum(const json& c) {
  INFO(c.dump());
  const Spectrum found = spectrum(model_of(c), parse_rule(c.at("rule").get<std::string>()));
  CHECK(found.converged);
  CHECK(found.slem == Approx(c.at("slem").get<double>()).margin(2e-11).epsilon(0));
  CHECK(found.second_eigenvalue ==
        Approx(c.at("second_eigenvalue").get<double>()).margin(2e-11).epsilon(0));
}

// What spectrum.py prints of one model.
std::string found_by_slepc(const std::string& model) {
  ::setenv("SCRIPT", experiments::source_path("verification/exact/vectors/spectrum.py").c_str(), 1);
  FILE* pipe = ::popen(("python3 \"$SCRIPT\" " + model).c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  REQUIRE(::pclose(pipe) == 0);
  return text;
}

}  // namespace

TEST_CASE("spectra of up to 2^20 states are those that SLEPc finds") {
  const json all = json::parse(
      std::ifstream(experiments::source_path("verification/exact/vectors/spectrum.json")));
  REQUIRE(all.size() == 5);
  for (const json& c : all) check_spectrum(c);
}

TEST_CASE("a spectrum that is not stored is SLEPc's too, where that is installed") {
  if (std::system("python3 -c 'import slepc4py' 2>/dev/null") != 0)
    return skip(
        "no slepc4py here (Debian: python3-slepc4py): the stored values alone are compared");
  check_spectrum(json::parse(found_by_slepc("flip 6 7 1.5 4711")));
}

// The diagnostics against R and coda: vectors/diagnose.json, made by vectors/diagnose.R. R prints
// 17 digits, so agreement is to rounding: 1e-9 relative covers sums of 20,000 terms and AR fits of
// order 21 whose Toeplitz matrices have condition numbers near 1e5.
#include <Eigen/Core>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "boltzmark/diagnose/autocorrelation_time.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/statistics/interval.hpp"
#include "experiments/kit/statistics/power.hpp"
#include "experiments/kit/statistics/proportion.hpp"
#include "experiments/kit/statistics/trend.hpp"
#include "experiments/kit/statistics/wilcoxon.hpp"

namespace {

using boltzmark::Alternative;
using nlohmann::json;

const json& diagnose_vectors() {
  static const json all = json::parse(std::ifstream(
      boltzmark::experiments::source_path("verification/exact/vectors/diagnose.json")));
  return all;
}

Approx near(const json& value) { return Approx(value.get<double>()).epsilon(1e-9).margin(1e-15); }

// The generator of diagnose.R, written out again.
std::vector<double> uniforms(std::uint64_t seed, std::size_t n) {
  std::vector<double> u;
  for (std::size_t i = 0; i < n; ++i) {
    seed = seed * 16807 % 2147483647;
    u.push_back(static_cast<double>(seed) / 2147483647.0);
  }
  return u;
}

Eigen::VectorXd series(const json& c) {
  const auto n = c["n"].get<Eigen::Index>();
  const auto u = uniforms(c["seed"], 2 * static_cast<std::size_t>(n));
  const double a1 = c["a1"], a2 = c["a2"], slow = c["slow"];
  Eigen::VectorXd x(n), y(n);
  for (Eigen::Index t = 0; t < n; ++t) {
    x[t] = a1 * (t > 0 ? x[t - 1] : 0) + a2 * (t > 1 ? x[t - 2] : 0) + (u[t] - 0.5);
    y[t] = 0.99 * (t > 0 ? y[t - 1] : 0) + (u[n + t] - 0.5);
  }
  return x + slow * y;
}

std::vector<double> differences(const json& c) {
  auto d = uniforms(c["seed"], c["n"]);
  const double grid = c.value("grid", 0.0);
  for (double& x : d) {
    x = x - 0.5 + c["shift"].get<double>();
    if (grid > 0) x = std::nearbyint(x * grid) / grid;
  }
  return d;
}

}  // namespace

TEST_CASE("the autoregressive fit has the order, coefficients and variance of R's ar.yw") {
  for (const json& c : diagnose_vectors()["ar"]) {
    INFO(c["seed"]);
    const auto fit = boltzmark::ar_act(series(c));
    CHECK(fit.order == std::max(1, c["aic_order"].get<int>()));
    CHECK(fit.max_order == c["max_order"].get<int>());
    CHECK(fit.order_at_maximum == (fit.order == fit.max_order));
    REQUIRE(fit.coefficients.size() == static_cast<Eigen::Index>(c["ar"].size()));
    for (Eigen::Index i = 0; i < fit.coefficients.size(); ++i)
      CHECK(fit.coefficients[i] == near(c["ar"][static_cast<std::size_t>(i)]));
    CHECK(fit.innovation_variance == near(c["var_pred"]));
    CHECK(fit.tau == near(c["tau"]));
  }
}

TEST_CASE("the standard error of the autoregressive time is the delta method on R's asy.var.coef") {
  // R's gradient is a central difference with step 1e-6: its relative error is about 1e-12 by
  // truncation and, at tau up to 150, 1e-14 tau / 1e-6 by rounding, so 1e-5 covers it.
  for (const json& c : diagnose_vectors()["ar"]) {
    INFO(c["seed"]);
    CHECK(boltzmark::ar_act(series(c)).std_error ==
          Approx(c["std_error"].get<double>()).epsilon(1e-5));
  }
}

TEST_CASE("the autoregressive fit gives coda's spectrum0.ar and effectiveSize") {
  for (const json& c : diagnose_vectors()["ar"]) {
    if (c["aic_order"] == 0) continue;  // coda accepts order 0, the recipe does not
    const auto fit = boltzmark::ar_act(series(c));
    const double gap = 1 - fit.coefficients.sum();
    const double spectrum = fit.innovation_variance / (gap * gap);
    CHECK(spectrum == near(c["spectrum0"]));
    CHECK(c["n"].get<double>() * c["variance"].get<double>() / spectrum ==
          near(c["effective_size"]));
  }
}

TEST_CASE("autocorrelations are R's acf") {
  const std::vector<Eigen::Index> lags{0, 1, 2, 10, 50, 100};
  for (const json& c : diagnose_vectors()["ar"]) {
    const Eigen::VectorXd r = boltzmark::autocorrelation(series(c), 100);
    for (std::size_t i = 0; i < lags.size(); ++i)
      CHECK(r[lags[i]] == Approx(c["acf"][i].get<double>()).margin(1e-12));
  }
}

TEST_CASE("the signed-rank test is R's wilcox.test, exact and with ties and zeros") {
  for (const json& c : diagnose_vectors()["wilcoxon"]) {
    INFO(c["seed"]);
    const bool exact = c["exact"];
    const auto test = boltzmark::signed_rank_test(
        differences(c), {.exact_up_to = exact ? std::size_t{200} : std::size_t{0}});
    CHECK(test.exact == exact);
    CHECK(test.rank_sum == c["v"].get<double>());
    CHECK(test.p_two_sided == near(c["two_sided"]));
    CHECK(test.p_less == near(c["less"]));
    CHECK(test.p_greater == near(c["greater"]));
    if (!exact) continue;
    CHECK(test.shift.estimate == near(c["estimate"]));
    CHECK(test.shift.lower == near(c["lower"]));
    CHECK(test.shift.upper == near(c["upper"]));
  }
}

TEST_CASE("binomial tests and intervals are R's binom.test") {
  for (const json& c : diagnose_vectors()["binomial"]) {
    const boltzmark::Count count{c["x"], c["n"]};
    const double p = c["p"];
    CHECK(boltzmark::binomial_test(count, p, Alternative::two_sided) == near(c["two_sided"]));
    CHECK(boltzmark::binomial_test(count, p, Alternative::less) == near(c["less"]));
    CHECK(boltzmark::binomial_test(count, p, Alternative::greater) == near(c["greater"]));
    const auto interval = boltzmark::proportion_interval(count.successes, count.trials);
    CHECK(interval.lower == near(c["lower"]));
    CHECK(interval.upper == near(c["upper"]));
  }
}

TEST_CASE("Fisher's test is R's fisher.test") {
  for (const json& c : diagnose_vectors()["fisher"]) {
    const boltzmark::Count first{c["x1"], c["n1"]}, second{c["x2"], c["n2"]};
    CHECK(boltzmark::fisher_test(first, second, Alternative::two_sided) == near(c["two_sided"]));
    CHECK(boltzmark::fisher_test(first, second, Alternative::less) == near(c["less"]));
    CHECK(boltzmark::fisher_test(first, second, Alternative::greater) == near(c["greater"]));
  }
}

TEST_CASE("the trend of shares is R's prop.trend.test") {
  for (const json& c : diagnose_vectors()["trend"]) {
    std::vector<boltzmark::Count> counts;
    std::vector<double> scores;
    for (std::size_t i = 0; i < c["x"].size(); ++i) {
      counts.push_back({c["x"][i], c["n"][i]});
      scores.push_back(static_cast<double>(i + 1));
    }
    const auto trend = boltzmark::share_trend(counts, scores);
    CHECK(trend.z * trend.z == near(c["chisq"]));
  }
}

TEST_CASE("mean intervals, medians and quantiles are R's") {
  for (const json& c : diagnose_vectors()["student"]) {
    const auto d = differences(c);
    const auto interval = boltzmark::mean_interval(d);
    CHECK(interval.estimate == near(c["mean"]));
    CHECK(interval.lower == near(c["lower"]));
    CHECK(interval.upper == near(c["upper"]));
    CHECK(boltzmark::quantile(d, 0.25) == near(c["quartile"]));
    CHECK(boltzmark::median(d) == near(c["median"]));
  }
}

TEST_CASE("Holm's adjustment is R's p.adjust") {
  const auto p = diagnose_vectors()["holm"]["p"].get<std::vector<double>>();
  const auto adjusted = boltzmark::holm(p);
  for (std::size_t i = 0; i < p.size(); ++i)
    CHECK(adjusted[i] == near(diagnose_vectors()["holm"]["adjusted"][i]));
}

TEST_CASE("the power of a t test is R's power.t.test") {
  for (const json& c : diagnose_vectors()["power"]) {
    const auto alternative =
        c["alternative"] == "two.sided" ? Alternative::two_sided : Alternative::greater;
    // R's non-central t is accurate to about 1e-8.
    CHECK(boltzmark::mean_difference_power(c["n"], c["effect"], c["alpha"], alternative) ==
          Approx(c["power"].get<double>()).epsilon(1e-7));
  }
}

// Checks of long-run behaviour: asymptotic variances, autocorrelation times, the rate of
// convergence.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/exact/spectrum/spectrum.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/laws/asymptotic.hpp"
#include "verification/checks/subjects.hpp"

namespace boltzmark {
namespace {

constexpr double kScale = 3;  // of parameters: relaxation times stay where solves keep 10 digits

// A function of unit variance: the energy in one case of four, else normal values.
Eigen::VectorXd draw_function(Stream& stream, const StateSpace& space) {
  Eigen::VectorXd f = state_energies(space);
  if (stream.below(4) != 0)
    for (double& value : f) value = stream.normal();
  const Eigen::VectorXd p = space.p();
  f.array() -= p.dot(f);
  const double variance = p.dot(f.cwiseAbs2());
  return variance > 1e-12 ? Eigen::VectorXd(f / std::sqrt(variance))
                          : Eigen::VectorXd::Zero(f.size());
}

// How much larger T's asymptotic variance is than G's.
CaseOutcome excess_variance(Stream& stream, const Rule& rule, Scan scan) {
  const Layered model = draw_generic_model(stream, 3, kScale);
  const StateSpace space(model);
  const Eigen::VectorXd f = draw_function(stream, space);
  const double flip = asymptotic_variance(space, rule, scan, f).asymptotic;
  const double gibbs = asymptotic_variance(space, Rule::gibbs(), scan, f).asymptotic;
  return {flip - gibbs,
          fmt::format("{}: avar(T) {:.9g}, avar(G) {:.9g}", describe_case(model), flip, gibbs)};
}

// The periodic scan: the claim is that cases with avar(T) > avar(G) exist, so it holds if their
// share is above the bound. About one in ten is such a case; 200 miss them all once in 1e9.
CheckOutcome periodic_excess(const Rule& rule, int cases, std::uint64_t seed) {
  if (cases < 1) throw InvalidArgument(fmt::format("cases = {} (must be at least 1)", cases));
  cases = std::max(cases, 200);
  CheckOutcome outcome{.value = 0, .bound = 0, .holds = false, .detail = {}, .cases = cases};
  int above = 0;
  double largest = -HUGE_VAL;
  for (int i = 0; i < cases; ++i) {
    Stream stream(make_key(seed, "periodic-scan flip"), Purpose::test,
                  static_cast<std::uint64_t>(i));
    const CaseOutcome one = excess_variance(stream, rule, Scan::periodic);
    if (one.value > 1e-9) ++above;
    if (one.value > largest) {
      largest = one.value;
      outcome.detail = one.detail;
    }
  }
  outcome.value = static_cast<double>(above) / cases;
  outcome.holds = above > 0;
  return outcome;
}

CaseOutcome time_from_spectrum(Stream& stream, const Rule& rule) {
  const Layered model = draw_generic_model(stream, 3, kScale);
  const StateSpace space(model);
  const Eigen::VectorXd f = draw_function(stream, space);
  const AsymptoticVariance solved = asymptotic_variance(space, rule, Scan::periodic, f);
  const double spectral = spectral_autocorrelation_time(space, rule, Scan::periodic, f);
  return {std::abs(solved.time - spectral) / std::max(1.0, std::abs(solved.time)),
          fmt::format("{}: tau {:.9g} by solving, {:.9g} from the spectrum", describe_case(model),
                      solved.time, spectral)};
}

// log TV(mu T^n, p) by pushing mu - p, its sum kept at zero and its size in a logarithm.
double log_total_variation(const StateSpace& space, const Rule& rule, Eigen::VectorXd mu, int n) {
  const Eigen::VectorXd p = space.p();
  const SweepOperator kernel(space, rule);
  StateBlock difference = mu - p;
  double log_size = 0;
  for (int step = 0; step < n; ++step) {
    kernel.push(difference);
    difference -= difference.sum() * p;
    const double size = difference.lpNorm<1>();
    if (size == 0) return -HUGE_VAL;
    difference /= size;
    log_size += std::log(size);
  }
  return log_size + std::log(0.5);
}

// The relative difference between the rate at which TV falls and log SLEM. With n log(1/SLEM) =
// 2000 the constant in TV ~ C SLEM^n is within 1 % while |log C| < 20.
CaseOutcome rate_of_convergence(Stream& stream, const Rule& rule) {
  const Layered model = draw_generic_model(stream, 3, kScale);
  const StateSpace space(model);
  const double slem = spectrum(model, rule).slem;
  Eigen::VectorXd mu(static_cast<Eigen::Index>(space.states()));
  for (double& value : mu) value = stream.uniform();
  mu /= mu.sum();
  const int n = static_cast<int>(std::clamp(-2000 / std::log(slem), 1000.0, 1e6));
  const double rate = log_total_variation(space, rule, mu, n) / n;
  return {std::abs(rate / std::log(slem) - 1),
          fmt::format("{}: SLEM {:.9f}, TV falls by {:.9f} a step over {} steps",
                      describe_case(model), slem, std::exp(rate), n)};
}

}  // namespace

Check periodic_scan_check(const Rule& rule) {
  return {.name = "periodic-scan",
          .subject = rule.name(),
          .statement =
              "with a fixed order that fails: share of cases with avar(T) > "
              "avar(G), above the bound if the claim holds",
          .bound = 0,
          .run = [rule](int n, std::uint64_t seed) { return periodic_excess(rule, n, seed); }};
}

std::vector<Check> convergence_checks() {
  std::vector<Check> checks;
  checks.push_back(bounded_check(
      "random-scan", "flip",
      "with units picked at random T's asymptotic variance is never above Gibbs': max avar(T) - "
      "avar(G), Var f = 1",
      1e-9, [](Stream& s) { return excess_variance(s, Rule::flip(), Scan::random); }));
  checks.push_back(periodic_scan_check(Rule::flip()));
  for (const Rule& rule : ergodic_rules()) {
    checks.push_back(
        bounded_check("rate-of-convergence", rule.name(),
                      "log TV(mu T^n, p) / n agrees with log SLEM: relative difference", 0.01,
                      [rule](Stream& s) { return rate_of_convergence(s, rule); }));
    checks.push_back(bounded_check(
        "autocorrelation-time", rule.name(),
        "tau of a function by solving for its asymptotic variance and from the spectrum: "
        "difference relative to max(1, tau)",
        1e-8, [rule](Stream& s) { return time_from_spectrum(s, rule); }));
  }
  return checks;
}

}  // namespace boltzmark

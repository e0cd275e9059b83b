// Checks of thermodynamic integration: its error at exact moments, and its limit.
//                                                                [carlson2016, Sec. 3.4, App. C]

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>

#include "boltzmark/estimate/estimators/rts.hpp"
#include "boltzmark/estimate/estimators/thermodynamic_integration.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/check_tempered_cases.hpp"
#include "verification/checks/laws/tempered_moments.hpp"
#include "verification/checks/subjects.hpp"
#include "verification/checks/worst.hpp"

namespace boltzmark {
namespace {

// E[D | b] over joint states at any b.
double mean_ratio(const TemperedSpace& joint, double b) {
  const Eigen::VectorXd ratio = joint.slopes().col(0);
  const Eigen::ArrayXd log_f = joint.log_f().col(0) + b * ratio;
  const Eigen::ArrayXd weight = (log_f - log_f.maxCoeff()).exp();
  return (weight * ratio.array()).sum() / weight.sum();
}

// Feeds the estimator E[D | b] at the nodes of a Gauss rule as if they were drawn with a density
// that gives each its weight. The nearest pole of E[D | b] is about pi / (range of D) > 0.03 away,
// so that 16 panels of 20 nodes leave an error below 1e-12.
CaseOutcome continuous_case(Stream& stream) {
  const TemperedCase c = draw_tempered_case(stream, draw_generic_model(stream, 4, 3), 2);
  const TemperedSpace space = c.space(States::joint);
  constexpr int kPanels = 16;
  const auto& nodes = boost::math::quadrature::gauss<double, 20>::abscissa();
  const auto& weights = boost::math::quadrature::gauss<double, 20>::weights();
  const auto half = static_cast<Eigen::Index>(nodes.size());
  Eigen::MatrixXd ratio(2 * half, kPanels), density(2 * half, kPanels);
  for (int panel = 0; panel < kPanels; ++panel)
    for (Eigen::Index i = 0; i < 2 * half; ++i) {
      const double offset = i < half ? nodes[i] : -nodes[i - half];
      ratio(i, panel) = mean_ratio(space, (panel + 0.5 + offset / 2) / kPanels);
      density(i, panel) = 2 * kPanels / (weights[i % half] * static_cast<double>(ratio.size()));
    }
  const double log_z = space.log_z()[1];
  return {std::abs(ti_continuous(ratio, density).log_z - log_z) / std::max(1.0, std::abs(log_z)),
          c.detail};
}

// KL(p_from | p_to) of neighbouring rungs.
double divergence(const TemperedSpace& space, int from, int to) {
  const Eigen::VectorXd log_from = space.log_f().col(from).array() - space.log_z()[from];
  const Eigen::VectorXd log_to = space.log_f().col(to).array() - space.log_z()[to];
  return log_from.array().exp().matrix().dot(log_from - log_to);
}

double integrate(const RungSums& sums, const Ladder& ladder, Quadrature quadrature) {
  return thermodynamic_integration(sums, ladder, {.quadrature = quadrature}).log_z;
}

CaseOutcome divergence_case(Stream& stream, const Integrate& rule) {
  const TemperedCase c = draw_tempered_case(stream, draw_check_model(stream), 20);
  const TemperedChain chain = c.chain(States::joint);
  const RungSums sums = exact_rung_sums(chain);
  double left = rule(sums, c.ladder, Quadrature::left),
         right = rule(sums, c.ladder, Quadrature::right);
  for (int k = 0; k + 1 < c.ladder.rungs(); ++k) {
    left += divergence(chain.space(), k, k + 1);
    right -= divergence(chain.space(), k + 1, k);
  }
  const double log_z = chain.space().log_z().tail<1>()[0];
  const double scale = std::max(1.0, chain.space().slopes().cwiseAbs().maxCoeff());
  return {worse(std::abs(left - log_z), std::abs(right - log_z)) / scale, c.detail};
}

// 1 if the correction by variances does not help on exact moments.
CaseOutcome corrected_case(Stream& stream, const Integrate& rule) {
  const TemperedCase c = draw_tempered_case(stream, draw_generic_model(stream, 4, 3), 20);
  const TemperedChain chain = c.chain(States::joint);
  const RungSums sums = exact_rung_sums(chain);
  const double log_z = chain.space().log_z().tail<1>()[0];
  const double plain = std::abs(rule(sums, c.ladder, Quadrature::trapezoid) - log_z);
  const double corrected = std::abs(rule(sums, c.ladder, Quadrature::corrected) - log_z);
  return {corrected < plain ? 0.0 : 1.0, c.detail};
}

// Variance of D under the weights of one rung.
double rung_variance(const RungSums& sums, Eigen::Index rung) {
  const double weight = sums.weight.row(rung).sum();
  const double mean = sums.first.row(rung).sum() / weight;
  return sums.second.row(rung).sum() / weight - mean * mean;
}

// RTS is the integral of TI-RB's integrand g, whose slope is the variance V of D, so by Euler and
// Maclaurin, with h = 1 / (K - 1),
//   TI-RB - RTS = h^2 (V_K - V_1) / 12 + remainder,  |remainder| <= h^4 / 384 max |g''''|,
// and g'''', a fifth cumulant of D, is at most (range of D)^5.
CaseOutcome limit_case(Stream& stream) {
  const TemperedCase c = draw_tempered_case(stream, draw_generic_model(stream, 3, 2), 2);
  const TemperedSpace space = c.space(States::joint);
  Eigen::MatrixXd ratio(20, 2);
  for (double& value : ratio.reshaped())
    value = space.slopes()(draw_below(stream, space.states()), 0);
  const double range = ratio.maxCoeff() - ratio.minCoeff(), tilt = stream.uniform(-3, 3);
  double worst = 0;
  for (const int rungs : {3, 5, 9, 17, 33}) {
    const Ladder ladder = Ladder::linear(rungs);
    const Eigen::VectorXd uniform = Eigen::VectorXd::Constant(rungs, -std::log(rungs));
    const Eigen::VectorXd log_z_hat = Eigen::VectorXd::LinSpaced(rungs, 0, tilt);
    const RungSums sums = sum_by_rung(
        {ladder, uniform, log_z_hat, ratio, Eigen::MatrixXi::Zero(20, 2)}, Assignment::soft);
    const double steps = (rungs - 1.0) * (rungs - 1.0);
    const double difference =
        thermodynamic_integration(sums, ladder).log_z - rts(sums, uniform, log_z_hat).log_z;
    const double slope = rung_variance(sums, rungs - 1) - rung_variance(sums, 0);
    // 1e-6 allows for rounding where all samples have nearly the same D.
    worst = worse(worst, std::abs(difference * steps - slope / 12) * steps /
                             (std::pow(range, 5) / 384 + 1e-6));
  }
  return {worst, c.detail};
}

}  // namespace

Check discretisation_check(const Integrate& rule) {
  return bounded_check(
      "discretisation", "ti",
      "the left sum lacks sum KL(p_k | p_k+1), the right sum has sum KL(p_k+1 | p_k) too much: "
      "rest relative to max(1, |D|)",
      1e-12, [rule](Stream& s) { return divergence_case(s, rule); });
}

Check variance_correction_check(const Integrate& rule) {
  return mean_check(
      "variance-correction", "ti-corrected",
      "correcting the trapezoidal rule by variances brings exact moments nearer log Z: share of "
      "ladders where it does not",
      0.5, [rule](Stream& s) { return corrected_case(s, rule); });
}

std::vector<Check> integration_checks() {
  return {
      bounded_check(
          "continuous-temperatures", "ti-continuous",
          "the mean of E[D|b] / p(b) over a continuous b is log Z: error relative to max(1, |log "
          "Z|)",
          1e-9, continuous_case),
      discretisation_check(integrate), variance_correction_check(integrate),
      bounded_check(
          "continuous-limit", "ti-rb",
          "TI-RB less RTS on the same samples is (V_K - V_1) / (12 (K-1)^2) + O(K^-4): remainder "
          "over its bound",
          1, limit_case)};
}

}  // namespace boltzmark

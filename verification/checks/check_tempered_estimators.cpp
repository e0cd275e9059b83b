// Checks of the estimators that read rung occupancies, at exact occupancies and on any samples.
//                                                            [carlson2016, Secs. 2 and 3, App. A-D]

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "boltzmark/core/eigenvalues.hpp"
#include "boltzmark/core/numeric.hpp"
#include "boltzmark/estimate/estimators/bar.hpp"
#include "boltzmark/estimate/estimators/mbar.hpp"
#include "boltzmark/estimate/estimators/rts.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/sample/sample_store.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/check_tempered_cases.hpp"
#include "verification/checks/laws/rts_likelihood.hpp"
#include "verification/checks/laws/tempered_moments.hpp"
#include "verification/checks/subjects.hpp"
#include "verification/checks/worst.hpp"

namespace boltzmark {
namespace {

CaseOutcome exact_occupancies_case(Stream& stream, const RtsEstimate& estimate) {
  const Layered model = draw_check_model(stream, 2);
  const double log_z = exact_log_z(model).log_z;
  CaseOutcome outcome{-1, ""};
  for (int rungs = 2; rungs <= 50; ++rungs) {
    const Ladder ladder = stream.below(2) == 0 ? Ladder::linear(rungs) : Ladder::geometric(rungs);
    const TemperedCase c = draw_tempered_case(stream, model, ladder);
    const TemperedChain chain = c.chain(draw_states(stream));
    const Estimate found = estimate(exact_rung_sums(chain), c.log_prior, c.log_z_hat);
    const double error =
        worse(std::abs(found.log_z - log_z), largest_of(found.log_z_rungs - chain.space().log_z()));
    const double relative = error / std::max(1.0, std::abs(log_z));
    if (!(relative <= outcome.value || std::isnan(outcome.value))) outcome = {relative, c.detail};
  }
  return outcome;
}

// Any samples at all, not only ones that the chain would draw.
SampleStore draw_store(Stream& stream, const TemperedCase& c) {
  constexpr Eigen::Index kSweeps = 10;
  const TemperedSpace space = c.space(States::joint);
  SampleStore store{c.ladder, c.log_prior, c.log_z_hat, Eigen::MatrixXd(kSweeps, 2),
                    Eigen::MatrixXi::Zero(kSweeps, 2)};
  for (double& ratio : store.log_ratio.reshaped())
    ratio = space.slopes()(draw_below(stream, space.states()), 0);
  return store;
}

// The same, their rungs by turns.
SampleStore draw_counted_store(Stream& stream, const TemperedCase& c) {
  SampleStore store = draw_store(stream, c);
  for (Eigen::Index i = 0; i < store.rung.size(); ++i)
    store.rung.data()[i] = static_cast<int>(i % store.rungs());
  return store;
}

CaseOutcome likelihood_case(Stream& stream) {
  const TemperedCase c = draw_tempered_case(stream, draw_generic_model(stream, 3, 2), 10);
  const RungSums sums = sum_by_rung(draw_store(stream, c), Assignment::soft);
  const Estimate found = rts(sums, c.log_prior, c.log_z_hat);
  const RtsLikelihood at = rts_likelihood({{sums, c.log_z_hat}}, c.log_prior, found.log_z_rungs);
  return {largest_of(at.gradient) / sums.samples, c.detail};
}

CaseOutcome concave_case(Stream& stream) {
  const TemperedCase c = draw_tempered_case(stream, draw_generic_model(stream, 3, 2), 10);
  std::vector<RtsStage> stages;
  double samples = 0;
  for (std::uint64_t t = 0, count = 1 + stream.below(4); t < count; ++t) {
    Eigen::VectorXd log_z_hat = c.log_z_hat;
    for (double& value : log_z_hat) value += stream.uniform(-5, 5);
    stages.push_back({sum_by_rung(draw_store(stream, c), Assignment::soft), std::move(log_z_hat)});
    samples += stages.back().sums.samples;
  }
  Eigen::VectorXd log_z = c.log_z_hat;
  for (double& value : log_z) value += stream.uniform(-5, 5);
  const Eigen::MatrixXd hessian = rts_likelihood(stages, c.log_prior, log_z).hessian;
  const SymmetricEigenPairs pairs = symmetric_eigen_pairs(hessian, Eigenvectors::none);
  const double asymmetry = largest_of(hessian - hessian.transpose());
  return {worse(pairs.values.maxCoeff<Eigen::PropagateNaN>(), asymmetry) / samples, c.detail};
}

// 0 if Eq. 15 is positive for one of 40 random models and negative for another.
CaseOutcome bias_sign_case(Stream& stream, const RtsBias& find_bias) {
  int positive = 0, negative = 0;
  for (int i = 0; i < 40; ++i) {
    const TemperedCase c = draw_tempered_case(stream, draw_generic_model(stream, 2, 3), 5);
    const RungFrequencies f =
        independent_rung_frequencies(c.chain(draw_states(stream)), Assignment::soft, 100);
    const Eigen::Index top = f.mean.size() - 1;
    const double bias = find_bias({.first = f.mean[0],
                                   .other = f.mean[top],
                                   .var_first = f.covariance(0, 0),
                                   .var_other = f.covariance(top, top),
                                   .covariance = f.covariance(0, top)});
    (bias > 0 ? positive : negative) += 1;
  }
  return {positive > 0 && negative > 0 ? 0.0 : 1.0,
          fmt::format("{} positive, {} negative", positive, negative)};
}

// The identity with means over the samples of two neighbouring rungs and with BAR's own alpha,
// 1 / (n_k f_k / Z_k + n_{k+1} f_{k+1} / Z_{k+1}), times the counts: what the one side has more.
double bridge_of_samples(const SampleStore& store, const Eigen::VectorXd& log_z) {
  Eigen::VectorXd counts = Eigen::VectorXd::Zero(store.rungs());
  for (const int rung : store.rung.reshaped()) ++counts[rung];
  double worst = 0;
  for (int k = 0; k + 1 < store.rungs(); ++k) {
    const double step = store.ladder[k + 1] - store.ladder[k];
    double excess = 0;
    for (Eigen::Index i = 0; i < store.rung.size(); ++i) {
      const int rung = store.rung.data()[i];
      if (rung != k && rung != k + 1) continue;
      const double s = sigmoid(std::log(counts[k + 1] / counts[k]) +
                               step * store.log_ratio.data()[i] - (log_z[k + 1] - log_z[k]));
      excess += rung == k ? s : s - 1;
    }
    worst = worse(worst, std::abs(excess) / (counts[k] + counts[k + 1]));
  }
  return worst;
}

// Z_k / Z_1 = E_1[alpha f_k] / E_k[alpha f_1], in logs.
CaseOutcome bridge_case(Stream& stream, const StoreEstimate& estimate) {
  const TemperedCase c = draw_tempered_case(stream, draw_check_model(stream), 10);
  const TemperedSpace space = c.space(draw_states(stream));
  Eigen::VectorXd log_alpha(space.states());
  for (double& value : log_alpha) value = stream.uniform(-20, 20);
  const Eigen::VectorXd log_f_1 = space.log_f().col(0);
  double worst = 0;
  for (int k = 1; k < space.rungs(); ++k) {
    const Eigen::VectorXd log_f_k = space.log_f().col(k);
    const double log_z_k = space.log_z()[k];
    const Eigen::VectorXd log_p_1 = log_f_1.array() - space.log_z()[0];
    const Eigen::VectorXd log_p_k = log_f_k.array() - log_z_k;
    const double bridge =
        log_sum_exp(log_p_1 + log_alpha + log_f_k) - log_sum_exp(log_p_k + log_alpha + log_f_1);
    worst = worse(worst, std::abs(bridge - log_z_k) / std::max(1.0, std::abs(log_z_k)));
  }
  const TemperedCase any = draw_tempered_case(stream, draw_generic_model(stream, 3, 2), 10);
  const SampleStore store = draw_counted_store(stream, any);
  const double of_samples = bridge_of_samples(store, estimate(store).log_z_rungs);
  return {worse(worst, of_samples), of_samples <= worst ? c.detail : any.detail};
}

// MBAR asks that  mean over samples of  pi_k f_k(x) / Z_k / sum_j pi_j f_j(x) / Z_j = pi_k,
// pi_k = n_k / N. With pi_k = q(b_k; Z_RTS) in the place of n_k / N, Z_RTS solves it; with n_k / N
// itself MBAR's Z does, and its terms are q(b_k | x) of the prior that expects these counts.
CaseOutcome mbar_case(Stream& stream, const StoreEstimate& estimate) {
  const TemperedCase c = draw_tempered_case(stream, draw_generic_model(stream, 3, 2), 10);
  const SampleStore store = draw_store(stream, c);
  const RungSums sums = sum_by_rung(store, Assignment::soft);
  const Eigen::VectorXd log_z = rts(sums, c.log_prior, c.log_z_hat).log_z_rungs;
  Eigen::VectorXd log_pi = c.log_prior + log_z - c.log_z_hat;
  log_pi.array() -= log_sum_exp(log_pi);
  Eigen::VectorXd rest = -log_pi.array().exp(), log_f(c.ladder.rungs());
  const Eigen::VectorXd occupancy = sums.weight.rowwise().sum() / sums.samples;
  const double worst = largest_of(occupancy + rest);
  for (const double ratio : store.log_ratio.reshaped()) {
    for (int k = 0; k < c.ladder.rungs(); ++k) log_f[k] = c.ladder[k] * ratio;
    const Eigen::VectorXd terms = log_pi + log_f - log_z;
    rest += ((terms.array() - log_sum_exp(terms)).exp() / store.samples()).matrix();
  }
  SampleStore counted = draw_counted_store(stream, c);
  const Eigen::VectorXd share =
      sum_by_rung(counted, Assignment::hard).weight.rowwise().sum() / counted.samples();
  counted.log_prior =
      share.array().log().matrix() + counted.log_z_hat - estimate(counted).log_z_rungs;
  counted.log_prior.array() -= log_sum_exp(counted.log_prior);
  const Eigen::VectorXd expected =
      sum_by_rung(counted, Assignment::soft).weight.rowwise().sum() / counted.samples();
  return {worse(worse(worst, largest_of(rest)), largest_of(expected - share)), c.detail};
}

// |log(1 + e) - e| <= e^2 where |e| <= 1/2, so the ratio to e_k^2 + e_1^2 is at most 1.
CaseOutcome taylor_case(Stream& stream) {
  const TemperedCase c = draw_tempered_case(stream, draw_generic_model(stream, 1, 1), 10);
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(c.ladder.rungs());
  double worst = 0;
  for (int halvings = 1; halvings <= 12; ++halvings) {
    Eigen::ArrayXd excess(c.ladder.rungs());
    for (double& e : excess) e = std::ldexp(stream.uniform(-1, 1), -halvings);
    const Eigen::VectorXd occupancy = c.log_prior.array().exp() * (1 + excess);
    const Eigen::ArrayXd difference = log_z_from_occupancies(occupancy, c.log_prior, zero) -
                                      sams_update(occupancy, c.log_prior, zero, 1);
    worst = worse(worst, (difference.abs() / (excess.square() + excess[0] * excess[0] +
                                              std::ldexp(1.0, -2 * halvings - 20)))
                             .maxCoeff<Eigen::PropagateNaN>());
  }
  return {worst, c.detail};
}

}  // namespace

Check exact_occupancies_check(const RtsEstimate& estimate) {
  return bounded_check(
      "exact-occupancies", "rts",
      "exact c_k give every Z_k exactly, for K = 2..50 and any Zhat: error relative to max(1, |log "
      "Z|)",
      1e-10, [estimate](Stream& s) { return exact_occupancies_case(s, estimate); });
}

Check bias_sign_check(const RtsBias& find_bias) {
  return bounded_check(
      "bias-sign", "rts",
      "the approximate bias of log Z is positive for some models and negative for others: groups "
      "of 40 models with one sign alone",
      0, [find_bias](Stream& s) { return bias_sign_case(s, find_bias); });
}

Check bridge_check(const StoreEstimate& estimate) {
  return bounded_check(
      "bridge-identity", "bar",
      "Z_k / Z_1 = E_1[alpha f_k] / E_k[alpha f_1] for any alpha: difference of logs relative to "
      "max(1, |log Z_k|); of any samples BAR's estimate solves it with its own alpha",
      1e-12, [estimate](Stream& s) { return bridge_case(s, estimate); });
}

Check expected_counts_check(const StoreEstimate& estimate) {
  return bounded_check(
      "expected-counts", "mbar",
      "with counts n_k / N replaced by q(b_k; Z), MBAR's estimating equations are solved by RTS on "
      "any samples, and with the counts by MBAR: largest residual",
      1e-12, [estimate](Stream& s) { return mbar_case(s, estimate); });
}

std::vector<Check> tempered_estimator_checks() {
  return {
      exact_occupancies_check(
          [](const auto& sums, const auto&... logs) { return rts(sums, logs...); }),
      bounded_check(
          "likelihood-gradient", "rts",
          "the estimate solves the equations of the Rao-Blackwellised likelihood: gradient a "
          "sample",
          1e-10, likelihood_case),
      bounded_check(
          "concave-likelihood", "rts-mixed",
          "the likelihood of samples drawn at several Zhat is concave in log Z: largest eigenvalue "
          "of its Hessian a sample",
          1e-10, concave_case),
      bias_sign_check(rts_bias),
      bridge_check(bar),
      expected_counts_check(mbar),
      bounded_check(
          "first-order", "sams",
          "its update at step 1 is RTS's to first order: difference over (c_k/r_k - 1)^2 + "
          "(c_1/r_1 - 1)^2",
          1, taylor_case),
  };
}

}  // namespace boltzmark

// Identities that hold for every store of tempered samples.
#include <rapidcheck.h>
#include <rapidcheck/catch.h>

#include <Eigen/Core>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/estimators/bar.hpp"
#include "boltzmark/estimate/estimators/markov_chain.hpp"
#include "boltzmark/estimate/estimators/mbar.hpp"
#include "boltzmark/estimate/estimators/rts.hpp"
#include "boltzmark/estimate/estimators/thermodynamic_integration.hpp"
#include "verification/exact/support/gaussian_tempering.hpp"

namespace {

using namespace estimate_test;

struct Method {
  std::string name;
  std::function<Estimate(const SampleStore&)> estimate;
};

std::vector<Method> methods() {
  std::vector<Method> all;
  all.push_back({"rts", [](const SampleStore& s) { return rts(s, States::joint); }});
  all.push_back({"ts", [](const SampleStore& s) { return ts(s); }});
  all.push_back({"bar", [](const SampleStore& s) { return bar(s); }});
  all.push_back({"mbar", [](const SampleStore& s) { return mbar(s); }});
  for (const auto transitions : {Transitions::counted, Transitions::rao_blackwellised})
    all.push_back({"stationary", [=](const SampleStore& s) {
                     return stationary_estimate(s, transitions, States::joint);
                   }});
  for (const auto assignment : {Assignment::soft, Assignment::hard})
    for (const auto quadrature : {Quadrature::left, Quadrature::right, Quadrature::trapezoid,
                                  Quadrature::simpson, Quadrature::corrected})
      all.push_back({"ti", [=](const SampleStore& s) {
                       return thermodynamic_integration(s, assignment, {.quadrature = quadrature});
                     }});
  return all;
}

Stream draw_stream() {
  return {make_key(*rc::gen::arbitrary<std::uint64_t>(), "store"), Purpose::test};
}

SampleStore draw_store(int least_rungs = 2, int most_rungs = 7) {
  Stream stream = draw_stream();
  const GaussianTarget target{stream.uniform(-5, 5), stream.uniform(0.5, 12)};
  const StoreShape shape{*rc::gen::inRange(least_rungs, most_rungs + 1), *rc::gen::inRange(5, 60),
                         *rc::gen::inRange(2, 40)};
  return tempered_store(target, shape, stream.uniform(0, 0.9), stream);
}

bool close(double a, double b, double tolerance) {
  return (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= tolerance * (1 + std::abs(b));
}

}  // namespace

// Samples of 60 x 40 and values below 100: rounding is 1e-11 at worst. MBAR and BAR are solved to
// 1e-6 of a standard error before a last quadratic step. Errors divide by small overlaps: 1e-6.
TEST_CASE("a constant added to D and to the slope of log Zhat is added to log Z") {
  rc::prop("estimate(D + a, log Zhat + a b) = estimate + a", [] {
    const SampleStore store = draw_store();
    SampleStore shifted = store;
    const double a = *rc::gen::inRange(-50, 50);
    shifted.log_ratio.array() += a;
    for (int k = 0; k < store.rungs(); ++k) shifted.log_z_hat[k] += a * store.ladder[k];
    for (const Method& method : methods()) {
      const Estimate before = method.estimate(store), after = method.estimate(shifted);
      RC_LOG() << method.name << "\n";
      RC_ASSERT(close(after.log_z, before.log_z + a, 1e-9));
      RC_ASSERT(close(after.std_error, before.std_error, 1e-6));
      RC_ASSERT(after.status == before.status);
    }
  });
}

TEST_CASE("estimates from samples do not depend on the order of the chains") {
  rc::prop("estimate(chains reversed) = estimate", [] {
    const SampleStore store = draw_store();
    SampleStore reversed = store;
    reversed.log_ratio = store.log_ratio.rowwise().reverse();
    reversed.rung = store.rung.rowwise().reverse();
    for (const Method& method : methods()) {
      const Estimate before = method.estimate(store), after = method.estimate(reversed);
      RC_LOG() << method.name << "\n";
      RC_ASSERT(close(after.log_z, before.log_z, 1e-9));
      RC_ASSERT(close(after.std_error, before.std_error, 1e-6));
      RC_ASSERT(close(after.effective_samples, before.effective_samples, 1e-6));
    }
  });
}

TEST_CASE("estimates from samples are the same bytes on one thread and on several") {
  rc::prop("estimate(1 thread) = estimate", [] {
    const SampleStore store = draw_store();
    for (const Method& method : methods()) {
      const Estimate several = method.estimate(store);
      const ThreadLimit limit(1);
      const Estimate one = method.estimate(store);
      RC_ASSERT(several.log_z == one.log_z || std::isnan(one.log_z));
      RC_ASSERT(several.std_error == one.std_error || std::isnan(one.std_error));
    }
  });
}

TEST_CASE("every interval contains its estimate") {
  rc::prop("lower <= log Z <= upper", [] {
    const SampleStore store = draw_store();
    for (const Method& method : methods()) {
      const Estimate e = method.estimate(store);
      if (std::isnan(e.log_z)) continue;
      RC_ASSERT(e.lower <= e.log_z);
      RC_ASSERT(e.log_z <= e.upper);
      RC_ASSERT(e.log_z_rungs[0] == 0.0);
      RC_ASSERT(e.log_z_rungs[store.rungs() - 1] == e.log_z);
      RC_ASSERT(e.effective_samples > 0);
    }
  });
}

TEST_CASE("BAR is MBAR on two rungs and so is its standard error") {
  rc::prop("bar = mbar if K = 2", [] {
    const SampleStore store = draw_store(2, 2);
    const Estimate pair = bar(store);
    RC_PRE(std::isfinite(pair.log_z));
    const MbarEstimate all = mbar(store);
    RC_ASSERT(close(all.log_z, pair.log_z, 1e-9));
    RC_ASSERT(close(all.std_error, pair.std_error, 1e-6));
    RC_ASSERT(close(all.effective_samples, pair.effective_samples, 1e-6));
  });
}

TEST_CASE("MBAR expects of every rung as many samples as it has") {
  rc::prop("sum_n p_k(x_n) = n_k", [] {
    const SampleStore store = draw_store();
    const MbarEstimate estimate = mbar(store);
    const Eigen::VectorXd counts = sum_by_rung(store, Assignment::hard).weight.rowwise().sum();
    const Eigen::VectorXd log_weight = counts.array().log() - estimate.log_z_rungs.array();
    Eigen::VectorXd betas(store.rungs()), p(store.rungs()), sum = 0 * counts;
    for (int k = 0; k < store.rungs(); ++k) betas[k] = store.ladder[k];
    for (const double d : store.log_ratio.reshaped()) {
      rung_probabilities(betas * d, log_weight, p);
      sum += p;
    }
    RC_ASSERT((sum - counts).cwiseAbs().maxCoeff() <= 1e-8 * store.samples());
  });
}

TEST_CASE("MBAR, BAR and integration by counts use neither the prior nor Zhat") {
  rc::prop("estimate(other r, Zhat) = estimate", [] {
    const SampleStore store = draw_store();
    SampleStore other = store;
    Stream stream = draw_stream();
    for (int k = 0; k < store.rungs(); ++k) {
      other.log_prior[k] += stream.normal();
      other.log_z_hat[k] += stream.normal();
    }
    const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    RC_ASSERT(same(mbar(other).log_z, mbar(store).log_z));
    RC_ASSERT(same(bar(other).log_z, bar(store).log_z));
    RC_ASSERT(same(thermodynamic_integration(other, Assignment::hard).log_z,
                   thermodynamic_integration(store, Assignment::hard).log_z));
  });
}

TEST_CASE("Rao-Blackwellised integration tends to RTS like the square of the rungs' distance") {
  rc::prop("|RTS - TI-RB| ~ 1 / K^2", [] {
    Stream stream = draw_stream();
    const GaussianTarget target{stream.uniform(-5, 5), stream.uniform(0.5, 12)};
    const SampleStore coarse = tempered_store(target, {9, 20, 5}, 0.5, stream);
    const auto gap = [&](int rungs) {  // the same samples, judged on another ladder
      SampleStore store = empty_store(target, {rungs, 20, 5});
      store.log_ratio = coarse.log_ratio;
      return thermodynamic_integration(store, Assignment::soft).log_z -
             rts(store, States::joint).log_z;
    };
    // Trapezoid errors of 257 and 513 rungs differ by a factor of 4 up to the next order, h^4 / 720
    // = 3e-13 times the third derivative of E[D | b]: fourth powers of D's range of 20, 2e5.
    const double wide = gap(257), narrow = gap(513);
    RC_ASSERT(std::abs(wide) < 1e-2);
    RC_ASSERT(std::abs(wide - 4 * narrow) <= 1e-3 * std::abs(wide) + 1e-7);
  });
}

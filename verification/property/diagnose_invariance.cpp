// Identities that hold for every series and every set of differences.
#include <rapidcheck.h>
#include <rapidcheck/catch.h>

#include <Eigen/Core>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <vector>

#include "boltzmark/diagnose/autocorrelation_time.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/kit/statistics/bootstrap.hpp"
#include "experiments/kit/statistics/class_changes.hpp"
#include "experiments/kit/statistics/proportion.hpp"
#include "experiments/kit/statistics/trend.hpp"
#include "experiments/kit/statistics/wilcoxon.hpp"

namespace {

// Chains of multiples of 1/64 with a memory: affine maps by powers of 2 and by integers stay exact.
Eigen::MatrixXd draw_chains() {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  boltzmark::Stream stream(boltzmark::make_key(seed, "series"), boltzmark::Purpose::test);
  Eigen::MatrixXd chains(*rc::gen::inRange(50, 400), *rc::gen::inRange(1, 8));
  for (Eigen::Index c = 0; c < chains.cols(); ++c) {
    double x = 0;
    for (Eigen::Index t = 0; t < chains.rows(); ++t) {
      x = 0.7 * x + stream.normal();
      chains(t, c) = std::round(64 * x) / 64;
    }
  }
  return chains;
}

std::vector<double> draw_differences() {
  const auto whole = *rc::gen::container<std::vector<int>>(rc::gen::inRange(-30, 31));
  RC_PRE(!whole.empty());
  return {whole.begin(), whole.end()};
}

// Kendall's S of a sequence against its order, over its standard deviation with ties; 0 if nothing varies.
double kendall_z(const std::vector<double>& x) {
  const auto spread = [](double t) { return t * (t - 1) * (2 * t + 5); };
  std::map<double, double> sizes;
  double s = 0, variance = spread(static_cast<double>(x.size()));
  for (const double value : x) ++sizes[value];
  for (const auto& [value, size] : sizes) variance -= spread(size);
  for (std::size_t j = 0; j < x.size(); ++j)
    for (std::size_t i = 0; i < j; ++i) s += (x[j] > x[i]) - (x[j] < x[i]);
  return variance > 0 ? s / std::sqrt(variance / 18) : 0;
}

}  // namespace

TEST_CASE("autocorrelation times do not depend on the units of the series") {
  rc::prop("tau(a x + b) = tau(x)", [] {
    const Eigen::MatrixXd chains = draw_chains();
    const double factor = std::ldexp(*rc::gen::element(-1.0, 1.0), *rc::gen::inRange(-10, 10));
    const double shift = *rc::gen::inRange(-1000, 1000);
    const Eigen::MatrixXd mapped = factor * chains.array() + shift;
    // The shift of up to 1000 costs eps 1000 2^10 / sd relative, amplified by at most the condition
    // of the fit (below 1e4 for an AR(1) of 0.7): 1e-6.
    const auto close = [](double a, double b) { return std::abs(a / b - 1) < 1e-6; };
    const auto before = boltzmark::geyer_time(chains), after = boltzmark::geyer_time(mapped);
    RC_ASSERT(before.window == after.window);
    RC_ASSERT(close(after.tau, before.tau));
    RC_ASSERT(close(boltzmark::batch_means_time(mapped, 10).tau,
                    boltzmark::batch_means_time(chains, 10).tau));
    const auto fit = boltzmark::ar_act(chains), mapped_fit = boltzmark::ar_act(mapped);
    RC_ASSERT(fit.order == mapped_fit.order);
    RC_ASSERT(close(mapped_fit.tau, fit.tau));
  });
}

TEST_CASE("autocorrelation times do not depend on the direction of time or the order of chains") {
  rc::prop("tau(reversed) = tau", [] {
    const Eigen::MatrixXd chains = draw_chains();
    const Eigen::MatrixXd reversed = chains.colwise().reverse();
    const Eigen::MatrixXd permuted = chains.rowwise().reverse();
    const auto tau = boltzmark::geyer_time(chains).tau;
    RC_ASSERT(std::abs(boltzmark::geyer_time(reversed).tau / tau - 1) < 1e-9);
    RC_ASSERT(std::abs(boltzmark::geyer_time(permuted).tau / tau - 1) < 1e-9);
  });
}

TEST_CASE("every interval of an autocorrelation time contains its estimate") {
  rc::prop("0 < lower < tau < upper", [] {
    const Eigen::MatrixXd chains = draw_chains();
    const auto ordered = [](const boltzmark::TimeEstimate& e) {
      return 0 < e.lower && e.lower < e.tau && e.tau < e.upper && e.std_error > 0;
    };
    RC_ASSERT(ordered(boltzmark::geyer_time(chains)));
    RC_ASSERT(ordered(boltzmark::ar_act(chains)));
    RC_ASSERT(ordered(boltzmark::batch_means_time(chains, 5)));
  });
}

TEST_CASE("the signed-rank test is antisymmetric and blind to order and scale") {
  rc::prop("p_greater(d) = p_less(-d)", [] {
    std::vector<double> d = draw_differences();
    const auto test = boltzmark::signed_rank_test(d);
    std::vector<double> changed;
    for (const double x : d) changed.push_back(-4 * x);
    std::reverse(changed.begin(), changed.end());
    const auto mirror = boltzmark::signed_rank_test(changed);
    // The law is built by ascending ranks both times: the sums differ by rounding only.
    RC_ASSERT(std::abs(mirror.p_less - test.p_greater) < 1e-12);
    RC_ASSERT(std::abs(mirror.p_greater - test.p_less) < 1e-12);
    RC_ASSERT(std::abs(mirror.p_two_sided - test.p_two_sided) < 1e-12);
    RC_ASSERT(mirror.shift.lower == -4 * test.shift.upper);
    RC_ASSERT(mirror.shift.estimate == -4 * test.shift.estimate);
    RC_ASSERT(test.p_greater + test.p_less >= 1 - 1e-12);
  });
}

TEST_CASE("trends change sides when the order is reversed") {
  rc::prop("p_increasing(x) = p_decreasing(reversed x)", [] {
    std::vector<double> x = draw_differences();
    RC_PRE(x.size() >= 3U);
    const double z = kendall_z(x);
    std::vector<std::vector<double>> groups, reversed_groups;
    for (const double value : x) groups.push_back({value});
    std::reverse(x.begin(), x.end());
    for (const double value : x) reversed_groups.push_back({value});
    const auto forward = boltzmark::jonckheere_test(groups);
    const auto backward = boltzmark::jonckheere_test(reversed_groups);
    RC_ASSERT(std::abs(forward.z + backward.z) < 1e-9);
    RC_ASSERT(std::abs(backward.p_decreasing - forward.p_increasing) < 1e-9);
    RC_ASSERT(std::abs(forward.z - z) < 1e-9);  // with groups of one it is Kendall's
  });
}

TEST_CASE("Fisher's test does not depend on what is called a success") {
  rc::prop("greater(x, y) = less(n - x, m - y)", [] {
    const std::uint64_t n = *rc::gen::inRange(1, 200), m = *rc::gen::inRange(1, 200);
    const std::uint64_t x = *rc::gen::inRange<std::uint64_t>(0, n + 1);
    const std::uint64_t y = *rc::gen::inRange<std::uint64_t>(0, m + 1);
    using boltzmark::Alternative;
    const double p = boltzmark::fisher_test({x, n}, {y, m}, Alternative::greater);
    const double q = boltzmark::fisher_test({n - x, n}, {m - y, m}, Alternative::less);
    RC_ASSERT(std::abs(p - q) < 1e-10);
    RC_ASSERT(boltzmark::fisher_test({x, n}, {y, m}, Alternative::two_sided) <= 1.0);
  });
}

TEST_CASE("the bootstrap moves with the values") {
  rc::prop("interval(4 x) = 4 interval(x)", [] {
    std::vector<double> x = draw_differences();
    RC_PRE(x.size() >= 2U);
    const boltzmark::BootstrapOptions options{.key = {1, 2}, .replicates = 200};
    const auto before = boltzmark::bootstrap_mean(x, options);
    for (double& value : x) value *= 4;
    const auto after = boltzmark::bootstrap_mean(x, options);
    RC_ASSERT(after.lower == 4 * before.lower);
    RC_ASSERT(after.upper == 4 * before.upper);
    RC_ASSERT(before.lower <= before.upper);
  });
}

TEST_CASE("class changes depend on neither labels nor ambiguous samples") {
  rc::prop("changes(relabelled, thinned of ambiguous) = changes", [] {
    const auto classes = *rc::gen::container<std::vector<int>>(rc::gen::inRange(-1, 4));
    const auto counts =
        boltzmark::count_class_changes(classes.empty() ? std::vector<int>{0} : classes);
    std::vector<int> relabelled;
    for (const int one : classes)
      if (one >= 0) relabelled.push_back(3 - one);
    if (relabelled.empty()) relabelled.push_back(0);
    RC_ASSERT(boltzmark::count_class_changes(relabelled).changes == counts.changes);
    RC_ASSERT(counts.first_change.has_value() == (counts.changes > 0));
  });
}

#include "experiments/kit/statistics/power.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/kit/statistics/trend.hpp"
#include "experiments/kit/statistics/wilcoxon.hpp"

namespace boltzmark {
namespace {

constexpr std::uint64_t exact_signed_rank_up_to = 200;

void check_probability(const char* name, double value) {
  if (!(value >= 0 && value <= 1))
    throw InvalidArgument(fmt::format("{} = {} (must be in 0..1)", name, value));
}

void check_simulation(std::uint64_t size, double alpha, const SimulatedPower& simulation) {
  if (size == 0) throw InvalidArgument("sample size = 0 (must be positive)");
  check_inside("alpha", alpha);
  if (simulation.replicates < 1)
    throw InvalidArgument(fmt::format("replicates = {} (must be positive)", simulation.replicates));
}

// P(X >= k at p1), k the smallest with P(X >= k at p0) <= tail.
double upper_power(double n, double p0, double p1, double tail) {
  const boost::math::binomial null(n, p0), truth(n, p1);
  double low = 0, high = n + 1;  // P(X >= n + 1) = 0 always serves
  while (low < high) {
    const double k = std::floor((low + high) / 2);
    const double above = k == 0 ? 1.0 : cdf(complement(null, k - 1));
    (above <= tail ? high : low) = above <= tail ? k : k + 1;
  }
  if (low == 0) return 1;
  return low > n ? 0 : cdf(complement(truth, low - 1));
}

// One-sided p-values of W+ for n differences without ties.
class SignedRankTail {
 public:
  explicit SignedRankTail(std::uint64_t n) : n_(static_cast<double>(n)) {
    if (n > exact_signed_rank_up_to) return;
    std::vector<long> doubled(n);
    for (std::uint64_t i = 0; i < n; ++i) doubled[i] = 2 * static_cast<long>(i + 1);
    at_least_ = signed_rank_law(doubled);
    for (std::size_t s = at_least_.size() - 1; s-- > 0;) at_least_[s] += at_least_[s + 1];
  }
  double greater(double rank_sum) const {
    if (!at_least_.empty()) return at_least_[static_cast<std::size_t>(2 * rank_sum)];
    const double sd = std::sqrt(n_ * (n_ + 1) * (2 * n_ + 1) / 24);
    const boost::math::normal law;
    return cdf(complement(law, (rank_sum - n_ * (n_ + 1) / 4 - 0.5) / sd));
  }
  double less(double rank_sum) const { return greater(n_ * (n_ + 1) / 2 - rank_sum); }

 private:
  double n_;
  std::vector<double> at_least_;
};

double simulated_rank_sum(std::uint64_t n, double effect, Stream stream) {
  std::vector<double> differences(n);
  for (auto& d : differences) d = effect + stream.normal();
  std::sort(differences.begin(), differences.end(),
            [](double a, double b) { return std::abs(a) < std::abs(b); });
  double sum = 0;
  for (std::size_t i = 0; i < differences.size(); ++i)
    if (differences[i] > 0) sum += static_cast<double>(i + 1);
  return sum;
}

}  // namespace

double binomial_power(std::uint64_t trials, double p0, double p1, double alpha,
                      Alternative alternative) {
  if (trials == 0) throw InvalidArgument("trials = 0 (must be positive)");
  check_probability("p0", p0);
  check_probability("p1", p1);
  check_probability("alpha", alpha);
  const double n = static_cast<double>(trials);
  if (alternative == Alternative::greater) return upper_power(n, p0, p1, alpha);
  if (alternative == Alternative::less) return upper_power(n, 1 - p0, 1 - p1, alpha);
  return std::min(1.0,
                  upper_power(n, p0, p1, alpha / 2) + upper_power(n, 1 - p0, 1 - p1, alpha / 2));
}

double mean_difference_power(std::uint64_t differences, double effect, double alpha,
                             Alternative alternative) {
  if (differences < 2)
    throw InvalidArgument(fmt::format("differences = {} (must be at least 2)", differences));
  check_inside("alpha", alpha);
  const double n = static_cast<double>(differences);
  const bool two_sided = alternative == Alternative::two_sided;
  const boost::math::students_t null(n - 1);
  const double critical = quantile(complement(null, two_sided ? alpha / 2 : alpha));
  const boost::math::non_central_t truth(n - 1, effect * std::sqrt(n));
  const double above = cdf(complement(truth, critical)), below = cdf(truth, -critical);
  return two_sided ? above + below : alternative == Alternative::greater ? above : below;
}

Interval signed_rank_power(std::uint64_t differences, double effect, double alpha,
                           Alternative alternative, const SimulatedPower& simulation) {
  check_simulation(differences, alpha, simulation);
  const SignedRankTail tail(differences);
  std::uint64_t rejected = 0;
  for (int r = 0; r < simulation.replicates; ++r) {
    const double sum =
        simulated_rank_sum(differences, effect, Stream(simulation.key, Purpose::test, r));
    const double greater = tail.greater(sum), less = tail.less(sum);
    const double p = alternative == Alternative::greater ? greater
                     : alternative == Alternative::less  ? less
                                                         : 2 * std::min(greater, less);
    rejected += p <= alpha;
  }
  return proportion_interval(rejected, static_cast<std::uint64_t>(simulation.replicates));
}

Interval share_trend_power(std::span<const double> shares, std::span<const double> scores,
                           std::uint64_t trials, double alpha, const SimulatedPower& simulation) {
  check_simulation(trials, alpha, simulation);
  for (const double share : shares) check_probability("share", share);
  std::uint64_t rejected = 0;
  for (int r = 0; r < simulation.replicates; ++r) {
    Stream stream(simulation.key, Purpose::test, static_cast<std::uint64_t>(r));
    std::vector<Count> counts;
    for (const double share : shares) {
      Count count{0, trials};
      for (std::uint64_t t = 0; t < trials; ++t) count.successes += stream.uniform() < share;
      counts.push_back(count);
    }
    rejected += share_trend(counts, scores).p_increasing <= alpha;
  }
  return proportion_interval(rejected, static_cast<std::uint64_t>(simulation.replicates));
}

double normal_power(double mean, double alpha, Alternative alternative) {
  check_inside("alpha", alpha);
  const boost::math::normal law;
  if (alternative == Alternative::two_sided) {
    const double critical = quantile(complement(law, alpha / 2));
    return cdf(complement(law, critical - mean)) + cdf(law, -critical - mean);
  }
  const double critical = quantile(complement(law, alpha));
  return cdf(
      complement(law, alternative == Alternative::greater ? critical - mean : critical + mean));
}

}  // namespace boltzmark

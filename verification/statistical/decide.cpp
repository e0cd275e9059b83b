#include "decide.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>

#include "boltzmark/core/error.hpp"
#include "experiments/kit/statistics/power.hpp"

namespace boltzmark::verification {
namespace {

std::vector<Promise>& promises() {
  static std::vector<Promise> all;
  return all;
}

void check_rate(std::string_view name, const char* what, double rate) {
  if (!(rate > 0 && rate < 1))
    throw InvalidArgument(fmt::format("{} of '{}' = {} (must be inside 0..1)", what, name, rate));
}

Alternative fault(Claim claim) {
  return claim == Claim::equal      ? Alternative::two_sided
         : claim == Claim::at_least ? Alternative::less
                                    : Alternative::greater;
}

// How often n samples show the deviation, on the side where they show it less. A side on which the
// deviation would leave [0, 1] cannot have it.
double worst_power(std::size_t n, double p, double deviation, double alpha, Claim claim) {
  double worst = 1;
  if (claim != Claim::at_most && p - deviation >= 0)
    worst = std::min(worst, binomial_power(n, p, p - deviation, alpha, fault(claim)));
  if (claim != Claim::at_least && p + deviation <= 1)
    worst = std::min(worst, binomial_power(n, p, p + deviation, alpha, fault(claim)));
  return worst;
}

void check_deviation(double p, double deviation, Claim claim) {
  const bool below = claim != Claim::at_most && p - deviation >= 0;
  const bool above = claim != Claim::at_least && p + deviation <= 1;
  if (!below && !above)
    throw InvalidArgument(
        fmt::format("deviation = {} (must be possible beside p = {})", deviation, p));
}

// The power rises in small saws: double, bisect, then climb to a number that has it.
std::size_t samples_for(double p, double deviation, double alpha, double power, Claim claim) {
  check_deviation(p, deviation, claim);
  const auto enough = [&](std::size_t n) {
    return worst_power(n, p, deviation, alpha, claim) >= power;
  };
  std::size_t high = 16;
  while (!enough(high)) high *= 2;
  std::size_t low = high / 2;
  while (high - low > 1 + low / 1000) {
    const std::size_t middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

// The exact p-value, two-sided as 2 min of the tails: the test whose power was computed above.
double exact_p(std::size_t successes, std::size_t n, double p, Claim claim) {
  const boost::math::binomial law(static_cast<double>(n), p);
  const double x = static_cast<double>(successes);
  const double less = cdf(law, x);
  const double greater = successes == 0 ? 1.0 : cdf(complement(law, x - 1));
  if (claim == Claim::at_least) return less;
  if (claim == Claim::at_most) return greater;
  return std::min(1.0, 2 * std::min(less, greater));
}

Decision report(const Promise& promise, Decision decision, double expected, double alpha) {
  decision.holds = decision.p_value > alpha;
  decision.summary =
      fmt::format("{}: {} samples, observed {:.6g}, expected {:.6g}, p = {:.3g}", promise.name,
                  decision.samples, decision.observed, expected, decision.p_value);
  return decision;
}

void check_samples(std::size_t drawn, std::size_t wanted) {
  if (drawn != wanted)
    throw InvalidArgument(fmt::format("outcomes = {} (must be {})", drawn, wanted));
}

void check_probability(double p) {
  if (!(p >= 0 && p <= 1)) throw InvalidArgument(fmt::format("p = {} (must be in 0..1)", p));
}

}  // namespace

StatisticalTest::StatisticalTest(const Promise& promise) : promise_(promise) {
  check_rate(promise.name, "false_alarm", promise.false_alarm);
  check_rate(promise.name, "power", promise.power);
  if (!(promise.deviation > 0))
    throw InvalidArgument(
        fmt::format("deviation of '{}' = {} (must be positive)", promise.name, promise.deviation));
  if (promise.cases == 0)
    throw InvalidArgument(fmt::format("cases of '{}' = 0 (must be positive)", promise.name));
  for (const Promise& other : promises())
    if (other.name == promise.name || promise.name.empty())
      throw InvalidArgument(fmt::format("name = '{}' (must be new)", promise.name));
  promises().push_back(promise);
}

StreamKey StatisticalTest::next_key() const {
  if (decided_ == promise_.cases)
    throw InvalidArgument(
        fmt::format("cases of '{}' = {} (must cover every decision)", promise_.name, decided_));
  return make_key(1, promise_.name, fmt::format("{}", decided_++));
}

std::span<const Promise> ledger() { return promises(); }

std::size_t proportion_samples(const Promise& promise, double p, Claim claim) {
  return samples_for(p, promise.deviation, promise.false_alarm, promise.power, claim);
}

std::size_t mean_samples(const Promise& promise, double range) {
  const double rates =
      std::sqrt(std::log(2 / promise.false_alarm)) + std::sqrt(std::log(1 / (1 - promise.power)));
  const double scaled = range / promise.deviation * rates;
  return static_cast<std::size_t>(std::ceil(scaled * scaled / 2));
}

Decision decide_proportion(const StatisticalTest& test, double p, Claim claim,
                           const DrawOutcomes<int>& sampler) {
  check_probability(p);
  Decision decision;
  decision.samples = proportion_samples(test.promise(), p, claim);
  const std::vector<int> outcomes = sampler(decision.samples, test.next_key());
  check_samples(outcomes.size(), decision.samples);
  std::size_t successes = 0;
  for (const int outcome : outcomes) {
    if (outcome != 0 && outcome != 1)
      throw InvalidArgument(fmt::format("outcome = {} (must be 0 or 1)", outcome));
    successes += static_cast<std::size_t>(outcome);
  }
  decision.observed = static_cast<double>(successes) / static_cast<double>(decision.samples);
  decision.p_value = exact_p(successes, decision.samples, p, claim);
  return report(test.promise(), decision, p, test.promise().false_alarm);
}

Decision decide_mean(const StatisticalTest& test, double expected, double low, double high,
                     const DrawOutcomes<double>& sampler) {
  if (!(low < high))
    throw InvalidArgument(fmt::format("range = {}..{} (must not be empty)", low, high));
  Decision decision;
  decision.samples = mean_samples(test.promise(), high - low);
  const std::vector<double> outcomes = sampler(decision.samples, test.next_key());
  check_samples(outcomes.size(), decision.samples);
  const double n = static_cast<double>(decision.samples);
  for (const double outcome : outcomes) {
    if (!(outcome >= low && outcome <= high))
      throw InvalidArgument(fmt::format("outcome = {} (must be in {}..{})", outcome, low, high));
    decision.observed += outcome / n;
  }
  const double scaled = (decision.observed - expected) / (high - low);
  decision.p_value = std::min(1.0, 2 * std::exp(-2 * n * scaled * scaled));
  return report(test.promise(), decision, expected, test.promise().false_alarm);
}

Decision decide_frequencies(const StatisticalTest& test, std::span<const double> probabilities,
                            const DrawOutcomes<std::size_t>& sampler) {
  if (probabilities.empty()) throw InvalidArgument("probabilities = none (must hold one)");
  double total = 0;
  Decision decision;
  const Promise& promise = test.promise();
  const double alpha = promise.false_alarm / static_cast<double>(probabilities.size());
  for (const double p : probabilities) {
    check_probability(p);
    total += p;
    decision.samples = std::max(
        decision.samples, samples_for(p, promise.deviation, alpha, promise.power, Claim::equal));
  }
  if (!(std::abs(total - 1) < 1e-9))
    throw InvalidArgument(fmt::format("sum of probabilities = {} (must be 1)", total));
  const std::vector<std::size_t> outcomes = sampler(decision.samples, test.next_key());
  check_samples(outcomes.size(), decision.samples);
  std::vector<std::size_t> counts(probabilities.size());
  for (const std::size_t outcome : outcomes) ++counts.at(outcome);
  std::size_t worst = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const double p = exact_p(counts[k], decision.samples, probabilities[k], Claim::equal);
    if (p < decision.p_value) {
      decision.p_value = p;
      worst = k;
    }
  }
  decision.observed = static_cast<double>(counts[worst]) / static_cast<double>(decision.samples);
  return report(promise, decision, probabilities[worst], alpha);
}

}  // namespace boltzmark::verification

#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boltzmark/random/key.hpp"
#include "boltzmark/random/stream.hpp"

// The one way to decide a statistical test. Each test states, where it is declared, how often it
// may fail on a right program, the deviation that it must see, and how often it sees it; the number
// of samples follows. Seeds follow from the test's name: there is nothing to pick and no retry.
namespace boltzmark::verification {

/// The most that all declared tests together may fail by chance on a right program.
inline constexpr double suite_false_alarm = 1e-6;

/// What a test promises.
struct Promise {
  std::string_view name;      ///< unique; the seed follows from it
  double false_alarm = 1e-8;  ///< of one case
  double deviation = 0;       ///< must be seen, in the units of what is tested
  double power = 0.999;       ///< how often that deviation is seen
  std::size_t cases = 1;      ///< how often the test is decided
};

/// A declared test, on the ledger as long as the program runs. Declare it at namespace scope, so
/// that the ledger is whole whichever tests are run.
class StatisticalTest {
 public:
  /// Throws  InvalidArgument if a rate is outside (0, 1), the deviation is not positive, the name
  /// is empty or taken, or cases = 0
  explicit StatisticalTest(const Promise& promise);
  const Promise& promise() const { return promise_; }
  /// Takes the key of the next case.
  /// Throws  InvalidArgument after the last case
  StreamKey next_key() const;

 private:
  Promise promise_;
  mutable std::size_t decided_ = 0;
};

/// Returns the promises of all declared tests.
std::span<const Promise> ledger();

/// The outcome of one case; `summary` tells it in one line, for INFO.
struct Decision {
  bool holds = false;
  std::size_t samples = 0;
  double observed = 0;
  double p_value = 1;  ///< a bound for decide_mean
  std::string summary;
};

/// Which side of the stated value is a fault.
enum class Claim { equal, at_least, at_most };

/// Draws the wanted number of independent outcomes with a key.
template <class Outcome>
using DrawOutcomes = std::function<std::vector<Outcome>(std::size_t samples, StreamKey key)>;

/// Makes a sampler that draws outcome i by `draw(stream)`, stream = Stream(key, Purpose::test, i).
template <class Outcome>
DrawOutcomes<Outcome> one_by_one(std::function<Outcome(Stream&)> draw) {
  return [draw = std::move(draw)](std::size_t samples, StreamKey key) {
    std::vector<Outcome> outcomes;
    outcomes.reserve(samples);
    for (std::size_t i = 0; i < samples; ++i) {
      Stream stream(key, Purpose::test, i);
      outcomes.push_back(draw(stream));
    }
    return outcomes;
  };
}

/// Decides whether a probability is (at least, at most) p, by the exact binomial test.
/// Shapes  outcomes are 0 or 1
Decision decide_proportion(const StatisticalTest& test, double p, Claim claim,
                           const DrawOutcomes<int>& sampler);

/// Decides whether the mean of outcomes in [low, high] is the expected one, by Hoeffding's bound:
/// right for every law on the range and every number of samples, at the price of more of them.
Decision decide_mean(const StatisticalTest& test, double expected, double low, double high,
                     const DrawOutcomes<double>& sampler);

/// Decides whether outcomes 0..K-1 have the given probabilities: an exact binomial test of each,
/// at false_alarm / K. The deviation is that of one probability, on the sides where it stays
/// in [0, 1].
Decision decide_frequencies(const StatisticalTest& test, std::span<const double> probabilities,
                            const DrawOutcomes<std::size_t>& sampler);

/// Returns the samples that decide_proportion takes.
std::size_t proportion_samples(const Promise& promise, double p, Claim claim);

/// Returns the samples that decide_mean takes.
///   n = (range / deviation)^2 (sqrt(log(2 / false_alarm)) + sqrt(log(1 / (1 - power))))^2 / 2
std::size_t mean_samples(const Promise& promise, double range);

}  // namespace boltzmark::verification

// Intervals and biases of every registered method over random enumerable models and ladders.
#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/exact/exact_sampler.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "decide.hpp"

using namespace boltzmark;
using namespace boltzmark::verification;

namespace {

// A nominal 95 % loses some where errors are skewed or selected by their status: 1,500 intervals of
// each method, drawn once with another key, cover 0.943 (Wang-Landau) or more, those of smc, from
// ten islands, 0.913. Promised is a little less. One case a method, RAISE being two, smc apart; six read samples of parallel tempering too.
struct Coverage {
  double least;
  StatisticalTest test;
};
const Coverage kCoverage{0.93,
                         StatisticalTest({.name = "every method: coverage of trusted intervals",
                                          .false_alarm = 1e-9,
                                          .deviation = 0.14,
                                          .power = 0.99,
                                          .cases = registered_methods().size() + 6})};
const Coverage kIslands{0.9, StatisticalTest({.name = "smc: coverage of trusted intervals",
                                              .false_alarm = 1e-9,
                                              .deviation = 0.15,
                                              .power = 0.99})};
const Coverage& coverage_of(const std::string& method) {
  return method == "smc" ? kIslands : kCoverage;
}
// The sign of a mean over kRuns errors is right nearly always where it is so in every run's mean.
const StatisticalTest kDirection({.name = "biased methods: share of means on the stated side",
                                  .false_alarm = 1e-9,
                                  .deviation = 0.3,
                                  .cases = 3});
// A density of b that is flat between 2 knots is off by nats here: hardly an interval covers.
const StatisticalTest kFewKnots({.name = "continuous b: coverage with few knots",
                                 .false_alarm = 1e-9,
                                 .deviation = 0.4,
                                 .power = 0.99,
                                 .cases = 2});
constexpr const char* kExactCases = "raise from exact cases";
constexpr const char* kReplicas = " over parallel tempering";  // after a method's name
constexpr int kVisible = 8, kHidden = 6;

Layered draw_rbm(int visible, int hidden, double scale, Stream& stream) {
  const auto entry = [&] { return stream.uniform(-scale, scale); };
  const Eigen::MatrixXd weights = Eigen::MatrixXd::NullaryExpr(visible, hidden, entry);
  const Eigen::VectorXd bias = Eigen::VectorXd::NullaryExpr(visible, entry);
  return Layered::rbm(weights, bias, Eigen::VectorXd::NullaryExpr(hidden, entry));
}

// Weights and biases uniform on (-scale, scale); the last kind is a golf course: one hidden unit
// that wants all visible ones at once, which tempering finds seldom and keeps long.
Layered draw_model(Stream& stream) {
  const double scales[] = {0.5, 1, 2, 4};
  const auto kind = stream.below(5);
  if (kind == 4)
    return Layered::rbm(Eigen::MatrixXd::Constant(kVisible, 1, 5), Eigen::VectorXd::Zero(kVisible),
                        Eigen::VectorXd::Constant(1, 7 - 5.0 * kVisible));
  return draw_rbm(kVisible, kHidden, scales[kind], stream);
}

Eigen::MatrixXf exact_cases(const Layered& model, int count, Stream& stream) {
  const ExactSampler sampler(model);
  Eigen::MatrixXf cases(model.size(0), count);
  Eigen::VectorXf hidden(model.size(1));
  for (int c = 0; c < count; ++c) sampler.draw(stream, cases.col(c), hidden);
  return cases;
}

std::string bare_name(const std::string& method) {
  return method.substr(0, method.find(kReplicas));
}

/// Whether the intervals of one run's methods hold log Z; none where the status is not ok.
using Outcomes = std::vector<std::optional<int>>;

// A weight of AIS or RAISE is one sample, so that these need more chains than 50.
Outcomes run_once(const std::vector<std::string>& methods, Stream& stream) {
  const Layered model = draw_model(stream);
  const double log_z = exact_log_z(model).log_z;
  const int rungs[] = {2, 5, 20};
  const bool annealed =
      methods.size() == 1 &&
      (methods[0] == kExactCases || find_method(bare_name(methods[0])).source == Source::annealed);
  MethodSettings settings{.chains = annealed ? 100 : 32,
                          .sweeps = 300,
                          .ladder = Ladder::linear(rungs[stream.below(3)]),
                          .key = {stream(), stream()}};
  if (methods[0] == kExactCases) settings.cases = exact_cases(model, settings.chains, stream);
  if (methods[0].ends_with(kReplicas)) {
    settings.tempering = Tempering::parallel;
    settings.bundles = 8;
  }
  const LayeredTarget target(model, Base::uniform(model));
  MethodRuns runs(target, settings);
  Outcomes outcomes;
  for (const std::string& method : methods) {
    const Estimate e = runs.estimate(method == kExactCases ? "raise" : bare_name(method));
    outcomes.push_back(e.status == Status::ok ? std::optional(e.lower <= log_z && log_z <= e.upper)
                                              : std::nullopt);
  }
  return outcomes;
}

/// The trusted outcomes of methods that share their runs: [methods][outcomes].
std::vector<std::vector<int>> collect(const std::vector<std::string>& methods, std::size_t wanted) {
  std::vector<std::vector<int>> trusted(methods.size());
  const StreamKey key = make_key(1, "every method", methods[0]);
  const auto few = [&] {
    return std::any_of(trusted.begin(), trusted.end(),
                       [&](const auto& outcomes) { return outcomes.size() < wanted; });
  };
  // RAISE trusts one run in five.
  for (std::size_t first = 0; few() && first < 8 * wanted;) {
    std::vector<Outcomes> runs(wanted / 4);
    parallel_for(runs.size(), [&](std::size_t i) {
      Stream stream(key, Purpose::test, first + i);
      runs[i] = run_once(methods, stream);
    });
    first += runs.size();
    for (const Outcomes& outcomes : runs)
      for (std::size_t m = 0; m < methods.size(); ++m)
        if (outcomes[m] && trusted[m].size() < wanted) trusted[m].push_back(*outcomes[m]);
  }
  return trusted;
}

// Methods that read samples share their runs.
std::vector<std::vector<std::string>> method_groups() {
  std::vector<std::vector<std::string>> groups = {{}};
  for (const Method& method : registered_methods())
    if (method.source == Source::tempered)
      groups[0].push_back(method.name);
    else
      groups.push_back({method.name});
  groups.push_back({kExactCases});
  groups.push_back({});
  for (const Method& method : registered_methods())
    if (method.source == Source::tempered && method.any_tempering)
      groups.back().push_back(method.name + kReplicas);
  return groups;
}

// Whether the mean error of runs whose bias is as large as a tenth of their spread is above zero.
int mean_is_above(const std::string& method, Stream& stream) {
  constexpr int kRuns = 60;
  const Layered model = draw_model(stream);
  const double log_z = exact_log_z(model).log_z;
  const LayeredTarget target(model, Base::uniform(model));
  double sum = 0;
  for (int r = 0; r < kRuns; ++r) {
    MethodSettings settings{
        .chains = 8, .sweeps = 12, .ladder = Ladder::linear(4), .key = {stream(), stream()}};
    if (find_method(method).reads.cases)
      settings.cases = exact_cases(model, settings.chains, stream);
    sum += estimate_log_z(method, target, settings).log_z - log_z;
  }
  return sum > 0 ? 1 : 0;
}

}  // namespace

TEST_CASE(
    "trusted intervals of every method hold log Z on random models and ladders of any length") {
  for (const std::vector<std::string>& methods : method_groups()) {
    const auto& [least, test] = coverage_of(methods[0]);
    const std::size_t wanted = proportion_samples(test.promise(), least, Claim::at_least);
    const std::vector<std::vector<int>> trusted = collect(methods, wanted);
    for (std::size_t m = 0; m < methods.size(); ++m) {
      // A method that refuses most of its runs would pass for want of intervals.
      INFO(methods[m] << ": " << trusted[m].size() << " trusted");
      REQUIRE(trusted[m].size() == wanted);
      const Decision decision = decide_proportion(
          test, least, Claim::at_least, [&](std::size_t, StreamKey) { return trusted[m]; });
      INFO(decision.summary);
      CHECK(decision.holds);
    }
  }
}

TEST_CASE("a continuous inverse temperature covers log Z of peaked models however few its knots") {
  for (const int least : {2, 3}) {
    const auto covers = [&](Stream& stream) {
      const Layered model = draw_rbm(12, 8, 4, stream);
      const double log_z = exact_log_z(model).log_z;
      const int knots = least == 2 ? 2 : 3 + static_cast<int>(stream.below(8));
      const Estimate e = estimate_log_z("ti-continuous", LayeredTarget(model, Base::uniform(model)),
                                        {.chains = 32,
                                         .sweeps = 700,
                                         .ladder = Ladder::linear(knots),
                                         .key = {stream(), stream()}});
      // Nearly all are trusted; the others count as misses.
      return e.status == Status::ok && e.lower <= log_z && log_z <= e.upper ? 1 : 0;
    };
    const Decision decision = decide_proportion(kFewKnots, 0.88, Claim::at_least,
                                                [&](std::size_t samples, StreamKey key) {
                                                  std::vector<int> covered(samples);
                                                  parallel_for(samples, [&](std::size_t i) {
                                                    Stream stream(key, Purpose::test, i);
                                                    covered[i] = covers(stream);
                                                  });
                                                  return covered;
                                                });
    INFO(least << " knots or more: " << decision.summary);
    CHECK(decision.holds);
  }
}

TEST_CASE("the mean of AIS is below log Z and that of RAISE from exact cases above") {
  const ThreadLimit limit(1);  // runs are too small to share
  for (const std::string method : {"ais", "smc", "raise"}) {
    const bool above = method == "raise";
    const Decision decision =
        decide_proportion(kDirection, 0.85, Claim::at_least, one_by_one<int>([&](Stream& stream) {
                            return mean_is_above(method, stream) == (above ? 1 : 0) ? 1 : 0;
                          }));
    INFO(method << ": " << decision.summary);
    CHECK(decision.holds);
  }
}

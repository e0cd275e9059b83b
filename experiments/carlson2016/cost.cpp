#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/estimators/mbar.hpp"
#include "boltzmark/estimate/estimators/rts.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/statistics/interval.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments::carlson2016_cost {
namespace {

constexpr int kChains = 50;
constexpr PerProfile<int> kRepeats{.smoke = 2, .quick = 5, .paper = 15};

/// A cell: rungs and samples; the exponents are slopes between the first and the last of a list.
struct StoreSize {
  int rungs, samples;
};
const PerProfile<std::vector<StoreSize>> kByRungs{
    .smoke = {{5, 500}, {10, 500}},
    .quick = {{50, 10000}, {100, 10000}, {200, 10000}},
    .paper = {{50, 100000}, {100, 100000}, {200, 100000}, {400, 100000}, {800, 100000}}};
const PerProfile<std::vector<StoreSize>> kBySamples{
    .smoke = {{5, 500}, {5, 1000}},
    .quick = {{100, 5000}, {100, 10000}, {100, 50000}},
    .paper = {{100, 10000}, {100, 100000}, {100, 1000000}}};

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  for (const auto* cells : {&kByRungs.at(profile), &kBySamples.at(profile)})
    for (const StoreSize& cell : *cells) {
      Json inputs = {
          {"rungs", cell.rungs}, {"samples", cell.samples}, {"repeats", kRepeats.at(profile)}};
      if (std::find(all.begin(), all.end(), inputs) == all.end()) all.push_back(std::move(inputs));
    }
  return all;
}

// Exponentials and products of an iteration.
double trial_cost(const Json& inputs) {
  const double rungs = inputs.at("rungs");
  return number(inputs.at("samples")) * rungs * (1 + rungs / 200);
}

// Independent samples of a Gaussian D: log Z(b) = 200 b^2, D | b ~ N(400 b, 400).
SampleStore make_store(int rungs, int samples, StreamKey key) {
  SampleStore store{Ladder::linear(rungs)};
  store.log_prior = Eigen::VectorXd::Constant(rungs, -std::log(static_cast<double>(rungs)));
  store.log_z_hat.resize(rungs);
  for (int k = 0; k < rungs; ++k) store.log_z_hat[k] = 200 * store.ladder[k] * store.ladder[k];
  store.log_ratio.resize(samples / kChains, kChains);
  store.rung.resize(samples / kChains, kChains);
  Stream stream(key, Purpose::data);
  for (Eigen::Index n = 0; n < store.rung.size(); ++n) {
    const auto k = static_cast<int>(stream.below(static_cast<std::uint64_t>(rungs)));
    store.rung.data()[n] = k;
    store.log_ratio.data()[n] = 400 * store.ladder[k] + 20 * stream.normal();
  }
  return store;
}

template <class Work>
double median_seconds(int repeats, const Work& work) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    const auto start = Clock::now();
    work();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  return median(seconds);
}

Json run(const Json& inputs, const TrialContext& context) {
  const ThreadLimit one(1);
  const int rungs = inputs.at("rungs"), repeats = inputs.at("repeats");
  const SampleStore store = make_store(rungs, inputs.at("samples"), context.key);
  int iterations = 0;
  const double by_mbar = median_seconds(repeats, [&] { iterations = mbar(store).iterations; });
  const double by_rts = median_seconds(repeats, [&] { rts(store, States::joint); });
  return {{"mbar", by_mbar},
          {"mbar_iteration", by_mbar / std::max(1, iterations)},
          {"rts", by_rts},
          {"iterations", iterations}};
}

// The slope of log seconds between the ends of a list.
double exponent(const Results& results, const std::vector<StoreSize>& cells, const char* what,
                bool by_rungs) {
  const auto seconds = [&](const StoreSize& cell) {
    const std::vector<double> found =
        results.values({{"rungs", cell.rungs}, {"samples", cell.samples}}, what);
    return found.empty() ? std::nan("") : found.front();
  };
  const StoreSize &low = cells.front(), &high = cells.back();
  const double step = by_rungs ? static_cast<double>(high.rungs) / low.rungs
                               : static_cast<double>(high.samples) / low.samples;
  return std::log(seconds(high) / seconds(low)) / std::log(step);
}

void summarise(const Results& results, Summary& summary) {
  Table table{.name = "times",
              .caption = "Median times on one thread, samples read from a store.",
              .columns = {{"rungs", "rungs"},
                          {"samples", "samples"},
                          {"MBAR / s", "mbar", 4},
                          {"its iterations", "iterations"},
                          {"RTS / s", "rts", 4}},
              .timing = true};
  for (const Trial& trial : results.trials())
    table.rows.push_back(
        {std::int64_t{trial.inputs.at("rungs")}, std::int64_t{trial.inputs.at("samples")},
         number(trial.outputs.at("mbar")), std::int64_t{trial.outputs.at("iterations")},
         number(trial.outputs.at("rts"))});
  if (table.rows.empty()) return;
  summary.add(std::move(table));
  const std::vector<StoreSize>& by_rungs = kByRungs.at(results.profile());
  const std::vector<StoreSize>& by_samples = kBySamples.at(results.profile());
  const auto add = [&](const char* part, double value, const std::string& note) {
    if (std::isfinite(value))
      summary.add(Measure{.claim = "C19", .part = part, .estimate = value, .n = 1, .note = note});
  };
  add("MBAR, exponent of K", exponent(results, by_rungs, "mbar_iteration", true),
      "of an iteration; below 2 while exponentials, of which there are N K, outweigh products");
  add("MBAR, exponent of N", exponent(results, by_samples, "mbar_iteration", false),
      "of an iteration");
  add("RTS, exponent of K", exponent(results, by_rungs, "rts", true), "");
  const StoreSize& last = by_samples.back();
  add("bytes, MBAR over RTS", 12.0 * last.samples / (8.0 * last.rungs),
      fmt::format("a rung and D of {} samples over {} occupancies", last.samples, last.rungs));
}

}  // namespace

Experiment experiment() {
  return {
      .id = "carlson2016/cost",
      .item = "Sec. 3.3",
      .title = "What do MBAR and RTS cost?",
      .paper_did =
          "Compares the cost of MBAR, O(N K^2 + K^3) an iteration with all samples stored, "
          "with that of RTS, O(K) a sample with K numbers stored.",
      .settings = {.smoke = "Stores of 500 and 1,000 samples.",
                   .quick = "Synthetic stores: 50 to 200 rungs of 10,000 samples, and 5,000 to "
                            "50,000 samples of 100 rungs; medians of 5 times.",
                   .paper = "Up to 800 rungs and 1,000,000 samples; medians of 15 times."},
      .seconds = {.smoke = 0.1, .quick = 7, .paper = 2000},
      .claims = {"C19"},
      .alone = true,
      .trials = trials,
      .cost = trial_cost,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::carlson2016_cost

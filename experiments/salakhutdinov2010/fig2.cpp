#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "experiments/kit/measures.hpp"
#include "experiments/kit/results.hpp"
#include "verification/checks/laws/partition.hpp"
#include "verification/checks/laws/two_spins.hpp"

namespace boltzmark::experiments::salakhutdinov2010_fig2 {
namespace {

constexpr int kUpdates = 100;
constexpr PerProfile<int> kRuns{.smoke = 100, .quick = 4000, .paper = 100000};

/// What moves the two spins.
struct Mover {
  const char* name;   ///< in the trials' inputs
  const char* title;  ///< in tables
  WeightRule rule;
};

const std::vector<Mover>& movers() {
  static const std::vector<Mover> all = {
      {"gibbs", "Gibbs", WeightRule::frozen()},
      {"wl-10", "WL, factor 10", WeightRule::constant(10)},
      {"wl-1", "WL, factor 1", WeightRule::constant(1)},
      {"wl-10-t", "WL, factor 10/t", WeightRule::vanishing(10)},
      {"wl-1-t", "WL, factor 1/t", WeightRule::vanishing(1)},
      {"fpcd-10", "FPCD, rate 10", WeightRule::fast_weights(10, kTwoSpinData)},
      {"fpcd-1", "FPCD, rate 1", WeightRule::fast_weights(1, kTwoSpinData)},
      {"fpcd-0.1", "FPCD, rate 0.1", WeightRule::fast_weights(0.1, kTwoSpinData)},
      {"fpcd-decay", "FPCD, rate 1, decay 19/20",
       WeightRule::fast_weights(1, kTwoSpinData, 19.0 / 20)},
  };
  return all;
}

const Mover& find_mover(const std::string& name) {
  return *std::find_if(movers().begin(), movers().end(),
                       [&](const Mover& mover) { return name == mover.name; });
}

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  for (const Mover& mover : movers())
    all.push_back({{"mover", mover.name}, {"runs", kRuns.at(profile)}});
  return all;
}

// Shapes  [sets][updates + 1]
std::vector<std::vector<double>> set_laws(const Partition& spins, const Eigen::MatrixXd& laws) {
  std::vector<std::vector<double>> all(static_cast<std::size_t>(spins.sets()));
  for (Eigen::Index t = 0; t < laws.cols(); ++t) {
    const Eigen::VectorXd sums = spins.sums(laws.col(t));
    for (std::size_t k = 0; k < all.size(); ++k)
      all[k].push_back(sums[static_cast<Eigen::Index>(k)]);
  }
  return all;
}

/// Outputs  law [sets][updates + 1]; occupancy [sets]; left, the probability of having left X_4;
/// visits, those of X_2 and X_3 after the first arrival in X_1, expected
Json exact_numbers(const Partition& spins, const WeightRule& rule) {
  const Eigen::VectorXd start = point_law(spins, kTwoSpinStart);
  const Eigen::MatrixXd laws = partition_law(spins, rule, {.law = start}, kUpdates);
  const auto ended = [&](std::vector<int> ends) {
    return partition_law(spins, rule, {.law = start, .ends = std::move(ends)}, kUpdates);
  };
  const Eigen::VectorXd occupancy = occupancies(spins, laws);
  const Eigen::VectorXd before = occupancies(spins, ended({kTwoSpinData}));
  return {{"law", set_laws(spins, laws)},
          {"occupancy", std::vector<double>(occupancy.begin(), occupancy.end())},
          {"left", 1 - ended({0, 1, 2}).col(kUpdates).sum()},
          {"visits", kUpdates * (occupancy[1] + occupancy[2] - before[1] - before[2])}};
}

/// Outputs  path [updates + 1] of the first run; mean_occupancy [sets] and mean_deviation of runs,
/// the largest |occupancy - 1/4| of a run averaged
Json simulated_numbers(const Partition& spins, const WeightRule& rule, int runs, StreamKey key) {
  std::vector<int> path;
  Eigen::Vector4d mean = Eigen::Vector4d::Zero();
  double deviation = 0;
  for (int run = 0; run < runs; ++run) {
    Stream stream(key, Purpose::test, static_cast<std::uint64_t>(run));
    PartitionChain chain(spins, rule, kTwoSpinStart);
    Eigen::Vector4d share = Eigen::Vector4d::Zero();
    if (run == 0) path.push_back(chain.set());
    for (int t = 1; t <= kUpdates; ++t) {
      chain.update(stream);
      share[chain.set()] += 1.0 / kUpdates;
      if (run == 0) path.push_back(chain.set());
    }
    mean += share / runs;
    deviation += (share.array() - 0.25).abs().maxCoeff() / runs;
  }
  return {{"path", path},
          {"mean_occupancy", std::vector<double>(mean.begin(), mean.end())},
          {"mean_deviation", deviation}};
}

Json run(const Json& inputs, const TrialContext& context) {
  const Partition spins = two_spin_partition();
  const WeightRule rule = find_mover(inputs.at("mover")).rule;
  Json outputs = simulated_numbers(spins, rule, inputs.at("runs"), context.key);
  if (rule.counts_suffice()) outputs["exact"] = exact_numbers(spins, rule);
  return outputs;
}

Series path_series(const Results& results, const char* mover, const char* label, double shift,
                   int colour) {
  Series series{.label = label, .mark = Mark::steps, .colour = colour};
  const auto found = results.where({{"mover", mover}});
  if (found.empty()) return series;
  for (const double set : numbers(found.front()->outputs.at("path"))) {
    series.x.push_back(static_cast<double>(series.x.size()));
    series.y.push_back(set + 1 + shift);
  }
  return series;
}

const std::vector<std::pair<std::string, double>> kSetTicks = {
    {"X_1", 1}, {"X_2", 2}, {"X_3", 3}, {"X_4", 4}};

void add_paths(const Results& results, Summary& summary) {
  summary.add(Figure{
      .name = "paths",
      .caption =
          "One run of each algorithm from (−1, −1) in X₄; the data point of FPCD is (1, 1) in "
          "X₁. WL with the factor 10, FPCD at rate 1 without decay. Lines that coincide are "
          "drawn beside each other.",
      .panels = {Panel{.x = {.label = "number of Gibbs updates"},
                       .y = {.label = "set", .low = 0.7, .high = 5.8, .ticks = kSetTicks},
                       .series = {path_series(results, "wl-10", "WL algorithm", 0, 0),
                                  path_series(results, "fpcd-1", "FPCD", -0.07, 1),
                                  path_series(results, "gibbs", "Gibbs sampler", 0.07, 2)},
                       .legend = "top right"}}});
}

void add_law(const Results& results, Summary& summary) {
  Figure figure{.name = "law",
                .caption =
                    "The exact probability of each set after each update of WL and of "
                    "FPCD: propagated over (state, visits of each set)."};
  figure.columns = 2;
  figure.height = 330;
  for (const char* name : {"wl-10", "fpcd-1"}) {
    const auto found = results.where({{"mover", name}});
    if (found.empty()) return;
    Panel panel{.title = find_mover(name).title,
                .x = {.label = "number of Gibbs updates"},
                .y = {.label = "probability", .low = 0, .high = 1.001},
                .legend = "top right"};
    const Json& laws = found.front()->outputs.at("exact").at("law");
    for (std::size_t k = 0; k < laws.size(); ++k) {
      Series series{.label = kSetTicks[k].first, .y = numbers(laws[k])};
      series.x.resize(series.y.size());
      std::iota(series.x.begin(), series.x.end(), 0);
      panel.series.push_back(std::move(series));
    }
    figure.panels.push_back(std::move(panel));
  }
  summary.add(std::move(figure));
}

Cell exact_cell(const Json& outputs, const char* key) {
  return outputs.contains("exact") ? Cell(number(outputs["exact"].at(key))) : Cell("–");
}

void add_occupancies(const Results& results, Summary& summary) {
  Table table{.name = "occupancies",
              .caption =
                  "Share of 100 updates that end in each set, expected: exact where log g "
                  "follows from the visits, else the mean of simulated runs. The deviation is "
                  "that of a single run, simulated: the largest |share − 1/4|, averaged over "
                  "runs. Exact too: the probability of having left X₄, and the expected "
                  "visits to X₂ and X₃ after the first arrival in X₁.",
              .columns = {{"algorithm", "algorithm"},
                          {"how", "how"},
                          {"X₁", "x1", 4},
                          {"X₂", "x2", 4},
                          {"X₃", "x3", 4},
                          {"X₄", "x4", 4},
                          {"deviation of a run", "deviation", 3},
                          {"P(X₄ left)", "left", 5},
                          {"visits after X₁", "visits", 4}}};
  for (const Mover& mover : movers()) {
    const auto found = results.where({{"mover", mover.name}});
    if (found.empty()) continue;
    const Json& outputs = found.front()->outputs;
    const bool exact = outputs.contains("exact");
    std::vector<Cell> row = {mover.title, exact ? "exact" : "simulated"};
    for (const double share :
         numbers(exact ? outputs["exact"].at("occupancy") : outputs.at("mean_occupancy")))
      row.emplace_back(share);
    row.emplace_back(number(outputs.at("mean_deviation")));
    row.push_back(exact_cell(outputs, "left"));
    row.push_back(exact_cell(outputs, "visits"));
    table.rows.push_back(std::move(row));
  }
  summary.add(std::move(table));
}

void add_exact_measure(const About& about, double value, Summary& summary) {
  Measure measure = start_measure(about, 1);
  measure.estimate = value;
  summary.add(std::move(measure));
}

void add_claims(const Results& results, Summary& summary) {
  const auto exact = [&](const char* name) -> const Json* {
    const auto found = results.where({{"mover", name}});
    return found.empty() ? nullptr : &found.front()->outputs.at("exact");
  };
  if (const Json* wl = exact("wl-10")) {
    double deviation = 0;
    for (const double share : numbers(wl->at("occupancy")))
      deviation = std::max(deviation, std::abs(share - 0.25));
    add_exact_measure({.claim = "S01",
                       .note = "of the expected shares; those of a single run, of the factor 1 and "
                               "of vanishing factors are in the table"},
                      deviation, summary);
  }
  if (const Json* gibbs = exact("gibbs"))
    add_exact_measure({.claim = "S02"}, number(gibbs->at("left")), summary);
  if (const Json* fpcd = exact("fpcd-1")) {
    add_exact_measure({.claim = "S03", .part = "in X1 at update 100"},
                      number(fpcd->at("law")[kTwoSpinData].back()), summary);
    add_exact_measure({.claim = "S03", .part = "visits to X2 and X3 after"},
                      number(fpcd->at("visits")), summary);
  }
}

void summarise(const Results& results, Summary& summary) {
  add_paths(results, summary);
  add_law(results, summary);
  add_occupancies(results, summary);
  add_claims(results, summary);
}

}  // namespace

Experiment experiment() {
  return {
      .id = "salakhutdinov2010/fig2",
      .item = "Fig. 2",
      .title = "Which methods move between all sets of two spins, and which stay in one?",
      .paper_did =
          "Runs the Gibbs sampler, FPCD and the Wang-Landau algorithm for 100 updates on "
          "two spins that prefer to be equal, the four states being the sets.",
      .settings = {.smoke = "Exact laws; 100 simulated runs of each.",
                   .quick = "Exact laws; 4,000 simulated runs of each.",
                   .paper = "Exact laws; 100,000 simulated runs of each."},
      .seconds = {.smoke = 0.7, .quick = 0.7, .paper = 5},
      .claims = {"S01", "S02", "S03"},
      .deviations =
          {"The Wang-Landau factor is not stated for this figure: 10, the one of Sec. 8.1; 1, 10/t "
           "and 1/t stand beside it.",
           "FPCD's rate and decay are not stated: 1 without decay; rates 0.1 and 10, and a decay of "
           "19/20 an update (Tieleman and Hinton 2009) stand beside it.",
           "The list of sets in the paper names {−1, 1} twice: X₃ is taken to be {1, −1}."},
      .checks = true,
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::salakhutdinov2010_fig2

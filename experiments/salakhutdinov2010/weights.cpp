#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/learn/initial.hpp"
#include "experiments/kit/bands.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/salakhutdinov2010/support/convergence.hpp"
#include "verification/checks/laws/partition.hpp"

namespace boltzmark::experiments::salakhutdinov2010_weights {
namespace {

constexpr int kSide = 3;  // units a side; sets by how many visible ones are on
constexpr int kSets = kSide + 1;
constexpr double kLevel = 1 - 0.05 / kSets;  // of each set's interval: 95 % for all together
constexpr int kGroupRuns = 50;
constexpr int kFirst = 64;  // update of the first record; each next one twice as late
constexpr double kLeast = 0.02, kMost = 0.6;  // of the sets' probabilities
constexpr double kFactors[] = {10, 1};
constexpr PerProfile<int> kGroups{.smoke = 2, .quick = 8, .paper = 40};
constexpr PerProfile<int> kRecords{.smoke = 4, .quick = 9, .paper = 13};

/// A machine whose sets' probabilities Eq. 6 can tell apart, and what its averages must become.
struct Example {
  Partition partition;
  std::vector<double> observable;        ///< hidden units that are on [states]
  Eigen::VectorXd shares, expectations;  ///< p(X_k), E[observable | X_k]
};

Partition by_visible_units(const Layered& model) {
  const StateSpace space(model);
  std::vector<int> set_of(space.states());
  for (std::size_t x = 0; x < space.states(); ++x)
    for (const int unit : space.side(0)) set_of[x] += space.value_index(unit, x);
  return Partition(model, std::move(set_of));
}

Example make_example(const TrialContext& context) {
  for (int number = 0;; ++number) {
    const Layered model =
        initial_rbm(kSide, kSide, 1, context.shared_key(fmt::format("model {}", number)));
    Partition partition = by_visible_units(model);
    const Eigen::VectorXd p = partition.space().p(), shares = partition.sums(p);
    if (shares.minCoeff() < kLeast || shares.maxCoeff() > kMost) continue;
    std::vector<double> observable(partition.space().states());
    for (std::size_t x = 0; x < observable.size(); ++x)
      for (const int unit : partition.space().side(1))
        observable[x] += partition.space().value(unit, x);
    const Eigen::Map<const Eigen::VectorXd> values(observable.data(), p.size());
    const Eigen::VectorXd expectations =
        partition.sums(p.cwiseProduct(values)).cwiseQuotient(shares);
    return {std::move(partition), std::move(observable), shares, expectations};
  }
}

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  for (const double factor : kFactors)
    for (int group = 0; group < kGroups.at(profile); ++group)
      all.push_back({{"factor", factor},
                     {"group", group},
                     {"runs", kGroupRuns},
                     {"records", kRecords.at(profile)}});
  return all;
}

/// Errors of one run at each record.  Shapes  [sets x records]
struct Errors {
  Eigen::MatrixXd weight, average;
};

Errors follow_run(const Example& example, double factor, int records, StreamKey key, int number) {
  Stream stream(key, Purpose::test, static_cast<std::uint64_t>(number));
  const Partition& partition = example.partition;
  PartitionChain chain(partition, WeightRule::vanishing(factor), 0);
  Eigen::VectorXd visits = Eigen::VectorXd::Zero(kSets), sums = visits;
  Errors errors{Eigen::MatrixXd(kSets, records), Eigen::MatrixXd(kSets, records)};
  for (int record = 0; record < records; ++record) {
    while (chain.updates() < static_cast<std::uint64_t>(kFirst) << record) {
      chain.update(stream);
      ++visits[chain.set()];
      sums[chain.set()] += example.observable[chain.state()];
    }
    const Eigen::Map<const Eigen::VectorXd> log_g(chain.log_g().data(), kSets);
    const Eigen::VectorXd g = (log_g.array() - log_g.maxCoeff()).exp();
    errors.weight.col(record) = g / g.sum() - example.shares;
    // A set that has not been visited has the average 0.
    errors.average.col(record) = sums.cwiseQuotient(visits.cwiseMax(1)) - example.expectations;
  }
  return errors;
}

Json rmse_json(const std::vector<Errors>& runs, Eigen::MatrixXd Errors::*which) {
  Eigen::VectorXd squares = Eigen::VectorXd::Zero((runs.front().*which).cols());
  for (const Errors& errors : runs)
    squares +=
        (errors.*which).cwiseAbs2().colwise().mean().transpose() / static_cast<double>(runs.size());
  return std::vector<double>(squares.cwiseSqrt().begin(), squares.cwiseSqrt().end());
}

Json last_json(const std::vector<Errors>& runs, Eigen::MatrixXd Errors::*which) {
  Json all = Json::array();
  for (const Errors& errors : runs) {
    const Eigen::VectorXd last = (errors.*which).rightCols(1);
    all.push_back(std::vector<double>(last.begin(), last.end()));
  }
  return all;
}

/// Outputs  share, expectation [sets]; of weights and of averages: rmse [records] over runs and
/// sets, last [runs][sets]
Json run(const Json& inputs, const TrialContext& context) {
  const Example example = make_example(context);
  std::vector<Errors> runs;
  for (int i = 0; i < inputs.at("runs").get<int>(); ++i) {
    runs.push_back(
        follow_run(example, number(inputs.at("factor")), inputs.at("records"), context.key, i));
    context.progress(static_cast<double>(i) / kGroupRuns);
  }
  return {
      {"share", std::vector<double>(example.shares.begin(), example.shares.end())},
      {"expectation",
       std::vector<double>(example.expectations.begin(), example.expectations.end())},
      {"weight",
       {{"rmse", rmse_json(runs, &Errors::weight)}, {"last", last_json(runs, &Errors::weight)}}},
      {"average",
       {{"rmse", rmse_json(runs, &Errors::average)}, {"last", last_json(runs, &Errors::average)}}}};
}

std::string factor_text(double factor) { return fmt::format("factor {}/t", factor); }

std::vector<std::vector<double>> rmse_curves(const Results& results, double factor,
                                             const char* what) {
  std::vector<std::vector<double>> curves;
  for (const Trial* trial : results.where({{"factor", factor}}))
    curves.push_back(numbers(trial->outputs.at(what).at("rmse")));
  return curves;
}

/// The last error of one set, of every run.
std::vector<double> last_errors(const Results& results, double factor, const char* what, int set) {
  std::vector<double> all;
  for (const Trial* trial : results.where({{"factor", factor}}))
    for (const Json& run : trial->outputs.at(what).at("last")) all.push_back(number(run.at(set)));
  return all;
}

Interval error_interval(const std::vector<double>& errors) { return mean_interval(errors, kLevel); }

void add_curves(const Results& results, Summary& summary) {
  Figure figure{.name = "errors",
                .caption =
                    "Root mean square error over the four sets and the runs of a group, mean "
                    "over groups with 95 % bands, against the number of updates. Left: "
                    "g_k / Σ g; right: the average of the observable within a set."};
  figure.columns = 2;
  figure.height = 300;
  for (const char* what : {"weight", "average"}) {
    Panel panel{.title = std::string(what) == "weight" ? "weights" : "averages within sets",
                .x = {.label = "updates", .log = true},
                .y = {.label = "RMSE", .log = true},
                .legend = "bottom left"};
    for (const double factor : kFactors) {
      const auto curves = rmse_curves(results, factor, what);
      if (curves.empty()) continue;
      panel.series.push_back(band({.label = factor_text(factor)},
                                  doubling_times(kFirst, curves.front().size()), curves));
    }
    figure.panels.push_back(std::move(panel));
  }
  summary.add(std::move(figure));
}

void add_errors(const Results& results, Summary& summary) {
  Table table{.name = "mean-errors",
              .caption =
                  "Signed mean errors at the end, over all runs, with intervals that hold "
                  "for the four sets together (95 %, Bonferroni).",
              .columns = {{"factor", "factor"},
                          {"set", "set"},
                          {"p(X_k)", "share", 4},
                          {"error of g_k / Σ g", "weight", 5},
                          {"E[f | X_k]", "expectation", 4},
                          {"error of the average", "average", 5}}};
  for (const double factor : kFactors)
    for (int set = 0; set < kSets; ++set) {
      const auto found = results.where({{"factor", factor}});
      if (found.empty()) continue;
      const Json& outputs = found.front()->outputs;
      const auto cell = [&](const char* what) {
        return Cell(with_interval(error_interval(last_errors(results, factor, what, set))));
      };
      table.rows.push_back({fmt::format("{}/t", factor), fmt::format("X_{}", set + 1),
                            number(outputs.at("share").at(set)), cell("weight"),
                            number(outputs.at("expectation").at(set)), cell("average")});
    }
  summary.add(std::move(table));
}

void add_slope(const std::string& claim, const Results& results, double factor, const char* what,
               Summary& summary) {
  const std::vector<double> all = log_slopes(rmse_curves(results, factor, what));
  summary.add(mean_measure({.claim = claim, .part = factor_text(factor) + ", slope"}, all));
}

void add_error_measures(const std::string& claim, const Results& results, double factor,
                        const char* what, double distance, Summary& summary) {
  for (int set = 0; set < kSets; ++set) {
    const std::vector<double> errors = last_errors(results, factor, what, set);
    const Interval interval = error_interval(errors);
    Measure measure = interval_measure(
        {.claim = claim,
         .part = fmt::format("{}, error of X{}", factor_text(factor), set + 1),
         .likely_reason = "a remainder of the start, or of the factor's own size, at this length"},
        interval, errors.size());
    measure.interval = "98.75 %, for four sets";
    measure.post_hoc = true;
    measure.power = interval_power(interval, distance, kLevel);
    measure.power_against = fmt::format("an error of {}", distance);
    summary.add(std::move(measure));
  }
}

void summarise(const Results& results, Summary& summary) {
  if (results.empty()) return;
  add_curves(results, summary);
  add_errors(results, summary);
  if (results.profile() == Profile::smoke || results.trials().size() < results.planned()) return;
  for (const double factor : kFactors) {
    add_slope("S06", results, factor, "weight", summary);
    add_slope("S07", results, factor, "average", summary);
    add_error_measures("S07", results, factor, "average", 0.01, summary);
  }
  add_error_measures("S06", results, kFactors[0], "weight", 0.005, summary);
}

}  // namespace

Experiment experiment() {
  return {
      .id = "salakhutdinov2010/weights",
      .item = "Sec. 4, Eq. 6",
      .title = "Do weights and averages of the Wang-Landau algorithm converge?",
      .paper_did =
          "States that, the factor vanishing, weights converge to the probabilities of the "
          "sets and averages within them to conditional expectations.",
      .settings = {.smoke = "100 runs of each factor, 512 updates.",
                   .quick = "400 runs of each factor in groups of 50, 16,384 updates.",
                   .paper = "2,000 runs of each factor in groups of 50, 262,144 updates."},
      .seconds = {.smoke = 0.1, .quick = 2, .paper = 150},
      .claims = {"S06", "S07"},
      .deviations =
          {"The paper gives no example: an RBM 3-3 with parameters from N(0, 1), the first "
           "drawn whose sets all have a probability within 0.02 to 0.6. The sets are by "
           "how many visible units are on; the average is of how many hidden ones are.",
           "Factors 10/t and 1/t: a constant one has no limit."},
      .checks = true,
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::salakhutdinov2010_weights

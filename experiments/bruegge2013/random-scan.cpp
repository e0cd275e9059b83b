#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "boltzmark/exact/spectrum/connectivity.hpp"
#include "boltzmark/exact/spectrum/operator.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/bruegge2013/support/random_rbm.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/summary.hpp"
#include "verification/checks/laws/asymptotic.hpp"

namespace boltzmark::experiments::bruegge2013_random_scan {
namespace {

constexpr PerProfile<int> kModels{.smoke = 10, .quick = 200, .paper = 1000};
constexpr int kSizes[] = {2, 3};
constexpr double kLargestWeights[] = {1, 3, 6};

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all{{{"case", "zero weights"}}};
  for (const int size : kSizes)
    for (const double c : kLargestWeights)
      all.push_back(
          {{"case", "random"}, {"size", size}, {"c", c}, {"models", kModels.at(profile)}});
  return all;
}

/// Metropolis acceptance in a fixed order, all weights and biases zero: every update is a flip.
Json run_zero_weights() {
  const Layered model =
      Layered::rbm(Eigen::MatrixXd::Zero(2, 2), Eigen::VectorXd::Zero(2), Eigen::VectorXd::Zero(2));
  const StateSpace space(model);
  Json outputs;
  for (const Rule& rule : {Rule::metropolis(), Rule::flip(), Rule::gibbs()}) {
    const Connectivity found = connectivity(space, rule);
    outputs[rule.name()] = {{"period", found.period}, {"components", found.components}};
  }
  return outputs;
}

std::size_t zeros(const Eigen::MatrixXd& matrix) {
  return static_cast<std::size_t>((matrix.array() == 0).count());
}

/// Random models; functions: the energy and one random function of the state.
Json run_random(const Json& inputs, const TrialContext& context) {
  const SquareRbms rbms{.units = inputs.at("size"),
                        .c = inputs.at("c"),
                        .with_biases = true,
                        .count = inputs.at("models")};
  std::vector<double> random_scan, periodic, more_zeros;
  for_each_rbm(rbms, context.key, context, [&](const Layered& model, Stream& stream) {
    const StateSpace space(model);
    Eigen::VectorXd other(static_cast<Eigen::Index>(space.states()));
    for (double& value : other) value = stream.normal();
    for (const Eigen::VectorXd& f : {state_energies(space), other}) {
      const auto ratio = [&](Scan scan) {
        const auto t = asymptotic_variance(space, Rule::flip(), scan, f);
        const auto g = asymptotic_variance(space, Rule::gibbs(), scan, f);
        // In units of the function's variance, so that models compare.
        return (t.asymptotic - g.asymptotic) / g.variance;
      };
      random_scan.push_back(ratio(Scan::random));
      periodic.push_back(ratio(Scan::periodic));
    }
    const Eigen::MatrixXd gibbs = sweep_matrix(space, Rule::gibbs());
    const Eigen::MatrixXd flip = sweep_matrix(space, Rule::flip());
    more_zeros.push_back(static_cast<double>(zeros(flip)) -
                         static_cast<double>(zeros(breuleux_transform(gibbs))));
  });
  return {{"random_scan", random_scan}, {"periodic", periodic}, {"more_zeros", more_zeros}};
}

Json run(const Json& inputs, const TrialContext& context) {
  return inputs.at("case") == "random" ? run_random(inputs, context) : run_zero_weights();
}

/// All values of one output over the cells found.
std::vector<double> pool(const std::vector<const Trial*>& cells, const char* output) {
  std::vector<double> all;
  for (const Trial* cell : cells) {
    const std::vector<double> values = numbers(cell->outputs.at(output));
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

double share_above_zero(const std::vector<double>& values) {
  const auto above = std::count_if(values.begin(), values.end(), [](double v) { return v > 1e-9; });
  return static_cast<double>(above) / static_cast<double>(values.size());
}

void summarise(const Results& results, Summary& summary) {
  Table counter{.name = "zero-weights",
                .caption =
                    "All weights and biases zero (2x2), fixed order of updates: the period of "
                    "the chain and its strongly connected components.",
                .columns = {{"rule", "rule"}, {"period", "period"}, {"components", "components"}}};
  for (const Trial* trial : results.where({{"case", "zero weights"}})) {
    for (const auto& [rule, found] : trial->outputs.items())
      counter.rows.push_back(
          {rule, std::int64_t{found.at("period")}, std::int64_t{found.at("components")}});
    const Json& found = trial->outputs.at("metropolis");
    const double product = number(found.at("period")) * number(found.at("components"));
    summary.add(Measure{.claim = "B07",
                        .estimate = product,
                        .n = 1,
                        .note = "T and G have period 1 and one component on the same model"});
  }
  summary.add(std::move(counter));

  Table table{.name = "asymptotic-variances",
              .caption =
                  "Asymptotic variance of T minus that of G, in units of the function's "
                  "variance, over models with weights and biases uniform on [−c, c] and two "
                  "functions each. Random scan: a unit is picked at random. Periodic scan: "
                  "T = T_h T_v.",
              .columns = {{"size", "size"},
                          {"c", "c", 0},
                          {"models", "models"},
                          {"largest, random scan", "largest_random", 12},
                          {"largest, periodic", "largest_periodic", 3},
                          {"share T worse, periodic", "share_worse_periodic", 3}}};
  const auto cells = results.where({{"case", "random"}});
  for (const Trial* cell : cells) {
    const auto random = pool({cell}, "random_scan"), periodic = pool({cell}, "periodic");
    const int size = cell->inputs.at("size");
    table.rows.push_back(
        {fmt::format("{}x{}", size, size), number(cell->inputs.at("c")),
         std::int64_t{cell->inputs.at("models")}, *std::max_element(random.begin(), random.end()),
         *std::max_element(periodic.begin(), periodic.end()), share_above_zero(periodic)});
  }
  summary.add(std::move(table));
  if (cells.empty()) return;

  const auto random = pool(cells, "random_scan"), periodic = pool(cells, "periodic"),
             more = pool(cells, "more_zeros");
  const auto n = static_cast<std::int64_t>(random.size());
  summary.add(
      Measure{.claim = "B12", .estimate = *std::max_element(random.begin(), random.end()), .n = n});
  const double worse = share_above_zero(periodic);
  // One pair proves it; that there is none, only all of them could show.
  if (worse > 0 || results.trials().size() == results.planned())
    summary.add(Measure{.claim = "B13", .estimate = worse, .n = n});
  summary.add(Measure{.claim = "B14",
                      .estimate = *std::min_element(more.begin(), more.end()),
                      .n = static_cast<std::int64_t>(more.size())});
}

}  // namespace

Experiment experiment() {
  return {
      .id = "bruegge2013/random-scan",
      .item = "Sec. 3.2",
      .title = "Is what is optimal for a random order of updates so for a fixed one?",
      .paper_did =
          "Argues that the optimality of Metropolis acceptance (Peskun, Liu) holds only if "
          "units are picked at random, that in a fixed order it can be non-ergodic, and "
          "that Breuleux's transformation of the whole matrix moves less mass.",
      .settings = {.smoke = "10 models per size and c, exact enumeration.",
                   .quick = "200 models per size (2x2, 3x3) and c (1, 3, 6), exact enumeration.",
                   .paper = "1000 models per size and c, exact enumeration."},
      .seconds = {.smoke = 0.1, .quick = 2, .paper = 8},
      .claims = {"B07", "B12", "B13", "B14"},
      .deviations = {"The paper states these facts without an experiment."},
      .checks = true,
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::bruegge2013_random_scan

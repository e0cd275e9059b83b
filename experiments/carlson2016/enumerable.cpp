#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "experiments/carlson2016/support/all_methods.hpp"
#include "experiments/carlson2016/support/models.hpp"
#include "experiments/kit/csv.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments::carlson2016_enumerable {
namespace {

constexpr int kChains = 100;
constexpr double kHighest = 8;  // nats, where figures are cut

/// An RBM that can be enumerated.
struct Model {
  const char* name;
  const char* title;
};
constexpr Model kModels[] = {{"mnist-20", "784-20"},
                             {"mnist-25", "784-25"},
                             {"mnist-20-peaked", "784-20, trained ten times longer"}};
const PerProfile<std::vector<std::string>> kRun{
    .smoke = {"mnist-20"},
    .quick = {"mnist-20", "mnist-20-peaked"},
    .paper = {"mnist-20", "mnist-25", "mnist-20-peaked"}};
const PerProfile<std::vector<int>> kSweeps{
    .smoke = {30}, .quick = {100, 300, 900}, .paper = {100, 300, 900, 2700, 8100}};
constexpr PerProfile<int> kRepeats{.smoke = 2, .quick = 5, .paper = 20};

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  for (const std::string& model : kRun.at(profile))
    for (const int sweeps : kSweeps.at(profile))
      for (int repeat = 1; repeat <= kRepeats.at(profile); ++repeat)
        all.push_back({{"model", model}, {"sweeps", sweeps}, {"repeat", repeat}});
  return all;
}

Json run(const Json& inputs, const TrialContext& context) {
  const std::string model = inputs.at("model");
  return run_all_methods(carlson_target(model, "rates"), exact_carlson_log_z(model),
                         {.chains = kChains, .sweeps = inputs.at("sweeps"), .key = context.key},
                         context);
}

ErrorCell cell_of(const Results& results, const Model& model, const std::string& method,
                  int sweeps) {
  return method_errors(results, {{"model", model.name}, {"sweeps", sweeps}}, method);
}

/// Methods that share a colour: 1-based places in the palette of reports/plots/style.gp.
int colour_of(const Method& method) {
  if (method.name.starts_with("ti")) return 2;
  if (method.name == "bar" || method.name == "mbar") return 4;
  switch (method.source) {
    case Source::annealed:
      return 1;
    case Source::adaptive:
      return 6;
    case Source::parallel:
      return 5;
    default:
      return 3;
  }
}

/// One curve of a figure: RMSE by sweeps.
struct Curve {
  const Method* method = nullptr;
  std::map<int, double> rmse = {};
  double lower = 1, upper = 1;  ///< how far the intervals of its points reach at most, over these
  double label = 0;             ///< where its name stands, log10 of RMSE

  double last() const { return rmse.rbegin()->second; }
  /// Where it ends in the figure, log10.
  double end() const { return std::log10(std::min(last(), kHighest)); }
  /// Its name, with the value where that is off the figure.
  std::string text() const {
    return last() > kHighest ? fmt::format("{} ({:.0f})", method->name, last()) : method->name;
  }
};

// Names stand at the ends of their curves, as little moved as keeps them `gap` apart: isotonic
// regression of what is left of each end when the gaps below it are taken off.
void place_labels(std::vector<Curve>& curves, double gap) {
  std::vector<Curve*> order;
  for (Curve& curve : curves) order.push_back(&curve);
  std::sort(order.begin(), order.end(),
            [](const Curve* a, const Curve* b) { return a->end() < b->end(); });
  struct Block {
    double mean = 0;
    std::size_t size = 0;
  };
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < order.size(); ++i) {
    Block block{order[i]->end() - static_cast<double>(i) * gap, 1};
    for (; !blocks.empty() && blocks.back().mean > block.mean; blocks.pop_back()) {
      const auto n = static_cast<double>(block.size), m = static_cast<double>(blocks.back().size);
      block.mean = (n * block.mean + m * blocks.back().mean) / (n + m);
      block.size += blocks.back().size;
    }
    blocks.push_back(block);
  }
  std::size_t i = 0;
  for (const Block& block : blocks)
    for (std::size_t k = 0; k < block.size; ++k, ++i)
      order[i]->label = block.mean + static_cast<double>(i) * gap;
}

std::vector<Curve> curves_of(const Results& results, const Model& model) {
  std::vector<Curve> curves;
  for (const Method& method : registered_methods()) {
    Curve curve{.method = &method};
    for (const int sweeps : kSweeps.at(results.profile())) {
      const ErrorCell cell = cell_of(results, model, method.name, sweeps);
      if (cell.empty()) continue;
      curve.rmse[sweeps] = cell.rmse;
      curve.lower = std::min(curve.lower, cell.lower / cell.rmse);
      curve.upper = std::max(curve.upper, cell.upper / cell.rmse);
    }
    if (!curve.rmse.empty()) curves.push_back(std::move(curve));
  }
  if (curves.empty()) return curves;
  const auto [low, high] =
      std::minmax_element(curves.begin(), curves.end(),
                          [](const Curve& a, const Curve& b) { return a.end() < b.end(); });
  // All names together fill two thirds of the height at most.
  place_labels(curves, std::max(high->end() - low->end(), 1.5) / 28);
  return curves;
}

Figure figure_of(const Model& model, const std::vector<Curve>& curves, int repeats) {
  double lower = 1, upper = 1;
  for (const Curve& curve : curves) {
    lower = std::min(lower, curve.lower);
    upper = std::max(upper, curve.upper);
  }
  Figure figure{
      .name = fmt::format("rmse-{}", model.name),
      .caption = fmt::format(
          "{}: RMSE of estimates of log Z against their cost, {} repeats of 100 chains, refused "
          "estimates included. No 95 % interval of a point reaches further than from {:.2f} to {:.2f} "
          "of it (normal errors); the table has each. The number beside a name is the "
          "last value where that is beyond the axis. Colours: annealed chains (black); one tempered run read by occupancies "
          "(blue), acceptance ratios (green) or integration (vermillion); adaptive tempering "
          "(pink); parallel tempering (amber).",
          model.title, repeats, lower, upper),
      .height = 600,
      .script = "rmse-cost.gp",
      .data = {{"curve", "colour", "method", "sweeps", "rmse", "label"}}};
  Panel panel{.x = {.label = "sweeps", .log = true},
              .y = {.label = "RMSE / nats", .log = true, .high = kHighest}};
  for (std::size_t c = 0; c < curves.size(); ++c) {
    Series series{.label = curves[c].method->name, .mark = Mark::line_points};
    for (const auto& [sweeps, rmse] : curves[c].rmse) {
      series.x.push_back(sweeps);
      series.y.push_back(rmse);
      figure.data.push_back({fmt::format("{}", c), fmt::format("{}", colour_of(*curves[c].method)),
                             curves[c].text(), fmt::format("{}", sweeps), csv_number(rmse),
                             csv_number(std::pow(10, curves[c].label))});
    }
    panel.series.push_back(std::move(series));
  }
  figure.panels.push_back(std::move(panel));
  return figure;
}

void add_rows(const Results& results, const Model& model, Table& table) {
  for (const Method& method : registered_methods())
    for (const int sweeps : kSweeps.at(results.profile())) {
      const ErrorCell cell = cell_of(results, model, method.name, sweeps);
      if (cell.empty()) continue;
      table.rows.push_back({std::string(model.title), method.name, std::int64_t{sweeps}, cell.mean,
                            cell.std_dev, WithInterval{cell.rmse, cell.lower, cell.upper},
                            std::int64_t{cell.estimates}, std::int64_t{cell.refused},
                            std::int64_t{cell.covered}});
    }
}

void summarise(const Results& results, Summary& summary) {
  Table table{.name = "errors",
              .caption =
                  "Errors of log Z in nats. Covered: accepted estimates (status ok) whose "
                  "95 % interval holds the true log Z.",
              .columns = {{"RBM", "model"},
                          {"method", "method"},
                          {"sweeps", "sweeps"},
                          {"mean error", "mean_error"},
                          {"standard deviation", "std_dev"},
                          {"RMSE", "rmse"},
                          {"repeats", "repeats"},
                          {"refused", "refused"},
                          {"covered", "covered"}}};
  for (const Model& model : kModels) {
    const std::vector<Curve> curves = curves_of(results, model);
    if (curves.empty()) continue;
    const Curve& first = curves[0];
    const int repeats =
        cell_of(results, model, first.method->name, first.rmse.begin()->first).estimates;
    summary.add(figure_of(model, curves, repeats));
    add_rows(results, model, table);
  }
  if (!table.rows.empty()) summary.add(std::move(table));
}

}  // namespace

Experiment experiment() {
  return {
      .id = "carlson2016/enumerable",
      .item = "Beyond the paper",
      .title = "Which estimator of log Z is the best at equal cost, where the truth is exact?",
      .paper_did =
          "Compared RTS with AIS and RAISE (Fig. 3) and with TS, MBAR and thermodynamic "
          "integration (Fig. 4), against the mean of its own long runs.",
      .settings = {.smoke = "784-20, 30 sweeps, 2 repeats.",
                   .quick = "Every registered method on two RBMs of MNIST with exact log Z, 100 "
                            "chains, 100 rungs where chains are tempered, data rates as p1; 100, "
                            "300 and 900 sweeps in all, 5 repeats: an RMSE's 95 % interval is "
                            "0.62 to 2.5 times its value, and a ratio of 5 is told from 1 with "
                            "probability 0.9.",
                   .paper = "Three RBMs, up to 8,100 sweeps, 20 repeats."},
      .seconds = {.smoke = 1, .quick = 14, .paper = 1400},
      .claims = {},
      .deviations = {"Not in the paper. Methods that read samples share each tempered run, and so "
                     "their errors are alike."},
      .data = carlson_data(kRun.paper),
      .trials = trials,
      .cost =
          [](const Json& inputs) {
            return (50 + number(inputs.at("sweeps"))) * sweep_cost(inputs.at("model"));
          },
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::carlson2016_enumerable

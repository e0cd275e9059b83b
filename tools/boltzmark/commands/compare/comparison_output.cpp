#include "tools/boltzmark/commands/compare/comparison_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <regex>

#include "experiments/kit/csv.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/report/plot.hpp"
#include "tools/boltzmark/output.hpp"

namespace boltzmark::cli {
namespace {

std::string cell_text(const experiments::ErrorCell& errors, double value) {
  return errors.errors.empty() ? "-" : fmt::format("{:.4g}", value);
}

void print_comparison(const ComparisonPlan& plan, const Comparison& comparison, bool named) {
  TextTable table({"method", ">sweeps", ">bias", ">std dev", ">RMSE", ">std error", ">covered",
                   ">refused", ">rank", ">seconds"});
  for (const ComparisonCell& c : comparison.cells) {
    const experiments::ErrorCell& e = c.errors;
    table.add({c.method, fmt::format("{}", c.sweeps), cell_text(e, e.mean),
               e.empty() ? "-" : cell_text(e, e.std_dev), cell_text(e, e.rmse),
               cell_text(e, e.mean_std_error), fmt::format("{}/{}", e.covered, e.ok()),
               fmt::format("{}{}", e.refused, c.refused() ? "*" : ""),
               c.rank > 0 ? fmt::format("{}", c.rank) : "-", fmt::format("{:.3g}", c.seconds)});
  }
  print(fmt::format("\n{}True log Z {:.6f} nats; {} repeats of {} chains. Errors in nats.\n{}\n",
                    named ? comparison.model + ": " : "", comparison.truth, plan.repeats,
                    plan.shared.chains,
                    comparison.summed ? fmt::format("Marginal weights sum out the {} layers.\n",
                                                    *comparison.summed)
                                      : "") +
        table.text());
}

std::vector<JsonObject> cell_objects(const Comparison& comparison) {
  std::vector<JsonObject> entries;
  for (const ComparisonCell& c : comparison.cells) {
    const experiments::ErrorCell& e = c.errors;
    const auto number = [&](double x) {
      return e.errors.empty() ? std::nullopt : std::optional(x);
    };
    entries.push_back(JsonObject()
                          .set("model", comparison.model)
                          .set("method", c.method)
                          .set("sweeps", c.sweeps)
                          .set("repeats", e.estimates)
                          .set("refused", e.refused)
                          .set("covered", e.covered)
                          .set("mean", number(comparison.truth + e.mean))
                          .set("bias", number(e.mean))
                          .set("std_dev", e.empty() ? std::nullopt : number(e.std_dev))
                          .set("rmse", number(e.rmse))
                          .set("rmse_lower", number(e.lower))
                          .set("rmse_upper", number(e.upper))
                          .set("mean_std_error", number(e.mean_std_error))
                          .set("rank", c.rank > 0 ? std::optional<int>(c.rank) : std::nullopt)
                          .set("unit_updates", c.unit_updates)
                          .set("seconds", c.seconds));
  }
  return entries;
}

// Those of a comparison of more models that the folder held.
void remove_earlier_figures(const std::string& folder, const std::vector<std::string>& written) {
  const std::regex ours(R"((rmse|bias)(-\d+)?\.svg|models\.svg)");
  experiments::remove_files(folder, [&](const std::string& name) {
    return std::regex_match(name, ours) &&
           std::find(written.begin(), written.end(), name) == written.end();
  });
}

}  // namespace

void print_comparisons(const ComparisonPlan& plan, const std::vector<Comparison>& comparisons,
                       const std::string& folder, const std::vector<std::string>& written) {
  print(
      "covered: 95 % intervals of the repeats with status ok that hold the truth\n"
      "rank: by RMSE at that number of sweeps; * at least half of the repeats have "
      "another status: no rank, and a ring in the figures\n");
  for (const Comparison& comparison : comparisons)
    print_comparison(plan, comparison, comparisons.size() > 1);
  print(fmt::format("\nWritten: {}/{}\n", folder, fmt::join(written, ", ")));
}

void print_json(const std::vector<Comparison>& comparisons,
                const std::vector<std::string>& written) {
  std::vector<JsonObject> models, cells;
  for (const Comparison& comparison : comparisons) {
    models.push_back(JsonObject()
                         .set("model", comparison.model)
                         .set("truth", comparison.truth)
                         .set("summed", comparison.summed));
    for (JsonObject& cell : cell_objects(comparison)) cells.push_back(std::move(cell));
  }
  const Comparison& first = comparisons.front();
  const bool one = comparisons.size() == 1;
  print(JsonObject()
            .set("truth", one ? std::optional(first.truth) : std::nullopt)
            .set("summed", one ? first.summed : std::nullopt)
            .set("models", models)
            .set("cells", cells)
            .set("files", written));
}

std::vector<std::string> write_results(const ComparisonPlan& plan,
                                       const std::vector<Comparison>& comparisons,
                                       const std::string& folder) {
  std::vector<std::string> written;
  for (const experiments::Table& table :
       {comparison_table(comparisons), trials_table(comparisons)}) {
    written.push_back(table.name + ".csv");
    experiments::write_text(folder + "/" + written.back(), experiments::table_csv(table));
  }
  for (const experiments::Figure& figure : comparison_figures(plan, comparisons)) {
    try {
      const auto pictures = experiments::draw_figure(figure, folder);
      for (std::size_t p = 1; p <= pictures.size(); ++p)
        written.push_back(pictures.size() > 1 ? fmt::format("{}-{}.svg", figure.name, p)
                                              : figure.name + ".svg");
    } catch (const experiments::DrawingError& error) {
      complain(fmt::format("figure {} is missing: {}", figure.name, error.what()));
    }
  }
  remove_earlier_figures(folder, written);
  return written;
}

}  // namespace boltzmark::cli

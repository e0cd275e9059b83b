// What figures of a comparison draw where.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tools/boltzmark/commands/compare/comparison.hpp"

using namespace boltzmark;
using namespace boltzmark::cli;

namespace {

// Two estimates of a model whose log Z is 0, off by so much and so much.
Comparison compared(const ComparisonPlan& plan, const std::string& model,
                    const std::vector<std::vector<double>>& off) {
  Comparison comparison{.model = model};
  for (std::size_t m = 0; m < plan.methods.size(); ++m)
    for (std::size_t s = 0; s < plan.sweeps.size(); ++s)
      for (const int sign : {1, -1}) {
        const double error = sign * off[m][s];
        comparison.trials.push_back(
            {.method = plan.methods[m],
             .sweeps = plan.sweeps[s],
             .outcome = {.estimate = error, .std_error = 1, .lower = error - 2, .upper = error + 2},
             .status = "ok",
             .moves = 10.0 * plan.sweeps[s],
             .seconds = 1});
      }
  sum_up_cells(plan, 7, comparison);
  return comparison;
}

}  // namespace

TEST_CASE("figures of a comparison draw each method's errors at its sweeps, and at its model") {
  const ComparisonPlan plan{
      .methods = {"rts", "ais"}, .sweeps = {1000, 100}, .repeats = 2, .shared = {}};
  const std::vector<Comparison> both = {compared(plan, "first", {{1, 2}, {3, 4}}),
                                        compared(plan, "second", {{5, 6}, {7, 8}})};
  CHECK(both[0].cells[0].unit_updates == 7 * 10.0 * both[0].cells[0].sweeps);
  const std::vector<experiments::Figure> figures = comparison_figures(plan, both);
  REQUIRE(figures.size() == 3);
  CHECK(figures[0].name == "rmse");
  CHECK(figures[1].name == "bias");
  REQUIRE(figures[0].panels.size() == 2);
  for (std::size_t m = 0; m < 2; ++m) {
    const experiments::Panel& panel = figures[0].panels[m];
    CHECK_THAT(panel.title, Catch::Contains(both[m].model));
    REQUIRE(panel.series.size() == 2);
    for (std::size_t k = 0; k < 2; ++k) {
      const experiments::Series& series = panel.series[k];
      CHECK(series.label == plan.methods[k]);
      for (std::size_t p = 0; p < series.x.size(); ++p) {
        const double off = static_cast<double>(4 * m + 2 * k) + (series.x[p] == 1000 ? 1 : 2);
        CHECK(series.y[p] == Approx(off));
        CHECK(series.lower[p] < off);
        CHECK(series.upper[p] > off);
      }
    }
    for (const experiments::Series& series : figures[1].panels[m].series)
      for (const double y : series.y) CHECK(y == Approx(0).margin(1e-12));
  }
  // At the most sweeps, which are named first here, each method's place in the order of the plan.
  CHECK(figures[2].name == "models");
  const experiments::Panel& models = figures[2].panels.at(0);
  CHECK_THAT(models.title, Catch::Contains("1000 sweeps"));
  REQUIRE(models.x.ticks.size() == 2);
  for (std::size_t m = 0; m < 2; ++m) {
    CHECK(models.x.ticks[m].first == both[m].model);
    CHECK(models.x.ticks[m].second == static_cast<double>(m) + 1);
  }
  REQUIRE(models.series.size() == 2);
  for (std::size_t k = 0; k < 2; ++k) {
    CHECK(models.series[k].label == plan.methods[k]);
    REQUIRE(models.series[k].x.size() == 2);
    for (std::size_t m = 0; m < 2; ++m) {
      CHECK(std::abs(models.series[k].x[m] - static_cast<double>(m) - 1) < 0.4);
      CHECK(models.series[k].y[m] == Approx(static_cast<double>(4 * m + 2 * k) + 1));
    }
  }
  CHECK(models.series[0].x[0] < models.series[1].x[0]);
}

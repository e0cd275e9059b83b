#include "experiments/bruegge2013/support/slem_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiments/kit/statistics/interval.hpp"

namespace boltzmark::experiments {
namespace {

SlemCell collect(const Results& results, int size, int c) {
  SlemCell cell;
  for (const Trial* trial : results.where({{"size", size}, {"c", c}})) {
    const auto gibbs = numbers(trial->outputs.at("slem_gibbs"));
    const auto flip = numbers(trial->outputs.at("slem_flip"));
    for (std::size_t r = 0; r < gibbs.size(); ++r) cell.wins.successes += flip[r] < gibbs[r];
    cell.wins.trials += gibbs.size();
    cell.gibbs.insert(cell.gibbs.end(), gibbs.begin(), gibbs.end());
    cell.flip.insert(cell.flip.end(), flip.begin(), flip.end());
  }
  return cell;
}

}  // namespace

std::vector<SlemRow> collect_rows(const Results& results) {
  std::vector<SlemRow> rows;
  for (const int size : kSlemSizes) {
    SlemRow row{.size = size, .c = {}, .cells = {}};
    for (int c = 1; c <= kLargestC; ++c)
      if (SlemCell cell = collect(results, size, c); cell.wins.trials > 0) {
        row.c.push_back(c);
        row.cells.push_back(std::move(cell));
      }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string size_name(int size) { return fmt::format("{}x{}", size, size); }

void add_share_table(const std::vector<SlemRow>& rows, Summary& summary) {
  Table table{.name = "shares",
              .caption = "Share of random RBMs with SLEM(T) < SLEM(G), with exact 95 % intervals.",
              .columns = {{"c", "c", 0}}};
  for (const SlemRow& row : rows) {
    table.columns.push_back({size_name(row.size), "share_" + size_name(row.size), 2});
    table.columns.push_back({"RBMs", "rbms_" + size_name(row.size), 0});
  }
  for (int c = 1; c <= kLargestC; ++c) {
    std::vector<Cell> line{std::int64_t{c}};
    for (const SlemRow& row : rows) {
      const auto found = std::find(row.c.begin(), row.c.end(), c);
      if (found == row.c.end()) {
        line.insert(line.end(), {NotRun{}, NotRun{}});
        continue;
      }
      const Count wins = row.cells[found - row.c.begin()].wins;
      const Interval share = proportion_interval(wins.successes, wins.trials);
      line.emplace_back(WithInterval{share.estimate, share.lower, share.upper});
      line.emplace_back(static_cast<std::int64_t>(wins.trials));
    }
    table.rows.push_back(std::move(line));
  }
  summary.add(std::move(table));
}

void add_share_figures(const std::vector<SlemRow>& rows, Summary& summary) {
  constexpr int kColours[] = {0, 1, 2, 3, 4};
  constexpr Mark kMarks[] = {Mark::line, Mark::dashed, Mark::dotted, Mark::line_points,
                             Mark::line_points};
  Panel shares{.x = {.label = "c, the largest size of a weight"},
               .y = {.label = "share of RBMs with SLEM(T) < SLEM(G)", .low = 0, .high = 1},
               .series = {},
               .guides = {{.at = 0.5}},
               .legend = "bottom right"};
  Panel slems{.x = {.label = "c, the largest size of a weight"},
              .y = {.label = "median of 1 − SLEM", .log = true},
              .series = {},
              .legend = "outside right"};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const SlemRow& row = rows[i];
    if (row.cells.empty()) continue;
    Series share{
        .label = size_name(row.size), .x = row.c, .mark = kMarks[i], .colour = kColours[i]};
    Series gibbs{.label = "G, " + size_name(row.size),
                 .x = row.c,
                 .mark = Mark::line,
                 .colour = kColours[i]};
    Series flip{.label = "T, " + size_name(row.size),
                .x = row.c,
                .mark = Mark::dotted,
                .colour = kColours[i]};
    for (const SlemCell& cell : row.cells) {
      const Interval p = proportion_interval(cell.wins.successes, cell.wins.trials);
      share.y.push_back(p.estimate);
      share.lower.push_back(p.lower);
      share.upper.push_back(p.upper);
      gibbs.y.push_back(1 - median(cell.gibbs));
      flip.y.push_back(1 - median(cell.flip));
    }
    shares.series.push_back(std::move(share));
    slems.series.push_back(std::move(gibbs));
    slems.series.push_back(std::move(flip));
  }
  summary.add(Figure{.name = "shares",
                     .caption = "Share of random RBMs on which T mixes faster than Gibbs sampling, "
                                "against the largest size c of the weights. Bands: exact 95 % "
                                "intervals. 5x5 and 6x6 go beyond the paper.",
                     .panels = {std::move(shares)}});
  summary.add(Figure{.name = "slems",
                     .caption = "Median spectral gap 1 − SLEM of both operators on the same RBMs.",
                     .panels = {std::move(slems)}});
}

}  // namespace boltzmark::experiments

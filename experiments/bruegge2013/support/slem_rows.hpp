#pragma once

#include <string>
#include <vector>

#include "experiments/kit/results.hpp"
#include "experiments/kit/statistics/proportion.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

inline constexpr int kLargestC = 10;  ///< c = 1..10
inline constexpr int kSlemSizes[] = {2, 3, 4, 5, 6};

/// The SLEMs of all RBMs of one size and c; a win is one of T.
struct SlemCell {
  std::vector<double> gibbs, flip;
  Count wins;
};

/// The cells of one size that were run, in the order of c.
struct SlemRow {
  int size = 0;
  std::vector<double> c;
  std::vector<SlemCell> cells;
  std::vector<Count> wins() const {
    std::vector<Count> counts;
    for (const SlemCell& cell : cells) counts.push_back(cell.wins);
    return counts;
  }
  bool complete() const { return cells.size() == kLargestC; }
};

/// Collects a row for each of kSlemSizes.
std::vector<SlemRow> collect_rows(const Results& results);

/// Names a size: "3x3".
std::string size_name(int size);

/// Adds the shares of wins by c and size as a table, and with the median gaps as figures.
void add_share_table(const std::vector<SlemRow>& rows, Summary& summary);
void add_share_figures(const std::vector<SlemRow>& rows, Summary& summary);

}  // namespace boltzmark::experiments

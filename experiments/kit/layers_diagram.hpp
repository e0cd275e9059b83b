#pragma once

#include <string>
#include <vector>

#include "experiments/kit/results.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// A row of nodes in a diagram of a network.
struct DiagramLayer {
  std::string name;                  ///< written beside the row
  std::vector<std::string> symbols;  ///< one per node; "…" stands for those left out
};

/// Layers one above the other, the first at the bottom.
struct LayersDiagram {
  std::vector<DiagramLayer> layers;
  std::vector<std::string> weights;  ///< [layers - 1], what stands between two rows
  std::string caption;
  int height;
};

/// Adds the figure "graph" of a diagram. The first trial's output `edges` joins nodes numbered row
/// by row from the bottom.
void add_graph(const LayersDiagram& diagram, const Results& results, Summary& summary);

}  // namespace boltzmark::experiments

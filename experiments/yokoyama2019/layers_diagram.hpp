#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiments/kit/figure.hpp"

namespace boltzmark::experiments {

/// A row of nodes in a diagram of a network.
struct DiagramLayer {
  std::string name;                  ///< written beside the row
  std::vector<std::string> symbols;  ///< one per node; "…" stands for those left out
};

/// Makes the figure of layers one above the other, the first at the bottom.
/// `edges` joins nodes numbered row by row from the bottom; `weights` [layers - 1] names what
/// stands between two rows.
Figure layers_diagram(const std::vector<DiagramLayer>& layers,
                      const std::vector<std::pair<int, int>>& edges,
                      const std::vector<std::string>& weights);

}  // namespace boltzmark::experiments

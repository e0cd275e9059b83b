#pragma once

#include <string>
#include <vector>

#include "experiments/kit/figure.hpp"

namespace boltzmark::experiments {

/// Makes the mean curve of repeated experiments with its 95 % band (Student's t at each point).
/// Shapes  curves [repeats][x.size()], one repeat or more; one repeat has no band
Series band(const std::vector<double>& x, const std::vector<std::vector<double>>& curves,
            const std::string& label, int colour);

}  // namespace boltzmark::experiments

#pragma once

#include <vector>

#include "experiments/kit/figure.hpp"

namespace boltzmark::experiments {

/// Adds the mean of values as a point, with its 95 % interval (Student's t); one value has none.
void add_mean(Series& series, double x, const std::vector<double>& values);

/// Adds a value as a point, with the 95 % interval of a normal law of that standard error.
void add_normal(Series& series, double x, double y, double std_error);

/// Fills a series with the mean curve of repeated experiments and its 95 % band.
/// Shapes  curves [repeats][x.size()], one repeat or more
Series band(Series series, const std::vector<double>& x,
            const std::vector<std::vector<double>>& curves);

}  // namespace boltzmark::experiments

#pragma once

#include <vector>

#include "experiments/kit/figure.hpp"

namespace boltzmark::experiments {

/// Tells where a value lies against the ends that an axis is given: -1 below, 1 beyond, 0 within.
int side_of(const Axis& axis, double value);
/// Returns the value, or the end of the axis that it lies beyond.
double drawn_at(const Axis& axis, double value);
/// Tells whether a value is a place on an axis, however far: finite, and positive where that is logarithmic.
bool has_place(const Axis& axis, double value);
/// Tells whether a value is drawn: where it is, or at the end that it lies beyond.
bool can_draw(const Axis& axis, double value);

/// Gives a logarithmic axis without a low end, of which an interval reaches to 0 or below, the least positive value as
/// its end: there the interval is cut.
Axis with_end_for_limits(Axis axis, const std::vector<Series>& all);

/// A mark at the edge of a graph for what its axes cut off: a triangle that points up or down, or a diamond at the
/// sides, full for a point and hollow for the end of an interval.
struct EdgeMark {
  double x = 0, y = 0;
  int shape = 0;  ///< gnuplot's number of it
};

/// Lists the marks of a series: one for each single point, bar or interval, of curves and bands one for each stretch.
std::vector<EdgeMark> edge_marks(const Axis& x, const Axis& y, const Series& series);

}  // namespace boltzmark::experiments

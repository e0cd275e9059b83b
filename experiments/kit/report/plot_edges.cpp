#include "experiments/kit/report/plot_edges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "experiments/kit/report/plot.hpp"

namespace boltzmark::experiments {
namespace {

// Of the larger end of an axis: shares are sums, which may end a little above 1.
constexpr double kEdgeMargin = 1e-9;
// gnuplot's full marks; the hollow ones are one less.
constexpr int kTriangleUp = 9, kTriangleDown = 11, kDiamond = 13;

double margin_of(const Axis& axis) {
  return kEdgeMargin * std::fmax(std::abs(axis.low), std::abs(axis.high));  // NaN is passed over
}

/// Whether a point is drawn where it is.
bool is_within(const Axis& x, const Axis& y, const Series& series, std::size_t i) {
  return can_draw(x, series.x[i]) && can_draw(y, series.y[i]) && side_of(x, series.x[i]) == 0 &&
         side_of(y, series.y[i]) == 0;
}

bool stands_alone(Mark mark) {
  return mark == Mark::points || mark == Mark::line_points || mark == Mark::rings ||
         mark == Mark::bars;
}

/// What the axes of a figure cut off, or have no place for.
struct Losses {
  std::size_t beyond = 0, intervals = 0, not_positive = 0, infinite = 0;
};

void count_losses(const Axis& x, const Axis& given, const std::vector<Series>& all,
                  Losses& losses) {
  const Axis y = with_end_for_limits(given, all);
  for (const Series& series : all)
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (std::isnan(series.x[i]) || std::isnan(series.y[i])) continue;
      if (!can_draw(x, series.x[i]) || !can_draw(y, series.y[i]))
        ++(std::isinf(series.x[i]) || std::isinf(series.y[i]) ? losses.infinite
                                                              : losses.not_positive);
      else if (!is_within(x, y, series, i))
        ++losses.beyond;
      else if (!series.lower.empty() &&
               (side_of(y, series.lower[i]) != 0 || side_of(y, series.upper[i]) != 0))
        ++losses.intervals;
    }
}

/// " 1 point is ..." or " 3 points are ..."; empty if none.
std::string count_text(std::size_t count, const char* one, const char* many) {
  if (count == 0) return "";
  return count == 1 ? fmt::format(" 1 {}", one) : fmt::format(" {} {}", count, many);
}

}  // namespace

int side_of(const Axis& axis, double value) {
  const double margin = margin_of(axis);
  return value < axis.low - margin ? -1 : value > axis.high + margin ? 1 : 0;
}

double drawn_at(const Axis& axis, double value) {
  const int side = side_of(axis, value);
  return side < 0 ? axis.low : side > 0 ? axis.high : value;
}

bool has_place(const Axis& axis, double value) {
  return std::isfinite(value) && (!axis.log || value > 0);
}

bool can_draw(const Axis& axis, double value) {
  return has_place(axis, value) || side_of(axis, value) != 0;
}

Axis with_end_for_limits(Axis axis, const std::vector<Series>& all) {
  if (!axis.log || !std::isnan(axis.low)) return axis;
  double least = std::numeric_limits<double>::infinity();
  bool reaches = false;
  for (const Series& series : all)
    for (const std::vector<double>* values : {&series.y, &series.lower, &series.upper})
      for (const double value : *values) {
        if (has_place(axis, value)) least = std::min(least, value);
        reaches = reaches || (values != &series.y && value <= 0);
      }
  if (reaches && std::isfinite(least)) axis.low = least;
  return axis;
}

std::vector<EdgeMark> edge_marks(const Axis& x, const Axis& y, const Series& series) {
  std::vector<EdgeMark> marks;
  const auto add = [&](const std::vector<double>& values, bool limits) {
    int last = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!can_draw(x, series.x[i]) || !can_draw(y, values[i])) continue;
      const int across = side_of(x, series.x[i]), up = side_of(y, values[i]);
      // The interval of a point that is cut off itself has the point's mark.
      const int side = limits && !is_within(x, y, series, i) ? 0 : 3 * across + up;
      if (side != 0 && (side != last || stands_alone(series.mark)))
        marks.push_back({drawn_at(x, series.x[i]), drawn_at(y, values[i]),
                         (up > 0   ? kTriangleUp
                          : up < 0 ? kTriangleDown
                                   : kDiamond) -
                             (limits ? 1 : 0)});
      last = side;
    }
  };
  add(series.y, false);
  add(series.lower, true);
  add(series.upper, true);
  return marks;
}

std::string beyond_text(const Figure& figure) {
  Losses losses;
  for (const Panel& panel : figure.panels) {
    count_losses(panel.x, panel.y, panel.series, losses);
    for (const Inset& inset : panel.insets) count_losses(inset.x, inset.y, inset.series, losses);
  }
  return count_text(losses.beyond, "point lies beyond the axes: marked at the edge.",
                    "points lie beyond the axes: each stretch of them is marked at the edge.") +
         count_text(losses.intervals,
                    "interval reaches beyond the axes: a hollow mark at the edge.",
                    "intervals reach beyond the axes: hollow marks at the edge.") +
         count_text(losses.not_positive, "point is not positive and not on the logarithmic axis.",
                    "points are not positive and not on the logarithmic axis.") +
         count_text(losses.infinite, "point is infinite and not on the axis.",
                    "points are infinite and not on the axis.");
}

}  // namespace boltzmark::experiments

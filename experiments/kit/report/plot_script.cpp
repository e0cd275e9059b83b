#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/kit/csv.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/printable.hpp"
#include "experiments/kit/report/plot.hpp"
#include "experiments/kit/report/plot_edges.hpp"

namespace boltzmark::experiments {
namespace {

constexpr int kColours = 7;  // the palette of reports/plots/style.gp
constexpr double kFewDecades = 1.7;

/// Quotes a tick's label, which gnuplot reads as a format too.
std::string tick_label(const std::string& text) { return gnuplot_string(escaped(text, "%", "%")); }

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(const std::vector<double>& values) {
    for (const double value : values)
      if (std::isfinite(value)) {
        low = std::min(low, value);
        high = std::max(high, value);
      }
  }
};

Range range_of(const Axis& axis, const std::vector<Series>& all, bool vertical) {
  Range range;
  for (const Series& series : all) {
    range.add(vertical ? series.y : series.x);
    if (vertical) range.add(series.lower);
    if (vertical) range.add(series.upper);
  }
  if (!std::isnan(axis.low)) range.low = axis.low;
  if (!std::isnan(axis.high)) range.high = axis.high;
  if (range.low > range.high) range = {0, 1};
  return range;
}

// An end that is not given is gnuplot's, which ends a logarithmic axis at a power of ten; one with
// ticks enough without ends beyond its data.
std::string axis_script(const Axis& axis, char name, const Range& range) {
  const double decades = axis.log && range.low > 0 ? std::log10(range.high / range.low) : 0;
  const auto end = [&](double given, double beyond) {
    if (!std::isnan(given)) return csv_number(given);
    return decades > kFewDecades ? csv_number(beyond) : std::string("*");
  };
  const double margin = std::pow(10, 0.04 * decades);
  std::string text =
      fmt::format("set {}label {}\nset {}range [{}:{}]\n", name, gnuplot_string(axis.label), name,
                  end(axis.low, range.low / margin), end(axis.high, range.high * margin));
  if (axis.log) {
    text += fmt::format("set logscale {}\n", name);
    if (range.high >= 1e4 || range.low < 1e-2)
      text += fmt::format("set format {} '10^{{%L}}'\n", name);
  }
  if (axis.ticks.empty()) return text;
  text += fmt::format("set {}tics (", name);
  for (std::size_t i = 0; i < axis.ticks.size(); ++i)
    text += fmt::format("{}{} {}", i ? ", " : "", tick_label(axis.ticks[i].first),
                        csv_number(axis.ticks[i].second));
  return text + ")\n";
}

/// Moves bars of several series apart, which would stand behind each other.
std::vector<Series> side_by_side(std::vector<Series> all) {
  const auto bars =
      std::count_if(all.begin(), all.end(), [](const Series& s) { return s.mark == Mark::bars; });
  int bar = 0;
  for (Series& series : all) {
    if (series.mark != Mark::bars) continue;
    const double shift =
        (bar++ - 0.5 * static_cast<double>(bars - 1)) * 0.8 / static_cast<double>(bars);
    for (double& x : series.x) x += shift;
  }
  return all;
}

/// One data block per series: x y lower upper. What has no place on the axis y is not a number, the limit of an
/// interval the end that it lies beyond.
std::string data_script(const Axis& y, const std::vector<Series>& all, const std::string& prefix) {
  const auto limit = [&](double value) { return has_place(y, value) ? value : drawn_at(y, value); };
  std::string text;
  for (std::size_t s = 0; s < all.size(); ++s) {
    const Series& series = all[s];
    text += fmt::format("${}{} << EOD\n", prefix, s);
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      const double at = has_place(y, series.y[i]) ? series.y[i] : std::nan("");
      const double low = series.lower.empty() ? at : limit(series.lower[i]);
      const double high = series.upper.empty() ? at : limit(series.upper[i]);
      text += fmt::format("{} {} {} {}\n",
                          csv_number(std::isfinite(series.x[i]) ? series.x[i] : std::nan("")),
                          csv_number(at), csv_number(low), csv_number(high));
    }
    if (series.x.empty()) text += "nan nan nan nan\n";
    text += "EOD\n";
  }
  return text;
}

/// A mark at the edge for each that the axes cut off: x y and gnuplot's number of the mark.
std::string edge_script(const Axis& x, const Axis& y, const Series& series) {
  std::string text;
  for (const EdgeMark& mark : edge_marks(x, y, series))
    text += fmt::format("{} {} {}\n", csv_number(mark.x), csv_number(mark.y), mark.shape);
  return text;
}

/// The plot elements of one series.
std::string series_script(const Series& series, const std::string& block, int colour,
                          std::size_t bars) {
  const bool interval = !series.lower.empty();
  const std::string lc = fmt::format("lc rgb palette[{}]", colour % kColours + 1);
  const std::string title =
      series.label.empty() ? "notitle" : fmt::format("title {}", gnuplot_string(series.label));
  const auto line = [&](const char* dash) {
    std::string text;
    if (interval)
      text = fmt::format("{} using 1:3:4 with filledcurves {} notitle, \\\n  ", block, lc);
    return text + fmt::format("{} using 1:2 with lines lw 2 dt {} {} {}", block, dash, lc, title);
  };
  // Plain strokes: gnuplot's error bars blank the background around their points.
  const std::string strokes =
      interval
          ? fmt::format("{} using 1:3:(0):($4-$3) with vectors nohead lw 1.2 {} notitle, \\\n  ",
                        block, lc)
          : "";
  switch (series.mark) {
    case Mark::line:
      return line(colour < kColours ? "solid" : "(14,4,3,4)");  // a colour seen before
    case Mark::dashed:
      return line("(12,6)");
    case Mark::dotted:
      return line("(3,5)");
    case Mark::steps:
      return fmt::format("{} using 1:2 with steps lw 2 {} {}", block, lc, title);
    case Mark::points:
    case Mark::line_points:
      return strokes + fmt::format("{} using 1:2 with {} pt 7 ps 0.55 lw 1.5 {} {}", block,
                                   series.mark == Mark::points ? "points" : "linespoints", lc,
                                   title);
    case Mark::rings:
      return fmt::format("{} using 1:2 with points pt 6 ps 1.1 lw 1.5 {} {}", block, lc, title);
    case Mark::bars:
      return fmt::format("{} using 1:2:({}) with boxes fs solid 0.75 noborder {} {}", block,
                         csv_number(0.74 / static_cast<double>(bars)), lc, title) +
             (interval ? fmt::format(", \\\n  {} using 1:3:(0):($4-$3) with vectors nohead lw 1.2 "
                                     "lc rgb ink notitle",
                                     block)
                       : "");
  }
  return "";
}

struct Graph {
  const Axis& x;
  const Axis& y;
  const std::vector<Series>& series;
  const std::vector<Guide>& guides;
};

std::string graph_script(const Graph& graph, const std::string& prefix) {
  const Axis y_axis = with_end_for_limits(graph.y, graph.series);
  const std::vector<Series> drawn = side_by_side(graph.series);
  const Range x = range_of(graph.x, graph.series, false);
  const Range y = range_of(y_axis, graph.series, true);
  std::string text = axis_script(graph.x, 'x', x) + axis_script(y_axis, 'y', y) +
                     data_script(y_axis, drawn, prefix);
  const auto has_points = [&](const Series& series) {
    for (std::size_t i = 0; i < series.x.size(); ++i)
      if (can_draw(graph.x, series.x[i]) && can_draw(y_axis, series.y[i])) return true;
    return false;
  };
  if (std::none_of(graph.series.begin(), graph.series.end(), has_points))
    return text + "unset xtics\nunset ytics\n" +
           "set label 'nothing to draw' at graph 0.5,0.5 center textcolor rgb faint\n" +
           "plot [1:2] [1:2] NaN notitle\n";  // gnuplot finds no ends by itself
  std::string plot;
  const auto add = [&](const std::string& element) {
    plot += (plot.empty() ? "plot " : ", \\\n  ") + element;
  };
  for (std::size_t g = 0; g < graph.guides.size(); ++g) {
    const Guide& guide = graph.guides[g];
    const std::string at = csv_number(guide.at);
    text += guide.vertical ? fmt::format("${}g{} << EOD\n{} {}\n{} {}\nEOD\n", prefix, g, at,
                                         csv_number(y.low), at, csv_number(y.high))
                           : fmt::format("${}g{} << EOD\n{} {}\n{} {}\nEOD\n", prefix, g,
                                         csv_number(x.low), at, csv_number(x.high), at);
    if (!guide.label.empty())
      text += fmt::format(
          "set label {} at {} font ',11' textcolor rgb faint\n", gnuplot_string(guide.label),
          guide.vertical ? fmt::format("first {}, graph 0.96 left offset 0.5,0", at)
                         : fmt::format("graph 0.99, first {} right offset 0,0.6", at));
    add(fmt::format("${}g{} using 1:2 with lines lw 1 dt (6,4) lc rgb faint notitle", prefix, g));
  }
  const auto bars =
      static_cast<std::size_t>(std::count_if(graph.series.begin(), graph.series.end(),
                                             [](const Series& s) { return s.mark == Mark::bars; }));
  for (std::size_t s = 0; s < graph.series.size(); ++s) {
    const int colour = graph.series[s].colour < 0 ? static_cast<int>(s) : graph.series[s].colour;
    add(series_script(graph.series[s], fmt::format("${}{}", prefix, s), colour, bars));
    const std::string edge = edge_script(graph.x, y_axis, drawn[s]);
    if (edge.empty()) continue;
    text += fmt::format("${}e{} << EOD\n{}EOD\n", prefix, s, edge);
    add(fmt::format("${}e{} using 1:2:3 with points pt variable ps 0.9 lc rgb palette[{}] notitle",
                    prefix, s, colour % kColours + 1));
  }
  return text + plot + "\n";
}

// Where the graph of a panel with insets stands, as shares of the picture: left right bottom top.
constexpr double kPlace[] = {0.13, 0.955, 0.18, 0.95};

std::string place_script(double left, double right, double bottom, double top) {
  const auto x = [](double share) { return kPlace[0] + share * (kPlace[1] - kPlace[0]); };
  const auto y = [](double share) { return kPlace[2] + share * (kPlace[3] - kPlace[2]); };
  return fmt::format("set margins at screen {}, screen {}, screen {}, screen {}\n", x(left),
                     x(right), y(bottom), y(top));
}

/// Draws a graph in a part of the panel's.
std::string inset_script(const Inset& inset, const std::string& prefix) {
  return place_script(inset.left, inset.left + inset.width, inset.bottom,
                      inset.bottom + inset.height) +
         "unset key; unset title; unset label; unset object; unset logscale; unset format\n"
         "set xtics auto font ',10'; set ytics auto font ',10'\n"
         "set xlabel font ',10' offset 0,0.6; set ylabel font ',10' offset 1,0\n" +
         graph_script({inset.x, inset.y, inset.series, inset.guides}, prefix);
}

}  // namespace

// gnuplot's own '' is a quote only after another character, and not twice.
std::string gnuplot_string(std::string_view text) {
  std::string result = "'";
  for (const char c : printable_line(text))
    result += c == '\'' ? std::string("' . \"'\" . '") : std::string(1, c);
  return result + "'";
}

std::string plain_label(std::string_view text) { return escaped(text, "\\^_{}@&~", "\\"); }

std::string panel_script(const Panel& panel, const std::string& output_file, int width,
                         int height) {
  std::string text = fmt::format("output_file = {}\nwidth = {}\nheight = {}\nload {}\n",
                                 gnuplot_string(output_file), width, height,
                                 gnuplot_string(source_path("reports/plots/style.gp")));
  if (!panel.title.empty()) text += fmt::format("set title {}\n", gnuplot_string(panel.title));
  text += panel.legend.empty() ? "unset key\n" : fmt::format("set key {}\n", panel.legend);
  for (const Inset& inset : panel.insets)  // white paper, with room for the inset's tick labels
    text += fmt::format(
        "set object rectangle from graph {}, graph {} to graph {}, graph {} "
        "fillcolor rgb '#ffffff' fillstyle solid 1 noborder front\n",
        inset.left - 0.13, inset.bottom - 0.14, inset.left + inset.width + 0.02,
        inset.bottom + inset.height + 0.03);
  if (!panel.insets.empty()) text += "set multiplot\n" + place_script(0, 1, 0, 1);
  text += graph_script({panel.x, panel.y, panel.series, panel.guides}, "d");
  for (std::size_t i = 0; i < panel.insets.size(); ++i)
    text += inset_script(panel.insets[i], fmt::format("i{}x", i));
  if (!panel.insets.empty()) text += "unset multiplot\n";
  return text;
}

}  // namespace boltzmark::experiments

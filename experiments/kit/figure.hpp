#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace boltzmark::experiments {

/// How a series is drawn.
enum class Mark { line, dashed, dotted, points, line_points, rings, steps, bars };

/// One curve, cloud or group of bars. With lower and upper it has a band (lines) or error bars
/// (points, bars). Colours are the Okabe-Ito palette's; -1 takes the next one. Use black (0) for
/// Gibbs, vermillion (1) for T and blue (2) for a third. Plain lines of the eighth colour and beyond
/// have the colours of the first ones again, in dashes and dots.
struct Series {
  std::string label;
  std::vector<double> x = {};
  std::vector<double> y = {};
  std::vector<double> lower = {};
  std::vector<double> upper = {};
  Mark mark = Mark::line;
  int colour = -1;
};

/// An axis; its label carries the unit: "log-likelihood per image / nats".
struct Axis {
  std::string label;
  bool log = false;
  double low = std::numeric_limits<double>::quiet_NaN();   ///< NaN: from the data
  double high = std::numeric_limits<double>::quiet_NaN();  ///< NaN: from the data
  std::vector<std::pair<std::string, double>> ticks = {};  ///< empty: automatic
};

/// A straight line across a panel, such as a ceiling.
struct Guide {
  double at = 0;
  std::string label = {};
  bool vertical = false;
};

/// A small graph inside a panel; places are shares of the panel.
struct Inset {
  double left = 0.5, bottom = 0.15, width = 0.45, height = 0.4;
  Axis x, y;
  std::vector<Series> series = {};
  std::vector<Guide> guides = {};
};

/// One graph.
struct Panel {
  std::string title = {};
  Axis x, y;
  std::vector<Series> series = {};
  std::vector<Guide> guides = {};
  std::vector<Inset> insets = {};
  std::string legend = "top left";  ///< gnuplot's key position; empty: none
};

/// A figure: its data become `<name>-figure.csv`, its drawing `<name>.svg`; of several panels,
/// `<name>-1.svg`, ... Panels stand side by side, `columns` to a row, and below each other on a
/// phone. Labels are gnuplot's enhanced text: `p_{mut}`, `10^{-3}`, with UTF-8 for Greek letters. A
/// figure with a script is drawn by reports/plots/<script> from `data`, whose first row names the
/// columns. A panel of such a figure is not drawn: it says at which ends the script's axes cut which
/// points, so that the caption counts them, and its ends are the script's x_low, x_high, y_low and y_high.
struct Figure {
  std::string name;     ///< file name without extension
  std::string caption;  ///< what is seen, with n and what bands mean
  std::vector<Panel> panels = {};
  int columns = 1;
  int height = 360;  ///< of one panel, in pixels; 600 wide, less with more columns
  std::string script = {};
  std::vector<std::vector<std::string>> data = {};
};

}  // namespace boltzmark::experiments

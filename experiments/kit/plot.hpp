#pragma once

#include <string>
#include <vector>

#include "experiments/kit/figure.hpp"

namespace boltzmark::experiments {

/// Writes the gnuplot script of one panel, data included.
/// Shapes  a band or error bar where a series has lower and upper
std::string panel_script(const Panel& panel, const std::string& output_file, int width, int height);

/// Draws a figure with gnuplot: `<name>.svg` in the folder, or `<name>-1.svg`, ... for several
/// panels. A figure with a script reads `<name>-figure.csv` from the folder.
/// Returns  the SVG texts, ids made unique by the figure's name
/// Throws  Error with gnuplot's message if it fails or is not there
std::vector<std::string> draw_figure(const Figure& figure, const std::string& folder);

}  // namespace boltzmark::experiments

#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "experiments/kit/figure.hpp"

namespace boltzmark::experiments {

/// Writes any bytes as a string expression of gnuplot's: one line of printable text between single
/// quotes, in which gnuplot reads nothing and so runs nothing; a quote is joined on:
/// 'it' . "'" . 's'. Every text of a script goes through here.
std::string gnuplot_string(std::string_view text);

/// Escapes what gnuplot's enhanced text would read as markup, for labels that others name.
std::string plain_label(std::string_view text);

/// Writes the gnuplot script of one panel, data included.
/// Shapes  a band or error bar where a series has lower and upper
std::string panel_script(const Panel& panel, const std::string& output_file, int width, int height);

/// Says how many points and intervals of a figure reach beyond its axes, which are marked at their edges, or cannot
/// stand on a logarithmic one, or are infinite; empty if none.
std::string beyond_text(const Figure& figure);

/// gnuplot is not there, fails or hangs: a figure is missing, and all else goes on.
class DrawingError : public Error {
 public:
  using Error::Error;
};

/// How long gnuplot may take for one picture; ordinary ones take a fraction of a second.
inline constexpr std::chrono::seconds kDrawingLimit{60};

/// Draws a figure with gnuplot: `<name>.svg` in the folder, or `<name>-1.svg`, ... for several
/// panels. A figure with a script reads `<name>-figure.csv` from the folder. gnuplot runs in that
/// folder, whose name it thus never reads, and without the user's settings.
/// Returns  the SVG texts, ids made unique by the figure's name
/// Throws  DrawingError with gnuplot's message if it fails, is not there or takes longer than the limit,
///   than 2 s where the one before it did; Error where a file cannot be written whole, as on a full disk.
///   No picture is left then, a former one neither
std::vector<std::string> draw_figure(const Figure& figure, const std::string& folder,
                                     std::chrono::milliseconds limit = kDrawingLimit);

}  // namespace boltzmark::experiments

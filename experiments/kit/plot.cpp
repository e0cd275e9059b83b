#include "experiments/kit/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "boltzmark/core/error.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/subprocess.hpp"

namespace boltzmark::experiments {
namespace {

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

/// Reads what gnuplot wrote and makes it fit to stand in a page beside others.
std::string finish_svg(const std::string& path, const std::string& prefix) {
  std::string svg = read_text(path);
  const std::size_t start = svg.find("<svg");
  if (start == std::string::npos || svg.find("</svg>") == std::string::npos)
    throw Error(path + ": gnuplot wrote no picture");
  for (const char* name : {"gpDot", "gpPt", "gpPat", "gnuplot_plot_", "textbox", "greybox"}) {
    replace_all(svg, fmt::format("id=\"{}", name), fmt::format("id=\"{}-{}", prefix, name));
    replace_all(svg, fmt::format("id='{}", name), fmt::format("id='{}-{}", prefix, name));
    replace_all(svg, fmt::format("#{}", name), fmt::format("#{}-{}", prefix, name));
  }
  replace_all(svg, "font-family=\"Helvetica\"", "font-family=\"Helvetica, Arial, sans-serif\"");
  write_text(path, svg);
  return svg.substr(start);
}

void run_gnuplot(const std::vector<std::string>& arguments) {
  const ProgramResult result = run_program(arguments);
  if (result.status == 127) throw Error("gnuplot is not installed (must be on the PATH)");
  if (result.status != 0) throw Error("gnuplot failed: " + result.output);
}

}  // namespace

std::vector<std::string> draw_figure(const Figure& figure, const std::string& folder) {
  std::string prefix = folder.substr(folder.find_last_of('/') + 1) + "-" + figure.name;
  const std::string base = folder + "/" + figure.name;
  if (!figure.script.empty()) {
    run_gnuplot(
        {"gnuplot", "-e",
         fmt::format("data_file = '{0}-figure.csv'; output_file = '{0}.svg'; plots = '{1}'; "
                     "width = 600; height = {2}",
                     base, source_path("reports/plots"), figure.height),
         source_path("reports/plots/" + figure.script)});
    return {finish_svg(base + ".svg", prefix)};
  }
  const int width = std::max(600 - 140 * (figure.columns - 1), 320);
  std::vector<std::string> pictures;
  for (std::size_t p = 0; p < figure.panels.size(); ++p) {
    const std::string suffix = figure.panels.size() > 1 ? fmt::format("-{}", p + 1) : "";
    const std::string picture = base + suffix + ".svg";
    const std::string script = base + suffix + ".gp";
    write_text(script, panel_script(figure.panels[p], picture, width, figure.height));
    run_gnuplot({"gnuplot", script});
    std::filesystem::remove(script);
    pictures.push_back(finish_svg(picture, prefix + suffix));
  }
  return pictures;
}

}  // namespace boltzmark::experiments

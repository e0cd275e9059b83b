#include "experiments/kit/report/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "experiments/kit/csv.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/subprocess.hpp"

namespace boltzmark::experiments {
namespace {

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

/// Makes what may stand in an id of a folder's name, which may be anything.
std::string identifier(std::string text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  for (char& c : text)
    if (kPlain.find(c) == std::string_view::npos) c = '-';
  return text;
}

/// Reads what gnuplot wrote and makes it fit to stand in a page beside others.
std::string finish_svg(const std::string& path, const std::string& prefix) {
  std::string svg = std::filesystem::exists(path) ? read_text(path) : "";
  const std::size_t start = svg.find("<svg");
  if (start == std::string::npos || svg.find("</svg>") == std::string::npos)
    throw Error(path + ": gnuplot wrote no whole picture (must have room on the disk)");
  for (const char* name :
       {"gpDot", "gpPt", "gpPat", "gnuplot_plot_", "gnuplot_canvas", "textbox", "greybox"}) {
    replace_all(svg, fmt::format("id=\"{}", name), fmt::format("id=\"{}-{}", prefix, name));
    replace_all(svg, fmt::format("id='{}", name), fmt::format("id='{}-{}", prefix, name));
    replace_all(svg, fmt::format("#{}", name), fmt::format("#{}-{}", prefix, name));
  }
  replace_all(svg, "font-family=\"Helvetica\"", "font-family=\"Helvetica, Arial, sans-serif\"");
  write_text(path, svg);
  return svg.substr(start);
}

// Once a gnuplot has hung, the next ones have no minute each: a report has a hundred figures.
std::atomic<bool> gnuplot_hung = false;
constexpr std::chrono::milliseconds kLimitAfterHanging{2000};

/// Runs gnuplot in the folder of a picture, which a former run may have left there.
/// Returns  the picture
std::string run_gnuplot(const std::vector<std::string>& arguments, const std::string& folder,
                        const std::string& picture, const std::string& prefix,
                        std::chrono::milliseconds limit) {
  const std::string path = folder + "/" + picture;
  std::filesystem::remove(path);
  std::vector<std::string> all = {"gnuplot", "--default-settings"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  if (gnuplot_hung) limit = std::min(limit, kLimitAfterHanging);
  const ProgramResult result = run_program(all, folder, limit);
  gnuplot_hung = result.timed_out;
  std::error_code ignored;
  if (result.status == 0) {
    try {
      return finish_svg(path, prefix);
    } catch (...) {
      std::filesystem::remove(path, ignored);
      throw;
    }
  }
  std::filesystem::remove(path, ignored);  // half a picture
  if (result.timed_out)
    throw DrawingError(fmt::format("gnuplot took longer than {} s and was ended; {} is missing",
                                   std::chrono::duration<double>(limit).count(), picture));
  if (result.status == 127) throw DrawingError("gnuplot is not installed (must be on the PATH)");
  throw DrawingError("gnuplot failed: " + result.output);
}

/// The ends of the axes that a figure's panel gives, as a script reads them; NaN where none is given.
std::string ends_script(const Panel& panel) {
  const auto end = [](double value) {
    return std::isnan(value) ? std::string("NaN") : csv_number(value);
  };
  return fmt::format("; x_low = {}; x_high = {}; y_low = {}; y_high = {}", end(panel.x.low),
                     end(panel.x.high), end(panel.y.low), end(panel.y.high));
}

/// A script that is gone once it was run.
class ScriptFile {
 public:
  ScriptFile(std::string path, std::string_view text) : path_(std::move(path)) {
    write_text(path_, text);
  }
  ~ScriptFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  ScriptFile(const ScriptFile&) = delete;
  ScriptFile& operator=(const ScriptFile&) = delete;

 private:
  std::string path_;
};

}  // namespace

std::vector<std::string> draw_figure(const Figure& figure, const std::string& folder,
                                     std::chrono::milliseconds limit) {
  const std::string prefix =
      identifier(folder.substr(folder.find_last_of('/') + 1)) + "-" + figure.name;
  if (!figure.script.empty()) {
    const std::string picture = figure.name + ".svg";
    std::string settings =
        fmt::format("data_file = {}; output_file = {}; plots = {}; width = 600; height = {}",
                    gnuplot_string(figure.name + "-figure.csv"), gnuplot_string(picture),
                    gnuplot_string(source_path("reports/plots")), figure.height);
    if (!figure.panels.empty()) settings += ends_script(figure.panels.front());
    return {run_gnuplot({"-e", settings, source_path("reports/plots/" + figure.script)}, folder,
                        picture, prefix, limit)};
  }
  const int width = std::max(600 - 140 * (figure.columns - 1), 320);
  std::vector<std::string> pictures;
  for (std::size_t p = 0; p < figure.panels.size(); ++p) {
    const std::string suffix = figure.panels.size() > 1 ? fmt::format("-{}", p + 1) : "";
    const std::string picture = figure.name + suffix + ".svg";
    const std::string script = figure.name + suffix + ".gp";
    const ScriptFile file(folder + "/" + script,
                          panel_script(figure.panels[p], picture, width, figure.height));
    pictures.push_back(run_gnuplot({script}, folder, picture, prefix + suffix, limit));
  }
  return pictures;
}

}  // namespace boltzmark::experiments

#pragma once

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "verification/interface/cli/program.hpp"

// What the tests of curves and figures share.
namespace cli_test {

/// Training on bars and stripes.
inline Arguments bas_training(const std::string& out, const Arguments& more) {
  Arguments all = {"train", "bas", "--hidden", "8", "--updates", "300", "--out", out};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// Reads a table, its heading first; an empty last cell is left out.
inline std::vector<std::vector<std::string>> csv_rows(const std::string& path) {
  std::istringstream text(io_test::read_all(path));
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(text, line);) {
    rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
  }
  return rows;
}

/// An environment whose gnuplot draws nothing, and keeps the script of a figure f as f.gp.txt.
inline Environment keeping_scripts(const io_test::Folder& folder) {
  std::filesystem::create_directory(folder / "bin");
  const std::string path = folder.write("bin/gnuplot",
                                        "#!/bin/sh\n"
                                        "cp \"$2\" \"$2.txt\"\n"
                                        "echo '<svg></svg>' > \"${2%.gp}.svg\"\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return {{"PATH", (folder / "bin:") + std::getenv("PATH")}};
}

/// Reads the points of a script's series, each x, y, lower and upper.
inline std::vector<std::vector<double>> drawn_points(const std::string& script, int series) {
  std::istringstream text(io_test::read_all(script));
  const std::string head = "$d" + std::to_string(series) + " << EOD";
  std::string line;
  while (std::getline(text, line) && line != head) continue;
  std::vector<std::vector<double>> points;
  while (std::getline(text, line) && line != "EOD") {
    std::istringstream cells(line);
    points.emplace_back();
    for (double cell = 0; cells >> cell;) points.back().push_back(cell);
  }
  return points;
}

}  // namespace cli_test

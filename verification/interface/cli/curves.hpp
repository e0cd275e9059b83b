#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "verification/interface/cli/program.hpp"

// What the tests of training that is seen share.
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

}  // namespace cli_test

#pragma once

#include <string>
#include <vector>

#include "tools/boltzmark/commands/compare/comparison.hpp"

namespace boltzmark::cli {

/// Writes the tables and figures of comparisons into a folder. The tables are there without the figures:
/// one that cannot be drawn is named on stderr.
/// Returns  the names of the files     Throws  DataError if a table cannot be written
std::vector<std::string> write_results(const ComparisonPlan& plan,
                                       const std::vector<Comparison>& comparisons,
                                       const std::string& folder);
/// Prints a table a model, and what was written.
void print_comparisons(const ComparisonPlan& plan, const std::vector<Comparison>& comparisons,
                       const std::string& folder, const std::vector<std::string>& written);
/// Prints them as one JSON object.
void print_json(const std::vector<Comparison>& comparisons,
                const std::vector<std::string>& written);

}  // namespace boltzmark::cli

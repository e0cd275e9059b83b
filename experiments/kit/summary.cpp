#include "experiments/kit/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "boltzmark/core/error.hpp"

namespace boltzmark::experiments {
namespace {

bool is_file_name(const std::string& name) {
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
}

void check_series(const Figure& figure, const Series& series) {
  const std::size_t points = series.x.size();
  const auto fits = [&](const std::vector<double>& values, bool optional) {
    return values.size() == points || (optional && values.empty());
  };
  if (!fits(series.y, false) || !fits(series.lower, true) || !fits(series.upper, true) ||
      series.lower.size() != series.upper.size())
    throw InvalidArgument(fmt::format(
        "figure {}, series {} = {} x, {} y, {} lower, {} upper (must agree)", figure.name,
        series.label, points, series.y.size(), series.lower.size(), series.upper.size()));
}

}  // namespace

void Summary::take_name(const std::string& kind, const std::string& name) {
  const std::string whole = kind + " " + name;
  if (!is_file_name(name))
    throw InvalidArgument(fmt::format("{} (must be named [a-z0-9-]+)", whole));
  if (std::find(names_.begin(), names_.end(), whole) != names_.end())
    throw InvalidArgument(fmt::format("{} (must have a name of its own)", whole));
  names_.push_back(whole);
}

void Summary::add(Table table) {
  take_name("table", table.name);
  for (const auto& row : table.rows)
    if (row.size() != table.columns.size())
      throw InvalidArgument(fmt::format("table {}, row = {} cells (must be {})", table.name,
                                        row.size(), table.columns.size()));
  items_.emplace_back(std::move(table));
}

void Summary::add(Figure figure) {
  take_name("figure", figure.name);
  for (const Panel& panel : figure.panels) {
    for (const Series& series : panel.series) check_series(figure, series);
    for (const Inset& inset : panel.insets)
      for (const Series& series : inset.series) check_series(figure, series);
  }
  items_.emplace_back(std::move(figure));
}

void Summary::add(Measure measure) { measures_.push_back(std::move(measure)); }

void Summary::note(std::string text) { items_.emplace_back(std::move(text)); }

}  // namespace boltzmark::experiments

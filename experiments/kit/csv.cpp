#include "experiments/kit/csv.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "experiments/kit/printable.hpp"

namespace boltzmark::experiments {
namespace {

/// Which extra columns a column's estimates need.
struct Extras {
  bool interval = false;
  bool mark = false;
};

Extras extras_of(const Table& table, std::size_t column) {
  Extras extras;
  for (const auto& row : table.rows)
    if (const auto* estimate = std::get_if<WithInterval>(&row[column])) {
      extras.interval |= !std::isnan(estimate->lower) || !std::isnan(estimate->upper);
      extras.mark |= !estimate->mark.empty();
    }
  return extras;
}

std::string join(const std::vector<std::string>& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) line += ',';
    line += csv_field(fields[i]);
  }
  return line + "\n";
}

std::string optional_number(double value) { return std::isnan(value) ? "" : csv_number(value); }

void append_cell(std::vector<std::string>& fields, const Cell& cell, Extras extras) {
  const auto* estimate = std::get_if<WithInterval>(&cell);
  if (const auto* text = std::get_if<std::string>(&cell))
    fields.push_back(*text);
  else if (const auto* value = std::get_if<double>(&cell))
    fields.push_back(csv_number(*value));
  else if (const auto* count = std::get_if<std::int64_t>(&cell))
    fields.push_back(fmt::format("{}", *count));
  else
    fields.push_back(estimate ? csv_number(estimate->value) : "");
  if (extras.interval) {
    fields.push_back(estimate ? optional_number(estimate->lower) : "");
    fields.push_back(estimate ? optional_number(estimate->upper) : "");
  }
  if (extras.mark) fields.push_back(estimate ? estimate->mark : "");
}

std::string series_rows(const std::string& panel, const std::vector<Series>& all) {
  std::string text;
  for (const Series& series : all)
    for (std::size_t i = 0; i < series.x.size(); ++i)
      text += join({panel, series.label, csv_number(series.x[i]), csv_number(series.y[i]),
                    series.lower.empty() ? "" : csv_number(series.lower[i]),
                    series.upper.empty() ? "" : csv_number(series.upper[i])});
  return text;
}

}  // namespace

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  return "\"" + escaped(text, "\"", "\"") + "\"";
}

std::string csv_number(double value) {
  if (std::isnan(value)) return "nan";  // never "-nan"
  return fmt::format("{}", value);
}

std::string table_csv(const Table& table) {
  std::vector<std::string> heading;
  std::vector<Extras> extras;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const std::string& key = table.columns[c].key;
    extras.push_back(extras_of(table, c));
    heading.push_back(key);
    if (extras[c].interval) heading.insert(heading.end(), {key + "_lower", key + "_upper"});
    if (extras[c].mark) heading.push_back(key + "_mark");
  }
  std::string text = join(heading);
  for (const auto& row : table.rows) {
    std::vector<std::string> fields;
    for (std::size_t c = 0; c < row.size(); ++c) append_cell(fields, row[c], extras[c]);
    text += join(fields);
  }
  return text;
}

std::string figure_csv(const Figure& figure) {
  std::string text;
  if (!figure.script.empty()) {
    for (const auto& row : figure.data) text += join(row);
    return text;
  }
  text = "panel,series,x,y,lower,upper\n";
  for (std::size_t p = 0; p < figure.panels.size(); ++p) {
    const Panel& panel = figure.panels[p];
    text += series_rows(fmt::format("{}", p + 1), panel.series);
    for (std::size_t i = 0; i < panel.insets.size(); ++i)
      text += series_rows(fmt::format("{} inset {}", p + 1, i + 1), panel.insets[i].series);
  }
  return text;
}

}  // namespace boltzmark::experiments

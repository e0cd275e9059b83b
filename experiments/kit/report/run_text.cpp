#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "experiments/kit/document.hpp"

namespace boltzmark::experiments {
namespace {

constexpr std::size_t kListed = 12;  // values, or missing cells, that are listed

/// Keys that count repeats of a cell rather than name one.
bool counts_repeats(const std::string& key, const Json& value) {
  static const std::set<std::string> keys = {"repeat", "run",   "seed", "group",
                                             "rbm",    "first", "model"};
  return value.is_number_integer() && keys.contains(key);
}

/// The inputs that name a cell.
Json cell_of(const Json& inputs) {
  Json cell = Json::object();
  for (const auto& [key, value] : inputs.items())
    if (!counts_repeats(key, value)) cell[key] = value;
  return cell;
}

/// How many trials each cell has.
using Cells = std::map<Json, int>;
/// The values of each input, in order of size or name.
using Values = std::map<std::string, std::set<Json>>;

Values values_of(const Cells& cells) {
  Values values;
  for (const auto& [cell, count] : cells)
    for (const auto& [key, value] : cell.items()) values[key].insert(value);
  return values;
}

std::string value_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// "sweeps 1000, 10000".
std::string values_text(const std::string& key, const std::set<Json>& values) {
  if (values.size() > kListed && values.begin()->is_number())
    return fmt::format("{} {} to {} ({} values)", key, value_text(*values.begin()),
                       value_text(*values.rbegin()), values.size());
  if (values.size() > 2 * kListed) return fmt::format("{} {} values", key, values.size());
  std::vector<std::string> texts;
  for (const Json& value : values) texts.push_back(value_text(value));
  return fmt::format("{} {}", key, fmt::join(texts, ", "));
}

/// "8 cells of 4 to 5 repeats (of 10)", for the cells that are to have as many.
std::string repeats_text(const std::vector<int>& counts, int planned) {
  const auto [low, high] = std::minmax_element(counts.begin(), counts.end());
  std::string text = fmt::format("{} cell{}", counts.size(), counts.size() == 1 ? "" : "s");
  if (planned == 1) return text;
  text += *low == *high ? fmt::format(" of {}", *low) : fmt::format(" of {} to {}", *low, *high);
  if (*low < planned) text += fmt::format(" (of {})", planned);
  return text + " repeats";
}

std::string cells_text(const Cells& run, const Cells& planned) {
  std::map<int, std::vector<int>> by_plan;
  for (const auto& [cell, count] : run) by_plan[planned.at(cell)].push_back(count);
  std::vector<std::string> texts;
  for (const auto& [plan, counts] : by_plan) texts.push_back(repeats_text(counts, plan));
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// Lists the cells without a trial by the inputs that tell cells apart.
std::string missing_text(const Cells& run, const Cells& planned) {
  const Values values = values_of(planned);
  std::vector<std::string> missing;
  std::size_t more = 0;
  for (const auto& [cell, count] : planned) {
    if (run.contains(cell)) continue;
    if (missing.size() == kListed) {
      ++more;
      continue;
    }
    std::vector<std::string> named;
    for (const auto& [key, value] : cell.items()) {
      const bool in_all =
          std::all_of(planned.begin(), planned.end(),
                      [&key = key](const auto& other) { return other.first.contains(key); });
      if (values.at(key).size() > 1 || !in_all) named.push_back(key + " " + value_text(value));
    }
    missing.push_back(fmt::format("{}", fmt::join(named, ", ")));
  }
  if (missing.empty()) return "";
  return fmt::format(" No trial yet of: {}{}.", fmt::join(missing, "; "),
                     more > 0 ? fmt::format("; and {} cells more", more) : "");
}

}  // namespace

std::string run_text(const Results& results) {
  if (results.empty()) return fmt::format("None of the {} planned trials.", results.planned());
  Cells run, planned;
  for (const Trial& trial : results.trials()) ++run[cell_of(trial.inputs)];
  for (const Json& inputs : results.plan()) ++planned[cell_of(inputs)];
  const std::size_t count = results.trials().size();
  std::vector<std::string> lists;
  for (const auto& [key, values] : values_of(run)) lists.push_back(values_text(key, values));
  return fmt::format("{}{} of {} planned trials: {}. {}{}{}",
                     count == results.planned() ? "All " : "", count, results.planned(),
                     cells_text(run, planned), fmt::join(lists, "; "), lists.empty() ? "" : ".",
                     missing_text(run, planned));
}

}  // namespace boltzmark::experiments

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "experiments/kit/document.hpp"

namespace boltzmark::experiments {
namespace {

constexpr std::size_t kListed = 12;  // values that are listed; of more their ends

/// Keys that count repeats of a cell rather than name one.
bool counts_repeats(std::string_view key, const Json& value) {
  constexpr std::string_view kKeys[] = {"repeat", "run", "seed", "group", "rbm", "first", "model"};
  return value.is_number_integer() &&
         std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys);
}

/// The values of each input, in order of size or name.
using Values = std::map<std::string, std::set<Json>>;

void note_values(const Json& inputs, Values& values) {
  for (const auto& [key, value] : inputs.items()) values[key].insert(value);
}

std::string value_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string list_text(const std::set<Json>& values) {
  if (values.size() > kListed && values.begin()->is_number())
    return fmt::format("{} to {} ({} values)", value_text(*values.begin()),
                       value_text(*values.rbegin()), values.size());
  std::vector<std::string> texts;
  for (const Json& value : values) texts.push_back(value_text(value));
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// "sweeps 1000, 10000 (not yet 1000000)".
std::string values_text(const std::string& key, const std::set<Json>& run,
                        const std::set<Json>& planned) {
  std::set<Json> missing;
  std::set_difference(planned.begin(), planned.end(), run.begin(), run.end(),
                      std::inserter(missing, missing.end()));
  std::string text = key + " " + list_text(run);
  if (!missing.empty()) text += fmt::format(" (not yet {})", list_text(missing));
  return text;
}

/// The inputs without what counts repeats.
std::string cell_of(const Json& inputs) {
  Json cell = inputs;
  for (const auto& [key, value] : inputs.items())
    if (counts_repeats(key, value)) cell.erase(key);
  return cell.dump();
}

std::string range_text(int low, int high) {
  return low == high ? std::to_string(low) : fmt::format("{} to {}", low, high);
}

/// "8 of 16 cells, 4 to 5 of 10 repeats each".
std::string cells_text(const std::map<std::string, int>& run,
                       const std::map<std::string, int>& planned) {
  int low = run.begin()->second, high = low, plan_low = planned.at(run.begin()->first),
      plan_high = plan_low;
  for (const auto& [cell, count] : run) {
    low = std::min(low, count);
    high = std::max(high, count);
    plan_low = std::min(plan_low, planned.at(cell));
    plan_high = std::max(plan_high, planned.at(cell));
  }
  const bool all = run == planned;
  std::string text = run.size() == planned.size()
                         ? fmt::format("{} cell{}", run.size(), run.size() == 1 ? "" : "s")
                         : fmt::format("{} of {} cells", run.size(), planned.size());
  if (plan_high > 1)
    text += fmt::format(", {}{} repeats each", range_text(low, high),
                        all ? "" : " of " + range_text(plan_low, plan_high));
  return text;
}

}  // namespace

std::string run_text(const Results& results) {
  if (results.empty()) return fmt::format("None of the {} planned trials.", results.planned());
  Values run, planned;
  std::map<std::string, int> run_cells, planned_cells;
  for (const Trial& trial : results.trials()) {
    note_values(trial.inputs, run);
    ++run_cells[cell_of(trial.inputs)];
  }
  for (const Json& inputs : results.plan()) {
    note_values(inputs, planned);
    ++planned_cells[cell_of(inputs)];
  }
  const bool all = results.trials().size() == results.planned();
  std::string text =
      all ? fmt::format("All {} planned trials", results.planned())
          : fmt::format("{} of {} planned trials", results.trials().size(), results.planned());
  text += ": " + cells_text(run_cells, planned_cells) + ". ";
  bool first = true;
  for (const auto& [key, values] : run) {
    text += fmt::format("{}{}", first ? "" : "; ", values_text(key, values, planned[key]));
    first = false;
  }
  return text + ".";
}

}  // namespace boltzmark::experiments

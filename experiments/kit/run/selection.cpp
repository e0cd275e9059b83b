#include "experiments/kit/run/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "boltzmark/core/error.hpp"

namespace boltzmark::experiments {
namespace {

bool value_matches(const Json& value, const std::string& wanted) {
  if (value.is_string()) return value.get<std::string>() == wanted;
  const Json parsed = Json::parse(wanted, nullptr, false);
  return !parsed.is_discarded() && value == parsed;
}

bool is_named(const Experiment& experiment, const std::string& name) {
  return experiment.id == name || experiment.paper() == name;
}

}  // namespace

CellFilter::CellFilter(const std::string& text) {
  std::set<std::string> keys;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const std::string pair = text.substr(start, end - start);
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == pair.size() ||
        end + 1 == text.size())
      throw InvalidArgument(fmt::format("only = {} (must be key=value,...)", text));
    wanted_.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
    if (!keys.insert(wanted_.back().first).second)
      throw InvalidArgument(fmt::format("only = {} (must name each key once)", text));
    start = end + 1;
  }
}

bool CellFilter::matches(const Json& inputs) const {
  return std::all_of(wanted_.begin(), wanted_.end(), [&](const auto& pair) {
    const auto found = inputs.find(pair.first);
    return found != inputs.end() && value_matches(*found, pair.second);
  });
}

const Experiment& maker_of_trials(const std::vector<Experiment>& all,
                                  const Experiment& experiment) {
  if (experiment.trials_of.empty()) return experiment;
  const auto maker = std::find_if(all.begin(), all.end(), [&](const Experiment& other) {
    return other.id == experiment.trials_of && other.trials_of.empty();
  });
  if (maker == all.end())
    throw InvalidArgument(
        fmt::format("{}: trials_of = {} (must be an experiment that makes its own trials)",
                    experiment.id, experiment.trials_of));
  return *maker;
}

std::vector<const Experiment*> select_makers(const std::vector<Experiment>& all,
                                             const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (std::none_of(all.begin(), all.end(),
                     [&](const Experiment& e) { return is_named(e, name); }))
      throw InvalidArgument(fmt::format(
          "experiment = {} (must be an id or a paper that `boltzmark list experiments` shows)",
          name));
  std::set<const Experiment*> makers;
  for (const Experiment& e : all)
    if (names.empty() || std::any_of(names.begin(), names.end(),
                                     [&](const std::string& name) { return is_named(e, name); }))
      makers.insert(&maker_of_trials(all, e));
  return {makers.begin(), makers.end()};  // by address: all are elements of one vector
}

}  // namespace boltzmark::experiments

#include "experiments/kit/published.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "boltzmark/core/error.hpp"
#include "experiments/kit/files.hpp"

namespace boltzmark::experiments {
namespace {

std::string path_of(const std::string& name) {
  return source_path("reports/published/" + name + ".csv");
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream text(line);
  for (std::string field; std::getline(text, field, ',');) fields.push_back(field);
  return fields;
}

double number_of(const std::string& text, const std::string& path) {
  try {
    return std::stod(text);
  } catch (const std::exception&) {
    throw DataError(fmt::format("{}: {} is no number (must be x or y of a curve)", path, text));
  }
}

}  // namespace

std::vector<PublishedCurve> read_published(const std::string& name) {
  const std::string path = path_of(name);
  std::istringstream text(read_text(path));
  std::string line;
  std::getline(text, line);
  const std::size_t columns = fields_of(line).size();
  std::vector<PublishedCurve> curves;
  while (std::getline(text, line)) {
    const std::vector<std::string> fields = fields_of(line);
    if (fields.size() != columns || columns < 3 || columns > 4)
      throw DataError(path + ": a row of other columns (must be [figure,]curve,x,y)");
    const std::string figure = columns == 4 ? fields[0] : "";
    const std::string& curve = fields[columns - 3];
    auto found = std::find_if(curves.begin(), curves.end(), [&](const PublishedCurve& c) {
      return c.figure == figure && c.curve == curve;
    });
    if (found == curves.end())
      found = curves.insert(curves.end(), {.figure = figure, .curve = curve, .x = {}, .y = {}});
    found->x.push_back(number_of(fields[columns - 2], path));
    found->y.push_back(number_of(fields[columns - 1], path));
  }
  return curves;
}

PublishedCurve find_published(const std::string& name, const std::string& figure,
                              const std::string& curve) {
  for (PublishedCurve& found : read_published(name))
    if (found.figure == figure && found.curve == curve) return std::move(found);
  throw DataError(
      fmt::format("{}: has no curve {} {} (must be digitised)", path_of(name), figure, curve));
}

Series published_series(const PublishedCurve& curve, const std::string& label, int colour) {
  return {.label = "published " + label,
          .x = curve.x,
          .y = curve.y,
          .mark = Mark::dotted,
          .colour = colour};
}

}  // namespace boltzmark::experiments

#include "experiments/kit/claims.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "experiments/kit/experiment.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/run/reference.hpp"

namespace boltzmark::experiments {
namespace {

constexpr std::array<std::pair<const char*, Test>, 9> kTests{{{"less", Test::less},
                                                              {"greater", Test::greater},
                                                              {"at_most", Test::at_most},
                                                              {"at_least", Test::at_least},
                                                              {"equal", Test::equal},
                                                              {"contains", Test::contains},
                                                              {"equivalent", Test::equivalent},
                                                              {"not_below", Test::not_below},
                                                              {"reported", Test::reported}}};

/// Reads typed fields of one TOML table and names the file and the table in its errors.
class Fields {
 public:
  Fields(std::string file, std::string place, const toml::table& table,
         std::initializer_list<std::string_view> known)
      : file_(std::move(file)), place_(std::move(place)), table_(table) {
    for (const auto& [key, value] : table_)
      if (std::find(known.begin(), known.end(), key.str()) == known.end())
        fail(fmt::format("unknown key {}", key.str()),
             fmt::format("must be one of {}", fmt::join(known, ", ")));
  }

  [[noreturn]] void fail(const std::string& what, const std::string& must) const {
    throw DataError(fmt::format("{}: {}: {} ({})", file_, place_, what, must));
  }
  bool has(std::string_view key) const { return table_.contains(key); }
  std::string text(std::string_view key) const {
    const auto value = table_[key].value_exact<std::string>();
    if (!value || value->empty()) fail(fmt::format("{} is missing", key), "must be a string");
    return *value;
  }
  std::string text_or_empty(std::string_view key) const { return has(key) ? text(key) : ""; }
  double number(std::string_view key) const {
    const auto value = table_[key].value<double>();
    if (!value) fail(fmt::format("{} is missing", key), "must be a number");
    return *value;
  }
  std::vector<std::string> texts(std::string_view key) const {
    std::vector<std::string> all;
    if (const toml::array* array = table_[key].as_array())
      for (const toml::node& node : *array) {
        const auto value = node.value_exact<std::string>();
        if (!value) fail(fmt::format("{} is wrong", key), "must be an array of strings");
        all.push_back(*value);
      }
    if (all.empty()) fail(fmt::format("{} is missing", key), "must be an array of strings");
    return all;
  }
  /// Reads the optional array of tables `key`.
  std::vector<const toml::table*> tables(std::string_view key) const {
    std::vector<const toml::table*> all;
    if (!has(key)) return all;
    const toml::array* array = table_[key].as_array();
    if (!array || array->empty()) fail(fmt::format("{} is wrong", key), "must be tables");
    for (const toml::node& node : *array) {
      if (!node.is_table()) fail(fmt::format("{} is wrong", key), "must be tables");
      all.push_back(node.as_table());
    }
    return all;
  }
  /// Reads the optional table of texts `key`.
  std::map<std::string, std::string> named_texts(std::string_view key) const {
    std::map<std::string, std::string> all;
    if (!has(key)) return all;
    const toml::table* named = table_[key].as_table();
    if (!named || named->empty())
      fail(fmt::format("{} is wrong", key), "must be a table of strings");
    for (const auto& [name, node] : *named) {
      const auto value = node.value_exact<std::string>();
      if (!value) fail(fmt::format("{} is wrong", key), "must be a table of strings");
      all[std::string(name.str())] = *value;
    }
    return all;
  }
  /// Reads the optional array of tables `key` of inputs; an array among them stands for each of its values.
  std::vector<Json> inputs(std::string_view key) const {
    std::vector<Json> all;
    for (const toml::table* table : tables(key)) {
      std::vector<Json> cells{Json::object()};
      for (const auto& [name, node] : *table) {
        std::vector<Json> next;
        for (const Json& value : values_of(key, node))
          for (Json cell : cells) {
            cell[std::string(name.str())] = value;
            next.push_back(std::move(cell));
          }
        cells = std::move(next);
      }
      all.insert(all.end(), cells.begin(), cells.end());
    }
    return all;
  }
  Test test() const {
    const std::string name = text("test");
    for (const auto& [known, test] : kTests)
      if (name == known) return test;
    fail(fmt::format("test = {}", name),
         "must be less, greater, at_most, at_least, equal, contains, equivalent, not_below or "
         "reported");
  }

 private:
  std::vector<Json> values_of(std::string_view key, const toml::node& node) const {
    std::vector<Json> all;
    if (const toml::array* array = node.as_array())
      for (const toml::node& value : *array) all.push_back(value_of(key, value));
    else
      all.push_back(value_of(key, node));
    return all;
  }
  Json value_of(std::string_view key, const toml::node& node) const {
    if (const auto text = node.value_exact<std::string>()) return *text;
    if (const auto whole = node.value_exact<std::int64_t>()) return *whole;
    if (const auto real = node.value_exact<double>()) return *real;
    fail(fmt::format("{} is wrong", key), "must have texts, numbers or arrays of them");
  }

  std::string file_, place_;
  const toml::table& table_;
};

/// Reads `test`, `threshold` and, of tests that read one, `tolerance`, falling back to the claim's own where a part
/// has none.
ClaimPart read_part(const Fields& fields, const ClaimPart& fallback) {
  ClaimPart part = fallback;
  if (fields.has("test")) part.test = fields.test();
  if (fields.has("threshold")) part.threshold = fields.number("threshold");
  if (fields.has("tolerance")) part.tolerance = fields.number("tolerance");
  if (!(part.tolerance >= 0)) fields.fail("tolerance is negative", "must not be");
  if (part.test != Test::contains && part.test != Test::equivalent) {
    if (fields.has("tolerance"))
      fields.fail("tolerance is not read by this test", "must be of contains or equivalent");
    part.tolerance = 0;
  }
  if (part.test == Test::equivalent && part.tolerance == 0)
    fields.fail("tolerance is missing", "must be above 0 for equivalent");
  if (part.test != Test::reported && std::isnan(part.threshold))
    fields.fail("threshold is missing", "must be a number");
  return part;
}

ClaimChange read_change(const Fields& fields) {
  return {.revision = fields.text("revision"),
          .reason = fields.text("reason"),
          .before = fields.text("before"),
          .after = fields.text("after"),
          .replaced = fields.named_texts("replaced")};
}

Claim read_claim(const std::string& file, const toml::table& table) {
  const std::string name = table["id"].value_or(std::string("a claim without id"));
  const Fields fields(file, name, table,
                      {"id", "kind", "statement", "statistic", "test", "threshold", "tolerance",
                       "parts", "where", "published", "note", "aside", "to_decide", "cells",
                       "experiments", "checks", "registered", "digest", "change"});
  Claim claim{.id = fields.text("id"),
              .statement = fields.text("statement"),
              .statistic = fields.text("statistic"),
              .where = fields.text("where"),
              .published = fields.text_or_empty("published"),
              .note = fields.text_or_empty("note"),
              .aside = fields.text_or_empty("aside"),
              .to_decide = fields.text_or_empty("to_decide"),
              .cells = fields.inputs("cells"),
              .experiments = fields.texts("experiments"),
              .registered = fields.text_or_empty("registered"),
              .digest = fields.named_texts("digest")};
  if (fields.has("checks")) claim.checks = fields.texts("checks");
  const std::string kind = fields.text("kind");
  if (kind != "E" && kind != "D" && kind != "V" && kind != "C")
    fields.fail(fmt::format("kind = {}", kind), "must be E, D, V or C");
  claim.kind = kind.front();
  const ClaimPart whole = read_part(fields, {.test = fields.test()});
  for (const toml::table* part : fields.tables("parts")) {
    const Fields inner(file, name + ", part", *part, {"name", "test", "threshold", "tolerance"});
    claim.parts.push_back(read_part(inner, whole));
    claim.parts.back().name = inner.text("name");
  }
  if (claim.parts.empty()) claim.parts.push_back(whole);
  for (const toml::table* change : fields.tables("change"))
    claim.changes.push_back(read_change(
        {file, name + ", change", *change, {"revision", "reason", "before", "after", "replaced"}}));
  return claim;
}

}  // namespace

bool judges(const Claim& claim, const Json& inputs) {
  return claim.cells.empty() ||
         std::any_of(claim.cells.begin(), claim.cells.end(),
                     [&](const Json& cell) { return matches(inputs, cell); });
}

ClaimFile read_claims(const std::string& path) {
  toml::table root;
  try {
    root = toml::parse(read_text(path), path);
  } catch (const toml::parse_error& error) {
    throw DataError(fmt::format("{}: line {}: {} (must be TOML)", path, error.source().begin.line,
                                error.description()));
  }
  const Fields fields(path, "top level", root, {"paper", "title", "reference", "claim"});
  ClaimFile file{.paper = fields.text("paper"),
                 .title = fields.text("title"),
                 .reference = fields.text("reference")};
  for (const toml::table* table : fields.tables("claim")) {
    Claim claim = read_claim(path, *table);
    for (const Claim& other : file.claims)
      if (other.id == claim.id) fields.fail(claim.id + " is repeated", "must be unique");
    file.claims.push_back(std::move(claim));
  }
  if (file.claims.empty()) fields.fail("no claim", "must have at least one [[claim]]");
  return file;
}

namespace {

/// The place of a paper's first experiment in the registry.
std::ptrdiff_t place_of(const std::string& paper) {
  const std::vector<Experiment>& all = experiments();
  return std::find_if(all.begin(), all.end(),
                      [&](const Experiment& experiment) { return experiment.paper() == paper; }) -
         all.begin();
}

}  // namespace

void check_experiments(const ClaimFile& file, const std::vector<Experiment>& all) {
  for (const Claim& claim : file.claims)
    for (const std::string& id : claim.experiments)
      if (std::none_of(all.begin(), all.end(),
                       [&](const Experiment& experiment) { return experiment.id == id; }))
        throw DataError(
            fmt::format("claims of {}: {}: experiments = {} (must be one that `boltzmark list "
                        "experiments` has)",
                        file.paper, claim.id, id));
}

std::vector<ClaimFile> read_all_claims() {
  std::vector<std::string> paths;
  const std::string folder = source_path("reports/claims");
  if (!std::filesystem::is_directory(folder))
    throw DataError(folder + ": no such folder (must hold the claims of each paper)");
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".toml") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  std::vector<ClaimFile> files;
  for (const std::string& path : paths) {
    files.push_back(read_claims(path));
    check_experiments(files.back(), experiments());
  }
  std::stable_sort(files.begin(), files.end(), [](const ClaimFile& a, const ClaimFile& b) {
    return place_of(a.paper) < place_of(b.paper);
  });
  read_committed(source_path("reports/reference/claims.json"), files);
  return files;
}

}  // namespace boltzmark::experiments

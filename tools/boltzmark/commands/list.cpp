#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/io/model_file.hpp"
#include "boltzmark/transition/rule.hpp"
#include "experiments/kit/claims.hpp"
#include "experiments/kit/datasets/data_folders.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "experiments/kit/printable.hpp"
#include "experiments/kit/run/selection.hpp"
#include "tools/boltzmark/input.hpp"
#include "tools/boltzmark/output.hpp"
#include "tools/boltzmark/program.hpp"
#include "verification/checks/known/known_model.hpp"

namespace boltzmark::cli {
namespace {

/// One list: what a table and a JSON array of it look like.
struct Listing {
  std::string title;
  TextTable table;
  std::vector<JsonObject> entries = {};
};

// An experiment may have no trials at a profile.
std::string duration(double seconds) { return seconds > 0 ? human_seconds(seconds) : "none"; }

Listing list_experiments() {
  Listing list{"Experiments", TextTable({"id", ">smoke", ">quick", ">paper", "title"})};
  const std::vector<experiments::Experiment>& all = experiments::experiments();
  for (const experiments::Experiment& info : all) {
    const auto& [smoke, quick, paper] = experiments::maker_of_trials(all, info).seconds;
    list.table.add({info.id, duration(smoke), duration(quick), duration(paper), info.title});
    list.entries.push_back(JsonObject()
                               .set("id", info.id)
                               .set("item", info.item)
                               .set("title", info.title)
                               .set("claims", info.claims)
                               .set("smoke_seconds", smoke)
                               .set("quick_seconds", quick)
                               .set("paper_seconds", paper));
  }
  return list;
}

Listing list_rules() {
  Listing list{"Update rules", TextTable({"rule", "ergodic", "description"})};
  for (const RuleInfo& info : registered_rules()) {
    list.table.add({info.name, info.ergodic ? "yes" : "no", info.description});
    list.entries.push_back(JsonObject()
                               .set("name", info.name)
                               .set("description", info.description)
                               .set("ergodic", info.ergodic));
  }
  return list;
}

Listing list_estimators() {
  Listing list{"Estimators of log Z", TextTable({"method", "from", "description"})};
  for (const Method& method : registered_methods()) {
    const std::string source(name(method.source));
    list.table.add({method.name, source, method.summary});
    list.entries.push_back(JsonObject()
                               .set("name", method.name)
                               .set("description", method.summary)
                               .set("source", source));
  }
  return list;
}

Listing list_datasets() {
  Listing list{"Data sets",
               TextTable({"name", ">units", ">train", ">test", "found", "description"})};
  for (const experiments::DatasetInfo& info : experiments::registered_datasets()) {
    list.table.add({info.name, fmt::format("{}", info.units), grouped(info.train_cases),
                    grouped(info.test_cases), info.available ? "yes" : "no", info.description});
    list.entries.push_back(JsonObject()
                               .set("name", info.name)
                               .set("description", info.description)
                               .set("units", info.units)
                               .set("train_cases", info.train_cases)
                               .set("test_cases", info.test_cases)
                               .set("available", info.available));
  }
  return list;
}

// Model files of the data folders, by the paths that commands take: those below models/ and outside/.
std::vector<std::string> model_files() {
  namespace fs = std::filesystem;
  constexpr auto kSkip = fs::directory_options::skip_permission_denied;
  constexpr int kDepth = 3;
  std::set<std::string> files;
  for (const std::string& folder : experiments::data_folders())
    for (const char* kind : {"models", "outside"}) {
      std::error_code error;
      for (fs::recursive_directory_iterator file(fs::path(folder) / kind, kSkip, error), end;
           !error && file != end; file.increment(error)) {
        if (file.depth() >= kDepth) file.disable_recursion_pending();
        const std::string ending = file->path().extension().string();
        if (ending == ".npz" || ending == ".mat")
          files.insert(fs::relative(file->path(), folder, error).string());
      }
    }
  return {files.begin(), files.end()};
}

// Nothing of what is no Boltzmann machine.
std::optional<std::string> describe_file(const std::string& file) {
  try {
    const std::string path = experiments::find_in_data_folders(file);
    if (!is_model_file(path) || is_discriminative_file(path)) return std::nullopt;
    const Layered model = load_model(path);
    std::string text = fmt::format("a file: {}", fmt::join(layer_sizes(model), "-"));
    if (const auto known = load_known_log_z(path, model)) text += ", log Z " + known_text(*known);
    return text;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

Listing list_models() {
  Listing list{"Families of models whose log Z is known, and files of models",
               TextTable({"family or file", "example", "description"})};
  for (const ModelFamily& family : model_families()) {
    list.table.add(
        {std::string(family.form), std::string(family.example), std::string(family.meaning)});
    list.entries.push_back(JsonObject()
                               .set("name", std::string(family.name()))
                               .set("form", std::string(family.form))
                               .set("example", std::string(family.example))
                               .set("description", std::string(family.meaning)));
  }
  for (const std::string& file : model_files()) {
    const std::optional<std::string> meaning = describe_file(file);
    if (!meaning) continue;
    list.table.add({experiments::printable_line(file), "", *meaning});
    list.entries.push_back(
        JsonObject().set("name", file).set("file", file).set("description", *meaning));
  }
  return list;
}

Listing list_claims() {
  Listing list{"Claims", TextTable({"id", "kind", "holds if", "statement"})};
  for (const experiments::ClaimFile& file : experiments::read_all_claims())
    for (const experiments::Claim& claim : file.claims) {
      const std::string kind(1, claim.kind), test = experiments::assertion(claim);
      list.table.add({claim.id, kind, test, claim.statement});
      list.entries.push_back(JsonObject()
                                 .set("paper", file.paper)
                                 .set("id", claim.id)
                                 .set("kind", kind)
                                 .set("statement", claim.statement)
                                 .set("test", test)
                                 .set("experiment", claim.experiments.front()));
    }
  return list;
}

using Lister = Listing (*)();
const std::vector<std::pair<std::string, Lister>>& listers() {
  static const std::vector<std::pair<std::string, Lister>> all = {
      {"experiments", list_experiments}, {"rules", list_rules},   {"estimators", list_estimators},
      {"datasets", list_datasets},       {"models", list_models}, {"claims", list_claims}};
  return all;
}

int run(const std::string& wanted, const Session& session) {
  JsonObject object;
  std::string text;
  for (const auto& [name, lister] : listers()) {
    if (!wanted.empty() && wanted != name) continue;
    const Listing list = lister();
    object.set(name, list.entries);
    if (!text.empty()) text += '\n';
    if (wanted.empty()) text += list.title + '\n';
    text += list.table.text();
  }
  if (session.json)
    print(object);
  else
    print(text);
  return 0;
}

}  // namespace

void add_list(Program& program) {
  const auto wanted = std::make_shared<std::string>();
  Command& command = program.command({
      .name = "list",
      .summary = "the experiments, rules, estimators, data sets, models and claims there are",
      .about = "Lists what this program knows; without an argument, everything.",
      .notes =
          "JSON keys: experiments [id, item, title, claims, smoke_seconds, quick_seconds,\n"
          "paper_seconds (0: none of that size)], rules [name, description, ergodic], estimators\n"
          "[name, description, source], datasets [name, description, units, train_cases, test_cases,\n"
          "available], models [name, description, of families form and example, of files file],\n"
          "claims [paper, id, kind, statement, test, experiment]. The test of a claim is what its\n"
          "parts assert, the same once: \"> 40; < 60\".",
      .examples = {"boltzmark list experiments", "boltzmark list datasets --json"},
  });
  std::vector<std::string> names;
  for (const auto& [name, lister] : listers()) names.push_back(name);
  command.choice(wanted.get(), "WHAT", names, join_or(names) + " (default: all).");
  command.action([wanted](const Session& session) { return run(*wanted, session); });
}

}  // namespace boltzmark::cli

// That no claim is judged otherwise than it was registered without saying so.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "experiments/kit/digest.hpp"
#include "experiments/kit/document.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/run/reference.hpp"
#include "experiments/kit/run/selection.hpp"
#include "experiments/kit/sources.hpp"
#include "experiments/kit/subprocess.hpp"
#include "experiments/kit/summary.hpp"
#include "verification/interface/experiments/made_trials.hpp"
#include "verification/interface/kit/toys.hpp"
#include "verification/skip.hpp"

namespace boltzmark::experiments {
namespace {

/// The trials that never change: what statistics make of them changes with the statistics alone.
std::string fixture_path(const Experiment& experiment) {
  return source_path("verification/interface/fixtures/claims/" + experiment.id + ".jsonl.gz");
}

std::string digest_text(const Digests& digests) {
  std::string text;
  for (const auto& [key, digest] : digests)
    text += fmt::format("{}{} = \"{}\"", text.empty() ? "{ " : ", ", key, digest);
  return text + " }";
}

std::string item_of(const std::string& id) { return id.substr(id.find('/') + 1); }

bool any_lacks_model(const std::map<std::string, Trial>& trials) {
  return std::any_of(trials.begin(), trials.end(),
                     [](const auto& named) { return lacks_model(named.second); });
}

/// What every claim would have to say, as things are: paper and id -> digests. What cannot be measured
/// without the model that its trials ran on is taken as it stands.
std::map<std::string, Digests> computed_digests(const std::vector<ClaimFile>& files) {
  std::map<std::string, Digests> all;
  for (const ClaimFile& file : files)
    for (const Claim& claim : file.claims)
      all[file.paper + " " + claim.id]["text"] = text_digest(claim);
  for (const Experiment& experiment : experiments()) {
    const auto trials = read_reference(fixture_path(maker_of_trials(experiments(), experiment)));
    if (trials.empty()) continue;
    const std::string item = item_of(experiment.id);
    const std::vector<Measure> measures = measures_of_trials(experiment, trials);
    for (const auto& [claim, digest] : measure_digests(measures))
      all[experiment.paper() + " " + claim][item] = digest;
    for (const auto& [claim, digest] : check_digests(measures)) {
      INFO(claim << ": exact checks of two experiments decide it");
      CHECK(all[experiment.paper() + " " + claim].emplace("checks", digest).second);
    }
    if (!any_lacks_model(trials)) continue;
    for (const ClaimFile& file : files)
      for (const Claim& claim : file.claims)
        if (file.paper == experiment.paper() && claim.digest.count(item) > 0)
          all[file.paper + " " + claim.id].emplace(item, claim.digest.at(item));
  }
  return all;
}

/// Asks git about the source tree; nothing where it cannot say.
std::string ask_git(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"git", "-C", source_path("")});
  const ProgramResult result = run_program(arguments);
  return result.status == 0 ? result.output : "";
}

/// Whole history: neither an unpacked archive nor a shallow clone.
bool has_history() {
  return ask_git({"rev-parse", "--is-shallow-repository"}).starts_with("false") &&
         ask_git({"ls-files", "reports/claims"}).size() > 0;
}

/// The claims of a file as they were at the parents of the commits that changed it.
std::map<std::string, ClaimFile> former_claims(const std::string& file) {
  const TemporaryFolder folder;
  std::map<std::string, ClaimFile> former;
  std::istringstream commits(ask_git({"log", "--format=%h", "--", file}));
  for (std::string commit; std::getline(commits, commit);) {
    const std::string text = ask_git({"show", commit + "^:" + file});
    if (text.empty()) continue;  // the commit that made the file
    write_text(folder.path() + "/claims.toml", text);
    former[commit + "^"] = read_claims(folder.path() + "/claims.toml");
  }
  return former;
}

/// Tells whether trials that a claim judges had been kept at a revision.
bool had_trials(const Claim& claim, const std::string& revision) {
  static std::map<std::string, bool> known;
  for (const std::string& id : claim.experiments) {
    const std::string trials = revision + ":reports/reference/" + id + "/trials.jsonl.gz";
    const auto found = known.find(trials);
    if (found == known.end())
      known[trials] = !ask_git({"rev-parse", "--verify", "-q", trials}).empty();
    if (known[trials]) return true;
  }
  return false;
}

/// Tells whether a former digest is the present one, or one that a change says it replaced.
bool accounted(const Claim& claim, const std::string& key, const std::string& digest) {
  if (const auto now = claim.digest.find(key); now != claim.digest.end() && now->second == digest)
    return true;
  for (const ClaimChange& change : claim.changes)
    if (const auto old = change.replaced.find(key);
        old != change.replaced.end() && old->second == digest)
      return true;
  return false;
}

const Claim* find_claim(const ClaimFile& file, const std::string& id) {
  for (const Claim& claim : file.claims)
    if (claim.id == id) return &claim;
  return nullptr;
}

std::string counts_path() { return source_path("reports/reference/README.md"); }

constexpr const char* kFirstCount = "- `bruegge2013/appendix`: ";

/// What the committed trials of an experiment are, against its plan at the paper's size.
std::string count_line(const Experiment& experiment, const std::map<std::string, Trial>& kept) {
  const std::vector<Json> planned = experiment.trials(Profile::paper);
  std::vector<Trial> finished;
  for (const Json& inputs : planned)
    if (const auto found = kept.find(inputs.dump()); found != kept.end())
      finished.push_back(found->second);
  const auto clean = std::count_if(finished.begin(), finished.end(),
                                   [](const Trial& trial) { return is_clean(trial.revision); });
  const std::size_t others = kept.size() - finished.size();
  std::string told = run_text({Profile::paper, planned, finished});
  told.insert(
      std::min(told.find(": "), told.size() - 1),  // or before the end, where none is planned
      fmt::format(", {} clean{}", clean,
                  others > 0 ? fmt::format(", and {} that no plan has", others) : ""));
  return fmt::format("- `{}`: {}\n", experiment.id, told);
}

/// The same of all of which trials are committed. The published RBM need not be here: they were run on it.
std::string counts_text() {
  const made::PublishedRbmFolder folder;
  std::map<std::string, std::string> lines;
  for (const Experiment& experiment : experiments())
    if (const auto kept = read_reference(reference_path(experiment)); !kept.empty())
      lines[experiment.id] = count_line(experiment, kept);
  std::string text;
  for (const auto& [id, line] : lines) text += line;
  return text;
}

Claim toy_claim() { return toy_claims().claims[1]; }

}  // namespace

TEST_CASE("every claim is judged by the text and the statistic that its digests are of") {
  const std::vector<ClaimFile> files = read_all_claims();
  const auto computed = computed_digests(files);
  for (const ClaimFile& file : files)
    for (const Claim& claim : file.claims) {
      const Digests& now = computed.at(file.paper + " " + claim.id);
      INFO(file.paper << " " << claim.id << " digest = " << digest_text(now)
                      << "\nIf it is judged otherwise now, say so in a [[claim.change]] whose "
                         "`replaced` has what stood before.");
      CHECK(claim.digest == now);
      CHECK_FALSE(claim.registered.empty());
    }
}

TEST_CASE("every claim has a digest of what each experiment that it names makes of a fixture") {
  for (const ClaimFile& file : read_all_claims())
    for (const Claim& claim : file.claims)
      for (const std::string& id : claim.experiments) {
        INFO(file.paper << " " << claim.id << ": " << id
                        << "\nIts fixture must hold trials enough for a measure of this claim.");
        CHECK(claim.digest.count(item_of(id)) == 1);
      }
}

TEST_CASE("a claim that exact checks decide lists them, so that verify runs them by its id") {
  int decided = 0;
  for (const ClaimFile& file : read_all_claims())
    for (const Experiment& experiment : experiments()) {
      if (experiment.paper() != file.paper || !experiment.checks) continue;
      for (const Measure& measure :
           measures_of_trials(experiment, read_reference(fixture_path(experiment)))) {
        if (measure.check.empty()) continue;
        INFO(file.paper << " " << measure.claim << ": " << measure.check);
        const Claim* claim = find_claim(file, measure.claim);
        REQUIRE(claim != nullptr);
        CHECK(std::count(claim->checks.begin(), claim->checks.end(), measure.check) == 1);
        ++decided;
      }
    }
  CHECK(decided >= 50);
}

TEST_CASE("a claim whose text or statistic changed while its trials were kept says so") {
  if (!has_history()) return skip("this clone has no history");
  for (const ClaimFile& file : read_all_claims())
    for (const auto& [revision, former] : former_claims("reports/claims/" + file.paper + ".toml"))
      for (const Claim& before : former.claims) {
        const Claim* claim = find_claim(file, before.id);
        INFO(file.paper << " " << before.id << " at " << revision);
        REQUIRE(claim != nullptr);
        Digests stood = before.digest;
        stood["text"] = text_digest(before);
        for (const auto& [key, digest] : stood) {
          if (accounted(*claim, key, digest)) continue;
          INFO(key << " = \"" << digest << "\"");
          // Trials of most exact checks are not kept, but seen in every report.
          CHECK_FALSE((key == "checks" || had_trials(before, revision)));
        }
      }
}

TEST_CASE("the revisions that claims name are of this history") {
  if (!has_history()) return skip("this clone has no history");
  std::set<std::string> named;
  for (const ClaimFile& file : read_all_claims())
    for (const Claim& claim : file.claims) {
      named.insert(claim.registered);
      for (const ClaimChange& change : claim.changes) named.insert(change.revision);
    }
  for (const std::string& revision : named) {
    INFO(revision);
    CHECK(ask_git({"merge-base", revision, "HEAD"}).substr(0, 7) == revision);
  }
}

TEST_CASE("renew the counts", "[.]") {
  const std::string readme = read_text(counts_path());
  write_text(counts_path(), readme.substr(0, readme.find(kFirstCount)) + counts_text());
  SUCCEED("renewed");
}

TEST_CASE(
    "the README of the committed results counts the trials that are there, and what they lack") {
  INFO(
      "Where trials were kept or are planned otherwise, run: interface_tests \"renew the counts\"");
  const std::string readme = read_text(counts_path()), counts = counts_text();
  REQUIRE(counts.starts_with(kFirstCount));
  CHECK(readme.substr(std::min(readme.find(kFirstCount), readme.size())) == counts);
}

TEST_CASE("what a plan lacks is counted and named, and what no plan has is told apart") {
  const Experiment toys = toy_experiments()[0];
  std::map<std::string, Trial> kept;
  for (const Json& inputs : toys.trials(Profile::paper))
    if (inputs.at("size") == "small" && inputs.at("repeat") < 4)
      kept[inputs.dump()] = {.inputs = inputs, .revision = "0123456"};
  kept.begin()->second.revision = "0123456+changes";
  CHECK(count_line(toys, kept) ==
        "- `toy/one`: 4 of 12 planned trials, 3 clean: 1 cell of 4 (of 6) repeats. rate 0.1; size "
        "small. No trial yet of: size large.\n");
  kept["{}"] = {.inputs = Json::object(), .revision = "0123456"};
  CHECK_THAT(count_line(toys, kept),
             Catch::Contains("4 of 12 planned trials, 3 clean, and 1 that no plan has: 1 cell"));
}

TEST_CASE("a claim that names cells is judged by their trials as by all of its experiments") {
  for (const ClaimFile& file : read_all_claims())
    for (const Claim& claim : file.claims) {
      if (claim.cells.empty()) continue;
      INFO(file.paper << " " << claim.id);
      std::size_t planned = 0,
                  others = 0;  // trials of the plan, and of fixtures those that judge nothing
      for (const Experiment& experiment : experiments()) {
        if (std::count(claim.experiments.begin(), claim.experiments.end(), experiment.id) == 0)
          continue;
        const Experiment& maker = maker_of_trials(experiments(), experiment);
        for (const Json& inputs : maker.trials(Profile::paper))
          planned += judges(claim, inputs) ? 1 : 0;
        const auto all = read_reference(fixture_path(maker));
        auto named = all;
        others += std::erase_if(
            named, [&](const auto& trial) { return !judges(claim, trial.second.inputs); });
        const auto by_all = measure_digests(measures_of_trials(experiment, all)),
                   by_named = measure_digests(measures_of_trials(experiment, named));
        REQUIRE(by_all.count(claim.id) == by_named.count(claim.id));
        if (by_all.count(claim.id) > 0) CHECK(by_named.at(claim.id) == by_all.at(claim.id));
      }
      CHECK(planned > 0);
      CHECK(others > 0);
    }
}

TEST_CASE("a claim's digest follows what is judged and not what is said beside it") {
  const std::string digest = text_digest(toy_claim());
  Claim claim = toy_claim();
  claim.note = "another";
  claim.published = "another";
  claim.where = "Sec. 9";
  claim.changes.emplace_back().revision = "0123456";
  CHECK(text_digest(claim) == digest);
  const auto changed = [&](const auto& change) {
    Claim other = toy_claim();
    change(other);
    return text_digest(other) != digest;
  };
  CHECK(changed([](Claim& c) { c.statistic += "s"; }));
  CHECK(changed([](Claim& c) { c.statement += "s"; }));
  CHECK(changed([](Claim& c) { c.kind = 'V'; }));
  CHECK(changed([](Claim& c) { c.parts[0].threshold = 0.5; }));
  CHECK(changed([](Claim& c) { c.parts[0].tolerance = 0.5; }));
  CHECK(changed([](Claim& c) { c.parts[0].test = Test::less; }));
  CHECK(changed([](Claim& c) { c.parts.pop_back(); }));
}

TEST_CASE("a statistic's digest follows its numbers and not its notes, reasons and power") {
  Experiment toys = toy_experiments()[0];
  std::map<std::string, Trial> trials;
  for (const Json& inputs : toys.trials(Profile::quick))
    trials[inputs.dump()] = {.inputs = inputs, .outputs = {{"mean", 0.25}}};
  const auto digest = measure_digests(measures_of_trials(toys, trials));
  REQUIRE(digest.size() == 2);
  const auto summarise = toys.summarise;
  const auto altered = [&](const std::function<void(Measure&)>& alter) {
    toys.summarise = [=](const Results& results, Summary& summary) {
      Summary plain;
      summarise(results, plain);
      for (Measure measure : plain.measures()) {
        alter(measure);
        summary.add(measure);
      }
    };
    return measure_digests(measures_of_trials(toys, trials)) != digest;
  };
  CHECK_FALSE(altered([](Measure& m) { m.note = m.likely_reason = "another"; }));
  CHECK_FALSE(altered([](Measure& m) { m.power = 0.5; }));
  CHECK_FALSE(altered([](Measure& m) { m.estimate += 1e-12; }));
  CHECK(altered([](Measure& m) { m.estimate += 1e-3; }));
  CHECK(altered([](Measure& m) { m.upper += 1e-3; }));
  CHECK(altered([](Measure& m) { m.p_value = 0.01; }));
  CHECK(altered([](Measure& m) { m.decidable = false; }));
  CHECK(altered([](Measure& m) { m.n = 5; }));
}

TEST_CASE("what decides a claim exactly is digested by the check of each part and its bound") {
  const Measure first{.claim = "X01", .part = "a", .estimate = 0, .check = "n/s", .bound = 1e-12};
  const Measure second{.claim = "X01", .part = "b", .estimate = 0, .check = "n/t", .bound = 0.5};
  const auto digest = check_digests({first, second, {.claim = "X02", .estimate = 0}});
  REQUIRE(digest.size() == 1);  // no check decides the other claim
  const auto changed = [&](const auto& change) {
    std::vector<Measure> measures{first, second};
    change(measures[0], measures[1]);
    return check_digests(measures) != digest;
  };
  CHECK_FALSE(changed([](Measure& m, Measure&) { m.estimate = m.upper = 0.25; }));
  CHECK(changed([](Measure& m, Measure&) { m.check = "m/s"; }));
  CHECK(changed([](Measure& m, Measure&) { m.bound = 1e-11; }));
  CHECK(changed([](Measure& m, Measure& n) { std::swap(m.check, n.check); }));
  CHECK(changed([](Measure&, Measure& n) { n.check.clear(); }));
}

TEST_CASE("a claims file tells when a claim was registered and how it changed") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/claims.toml";
  const std::string head =
      "paper = \"p\"\ntitle = \"t\"\nreference = \"r\"\n[[claim]]\nid = \"X01\"\nkind = \"V\"\n"
      "statement = \"s\"\nstatistic = \"x\"\ntest = \"contains\"\nthreshold = 1\n"
      "tolerance = 0.25\nwhere = \"w\"\nexperiments = [\"p/e\"]\n";
  write_text(path, head +
                       "registered = \"abcdef0\"\ndigest = { text = \"11\", e = \"22\" }\n"
                       "[[claim.change]]\nrevision = \"abcdef1\"\nreason = \"why\"\n"
                       "before = \"b\"\nafter = \"a\"\nreplaced = { text = \"00\" }\n");
  const Claim claim = read_claims(path).claims.at(0);
  CHECK(claim.registered == "abcdef0");
  CHECK(claim.digest == Digests{{"text", "11"}, {"e", "22"}});
  CHECK(claim.parts.at(0).tolerance == 0.25);
  REQUIRE(claim.changes.size() == 1);
  CHECK(claim.changes[0].before == "b");
  CHECK(claim.changes[0].replaced == Digests{{"text", "00"}});
  CHECK(claim.cells.empty());
  write_text(path, head +
                       "cells = [{ method = [\"a\", \"b\"], sweeps = [10, 20], rate = 0.5 }, "
                       "{ method = \"c\" }]\n");
  const Claim celled = read_claims(path).claims.at(0);
  CHECK(celled.cells.size() == 5);
  CHECK(judges(celled, {{"method", "b"}, {"sweeps", 10}, {"rate", 0.5}, {"repeat", 3}}));
  CHECK(judges(celled, {{"method", "c"}, {"sweeps", 30}}));
  CHECK_FALSE(judges(celled, {{"method", "b"}, {"sweeps", 30}, {"rate", 0.5}}));
  CHECK_FALSE(judges(celled, {{"method", "b"}, {"sweeps", 10}}));
  CHECK(judges(claim, {{"method", "d"}}));
  for (const char* bad :
       {"cells = [{ a = true }]\n", "cells = \"a\"\n", "digest = \"11\"\n",
        "digest = { text = 1 }\n", "[[claim.change]]\nrevision = \"abcdef1\"\n"}) {
    write_text(path, head + bad);
    CHECK_THROWS_AS(read_claims(path), DataError);
  }
}

}  // namespace boltzmark::experiments

// The README's table of experiments against the registry.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "experiments/kit/claims.hpp"
#include "experiments/kit/experiment.hpp"
#include "experiments/kit/files.hpp"

namespace boltzmark::experiments {
namespace {

/// The cells of a table's line, "| a | b |", without the spaces around them.
std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> all;
  std::istringstream rest(line.substr(1));
  for (std::string cell; std::getline(rest, cell, '|');) {
    const auto first = cell.find_first_not_of(' ');
    if (first == std::string::npos) continue;
    all.push_back(cell.substr(first, cell.find_last_not_of(' ') - first + 1));
  }
  return all;
}

/// What the README lists: "paper, item, `id`, time, title" of each line between its head and its end.
std::vector<std::string> listed() {
  std::istringstream text(read_text(source_path("README.md")));
  std::string line;
  while (std::getline(text, line) && !line.starts_with("| paper | item |")) {
  }
  std::getline(text, line);  // the rule below the head
  std::vector<std::string> all;
  while (std::getline(text, line) && line.starts_with("|")) {
    const std::vector<std::string> row = cells(line);
    REQUIRE(row.size() == 5);
    all.push_back(row[0] + ", " + row[1] + ", " + row[2] + ", " + row[3] + ", " + row[4]);
  }
  return all;
}

/// The time that an experiment of profile quick states, or whose trials it is drawn from.
std::string stated_time(const Experiment& experiment) {
  if (experiment.id == "bruegge2013/fig4") return "with Table 2";
  if (experiment.id == "yokoyama2019/fig3") return "with Fig. 2";
  const double seconds = experiment.seconds.quick;
  if (seconds == 0) return "at paper size alone";
  return seconds < 1 ? "< 1 s" : fmt::format("{} s", seconds);
}

}  // namespace

TEST_CASE(
    "the README lists exactly the registered experiments, with their items, times and titles") {
  std::vector<std::string> registered;
  for (const Experiment& experiment : experiments())
    registered.push_back(experiment.paper() + ", " + experiment.item + ", `" + experiment.id +
                         "`, " + stated_time(experiment) + ", " + experiment.title);
  std::vector<std::string> rows = listed();
  std::sort(rows.begin(), rows.end());
  std::sort(registered.begin(), registered.end());
  CHECK(rows == registered);
}

// Smoke is a minute on two cores, quick ten minutes for the four papers.
TEST_CASE("the times that experiments state add up to no more than the share of each paper") {
  struct Sums {
    double smoke = 0, quick = 0;
  };
  std::map<std::string, Sums> papers;
  Sums all;
  for (const Experiment& experiment : experiments()) {
    if (!experiment.trials_of.empty()) continue;  // they run with their maker
    for (Sums* sums : {&papers[experiment.paper()], &all}) {
      sums->smoke += experiment.seconds.smoke;
      sums->quick += experiment.seconds.quick;
    }
  }
  const std::map<std::string, double> shares = {
      {"bruegge2013", 180}, {"carlson2016", 180}, {"salakhutdinov2010", 150}, {"yokoyama2019", 90}};
  double quick = 0;
  for (const auto& [paper, share] : shares) {
    INFO(paper);
    CHECK(papers.at(paper).quick <= share + 1e-9);
    quick += share;
  }
  CHECK(quick == 600);
  CHECK(all.smoke <= 60);
  CHECK(papers.at("salakhutdinov2010").smoke <= 6);
  for (const auto& [paper, sums] : papers)  // what is beyond the papers
    CHECK((shares.count(paper) > 0 || sums.quick <= 90));
}

TEST_CASE(
    "the title of an experiment whose claims data decide asks, and leaves the answer to them") {
  std::map<std::string, char> kinds;
  for (const ClaimFile& file : read_all_claims())
    for (const Claim& claim : file.claims) kinds[file.paper + claim.id] = claim.kind;
  for (const Experiment& experiment : experiments()) {
    if (experiment.checks) continue;  // "what the paper proves"
    const bool decided_by_data = std::any_of(
        experiment.claims.begin(), experiment.claims.end(),
        [&](const std::string& id) { return kinds.at(experiment.paper() + id) != 'E'; });
    INFO(experiment.id << ": " << experiment.title);
    CHECK((!decided_by_data || experiment.title.ends_with('?')));
  }
}

}  // namespace boltzmark::experiments

// That what an interrupted run left, any part of an experiment's trials, can be reported.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "experiments/kit/claims.hpp"
#include "experiments/kit/document.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/run/plan.hpp"
#include "experiments/kit/run/reference.hpp"
#include "experiments/kit/run/selection.hpp"
#include "experiments/kit/sources.hpp"
#include "experiments/kit/summary.hpp"
#include "experiments/kit/temporary_folder.hpp"

namespace boltzmark::experiments {
namespace {

std::vector<Trial> fixture(const Experiment& experiment) {
  std::vector<Trial> all;
  for (const auto& [inputs, trial] : read_reference(
           source_path("verification/interface/fixtures/claims/" + experiment.id + ".jsonl.gz")))
    all.push_back(trial);
  return all;
}

Summary summary_of(const Experiment& experiment, const std::vector<Trial>& all,
                   const std::vector<Trial>& finished) {
  std::vector<Json> planned;
  for (const Trial& trial : all) planned.push_back(trial.inputs);
  if (all.empty()) planned = maker_of_trials(experiments(), experiment).trials(Profile::paper);
  Summary summary;
  experiment.summarise(Results(Profile::paper, planned, finished), summary);
  return summary;
}

/// The exact claims that an experiment's measures refute.
std::vector<std::string> refuted(const Experiment& experiment, const Summary& summary,
                                 const std::vector<ClaimFile>& files) {
  std::vector<std::string> ids;
  for (const ClaimFile& file : files) {
    if (file.paper != experiment.paper()) continue;
    std::vector<SourcedMeasure> measures;
    for (const Measure& measure : summary.measures()) measures.push_back({experiment.id, measure});
    for (const JudgedClaim& judged : judge_all(file, measures))
      if (judged.claim.kind == 'E' && judged.verdict == Verdict::not_reproduced)
        ids.push_back(judged.claim.id);
  }
  return ids;
}

/// All trials of profile smoke, of which a part is much less than one of a fixture.
std::vector<Trial> smoke_trials(const Experiment& experiment) {
  std::vector<Trial> all;
  for (const Json& inputs : experiment.trials(Profile::smoke)) {
    TrialContext context;
    context.experiment = experiment.id;
    context.key = make_key(context.seed, experiment.id, inputs.dump());
    all.push_back(
        {.inputs = inputs, .outputs = Json::parse(experiment.run(inputs, context).dump())});
  }
  return all;
}

/// Parts as a stop leaves them: none, the first few, some of every kind, and single ones.
std::vector<std::vector<Trial>> parts_of(const std::vector<Trial>& all) {
  std::vector<std::vector<Trial>> parts = {{}};
  for (const std::size_t count : {1, 2, 3})
    if (count < all.size()) parts.emplace_back(all.begin(), all.begin() + count);
  std::mt19937_64 draw(1);
  for (const unsigned tenths : {1U, 5U, 9U}) {
    auto& part = parts.emplace_back();
    for (const Trial& trial : all)
      if (draw() % 10 < tenths) part.push_back(trial);
  }
  for (int single = 0; single < 5 && !all.empty(); ++single)
    parts.push_back({all[draw() % all.size()]});
  return parts;
}

}  // namespace

TEST_CASE("any part of an experiment's trials is summed up and refutes no exact claim") {
  const std::vector<ClaimFile> files = read_all_claims();
  for (const Experiment& experiment : experiments()) {
    const std::vector<Trial> all = fixture(maker_of_trials(experiments(), experiment));
    for (const std::vector<Trial>& part : parts_of(all)) {
      INFO(experiment.id << ": " << part.size() << " of " << all.size() << " trials");
      Summary summary;
      REQUIRE_NOTHROW(summary = summary_of(experiment, all, part));
      CHECK(refuted(experiment, summary, files).empty());
    }
  }
}

TEST_CASE("no single trial of profile smoke refutes an exact claim") {
  constexpr double kCheap = 0.5;  // seconds of all
  const std::vector<ClaimFile> files = read_all_claims();
  int experiments_run = 0;
  for (const Experiment& experiment : experiments()) {
    const bool exact = std::any_of(files.begin(), files.end(), [&](const ClaimFile& file) {
      return std::any_of(file.claims.begin(), file.claims.end(), [&](const Claim& claim) {
        return claim.kind == 'E' && file.paper == experiment.paper() &&
               std::find(experiment.claims.begin(), experiment.claims.end(), claim.id) !=
                   experiment.claims.end();
      });
    });
    if (!exact || !experiment.trials_of.empty() || experiment.seconds.at(Profile::smoke) > kCheap)
      continue;
    ++experiments_run;
    const std::vector<Trial> all = smoke_trials(experiment);
    for (const Trial& trial : all) {
      INFO(experiment.id << " " << trial.inputs);
      CHECK(refuted(experiment, summary_of(experiment, all, {trial}), files).empty());
    }
  }
  CHECK(experiments_run >= 3);
}

TEST_CASE("an experiment of which no trial has ended has a section without a fault") {
  for (const Experiment& experiment : experiments()) {
    const TemporaryFolder folder;
    Section section{.experiment = &experiment};
    section.summary = summary_of(experiment, {}, {});
    draw_section(section, folder.path());
    INFO(experiment.id << ": " << fmt::format("{}", fmt::join(section.problems, "; ")));
    CHECK(section.problems.empty());
  }
}

}  // namespace boltzmark::experiments

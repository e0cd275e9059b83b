#include "experiments/kit/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "experiments/kit/files.hpp"
#include "experiments/kit/run/conflicts.hpp"
#include "experiments/kit/run/folder_lock.hpp"
#include "experiments/kit/run/manifest.hpp"

namespace boltzmark::experiments {
namespace {

bool knows(const ClaimFile& file, const Measure& measure) {
  const auto claim = std::find_if(file.claims.begin(), file.claims.end(),
                                  [&](const Claim& c) { return c.id == measure.claim; });
  return claim != file.claims.end() &&
         std::any_of(claim->parts.begin(), claim->parts.end(),
                     [&](const ClaimPart& part) { return part.name == measure.part; });
}

/// Turns measures that the claims file does not know into problems.
void check_measures(Section& section, const std::vector<ClaimFile>& files) {
  const auto file = std::find_if(files.begin(), files.end(), [&](const ClaimFile& f) {
    return f.paper == section.experiment->paper();
  });
  if (file == files.end()) {
    if (!files.empty() && !section.summary.measures().empty())
      section.problems.push_back(
          fmt::format("no file of claims judges its measures (must be in "
                      "reports/claims, of {})",
                      section.experiment->paper()));
    return;
  }
  for (const Measure& measure : section.summary.measures())
    if (!knows(*file, measure))
      section.problems.push_back(
          fmt::format("measure of {} \"{}\": not in the claims file", measure.claim, measure.part));
}

void judge_papers(Document& document, const std::vector<ClaimFile>& claims) {
  document.papers.clear();
  for (const ClaimFile& file : claims) {
    std::vector<SourcedMeasure> measures;
    bool present = false;
    for (const Section& section : document.sections) {
      if (section.experiment->paper() != file.paper) continue;
      present = true;
      for (const Measure& measure : section.summary.measures())
        if (knows(file, measure)) measures.push_back({section.experiment->id, measure});
    }
    if (present) document.papers.push_back({file, judge_all(file, measures)});
  }
}

void note_outcome(const Document& document, ReproduceResult& result) {
  for (const Section& section : document.sections)
    for (const std::string& problem : section.problems)
      result.failures.push_back(section.experiment->id + ": " + problem);
  for (const PaperVerdicts& paper : document.papers)
    for (const JudgedClaim& claim : paper.claims)
      if (claim.claim.kind == 'E' && claim.verdict == Verdict::not_reproduced)
        result.exact_failed.push_back(claim.claim.id);
}

}  // namespace

ReportWriter::ReportWriter(const ReproduceOptions& options, const std::vector<Experiment>& all,
                           const std::vector<ClaimFile>& claims,
                           const std::vector<PlannedExperiment>& plans)
    : out_(options.out),
      root_(fmt::format("{}/{}", options.out, profile_name(options.profile))),
      all_(all),
      claims_(claims),
      plans_(plans) {
  document_.profile = options.profile;
  document_.manifest = make_manifest(options);
  ReproduceOptions as_stored = options;  // --fresh is about what is run
  as_stored.fresh = false;
  for (const Experiment* maker : select_makers(all, {})) {
    const bool planned =
        std::any_of(plans.begin(), plans.end(),
                    [&](const PlannedExperiment& plan) { return plan.experiment == maker; });
    if (!planned && !store_files(experiment_folder(options.out, options.profile, *maker)).empty())
      others_.push_back(
          plan_experiment(*maker, as_stored, CellFilter(""), TrialStore::Access::read));
  }
}

std::vector<const PlannedExperiment*> ReportWriter::all_plans() const {
  std::vector<const PlannedExperiment*> plans;
  for (const PlannedExperiment& plan : plans_) plans.push_back(&plan);
  for (const PlannedExperiment& plan : others_) plans.push_back(&plan);
  return plans;
}

void ReportWriter::write_manifest() {
  Json manifest = document_.manifest;
  for (const PlannedExperiment* plan : all_plans()) note_data(manifest, *plan->experiment);
  write_text(root_ + "/manifest.json", manifest.dump(2) + "\n");
}

void ReportWriter::draw_finished() {
  const FolderLock lock(root_, FolderLock::IfHeld::wait);
  for (const PlannedExperiment* plan : all_plans())
    if (!plan->results(document_.profile).trials().empty()) draw(*plan);
}

void ReportWriter::renew(const PlannedExperiment& ended) {
  const std::lock_guard guard(mutex_);
  const FolderLock lock(root_, FolderLock::IfHeld::wait);
  draw(ended);
  write();
}

void ReportWriter::finish(ReproduceResult& result) {
  const FolderLock lock(root_, FolderLock::IfHeld::wait);
  for (const PlannedExperiment* plan : all_plans()) draw(*plan);
  write();
  for (const Section& section : document_.sections) {
    note_data(document_.manifest, *section.experiment);
    if (section.experiment->trials_of.empty())
      document_.manifest["seconds"][section.experiment->id] = section.seconds;
  }
  write_text(root_ + "/manifest.json", document_.manifest.dump(2) + "\n");
  result.report = root_ + "/report/index.html";
  if (!result.interrupted) note_outcome(document_, result);
  for (const PlannedExperiment* plan : all_plans())
    for (std::string& conflict : keep_conflicts(*plan))
      result.failures.push_back(std::move(conflict));
}

void ReportWriter::draw(const PlannedExperiment& plan) {
  for (const Experiment& experiment : all_) {
    if (&maker_of_trials(all_, experiment) != plan.experiment) continue;
    const auto at = std::lower_bound(
        document_.sections.begin(), document_.sections.end(), &experiment,
        [](const Section& section, const Experiment* other) { return section.experiment < other; });
    const bool known = at != document_.sections.end() && at->experiment == &experiment;
    if (known && at->problems.empty() &&
        at->finished == plan.results(document_.profile).trials().size())
      continue;  // a run only adds trials
    Section section = make_section(experiment, plan, document_.profile,
                                   experiment_folder(out_, document_.profile, experiment));
    check_measures(section, claims_);
    if (known)
      *at = std::move(section);
    else
      document_.sections.insert(at, std::move(section));
  }
}

void ReportWriter::write() {
  document_.missing.clear();
  for (const Experiment& experiment : all_)
    if (std::none_of(document_.sections.begin(), document_.sections.end(),
                     [&](const Section& section) { return section.experiment == &experiment; }))
      document_.missing.push_back(&experiment);
  judge_papers(document_, claims_);
  document_.has_speed_page = std::filesystem::exists(out_ + "/" + kSpeedPage);
  write_text(root_ + "/report/claims.json", claims_json(document_).dump(2) + "\n");
  write_text(root_ + "/report/report.md", render_markdown(document_));
  for (const auto& [name, page] : render_html(document_))
    write_text(root_ + "/report/" + name, page);
}

}  // namespace boltzmark::experiments

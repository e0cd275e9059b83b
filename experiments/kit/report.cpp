#include "experiments/kit/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "boltzmark/core/simd.hpp"
#include "experiments/kit/document.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/sources.hpp"

namespace boltzmark::experiments {
namespace {

std::vector<PlannedExperiment>::iterator find_plan(std::vector<PlannedExperiment>& plans,
                                                   const Experiment& maker) {
  return std::find_if(plans.begin(), plans.end(),
                      [&](const PlannedExperiment& plan) { return plan.experiment == &maker; });
}

/// Plans the makers of trials that are not yet planned and have results in the folder.
std::vector<PlannedExperiment> complete(std::vector<PlannedExperiment> given,
                                        const ReproduceOptions& options,
                                        const std::vector<Experiment>& all) {
  std::vector<PlannedExperiment> plans;
  for (const Experiment* maker : select_makers(all, {})) {
    const auto found = find_plan(given, *maker);
    if (found != given.end())
      plans.push_back(std::move(*found));
    else if (std::filesystem::exists(experiment_folder(options.out, options.profile, *maker) +
                                     "/trials.jsonl"))
      plans.push_back(plan_experiment(*maker, options, CellFilter("")));
  }
  return plans;
}

/// Makes the section of every experiment whose trials are planned; the others are missing.
void make_sections(Document& document, std::vector<PlannedExperiment> plans,
                   const std::vector<Experiment>& all, const std::string& out) {
  for (const Experiment& experiment : all) {
    const auto plan = find_plan(plans, maker_of_trials(all, experiment));
    if (plan == plans.end())
      document.missing.push_back(&experiment);
    else
      document.sections.push_back(
          make_section(experiment, *plan, document.profile,
                       experiment_folder(out, document.profile, experiment)));
  }
}

/// Takes a section's measures, turning those that the claims file does not know into problems.
void collect_measures(Section& section, const ClaimFile& file, std::vector<SourcedMeasure>& all) {
  for (const Measure& measure : section.summary.measures()) {
    const auto claim = std::find_if(file.claims.begin(), file.claims.end(),
                                    [&](const Claim& c) { return c.id == measure.claim; });
    const bool known =
        claim != file.claims.end() &&
        std::any_of(claim->parts.begin(), claim->parts.end(),
                    [&](const ClaimPart& part) { return part.name == measure.part; });
    if (known)
      all.push_back({section.experiment->id, measure});
    else
      section.problems.push_back(
          fmt::format("measure of {} \"{}\": not in the claims file", measure.claim, measure.part));
  }
}

void judge_papers(Document& document, const std::vector<ClaimFile>& claims) {
  for (const ClaimFile& file : claims) {
    std::vector<SourcedMeasure> measures;
    bool present = false;
    for (Section& section : document.sections)
      if (section.experiment->paper() == file.paper) {
        present = true;
        collect_measures(section, file, measures);
      }
    if (present) document.papers.push_back({file, judge_all(file, measures)});
  }
}

constexpr const char* kRounding =
    "Sums of float32 inputs are rounded in an order that depends on the SIMD path, the number of "
    "chains and how often a model is swept; never on the threads. SSE4 and AVX2 sum two-valued "
    "units alike, AVX-512 also by tables of four weights, AMX by tiles of 32.";

Json make_manifest(const ReproduceOptions& options, const Document& document) {
  Json manifest{{"revision", revision()},
                {"compiler", compiler_name()},
                {"cpu", cpu_name()},
                {"simd", simd_path()},
                {"rounding", kRounding},
                {"seed", options.seed},
                {"profile", profile_name(options.profile)},
                {"version", BOLTZMARK_VERSION},
                {"data", Json::object()},
                {"seconds", Json::object()}};
  for (const Section& section : document.sections) {
    for (const auto& [file, hash] : data_hashes(*section.experiment)) manifest["data"][file] = hash;
    if (section.experiment->trials_of.empty())
      manifest["seconds"][section.experiment->id] = section.seconds;
  }
  return manifest;
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

void write_report(const ReproduceOptions& options, std::vector<PlannedExperiment> given,
                  const std::vector<Experiment>& all, const std::vector<ClaimFile>& claims,
                  ReproduceResult& result) {
  Document document{.profile = options.profile};
  make_sections(document, complete(std::move(given), options, all), all, options.out);
  judge_papers(document, claims);
  document.manifest = make_manifest(options, document);
  document.has_speed_page = std::filesystem::exists(options.out + "/" + kSpeedPage);
  const std::string root = fmt::format("{}/{}", options.out, profile_name(options.profile));
  write_text(root + "/manifest.json", document.manifest.dump(2) + "\n");
  write_text(root + "/report/claims.json", claims_json(document).dump(2) + "\n");
  write_text(root + "/report/report.md", render_markdown(document));
  write_text(root + "/report/index.html", render_html(document));
  result.report = root + "/report/index.html";
  note_outcome(document, result);
}

}  // namespace boltzmark::experiments

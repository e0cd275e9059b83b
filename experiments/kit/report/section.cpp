#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "experiments/kit/csv.hpp"
#include "experiments/kit/document.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/report/plot.hpp"

namespace boltzmark::experiments {
namespace {

/// Writes the files of the tables and figures; what a former run left and this one has not goes.
class SectionFiles {
 public:
  SectionFiles(Section& section, std::string folder)
      : section_(section), folder_(std::move(folder)) {}

  void write() {
    for (const auto& item : section_.summary.items()) {
      if (const auto* table = std::get_if<Table>(&item)) write_table(*table);
      if (const auto* figure = std::get_if<Figure>(&item)) write_figure(*figure);
    }
    remove_others();
  }

 private:
  void write_table(const Table& table) {
    if (table.timing) return;  // times differ from run to run; CSV files must not
    write_text(folder_ + "/" + table.name + ".csv", table_csv(table));
    written_.insert(table.name + ".csv");
  }

  void write_figure(const Figure& figure) {
    write_text(folder_ + "/" + figure.name + "-figure.csv", figure_csv(figure));
    written_.insert(figure.name + "-figure.csv");
    // A script, unlike a panel, has nothing to draw axes for before its trials are run.
    if (!figure.script.empty() && figure.data.size() < 2) return;
    try {
      section_.pictures[figure.name] = draw_figure(figure, folder_);
    } catch (const DrawingError& error) {
      section_.problems.push_back(fmt::format("figure {}: {}", figure.name, error.what()));
    }
    written_.insert(figure.name + ".svg");
    for (std::size_t p = 1; p <= figure.panels.size(); ++p)
      if (figure.panels.size() > 1) written_.insert(fmt::format("{}-{}.svg", figure.name, p));
  }

  void remove_others() {
    remove_files(folder_, [this](const std::string& name) {
      return (name.ends_with(".csv") || name.ends_with(".svg")) && !written_.contains(name);
    });
  }

  Section& section_;
  std::string folder_;
  std::set<std::string> written_;
};

void note_origins(Section& section, const Results& results) {
  for (const Trial& trial : results.trials()) {
    section.seconds += trial.seconds;
    ++section.origins[fmt::format("revision {}, {}{}", trial.revision, trial.simd,
                                  trial.from_reference ? ", committed reference" : "")];
  }
}

}  // namespace

void draw_section(Section& section, const std::string& folder) {
  SectionFiles(section, folder).write();
}

Section make_section(const Experiment& experiment, const PlannedExperiment& plan, Profile profile,
                     const std::string& folder) {
  const Results results = plan.results(profile);
  Section section{.experiment = &experiment,
                  .planned = results.planned(),
                  .finished = results.trials().size(),
                  .stale = plan.stale,
                  .run = run_text(results)};
  for (const PlannedTrial& trial : plan.trials)
    if (!trial.finished) section.open.push_back({trial.key.inputs, trial.seconds});
  note_origins(section, results);
  try {
    experiment.summarise(results, section.summary);
  } catch (const Json::exception& error) {
    section.problems.push_back(
        fmt::format("summary: {}/trials.jsonl holds a trial without what the summary reads ({}); "
                    "--fresh computes it again",
                    folder, error.what()));
  } catch (const std::exception& error) {
    section.problems.push_back(fmt::format("summary: {}", error.what()));
  }
  if (!is_left(plan)) draw_section(section, folder);
  return section;
}

std::string origin_text(const Section& section) {
  const std::string& maker = section.experiment->trials_of;
  std::string text = fmt::format("{} of {} trials{}", section.finished, section.planned,
                                 maker.empty() ? "" : " of " + maker);
  for (const auto& [origin, count] : section.origins)
    text += section.origins.size() == 1 ? "; " + origin : fmt::format("; {} of {}", count, origin);
  if (section.stale > 0)
    text += fmt::format("; {} more in the store belong to other builds and are not used",
                        section.stale);
  return text;
}

std::map<Verdict, Tally> count_verdicts(const PaperVerdicts& paper) {
  std::map<Verdict, Tally> counts;
  for (const JudgedClaim& claim : paper.claims)
    ++(claim.claim.changes.empty() ? counts[claim.verdict].registered
                                   : counts[claim.verdict].changed);
  return counts;
}

std::string tally_text(const PaperVerdicts& paper, Verdict verdict, const Tally& tally) {
  std::string text = fmt::format("{}{} {}", tally.registered,
                                 tally.changed > 0 ? fmt::format(" + {}", tally.changed) : "",
                                 verdict_name(verdict));
  const auto not_run = std::count_if(paper.claims.begin(), paper.claims.end(),
                                     [](const JudgedClaim& claim) { return !claim.measured(); });
  if (verdict == Verdict::undecided && not_run > 0)
    text += fmt::format(", {} of them not run", not_run);
  return text;
}

std::string tally_key(const PaperVerdicts& paper) {
  const auto changed =
      std::count_if(paper.claims.begin(), paper.claims.end(),
                    [](const JudgedClaim& claim) { return !claim.claim.changes.empty(); });
  std::string text;
  if (changed > 0)
    text = fmt::format(
        "Behind a + stand claims whose statistic, window or test changed after a result "
        "was seen, {} in all; what the earlier form gave is said beside the verdict.",
        changed);
  std::vector<std::string> asides;
  for (const JudgedClaim& claim : paper.claims)
    if (!claim.claim.aside.empty()) asides.push_back(claim.claim.id);
  if (!asides.empty())
    text += fmt::format("{}Counted too, and no claim{} of the paper: {}.", text.empty() ? "" : " ",
                        asides.size() == 1 ? "" : "s", fmt::join(asides, ", "));
  return text;
}

}  // namespace boltzmark::experiments

#include <fmt/format.h>

#include <algorithm>

#include "experiments/kit/document.hpp"
#include "experiments/kit/progress.hpp"
#include "experiments/kit/report/plot.hpp"
#include "experiments/kit/text.hpp"

namespace boltzmark::experiments {
namespace {

std::string claim_rows(const JudgedClaim& claim, Profile profile) {
  const std::string committed = committed_text(claim, profile);
  std::string results;
  for (const JudgedPart& part : claim.parts) {
    if (!results.empty()) results += "; ";
    if (!part.part.name.empty()) results += markdown_escape(part.part.name) + ": ";
    if (part.measures.empty()) results += "not run";
    for (std::size_t m = 0; m < part.measures.size(); ++m)
      results += (m ? ", " : "") + markdown_escape(measure_text(part.measures[m]));
    results += " (" + markdown_escape(assertion(part.part)) + ")";
  }
  const std::string aside =
      claim.claim.aside.empty() ? "" : " " + markdown_escape(aside_text(claim.claim));
  return fmt::format("| {} | {} | {}{} | {} {}{} | {} |\n", claim.claim.id, claim.claim.kind,
                     markdown_escape(claim.claim.statement), aside, verdict_sign(claim.verdict),
                     verdict_name(claim.verdict),
                     (claim.claim.changes.empty() ? "" : ", changed after a result") +
                         (committed.empty() ? "" : "; " + committed),
                     results);
}

std::string claims_markdown(const PaperVerdicts& paper, Profile profile) {
  std::string text = fmt::format("## Claims: {}\n\n{}\n\n", markdown_escape(paper.file.title),
                                 markdown_escape(paper.file.reference));
  for (const auto& [verdict, count] : count_verdicts(paper))
    text += fmt::format("{} {}. ", verdict_sign(verdict), tally_text(paper, verdict, count));
  text += tally_key(paper);
  text += "\n\n| claim | kind | statement | verdict | found (claimed) |\n|---|---|---|---|---|\n";
  for (const JudgedClaim& claim : paper.claims) text += claim_rows(claim, profile);
  return text + "\n";
}

std::string table_markdown(const Table& table) {
  std::string text = markdown_escape(table.caption) + "\n\n|";
  for (const Column& column : table.columns)
    text += fmt::format(" {} |", markdown_escape(column.name));
  text += "\n|";
  for (std::size_t c = 0; c < table.columns.size(); ++c) text += "---|";
  for (const auto& row : table.rows) {
    text += "\n|";
    for (std::size_t c = 0; c < row.size(); ++c)
      text += fmt::format(" {} |", markdown_escape(cell_text(row[c], table.columns[c].digits)));
  }
  return text + "\n\n";
}

std::string figure_markdown(const Section& section, const Figure& figure) {
  std::string text;
  const auto pictures = section.pictures.find(figure.name);
  const std::size_t count = pictures == section.pictures.end() ? 0 : pictures->second.size();
  for (std::size_t p = 0; p < count; ++p)
    text += fmt::format("![{}](../{}/{}{}.svg)\n", markdown_escape(figure.caption),
                        section.experiment->id, figure.name,
                        count > 1 ? fmt::format("-{}", p + 1) : "");
  return text + "\n" + markdown_escape(figure.caption + beyond_text(figure)) + "\n\n";
}

bool measured_by(const JudgedClaim& claim, const std::string& experiment) {
  return std::any_of(claim.parts.begin(), claim.parts.end(), [&](const JudgedPart& part) {
    return std::count(part.experiments.begin(), part.experiments.end(), experiment) > 0;
  });
}

std::string reasons(const Document& document, const Section& section) {
  std::string text;
  for (const PaperVerdicts& paper : document.papers)
    for (const JudgedClaim& claim : paper.claims) {
      if (measured_by(claim, section.experiment->id))
        for (const std::string& change : change_texts(claim.claim))
          text += fmt::format("- {}: {}\n", claim.claim.id, markdown_escape(change));
      for (const JudgedPart& part : claim.parts)
        for (std::size_t m = 0; m < part.measures.size(); ++m) {
          if (part.experiments[m] != section.experiment->id) continue;
          const Measure& measure = part.measures[m];
          const std::string reason = told_reason(part, measure);
          if (measure.note.empty() && reason.empty()) continue;
          text += fmt::format("- {}{}{}:", claim.claim.id, part.part.name.empty() ? "" : ", ",
                              markdown_escape(part.part.name));
          if (!measure.note.empty())
            text += fmt::format(" {}", markdown_escape(sentence(measure.note)));
          if (!reason.empty()) text += " Most likely reason: " + markdown_escape(sentence(reason));
          text += "\n";
        }
    }
  return text.empty() ? "" : text + "\n";
}

std::string section_markdown(const Document& document, const Section& section) {
  const Experiment& e = *section.experiment;
  std::string text = fmt::format(
      "## {}: {}\n\n**In the paper.** {}\n\n**Run here.** {}\n\n**Planned ({}).** {}\n\n",
      markdown_escape(e.item), markdown_escape(e.title), markdown_escape(e.paper_did),
      markdown_escape(section.run), profile_name(document.profile),
      markdown_escape(e.settings.at(document.profile)));
  for (const std::string& problem : section.problems)
    text += "**Problem:** " + markdown_escape(problem) + "\n\n";
  for (const auto& item : section.summary.items()) {
    if (const auto* table = std::get_if<Table>(&item)) text += table_markdown(*table);
    if (const auto* figure = std::get_if<Figure>(&item)) text += figure_markdown(section, *figure);
    if (const auto* note = std::get_if<std::string>(&item)) text += markdown_escape(*note) + "\n\n";
  }
  text += reasons(document, section);
  if (!e.deviations.empty()) text += "Deviations from the paper:\n\n";
  for (const std::string& deviation : e.deviations)
    text += "- " + markdown_escape(deviation) + "\n";
  return text + fmt::format("\n_{}. {} of computation._\n\n", markdown_escape(origin_text(section)),
                            duration_text(section.seconds));
}

}  // namespace

std::string render_markdown(const Document& document) {
  std::string text = fmt::format(
      "# Boltzmark report, profile {}\n\nRevision {}, {}, {}, seed {}.\n\n",
      profile_name(document.profile), markdown_escape(document.manifest.value("revision", "")),
      markdown_escape(document.manifest.value("simd", "")),
      markdown_escape(document.manifest.value("cpu", "")),
      document.manifest.value("seed", std::uint64_t{0}));
  for (const PaperVerdicts& paper : document.papers)
    text += claims_markdown(paper, document.profile);
  for (const Section& section : document.sections) text += section_markdown(document, section);
  if (!document.missing.empty()) text += "## Not run\n\n";
  for (const Experiment* missing : document.missing)
    text +=
        fmt::format("- {}: {}\n", markdown_escape(missing->item), markdown_escape(missing->title));
  return text;
}

}  // namespace boltzmark::experiments

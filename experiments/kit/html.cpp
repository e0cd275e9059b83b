#include <fmt/format.h>

#include <algorithm>

#include "experiments/kit/document.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/html_parts.hpp"
#include "experiments/kit/text.hpp"

namespace boltzmark::experiments {
namespace {

std::string part_line(const JudgedPart& part, std::size_t parts) {
  std::string text = "<div class=\"part\">";
  if (parts > 1)
    text += fmt::format("<span class=\"sign {}\">{}</span> <span class=\"name\">{}</span> ",
                        verdict_class(part.verdict), verdict_sign(part.verdict),
                        html_escape(part.part.name));
  if (part.measures.empty()) return text + "<span class=\"none\">not run</span></div>";
  for (std::size_t m = 0; m < part.measures.size(); ++m) {
    const Measure& measure = part.measures[m];
    text += fmt::format("{}<span class=\"number\">{}</span>", m ? "; " : "", found_text(measure));
  }
  return text + "</div>";
}

std::string power_of(const JudgedClaim& claim) {
  if (claim.claim.kind == 'E') return "exact";
  std::string text;
  for (const JudgedPart& part : claim.parts)
    text += fmt::format("<div class=\"part\">{}</div>",
                        part.measures.empty() ? "–" : power_text(part.measures.front()));
  return text;
}

std::string asserted(const JudgedClaim& claim) {
  std::string text = html_escape(assertion(claim.parts.front().part));
  for (std::size_t p = 1; p < claim.parts.size(); ++p) {
    const std::string other = html_escape(assertion(claim.parts[p].part));
    if (text.find(other) == std::string::npos) text += "; " + other;
  }
  return text;
}

std::string committed(const JudgedClaim& claim, Profile profile) {
  const std::string text = html_escape(committed_text(claim, profile));
  return text.empty() ? "" : fmt::format("<div class=\"committed\">{}</div>", text);
}

std::string changed(const Claim& claim) {
  std::string text;
  for (const ClaimChange& change : claim.changes)
    text += fmt::format("<div class=\"committed\">changed after a result; before: {}</div>",
                        html_escape(change.before));
  return text;
}

std::string claim_row(const JudgedClaim& claim, Profile profile) {
  std::string where = html_escape(claim.claim.where);
  if (!claim.claim.published.empty())
    where += " · published: " + html_escape(claim.claim.published);
  std::string id = html_escape(claim.claim.id);
  for (const JudgedPart& part : claim.parts)
    if (!part.experiments.empty()) {
      id = fmt::format("<a href=\"#{}\">{}</a>", html_anchor(part.experiments.front()), id);
      break;
    }
  std::string results;
  for (const JudgedPart& part : claim.parts) results += part_line(part, claim.parts.size());
  return fmt::format(
      "<tr><td class=\"id\">{} <span class=\"kind\" title=\"E exact, D direction, V value, C "
      "cost\">"
      "{}</span></td><td class=\"statement\">{}<div class=\"where\">{}</div></td>"
      "<td class=\"verdict\">{}{}{}</td><td class=\"result\" data-label=\"Found\">{}</td>"
      "<td class=\"asserted\" data-label=\"Claimed\">{}</td>"
      "<td class=\"power\" data-label=\"Power\">{}</td></tr>\n",
      id, claim.claim.kind, html_escape(claim.claim.statement), where,
      verdict_chip(claim.verdict, verdict_name(claim.verdict)), changed(claim.claim),
      committed(claim, profile), results, asserted(claim), power_of(claim));
}

std::string tally(const PaperVerdicts& paper) {
  std::string text = "<p class=\"tally\">";
  for (const auto& [verdict, count] : count_verdicts(paper))
    text += verdict_chip(verdict, tally_text(paper, verdict, count)) + " ";
  text += "</p>\n";
  const std::string key = tally_key(paper);
  return text + (key.empty() ? "" : fmt::format("<p class=\"key\">{}</p>\n", html_escape(key)));
}

std::string claims_html(const PaperVerdicts& paper, Profile profile) {
  std::string text = fmt::format("<section id=\"claims-{}\">\n", html_anchor(paper.file.paper));
  text += html_element("h2", "Claims: " + paper.file.title);
  text += fmt::format("<p class=\"reference\">{}</p>\n", html_escape(paper.file.reference));
  text += tally(paper);
  text +=
      "<p class=\"key\">Each number is an estimate with its 95 % interval. A claim is undecided at "
      "this profile when the interval leaves it open or it was not run. Power is the probability "
      "that this profile's size decides the claim, against the effect named in the experiment's "
      "section: from the design, or, called post hoc, from the spread that was seen. Kinds: E exact, D direction, V value, C cost.</p>\n";
  if (profile != Profile::paper)
    text +=
        "<p class=\"key\">Where the committed run at the largest settings so far, the paper's own "
        "where they were run (reports/reference/index.html), says otherwise, that stands below the "
        "verdict.</p>\n";
  text +=
      "<table class=\"claims\"><thead><tr><th>Claim</th><th>Statement</th><th>Verdict</th>"
      "<th>Found</th><th>Claimed</th><th>Power</th></tr></thead><tbody>\n";
  for (const JudgedClaim& claim : paper.claims) text += claim_row(claim, profile);
  return text + "</tbody></table>\n</section>\n";
}

/// The links of one paper.
std::string paper_contents(const Document& document, const std::string& paper) {
  std::string text = fmt::format("<h3>{}</h3><ul>\n", html_escape(paper));
  for (const PaperVerdicts& judged : document.papers)
    if (judged.file.paper == paper)
      text += fmt::format("<li><a href=\"#claims-{}\">Claims</a> and verdicts</li>\n",
                          html_anchor(paper));
  for (const Section& section : document.sections)
    if (section.experiment->paper() == paper)
      text += fmt::format(
          "<li><a href=\"#{}\">{}</a> {}</li>\n", html_anchor(section.experiment->id),
          html_escape(section.experiment->item), html_escape(section.experiment->title));
  for (const Experiment* missing : document.missing)
    if (missing->paper() == paper)
      text += fmt::format("<li class=\"none\">{} {}: not run</li>\n", html_escape(missing->item),
                          html_escape(missing->title));
  return text + "</ul>\n";
}

std::string contents(const Document& document) {
  std::vector<std::string> papers;
  const auto note = [&](const Experiment& experiment) {
    if (std::find(papers.begin(), papers.end(), experiment.paper()) == papers.end())
      papers.push_back(experiment.paper());
  };
  for (const Section& section : document.sections) note(*section.experiment);
  for (const Experiment* missing : document.missing) note(*missing);
  std::string text = "<nav aria-label=\"Contents\"><h2>Contents</h2>\n";
  for (const std::string& paper : papers) text += paper_contents(document, paper);
  text += "<h3>About</h3><ul>\n";
  if (document.has_speed_page)
    text += fmt::format("<li><a href=\"../../{}\">Speed</a></li>\n", kSpeedPage);
  return text + "<li><a href=\"#provenance\">Provenance</a></li></ul></nav>\n";
}

std::string provenance(const Json& manifest) {
  std::string text = "<section id=\"provenance\"><h2>Provenance</h2><dl>\n";
  for (const auto& [key, value] : manifest.items()) {
    if (value.is_object()) continue;
    text += fmt::format("<dt>{}</dt><dd>{}</dd>", html_escape(key),
                        html_escape(value.is_string() ? value.get<std::string>() : value.dump()));
  }
  text += "</dl>\n";
  if (manifest.contains("data") && !manifest["data"].empty()) {
    text += "<h3>Data</h3><ul>\n";
    for (const auto& [file, hash] : manifest["data"].items())
      text += fmt::format("<li>{} <code>SHA-256 {}</code></li>\n", html_escape(file),
                          html_escape(hash.get<std::string>()));
    text += "</ul>\n";
  }
  return text + "</section>\n";
}

/// The page up to its main part.
std::string page_head(const std::string& title) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>\n{}</style></head><body>\n",
      html_escape(title), read_text(source_path("reports/report.css")));
}

}  // namespace

std::string render_page(const std::string& title, const Section& section, const Json& facts) {
  return page_head(title) + "<header>" + html_element("h1", title) +
         "</header>\n<main>\n<section>\n" + summary_html(section) + "</section>\n" +
         provenance(facts) + "</main></body></html>\n";
}

std::string render_html(const Document& document) {
  const std::string profile = profile_name(document.profile);
  std::string page = page_head("Boltzmark report, profile " + profile);
  page += fmt::format(
      "<header><h1>Boltzmark report</h1><p>Profile <b>{}</b> · revision {} · {} · {}</p></header>\n"
      "<main>\n",
      profile, html_escape(document.manifest.value("revision", "")),
      html_escape(document.manifest.value("simd", "")),
      html_escape(document.manifest.value("cpu", "")));
  page += contents(document);
  for (const PaperVerdicts& paper : document.papers) page += claims_html(paper, document.profile);
  for (const Section& section : document.sections) page += section_html(document, section);
  return page + provenance(document.manifest) + "</main></body></html>\n";
}

}  // namespace boltzmark::experiments

#include <fmt/format.h>

#include "experiments/kit/document.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/report/html_parts.hpp"
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
    text += fmt::format("{}<span class=\"number\">{}</span>", m ? "; " : "",
                        html_escape(found_text(measure)));
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
  where = fmt::format("<div class=\"where\">{}</div>", where);
  if (!claim.claim.aside.empty())
    where +=
        fmt::format("<div class=\"where aside\">{}</div>", html_escape(aside_text(claim.claim)));
  std::string id = html_escape(claim.claim.id);
  for (const JudgedPart& part : claim.parts)
    if (!part.experiments.empty()) {
      id = fmt::format("<a href=\"#{}\">{}</a>", html_anchor(part.experiments.front()), id);
      break;
    }
  std::string results;
  for (const JudgedPart& part : claim.parts) results += part_line(part, claim.parts.size());
  if (!claim.claim.statistic.empty())
    results += fmt::format("<div class=\"statistic\">{}</div>", html_escape(claim.claim.statistic));
  return fmt::format(
      "<tr id=\"claim-{}\"><td class=\"id\">{} <span class=\"kind\" title=\"E exact, D direction, V value, C "
      "cost\">"
      "{}</span></td><td class=\"statement\">{}{}</td>"
      "<td class=\"verdict\">{}{}{}</td><td class=\"result\" data-label=\"Found\">{}</td>"
      "<td class=\"asserted\" data-label=\"Claimed\">{}</td>"
      "<td class=\"power\" data-label=\"Power\">{}</td></tr>\n",
      html_anchor(claim.claim.id), id, claim.claim.kind, html_escape(claim.claim.statement), where,
      verdict_chip(claim.verdict, verdict_name(claim.verdict)), changed(claim.claim),
      committed(claim, profile), results, html_escape(assertion(claim.claim)), power_of(claim));
}

std::string claims_html(const PaperVerdicts& paper, Profile profile) {
  std::string text = fmt::format("<section id=\"claims-{}\">\n", html_anchor(paper.file.paper));
  text += html_element("h2", "Claims: " + paper.file.title);
  text += fmt::format("<p class=\"reference\">{}</p>\n", html_escape(paper.file.reference));
  text += tally_html(paper);
  text +=
      "<p class=\"key\">Each number is an estimate with its 95 % interval, or with the limits named behind it. A claim is undecided at "
      "this profile when the interval leaves it open or it was not run. Power is the probability "
      "that this profile's size decides the claim, against the effect named in the experiment's "
      "section: from the design, or, called post hoc, from the spread that was seen. One marked (n) is against an effect "
      "in standard deviations, however large they are: it tells how many repeats there are, and not whether they find "
      "what the paper claims. Kinds: E exact, D direction, V value, C cost.</p>\n";
  if (profile != Profile::paper)
    text +=
        "<p class=\"key\">Where the committed run at the largest settings so far, the paper's own "
        "where they were run (reports/reference/index.html), says otherwise, that stands below the "
        "verdict.</p>\n";
  text +=
      "<div class=\"wide\" tabindex=\"0\"><table class=\"claims\"><thead><tr><th>Claim</th><th>Statement</th><th>Verdict</th>"
      "<th>Found</th><th>Claimed</th><th>Power</th></tr></thead><tbody>\n";
  for (const JudgedClaim& claim : paper.claims) text += claim_row(claim, profile);
  return text + "</tbody></table></div>\n</section>\n";
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

namespace {

std::string page_header(const Document& document, const std::string& above) {
  return fmt::format(
      "<header>{}<p>Profile <b>{}</b> · revision {} · {} · {}</p></header>\n<main>\n", above,
      profile_name(document.profile), html_escape(document.manifest.value("revision", "")),
      html_escape(document.manifest.value("simd", "")),
      html_escape(document.manifest.value("cpu", "")));
}

std::string paper_html(const Document& document, const std::string& paper) {
  std::string page = page_head("Boltzmark report: " + paper) +
                     page_header(document, "<p><a href=\"index.html\">Boltzmark report</a></p>" +
                                               html_element("h1", paper)) +
                     "<nav aria-label=\"Contents\">" + experiments_html(document, paper, "") +
                     "</nav>\n";
  for (const PaperVerdicts& judged : document.papers)
    if (judged.file.paper == paper) page += claims_html(judged, document.profile);
  for (const Section& section : document.sections)
    if (section.experiment->paper() == paper) page += section_html(document, section);
  return page + "</main></body></html>\n";
}

}  // namespace

std::map<std::string, std::string> render_html(const Document& document) {
  std::map<std::string, std::string> pages;
  for (const Section& section : document.sections) {
    const std::string paper = section.experiment->paper();
    std::string& page = pages[paper_page(paper)];
    if (page.empty()) page = paper_html(document, paper);
  }
  pages["index.html"] = page_head("Boltzmark report, profile " + profile_name(document.profile)) +
                        page_header(document, html_element("h1", "Boltzmark report")) +
                        opening_html(document) + provenance(document.manifest) +
                        "</main></body></html>\n";
  return pages;
}

}  // namespace boltzmark::experiments

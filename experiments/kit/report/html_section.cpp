#include <fmt/format.h>

#include "experiments/kit/csv.hpp"
#include "experiments/kit/progress.hpp"
#include "experiments/kit/report/html_parts.hpp"
#include "experiments/kit/report/plot.hpp"
#include "experiments/kit/text.hpp"

namespace boltzmark::experiments {
namespace {

/// Where a file of a section stands in the folder of results.
std::string file_of(const Section& section, const std::string& name) {
  return (section.experiment ? section.experiment->id + "/" : "") + name;
}

std::string table_html(const Section& section, const Table& table) {
  std::string text = "<div class=\"table\"><p class=\"caption\">" + html_escape(table.caption);
  if (!table.timing) text += csv_link(file_of(section, table.name + ".csv"), table_csv(table));
  text += "</p><div class=\"scroll\" tabindex=\"0\"><table><thead><tr>";
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const bool words =
        !table.rows.empty() && std::holds_alternative<std::string>(table.rows.front()[c]);
    text += fmt::format("<th{}>{}</th>", words ? " class=\"text\"" : "",
                        html_escape(table.columns[c].name));
  }
  text += "</tr></thead><tbody>\n";
  for (const auto& row : table.rows) {
    text += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c) {
      const char* kind = std::holds_alternative<NotRun>(row[c])        ? " class=\"none\""
                         : std::holds_alternative<std::string>(row[c]) ? " class=\"text\""
                                                                       : "";
      text += fmt::format("<td{}>{}</td>", kind,
                          html_escape(cell_text(row[c], table.columns[c].digits)));
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table></div></div>\n";
}

std::string figure_html(const Section& section, const Figure& figure) {
  std::string text = fmt::format("<figure><div class=\"panels columns-{}\">", figure.columns);
  const auto pictures = section.pictures.find(figure.name);
  if (pictures != section.pictures.end())
    for (std::size_t p = 0; p < pictures->second.size(); ++p) {
      const std::string id =
          fmt::format("{}-{}", html_anchor(file_of(section, figure.name)), p + 1);
      text += fmt::format("<div id=\"of-{}\">", id) +
              picture_html(pictures->second[p], id, figure.caption) + "</div>";
    }
  return text +
         fmt::format("</div><figcaption>{}{}</figcaption></figure>\n",
                     html_escape(figure.caption + beyond_text(figure)),
                     csv_link(file_of(section, figure.name + "-figure.csv"), figure_csv(figure)));
}

std::string claim_details(const JudgedClaim& claim, const std::string& experiment) {
  std::string text = fmt::format(
      "<div class=\"claim\"><p>{} <b>{}</b> {}{}</p>\n<p class=\"statistic\">"
      "{}</p><ul>\n",
      verdict_chip(claim.verdict, verdict_name(claim.verdict)), html_escape(claim.claim.id),
      html_escape(claim.claim.statement),
      claim.claim.aside.empty()
          ? ""
          : fmt::format(" <span class=\"where\">{}</span>", html_escape(aside_text(claim.claim))),
      html_escape(claim.claim.statistic));
  for (const JudgedPart& part : claim.parts)
    for (std::size_t m = 0; m < part.measures.size(); ++m) {
      if (part.experiments[m] != experiment) continue;
      const Measure& measure = part.measures[m];
      text += fmt::format(
          "<li><span class=\"sign {}\">{}</span> {}{} <span class=\"where\">(claimed: {})</span>",
          verdict_class(part.verdict), verdict_sign(part.verdict),
          part.part.name.empty() ? "" : html_escape(part.part.name) + ": ",
          html_escape(measure_text(measure)), html_escape(assertion(part.part)));
      if (!measure.note.empty()) text += ". " + html_escape(sentence(measure.note));
      if (const std::string reason = told_reason(part, measure); !reason.empty())
        text += " <b>Most likely reason:</b> " + html_escape(sentence(reason));
      text += "</li>\n";
    }
  text += "</ul>";
  if (!claim.claim.note.empty())
    text += fmt::format("<p class=\"statistic\">{}</p>", html_escape(claim.claim.note));
  for (const std::string& change : change_texts(claim.claim))
    text += fmt::format("<p class=\"change\">{}</p>", html_escape(change));
  return text + "</div>\n";
}

std::string section_claims(const Document& document, const Section& section) {
  std::string text;
  for (const PaperVerdicts& paper : document.papers)
    for (const JudgedClaim& claim : paper.claims)
      for (const std::string& id : section.experiment->claims)
        if (id == claim.claim.id && paper.file.paper == section.experiment->paper())
          text += claim_details(claim, section.experiment->id);
  return text.empty() ? "" : "<h3>Claims</h3>\n" + text;
}

}  // namespace

std::string summary_html(const Section& section) {
  std::string text;
  for (const std::string& problem : section.problems)
    text += fmt::format("<p class=\"problem\">{}</p>\n", html_escape(problem));
  for (const auto& item : section.summary.items()) {
    if (const auto* table = std::get_if<Table>(&item)) text += table_html(section, *table);
    if (const auto* figure = std::get_if<Figure>(&item)) text += figure_html(section, *figure);
    if (const auto* note = std::get_if<std::string>(&item)) text += html_element("p", *note);
  }
  return text;
}

std::string section_html(const Document& document, const Section& section) {
  const Experiment& e = *section.experiment;
  std::string text = fmt::format("<section id=\"{}\">\n", html_anchor(e.id));
  text += fmt::format("<h2><span class=\"item\">{}</span> {}</h2>\n", html_escape(e.item),
                      html_escape(e.title));
  text += fmt::format(
      "<dl><dt>In the paper</dt><dd>{}</dd><dt>Run here</dt><dd>{}</dd>"
      "<dt>Planned ({})</dt><dd>{}</dd></dl>\n",
      html_escape(e.paper_did), html_escape(section.run), profile_name(document.profile),
      html_escape(e.settings.at(document.profile)));
  text += summary_html(section);
  text += section_claims(document, section);
  if (!e.deviations.empty()) {
    text += "<h3>Deviations from the paper</h3><ul>\n";
    for (const std::string& deviation : e.deviations) text += html_element("li", deviation);
    text += "</ul>\n";
  }
  return text + fmt::format(
                    "<p class=\"origin\">{}. {} of computation. Source: "
                    "<code>experiments/{}.cpp</code></p>\n</section>\n",
                    html_escape(origin_text(section)), duration_text(section.seconds),
                    html_escape(e.id));
}

}  // namespace boltzmark::experiments

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "experiments/kit/progress.hpp"
#include "experiments/kit/report/html_parts.hpp"
#include "experiments/kit/text.hpp"

namespace boltzmark::experiments {
namespace {

/// What the report shows, then what it lacks.
std::vector<const Experiment*> all_experiments(const Document& document) {
  std::vector<const Experiment*> all;
  for (const Section& section : document.sections) all.push_back(section.experiment);
  all.insert(all.end(), document.missing.begin(), document.missing.end());
  return all;
}

std::vector<std::string> papers_of(const Document& document) {
  std::vector<std::string> papers;
  for (const Experiment* experiment : all_experiments(document))
    if (std::find(papers.begin(), papers.end(), experiment->paper()) == papers.end())
      papers.push_back(experiment->paper());
  return papers;
}

/// The signs of an experiment's verdicts with their counts: "✓ 3 ✗ 1".
std::string signs_html(const Document& document, const Experiment& experiment) {
  std::map<Verdict, int> counts;
  for (const PaperVerdicts& paper : document.papers)
    for (const JudgedClaim& claim : paper.claims)
      if (paper.file.paper == experiment.paper() &&
          std::count(experiment.claims.begin(), experiment.claims.end(), claim.claim.id) > 0)
        ++counts[claim.verdict];
  std::string text;
  for (const auto& [verdict, count] : counts)
    text +=
        fmt::format(" <span class=\"sign {}\" title=\"{}\">{}&nbsp;{}</span>",
                    verdict_class(verdict), verdict_name(verdict), verdict_sign(verdict), count);
  return text;
}

/// The experiments that make the trials of those that a claim names, each once.
std::set<std::string> makers_of(const Document& document, const Claim& claim) {
  std::set<std::string> makers(claim.experiments.begin(), claim.experiments.end());
  for (const Experiment* experiment : all_experiments(document))
    if (!experiment->trials_of.empty() && makers.erase(experiment->id) > 0)
      makers.insert(experiment->trials_of);
  return makers;
}

/// What profile paper has still to run of the trials that judge a claim.
struct OpenCost {
  std::size_t trials = 0;  ///< of experiments that this report of profile paper shows
  double seconds = 0;
  bool whole = false;  ///< an experiment is taken whole, for the report does not know its trials
};

OpenCost open_cost(const Document& document, const Claim& claim) {
  OpenCost cost;
  const std::set<std::string> makers = makers_of(document, claim);
  for (const Section& section : document.sections)
    if (document.profile == Profile::paper && makers.contains(section.experiment->id))
      for (const OpenTrial& trial : section.open)
        if (judges(claim, trial.inputs)) {
          ++cost.trials;
          cost.seconds += trial.seconds;
        }
  for (const Experiment* experiment : all_experiments(document)) {
    const bool missing =
        std::count(document.missing.begin(), document.missing.end(), experiment) > 0;
    if (!makers.contains(experiment->id) || (document.profile == Profile::paper && !missing))
      continue;
    cost.seconds += experiment->seconds.paper;
    cost.whole = true;
  }
  return cost;
}

/// What would decide a claim of which every trial that is planned was run.
std::string more_text(const JudgedClaim& claim) {
  const std::string run = "every trial planned for it was run: ";
  double most = 0;
  std::int64_t n = 0;
  bool known = true, decidable = false, measured = true;
  for (const JudgedPart& part : claim.parts) {
    measured = measured && !part.measures.empty();
    for (const Measure& measure : part.measures) {
      if (judge(part.part, claim.claim.kind, measure) != Verdict::undecided) continue;
      decidable = decidable || measure.decidable;
      const double times = times_as_many(part.part, claim.claim.kind, measure);
      known = known && !std::isnan(times);
      if (!(times > most)) continue;
      most = times;
      n = measure.n;
    }
  }
  if (measured && !decidable) return run + "its note says why they do not decide it";
  constexpr double kSensible = 100;
  if (!measured || !known || most > kSensible) return run + "more of them than are planned";
  return run +
         fmt::format("about {:.{}f} times so large an n ({} now), if the estimate stays as it is",
                     most, most < 10 ? 1 : 0, n);
}

/// What an open claim waits for.
std::string cost_text(const Document& document, const JudgedClaim& judged) {
  const Claim& claim = judged.claim;
  const OpenCost cost = open_cost(document, claim);
  const std::string time = about_text(cost.seconds) + " on 2 cores";
  const std::string trials =
      cost.trials == 1 ? "the trial that judges it and is not there"
                       : fmt::format("the {} trials that judge it and are not there", cost.trials);
  const bool counted = !claim.cells.empty() && cost.trials > 0 && !cost.whole;
  if (!claim.to_decide.empty())
    return claim.to_decide + (counted ? fmt::format("; besides {}, {}", trials, time) : "");
  if (cost.seconds == 0) return more_text(judged);
  if (document.profile != Profile::paper) return "profile paper, " + time;
  if (counted) return fmt::format("profile paper, {} for {}, if that is enough", time, trials);
  return fmt::format("profile paper, {} for what {} lack{}, of which it may need a part", time,
                     fmt::join(claim.experiments, " and "),
                     claim.experiments.size() > 1 ? "" : "s");
}

std::string claim_item(const Document& document, const PaperVerdicts& paper,
                       const JudgedClaim& claim) {
  std::string text = fmt::format("<li><a href=\"{}#claim-{}\">{}</a> {}",
                                 paper_page(paper.file.paper), html_anchor(claim.claim.id),
                                 html_escape(claim.claim.id), html_escape(claim.claim.statement));
  if (!claim.claim.aside.empty())
    text += fmt::format(" <span class=\"where\">{}</span>", html_escape(aside_text(claim.claim)));
  if (claim.verdict == Verdict::undecided)
    text += fmt::format(" <span class=\"where\">To decide it: {}.</span>",
                        html_escape(cost_text(document, claim)));
  return text + "</li>\n";
}

/// The claims of one verdict, folded up where they are what is hoped for.
std::string verdict_list(const Document& document, const PaperVerdicts& paper, Verdict verdict,
                         const std::string& title) {
  std::string items;
  int count = 0, asides = 0;
  for (const JudgedClaim& claim : paper.claims)
    if (claim.verdict == verdict) {
      items += claim_item(document, paper, claim);
      ++count;
      asides += claim.claim.aside.empty() ? 0 : 1;
    }
  if (count == 0) return "";
  const std::string others =
      asides == 0 ? ""
                  : fmt::format(", of which {} no claim of the paper",
                                asides == 1 ? "1 is" : fmt::format("{} are", asides));
  return fmt::format(
      "<details{}><summary><span class=\"sign {}\">{}</span> {}: {}{}</summary><ul>\n{}</ul>"
      "</details>\n",
      verdict == Verdict::not_reproduced ? " open" : "", verdict_class(verdict),
      verdict_sign(verdict), html_escape(title), count, others, items);
}

/// How many claims of these kinds an experiment measures here: what its figure speaks for.
std::size_t measures_of(const Section& section) {
  std::set<std::string> claims;
  for (const Measure& measure : section.summary.measures()) claims.insert(measure.claim);
  return claims.size();
}

/// The figure of the experiment that measures the most claims.
std::string leading_figure(const Document& document, const std::string& paper) {
  const Section* best = nullptr;
  for (const Section& section : document.sections)
    if (section.experiment->paper() == paper && !section.pictures.empty() &&
        (best == nullptr || measures_of(section) > measures_of(*best)))
      best = &section;
  if (best == nullptr) return "";
  for (const auto& item : best->summary.items()) {
    const auto* figure = std::get_if<Figure>(&item);
    if (figure == nullptr || !best->pictures.contains(figure->name)) continue;
    const std::string id = html_anchor(paper) + "-figure";
    return fmt::format(
        "<figure id=\"of-{}\">{}<figcaption><a href=\"{}#{}\">{}</a> {}</figcaption>"
        "</figure>\n",
        id, picture_html(best->pictures.at(figure->name).front(), id, figure->caption),
        paper_page(paper), html_anchor(best->experiment->id), html_escape(best->experiment->item),
        html_escape(best->experiment->title));
  }
  return "";
}

std::string paper_card(const Document& document, const PaperVerdicts& paper) {
  return fmt::format("<section class=\"card\"><h2><a href=\"{}\">{}</a></h2>\n",
                     paper_page(paper.file.paper), html_escape(paper.file.title)) +
         fmt::format("<p class=\"reference\">{}</p>\n", html_escape(paper.file.reference)) +
         tally_html(paper) +
         verdict_list(document, paper, Verdict::not_reproduced, "What does not stand") +
         verdict_list(document, paper, Verdict::undecided, "What nobody can decide yet") +
         verdict_list(document, paper, Verdict::reproduced, "What stands") +
         leading_figure(document, paper.file.paper) + "</section>\n";
}

}  // namespace

std::string experiments_html(const Document& document, const std::string& paper,
                             const std::string& page) {
  std::string text = "<ul>\n";
  for (const PaperVerdicts& judged : document.papers)
    if (judged.file.paper == paper)
      text += fmt::format("<li><a href=\"{}#claims-{}\">Claims</a> and verdicts</li>\n", page,
                          html_anchor(paper));
  for (const Section& section : document.sections)
    if (section.experiment->paper() == paper)
      text += fmt::format(
          "<li><a href=\"{}#{}\">{}</a> {}{}</li>\n", page, html_anchor(section.experiment->id),
          html_escape(section.experiment->item), html_escape(section.experiment->title),
          signs_html(document, *section.experiment));
  for (const Experiment* missing : document.missing)
    if (missing->paper() == paper)
      text += fmt::format("<li class=\"none\">{} {}: not run</li>\n", html_escape(missing->item),
                          html_escape(missing->title));
  return text + "</ul>\n";
}

std::string opening_html(const Document& document) {
  std::string text;
  for (const PaperVerdicts& paper : document.papers) text += paper_card(document, paper);
  text += "<nav aria-label=\"Contents\"><h2>Contents</h2>\n";
  for (const std::string& paper : papers_of(document))
    text += html_element("h3", paper) + experiments_html(document, paper, paper_page(paper));
  if (document.has_speed_page)
    text +=
        fmt::format("<h3>About</h3><ul><li><a href=\"../../{}\">Speed</a></li></ul>\n", kSpeedPage);
  return text + "</nav>\n";
}

}  // namespace boltzmark::experiments

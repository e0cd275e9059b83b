#pragma once

#include <string>

#include "experiments/kit/document.hpp"

namespace boltzmark::experiments {

/// Makes an id of a page's element: "bruegge2013-fig1" of "bruegge2013/fig1".
std::string html_anchor(const std::string& id);

/// Links to a CSV file as data that the page carries, so that the link holds wherever the page is
/// moved to; a file of over 32 KiB is named by its path instead.
///   path is relative to the folder of results
std::string csv_link(const std::string& path, const std::string& csv);

/// Writes an element around a text.
std::string html_element(const std::string& name, const std::string& text);

/// Names a verdict as a class of the style sheet.
std::string verdict_class(Verdict verdict);

/// Writes a text beside the sign of a verdict.
std::string verdict_chip(Verdict verdict, const std::string& text);

/// Names the page of a paper.
std::string paper_page(const std::string& paper);

/// Writes the verdicts of a paper with their counts.
std::string tally_html(const PaperVerdicts& paper);

/// Writes the opening page's main part: of each paper what stands, what does not, what is open and
/// what that would cost, with a figure; then all experiments, with the verdicts of their claims.
std::string opening_html(const Document& document);

/// Lists the experiments of a paper with the verdicts of their claims.  page is empty within it
std::string experiments_html(const Document& document, const std::string& paper,
                             const std::string& page);

/// Writes one picture of a figure, which a click enlarges and which needs no script for that.
std::string picture_html(const std::string& svg, const std::string& id, const std::string& label);

/// Writes the problems, tables, figures and notes of a section, in its order.
std::string summary_html(const Section& section);

/// Writes an experiment's part of a report.
std::string section_html(const Document& document, const Section& section);

}  // namespace boltzmark::experiments

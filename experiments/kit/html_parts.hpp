#pragma once

#include <string>

#include "experiments/kit/document.hpp"

namespace boltzmark::experiments {

/// Makes an id of a page's element: "bruegge2013-fig1" of "bruegge2013/fig1".
std::string html_anchor(const std::string& id);

/// Writes an element around a text.
std::string html_element(const std::string& name, const std::string& text);

/// Names a verdict as a class of the style sheet.
std::string verdict_class(Verdict verdict);

/// Writes a text beside the sign of a verdict.
std::string verdict_chip(Verdict verdict, const std::string& text);

/// Writes the problems, tables, figures and notes of a section, in its order; its CSV files are in
/// a folder.
std::string summary_html(const Section& section, const std::string& folder);

/// Writes an experiment's part of a report.
std::string section_html(const Document& document, const Section& section);

}  // namespace boltzmark::experiments

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/kit/claims.hpp"
#include "experiments/kit/profile.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// Escapes text for HTML content and attributes.
std::string html_escape(std::string_view text);
/// Escapes text for a cell or paragraph of Markdown.
std::string markdown_escape(std::string_view text);

/// Writes a number with four significant digits, for people: "−0.1728", "1.2 × 10⁻⁵".
std::string number_text(double value);
/// Writes a number with a fixed number of decimals, or as above where that would show nothing.
std::string decimals_text(double value, int digits);
/// Writes a given number in full: "451.255", "10⁻¹²".
std::string shortest_text(double value);
/// Writes an interval, "[0.12, 0.31]"; empty if it has no ends.
std::string interval_text(double lower, double upper);
/// Writes a measure's estimate and interval with decimals that tell its ends apart:
/// "451.252 [451.235, 451.269]".
std::string found_text(const Measure& measure);
/// Writes its power: "0.87", "0.87 post hoc", "0.87 (n)" of one that tells of n alone.
std::string power_text(const Measure& measure);
/// Writes a cell of a table; "not run" where the profile has no value.
std::string cell_text(const Cell& cell, int digits);

/// Writes a measure in one line: "0.79 [0.70, 0.86], n = 100, power 0.99 against a share of 0.8".
std::string measure_text(const Measure& measure);

/// Returns a sign for a verdict that does not need colour: ✓ ✗ ? ○
std::string verdict_sign(Verdict verdict);

/// Writes what the committed report says otherwise: "at paper size: ✓ reproduced"; empty if it says
/// the same, does not know the claim, or this is a report at that size.
std::string committed_text(const JudgedClaim& claim, Profile profile);

/// Writes what a claim was before a change of its form: "changed after a result; before: ...", one
/// line a change.
std::vector<std::string> change_texts(const Claim& claim);

/// Says that a claim is none of the paper's, and whose it is or what it contradicts; empty of one that is.
std::string aside_text(const Claim& claim);

/// Ends a text with a full stop.
std::string sentence(const std::string& text);

}  // namespace boltzmark::experiments

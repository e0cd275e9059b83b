#include "experiments/kit/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace boltzmark::experiments {
namespace {

std::string replace_each(std::string_view text, std::string_view special,
                         const std::vector<std::string>& replacements) {
  std::string result;
  for (const char c : text) {
    const std::size_t which = special.find(c);
    result += which == std::string_view::npos ? std::string(1, c) : replacements[which];
  }
  return result;
}

/// Puts a true minus sign before a number.
std::string with_minus(std::string text) {
  return text.starts_with('-') ? "−" + text.substr(1) : text;
}

std::string superscript(int exponent) {
  static const char* const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "⁻" : "";
  for (const char c : std::to_string(std::abs(exponent))) text += digits[c - '0'];
  return text;
}

std::string not_finite(double value) { return std::isnan(value) ? "–" : value > 0 ? "∞" : "−∞"; }

}  // namespace

std::string html_escape(std::string_view text) {
  return replace_each(text, "&<>\"'", {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"});
}

std::string markdown_escape(std::string_view text) {
  return replace_each(text, "\\`*_<>|[]\n",
                      {"\\\\", "\\`", "\\*", "\\_", "&lt;", "&gt;", "\\|", "\\[", "\\]", " "});
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return not_finite(value);
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size >= 1e-3 && size < 999999.5)  // what rounds to a power of ten is written as one
    return with_minus(fmt::format("{:.{}g}", value, size >= 9999.5 ? 6 : 4));
  const auto text = fmt::format("{:.1e}", value);
  const std::size_t e = text.find('e');
  const std::string power = "10" + superscript(std::stoi(text.substr(e + 1)));
  if (text.substr(0, e) == "1.0") return power;
  return with_minus(text.substr(0, e)) + " × " + power;
}

std::string shortest_text(double value) {
  const double size = std::abs(value);
  if (size < 1e-3 || size >= 1e6 || !std::isfinite(value)) return number_text(value);
  return with_minus(fmt::format("{}", value));
}

std::string decimals_text(double value, int digits) {
  if (!std::isfinite(value)) return not_finite(value);
  if (value != 0 && (std::abs(value) < 0.5 * std::pow(10.0, -digits) || std::abs(value) >= 1e7))
    return number_text(value);
  return with_minus(fmt::format("{:.{}f}", value, digits));
}

std::string interval_text(double lower, double upper) {
  if (std::isnan(lower) && std::isnan(upper)) return "";
  return fmt::format("[{}, {}]", number_text(lower), number_text(upper));
}

namespace {

std::string estimate_text(const Measure& measure) {
  const double width = measure.upper - measure.lower;
  const double most =
      std::max({std::abs(measure.estimate), std::abs(measure.lower), std::abs(measure.upper)});
  if (!std::isfinite(width) || !(width >= 1e-9) || most < 1e-3 || most >= 1e6) {
    const std::string interval = interval_text(measure.lower, measure.upper);
    return number_text(measure.estimate) + (interval.empty() ? "" : " " + interval);
  }
  const int digits = std::max(0, 1 - static_cast<int>(std::floor(std::log10(width))));
  const auto text = [&](double value) { return with_minus(fmt::format("{:.{}f}", value, digits)); };
  return fmt::format("{} [{}, {}]", text(measure.estimate), text(measure.lower),
                     text(measure.upper));
}

}  // namespace

std::string found_text(const Measure& measure) {
  const std::string text = estimate_text(measure);
  return measure.interval.empty() ? text : fmt::format("{} ({})", text, measure.interval);
}

std::string power_text(const Measure& measure) {
  return decimals_text(measure.power, 2) +
         (measure.power_of_n && !std::isnan(measure.power) ? " (n)" : "") +
         (measure.post_hoc && !std::isnan(measure.power) ? " post hoc" : "");
}

std::string cell_text(const Cell& cell, int digits) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* value = std::get_if<double>(&cell)) return decimals_text(*value, digits);
  if (const auto* count = std::get_if<std::int64_t>(&cell))
    return with_minus(fmt::format("{}", *count));
  const auto* estimate = std::get_if<WithInterval>(&cell);
  if (!estimate) return "not run";
  std::string text = decimals_text(estimate->value, digits) + estimate->mark;
  if (!std::isnan(estimate->lower) || !std::isnan(estimate->upper))
    text += fmt::format(" [{}, {}]", decimals_text(estimate->lower, digits),
                        decimals_text(estimate->upper, digits));
  return text;
}

std::string measure_text(const Measure& measure) {
  std::string text = found_text(measure);
  if (!std::isnan(measure.p_value))
    text += measure.p_value < 1e-4 ? ", p < 0.0001" : fmt::format(", p = {:.2g}", measure.p_value);
  if (measure.n > 0) text += fmt::format(", n = {}", measure.n);
  if (!std::isnan(measure.power)) {
    text += measure.post_hoc ? ", post hoc power " : ", power ";
    text += measure.power > 0.9995 ? "> 0.999" : fmt::format("{:.2f}", measure.power);
    if (!measure.power_against.empty()) text += " against " + measure.power_against;
    if (measure.power_of_n) text += " (of n alone)";
  }
  return text;
}

std::string verdict_sign(Verdict verdict) {
  switch (verdict) {
    case Verdict::reproduced:
      return "✓";
    case Verdict::not_reproduced:
      return "✗";
    case Verdict::undecided:
      return "?";
    case Verdict::reported:
      return "○";
  }
  return "";
}

std::string committed_text(const JudgedClaim& claim, Profile profile) {
  if (!claim.claim.committed || profile == Profile::paper) return "";
  const CommittedVerdict& said = *claim.claim.committed;
  if (said.run == 0) return "at paper size: not\u00a0run";
  if (said.run == said.parts && said.verdict == claim.verdict) return "";
  const std::string share =
      said.run < said.parts ? fmt::format(", {} of {} parts", said.run, said.parts) : "";
  return fmt::format("at paper size{}: {}\u00a0{}", share, verdict_sign(said.verdict),
                     verdict_name(said.verdict));
}

std::vector<std::string> change_texts(const Claim& claim) {
  std::vector<std::string> all;
  for (const ClaimChange& change : claim.changes)
    all.push_back(fmt::format("Changed after a result (revision {}): {} Before: {} After: {}",
                              change.revision, sentence(change.reason), sentence(change.before),
                              sentence(change.after)));
  return all;
}

std::string aside_text(const Claim& claim) {
  return claim.aside.empty() ? "" : "No claim of the paper: " + sentence(claim.aside);
}

std::string sentence(const std::string& text) { return text.ends_with('.') ? text : text + '.'; }

}  // namespace boltzmark::experiments

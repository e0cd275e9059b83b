#include "experiments/kit/report/html_parts.hpp"

#include <fmt/format.h>

#include "experiments/kit/text.hpp"

namespace boltzmark::experiments {
namespace {

constexpr std::size_t kCarriedBytes = 32 << 10;  // pages are committed: their size matters

/// Escapes text for an URL, and so for an attribute.
std::string percent_escape(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~,";
  std::string result;
  for (const char c : text)
    result += kPlain.find(c) != std::string_view::npos
                  ? std::string(1, c)
                  : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return result;
}

}  // namespace

std::string csv_link(const std::string& path, const std::string& csv) {
  if (csv.size() > kCarriedBytes)
    return fmt::format(" <span class=\"file\">CSV, {} kB: <code>{}</code></span>",
                       csv.size() / 1000, html_escape(path));
  return fmt::format(" <a download=\"{}.csv\" href=\"data:text/csv;charset=utf-8,{}\">CSV</a>",
                     html_anchor(path.substr(0, path.size() - 4)), percent_escape(csv));
}

std::string html_anchor(const std::string& id) {
  std::string text = id;
  for (char& c : text)
    if (c == '/') c = '-';
  return html_escape(text);
}

std::string html_element(const std::string& name, const std::string& text) {
  return fmt::format("<{0}>{1}</{0}>\n", name, html_escape(text));
}

std::string paper_page(const std::string& paper) { return html_anchor(paper) + ".html"; }

std::string tally_html(const PaperVerdicts& paper) {
  std::string text = "<p class=\"tally\">";
  for (const auto& [verdict, count] : count_verdicts(paper))
    text += verdict_chip(verdict, tally_text(paper, verdict, count)) + " ";
  text += "</p>\n";
  const std::string key = tally_key(paper);
  return text + (key.empty() ? "" : fmt::format("<p class=\"key\">{}</p>\n", html_escape(key)));
}

// The picture is the target of its own link, which the style sheet shows large.
std::string picture_html(const std::string& svg, const std::string& id, const std::string& label) {
  const char* kind = svg.find("<image") != std::string::npos ? "panel pixels" : "panel";
  return fmt::format(
      "<div class=\"{}\" id=\"{}\"><a class=\"enlarge\" href=\"#{}\" aria-label=\"Enlarge: "
      "{}\">{}</a><a class=\"close\" href=\"#of-{}\">Close</a></div>\n",
      kind, id, id, html_escape(label), svg, id);
}

std::string verdict_class(Verdict verdict) {
  std::string name = verdict_name(verdict);
  for (char& c : name)
    if (c == ' ') c = '-';
  return name;
}

std::string verdict_chip(Verdict verdict, const std::string& text) {
  return fmt::format("<span class=\"chip {}\"><b aria-hidden=\"true\">{}</b> {}</span>",
                     verdict_class(verdict), verdict_sign(verdict), html_escape(text));
}

}  // namespace boltzmark::experiments

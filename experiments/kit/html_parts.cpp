#include "experiments/kit/html_parts.hpp"

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

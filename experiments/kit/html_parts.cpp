#include "experiments/kit/html_parts.hpp"

#include <fmt/format.h>

#include "experiments/kit/text.hpp"

namespace boltzmark::experiments {

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

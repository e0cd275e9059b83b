#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "experiments/kit/document.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/html_parts.hpp"
#include "experiments/kit/report.hpp"
#include "verification/interface/kit_toys.hpp"

namespace boltzmark::experiments {
namespace {

/// Every text that an expression with one group finds.
std::vector<std::string> found_in(const std::string& text, const char* expression) {
  std::vector<std::string> all;
  const std::regex wanted(expression, std::regex::optimize);
  for (std::sregex_iterator at(text.begin(), text.end(), wanted), end; at != end; ++at)
    all.push_back((*at)[1]);
  return all;
}

/// What a page links to or shows: of HTML and its SVGs, or of Markdown.
std::vector<std::string> links_of(const std::string& path, const std::string& page) {
  if (path.ends_with(".md")) return found_in(page, R"(\]\(([^)]*)\))");
  return found_in(page, R"((?:href|src)=["']([^"']*)["'])");
}

bool has_anchor(const std::string& page, const std::string& name) {
  return page.find("id=\"" + name + "\"") != std::string::npos ||
         page.find("id='" + name + "'") != std::string::npos;
}

bool is_dead(const std::string& from, const std::string& link) {
  if (link.starts_with("data:")) return false;
  const std::size_t hash = std::min(link.find('#'), link.size());
  const std::string file = link.substr(0, hash);
  const auto to =
      file.empty() ? std::filesystem::path(from) : std::filesystem::path(from).parent_path() / file;
  if (!std::filesystem::is_regular_file(to)) return true;
  return hash < link.size() && !has_anchor(read_text(to.string()), link.substr(hash + 1));
}

/// The dead links of every page below a folder: "page: link".
std::vector<std::string> dead_links(const std::string& folder) {
  std::vector<std::string> dead;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".html") && !path.ends_with(".md")) continue;
    for (const std::string& link : links_of(path, read_text(path)))
      if (is_dead(path, link)) dead.push_back(path + ": " + link);
  }
  return dead;
}

/// The toy with a table too large for a page, one of times, and a figure of two panels; and an
/// experiment without results.
std::vector<Experiment> many_toys() {
  auto all = toy_experiments();
  all[0].summarise = [honest = all[0].summarise](const Results& results, Summary& summary) {
    honest(results, summary);
    Table large{.name = "large", .caption = "Large", .columns = {{"A", "a"}, {"B", "b"}}};
    for (int i = 0; i < 6000; ++i) large.rows.push_back({i / 7.0, std::string("a, \"b\" & 5 %")});
    summary.add(large);
    summary.add(Table{.name = "times", .caption = "", .columns = {{"s", "s"}}, .timing = true});
    const Panel panel{.x = {"x"}, .y = {"y"}, .series = {{.label = "s", .x = {1, 2}, .y = {1, 2}}}};
    summary.add(Figure{.name = "two", .caption = "Two", .panels = {panel, panel}});
  };
  all.push_back(all[0]);
  all.back().id = "toy/missing";
  return all;
}

/// The dead links of a report's pages where they are copied to; report.md shows pictures beside it.
std::vector<std::string> dead_when_moved(const std::string& root) {
  const TemporaryFolder moved;
  std::filesystem::copy(root + "/report", moved.path(), std::filesystem::copy_options::recursive);
  std::filesystem::remove(moved.path() + "/report.md");
  return dead_links(moved.path());
}

TEST_CASE("no page of a report links to what is not there, at any profile, wherever it is moved") {
  const std::vector<std::string> none;
  for (const Profile profile : {Profile::smoke, Profile::quick, Profile::paper}) {
    const TemporaryFolder out;
    const std::string root = out.path() + "/" + profile_name(profile);
    reproduce({.ids = {"toy/one"}, .profile = profile, .out = out.path()}, many_toys(),
              {toy_claims()});
    CHECK(dead_links(out.path()) == none);
    CHECK(dead_when_moved(root) == none);
    write_text(root + "/bruegge2013/fig2/trials.jsonl", "");
    write_text(root + "/bruegge2013/table1/trials.jsonl", "");
    CHECK(report({.profile = profile, .out = out.path()}).failures.empty());
    CHECK(dead_links(out.path()) == none);
    CHECK(dead_when_moved(root) == none);
    write_text(out.path() + "/bench/speed.html", "");
    report({.profile = profile, .out = out.path()});
    CHECK(dead_links(out.path()) == none);
    CHECK(dead_when_moved(root).size() == 1);  // of the speed page
  }
}

TEST_CASE("a page carries the CSV that it links to, byte by byte, and names a large one") {
  const std::string csv = "a,b\n1,\"x & <y> 50 %\u00b5'\"\n";
  const std::string link = csv_link("toy/one/table.csv", csv);
  const auto carried = found_in(link, "href=\"data:text/csv;charset=utf-8,([^\"]*)\"");
  REQUIRE(carried.size() == 1);
  std::string text;
  for (std::size_t i = 0; i < carried[0].size(); ++i)
    if (carried[0][i] == '%') {
      text += static_cast<char>(std::stoi(carried[0].substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      text += carried[0][i];
    }
  CHECK(text == csv);
  CHECK_THAT(link, Catch::Contains("download=\"toy-one-table.csv\""));
  const std::string named = csv_link("toy/one/table.csv", std::string(200000, '7'));
  CHECK_THAT(named, Catch::Contains("200 kB") && Catch::Contains("<code>toy/one/table.csv</code>"));
  CHECK_THAT(named, !Catch::Contains("href"));
}

}  // namespace
}  // namespace boltzmark::experiments

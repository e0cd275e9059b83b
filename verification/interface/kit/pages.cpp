#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "experiments/kit/document.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/report/html_parts.hpp"
#include "experiments/kit/report/report.hpp"
#include "experiments/kit/text.hpp"
#include "verification/interface/kit/toys.hpp"

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

/// What a page links to or shows: of HTML and its SVGs, or of Markdown. A link may hold a whole CSV,
/// for which std::regex needs more stack than there is.
std::vector<std::string> links_of(const std::string& path, const std::string& page) {
  std::vector<std::string> links;
  const bool markdown = path.ends_with(".md");
  for (const std::string start : {"](", "href=\"", "href='", "src=\"", "src='"}) {
    if (markdown != (start == "](")) continue;
    const char end = markdown ? ')' : start.back();
    for (auto at = page.find(start); at != std::string::npos; at = page.find(start, at)) {
      at += start.size();
      links.push_back(page.substr(at, page.find(end, at) - at));
    }
  }
  return links;
}

TEST_CASE("links of a page are found in either kind of quotes, and those of Markdown") {
  const std::string page = "<a href=\"a.html#b\">x</a><img src='c.svg'/><a href='d'>[e](f)</a>";
  CHECK(links_of("p.html", page) == std::vector<std::string>{"a.html#b", "d", "c.svg"});
  CHECK(links_of("p.md", page) == std::vector<std::string>{"f"});
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

TEST_CASE(
    "the opening page says what stands, what does not, what is open and what that would cost") {
  const TemporaryFolder out;
  ClaimFile claims = toy_claims();
  claims.claims[0].parts[0].threshold = -1;   // not reproduced
  claims.claims[1].parts[0].threshold = 0.5;  // undecided, its interval being 0.8 wide
  auto toys = many_toys();
  for (Experiment& toy : toys) toy.seconds.paper = 7200;
  reproduce({.ids = {"toy/one"}, .out = out.path(), .quiet = true}, toys, {claims});
  const std::string page = read_text(out.path() + "/quick/report/index.html");
  for (const char* said : {"What does not stand: 1", "What nobody can decide yet: 1",
                           "2 h 0 min on 2 cores", "toy.html#claim-T01", "toy.html#toy-one",
                           "not run", "1 not reproduced", "<figure", "id=\"provenance\""})
    CHECK_THAT(page, Catch::Contains(said));
  CHECK_THAT(page, !Catch::Contains("<table"));
  const std::string paper = read_text(out.path() + "/quick/report/toy.html");
  for (const char* said : {"href=\"index.html\"", "<div class=\"statistic\">zero</div>",
                           "title=\"not reproduced\">✗&nbsp;1</span>"})
    CHECK_THAT(paper, Catch::Contains(said));
}

TEST_CASE("what stands is told apart from what is no claim of the paper") {
  const TemporaryFolder out;
  ClaimFile claims = toy_claims();
  const auto page = [&] {
    reproduce({.ids = {"toy/one"}, .out = out.path(), .quiet = true}, many_toys(), {claims});
    return read_text(out.path() + "/quick/report/index.html");
  };
  CHECK_THAT(page(),
             Catch::Contains("What stands: 2<") && !Catch::Contains("no claim of the paper"));
  claims.claims[0].aside = "of <others>";
  CHECK_THAT(page(), Catch::Contains("What stands: 2, of which 1 is no claim of the paper<") &&
                         Catch::Contains("No claim of the paper: of &lt;others&gt;."));
  claims.claims[1].aside = "ours";
  claims.claims[1].parts[0].threshold = 0.5;  // undecided: told apart in its own list
  CHECK_THAT(
      page(),
      Catch::Contains("What stands: 1, of which 1 is no claim of the paper<") &&
          Catch::Contains("What nobody can decide yet: 1, of which 1 is no claim of the paper<"));
}

TEST_CASE("every page that shows a verdict says which claims are none of the paper's") {
  const TemporaryFolder out;
  ClaimFile claims = toy_claims();
  const auto pages = [&] {
    reproduce({.ids = {"toy/one"}, .out = out.path(), .quiet = true}, many_toys(), {claims});
    const std::string folder = out.path() + "/quick/report/";
    return std::vector<std::string>{read_text(folder + "toy.html"), read_text(folder + "report.md"),
                                    read_text(folder + "claims.json")};
  };
  for (const std::string& page : pages())
    CHECK_THAT(page, !Catch::Contains("o claim of the paper"));
  claims.claims[1].aside = "of <others>";
  const std::string said = "No claim of the paper: of &lt;others&gt;.";
  const auto told = pages();
  const std::string table = text_between(told[0], "id=\"claim-T02\"", "</tr>"),
                    details = text_between(told[0], "<b>T02</b>", "</p>");
  CHECK_THAT(table, Catch::Contains(said));
  CHECK_THAT(details, Catch::Contains(said));
  CHECK_THAT(text_between(told[0], "id=\"claim-T01\"", "</tr>"), !Catch::Contains(said));
  CHECK_THAT(told[0], Catch::Contains("Counted too, and no claim of the paper: T02."));
  CHECK_THAT(text_between(told[1], "| T02 |", "\n"), Catch::Contains(said));
  const Json all = Json::parse(told[2]);
  CHECK(all[0]["aside"] == "");
  CHECK(all[1]["aside"] == "of <others>");
  claims.claims[0].aside = "ours";
  CHECK_THAT(pages()[0], Catch::Contains("Counted too, and no claims of the paper: T01, T02."));
}

TEST_CASE("an open claim waits for the trials that are missing, or for what it says itself") {
  const TemporaryFolder out;
  auto toys = many_toys();
  toys[0].seconds.paper = 7200;
  toys[0].cost = [](const Json& inputs) { return inputs.at("size") == "small" ? 1 : 3; };
  ClaimFile claims = toy_claims();
  const ReproduceOptions half{.ids = {"toy/one"},
                              .profile = Profile::paper,
                              .out = out.path(),
                              .only = "size=small",
                              .quiet = true};
  const auto page = [&] {
    reproduce(half, toys, {claims});
    return read_text(out.path() + "/paper/report/index.html");
  };
  CHECK_THAT(page(),
             Catch::Contains("profile paper, about 1 h 30 min on 2 cores for what toy/one lacks"));
  claims.claims[1].to_decide = "longer chains";
  CHECK_THAT(page(), Catch::Contains("To decide it: longer chains.") &&
                         !Catch::Contains("for what toy/one lacks"));
  // Of 12 trials six cost 1 and six 3: of two hours 900 s each of the latter.
  claims.claims[1].cells = {Json{{"size", "large"}, {"repeat", 0}}, Json{{"size", "small"}}};
  CHECK_THAT(page(),
             Catch::Contains("To decide it: longer chains; besides the trial that judges it "
                             "and is not there, about 15 min"));
  claims.claims[1].to_decide = "";
  CHECK_THAT(page(),
             Catch::Contains("for the trial that judges it and is not there, if that is enough."));
  claims.claims[1].cells = {Json{{"size", "large"}}};
  CHECK_THAT(page(), Catch::Contains("profile paper, about 1 h 30 min on 2 cores for the 6 trials "
                                     "that judge it and are not there, if that is enough."));
}

TEST_CASE(
    "where every trial of an open claim was run its interval says how many more would decide") {
  const TemporaryFolder out;
  auto toys = many_toys();
  // Small: above 0 if 0.4 shrinks to 0.2; large: if 0.3 does to 0.1, of 20 the ninefold.
  Measure small{.claim = "T02", .part = "small", .estimate = 0.2, .lower = -0.2, .upper = 0.6};
  Measure large{.claim = "T02", .part = "large", .estimate = -0.1, .lower = -0.7, .upper = 0.2};
  small.n = 40;
  large.n = 20;
  toys[0].summarise = [&](const Results&, Summary& summary) {
    summary.add(small);
    summary.add(large);
  };
  const auto cost = [&] {
    reproduce({.ids = {"toy/one"}, .profile = Profile::paper, .out = out.path(), .quiet = true},
              toys, {toy_claims()});
    const std::string page = read_text(out.path() + "/paper/report/index.html");
    return text_between(text_between(page, "#claim-T02\">", "</li>"), "To decide it: ", ".</");
  };
  CHECK(cost() ==
        "every trial planned for it was run: about 9.0 times so large an n (20 now), "
        "if the estimate stays as it is");
  large.decidable = false;
  CHECK(cost() == "every trial planned for it was run: more of them than are planned");
  small.decidable = false;
  CHECK(cost() == "every trial planned for it was run: its note says why they do not decide it");
}

TEST_CASE(
    "an open claim costs what all its experiments take, another's trials those of their maker") {
  const TemporaryFolder out;
  auto toys = toy_experiments();
  toys[0].seconds.paper = 7200;
  const auto add = [&](const char* id, const char* maker, double paper_seconds) {
    Experiment toy = toys[0];
    toy.id = id;
    toy.trials_of = maker;
    toy.seconds = {.smoke = 0, .quick = 0, .paper = paper_seconds};
    toys.push_back(std::move(toy));
  };
  add("toy/missing", "", 3600);
  add("toy/view", "toy/one", 0);
  add("toy/short", "", 0.1);
  add("toy/short-view", "toy/short", 0);
  ClaimFile claims = toy_claims();
  claims.claims[1].parts[0].threshold = 0.5;  // measured, and undecided
  const auto open = [&](const char* id, const std::vector<std::string>& of) {
    Claim claim = claims.claims[1];
    claim.id = id;
    claim.experiments = of;
    claims.claims.push_back(std::move(claim));
  };
  open("T03", {"toy/missing"});
  open("T04", {"toy/one", "toy/missing"});
  open("T05", {"toy/view"});
  open("T06", {"toy/one", "toy/view"});
  open("T07", {"toy/short-view"});
  reproduce({.ids = {"toy/one"}, .out = out.path(), .quiet = true}, toys, {claims});
  const std::string page = read_text(out.path() + "/quick/report/index.html");
  const auto cost = [&](const std::string& id) {
    const std::string item = text_between(page, "#claim-" + id + "\">", "</li>");
    return text_between(item, "To decide it: ", "</span>");
  };
  CHECK(cost("T03") == "profile paper, about 1 h 0 min on 2 cores.");
  CHECK(cost("T04") == "profile paper, about 3 h 0 min on 2 cores.");
  CHECK(cost("T05") == "profile paper, about 2 h 0 min on 2 cores.");
  CHECK(cost("T06") == "profile paper, about 2 h 0 min on 2 cores.");
  CHECK(cost("T07") == "profile paper, under 1 s on 2 cores.");
  CHECK_THAT(page, Catch::Contains("6 undecided, 5 of them not run"));
}

TEST_CASE(
    "a page fits a narrow screen: tables scroll, pictures shrink, nothing has a fixed width") {
  const TemporaryFolder out;
  reproduce({.ids = {"toy/one"}, .out = out.path(), .quiet = true}, many_toys(), {toy_claims()});
  for (const char* name : {"/index.html", "/toy.html"}) {
    const std::string page = read_text(out.path() + "/quick/report" + name);
    const std::size_t tables = found_in(page, "(<table)").size();
    CHECK(found_in(page, "(<div class=\"(?:scroll|wide)\" tabindex=\"0\"><table)").size() ==
          tables);
    const std::size_t pictures = found_in(page, "(<svg)").size();
    CHECK(pictures >= 1);
    CHECK(found_in(page, "class=\"panel[^>]*>(<a class=\"enlarge\" href=\"#)").size() == pictures);
    CHECK(found_in(page, "(<svg[^>]* width=\")").empty());
    auto ids = found_in(page, "[ ]id=[\"']([^\"']*)");
    std::sort(ids.begin(), ids.end());
    CHECK(std::adjacent_find(ids.begin(), ids.end()) == ids.end());
    const std::string style = page.substr(0, page.find("</style>"));
    CHECK_THAT(style, Catch::Contains(".scroll, .wide { overflow-x: auto; }") &&
                          Catch::Contains(".panel svg { display: block; width: 100%; height: auto; "
                                          "max-width: min(100%,") &&
                          Catch::Contains("prefers-color-scheme: dark") &&
                          Catch::Contains(".panel:not(.pixels) { filter: invert"));
    for (const std::string& rem : found_in(style, "[ ;{](?:min-)?width: ([0-9.]+)rem"))
      CHECK(std::stod(rem) <= 20);  // of 25 rem, 400 px
    for (const std::string& pixels : found_in(style, "[ ;{](?:min-)?width: ([0-9.]+)px"))
      CHECK(std::stod(pixels) <= 320);
  }
}

TEST_CASE("the committed report links to nothing that is not there") {
  CHECK(dead_links(source_path("reports/reference")) == std::vector<std::string>{});
}

TEST_CASE("an interval narrower than a thousandth shows its ends") {
  const Measure narrow{
      .claim = "C34", .estimate = -86.31021, .lower = -86.31027, .upper = -86.31015};
  CHECK(found_text(narrow) == "−86.31021 [−86.31027, −86.31015]");
}

}  // namespace
}  // namespace boltzmark::experiments

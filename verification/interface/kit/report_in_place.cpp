// What a report's pages, claims.json and gnuplot's scripts say, each in its place: no two of them are alike here.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "experiments/kit/document.hpp"
#include "experiments/kit/report/plot.hpp"

namespace boltzmark::experiments {
namespace {

Section section_of(const Experiment& experiment, const std::vector<std::string>& claims) {
  Section section{.experiment = &experiment};
  for (const std::string& claim : claims) {
    Measure measure;
    measure.claim = claim;
    measure.n = 1;
    section.summary.add(measure);
  }
  section.summary.add(
      Figure{.name = "drawn",
             .caption = "a figure",
             .panels = {{.x = {"x"}, .y = {"y"}, .series = {{.label = "s", .x = {1}, .y = {1}}}}}});
  section.pictures["drawn"] = {"<svg>of " + experiment.id + "</svg>"};
  return section;
}

TEST_CASE("a report's pages say of which revision they are, on which SIMD path and CPU") {
  Experiment experiment;
  experiment.id = "toy/one";
  experiment.item = "Fig. 1";
  Document document{.profile = Profile::paper};
  document.sections = {section_of(experiment, {})};
  document.manifest = {
      {"revision", "abc123"}, {"simd", "AVX-9"}, {"cpu", "Zuse Z3"}, {"compiler", "cc 1"}};
  const auto pages = render_html(document);
  REQUIRE(pages.size() == 2);
  for (const auto& [name, page] : pages) {
    INFO(name);
    CHECK_THAT(page,
               Catch::Contains("<p>Profile <b>paper</b> · revision abc123 · AVX-9 · Zuse Z3</p>"));
  }
}

TEST_CASE(
    "the opening page's figure of a paper is of the experiment that measures the most claims") {
  Experiment first, second, other;
  first.id = "toy/first";
  second.id = "toy/second";
  other.id = "another/third";
  // Three measures of one claim are one.
  const Section few = section_of(first, {"T01", "T01", "T01"}),
                many = section_of(second, {"T01", "T02"}),
                most = section_of(other, {"U01", "U02", "U03"});
  ClaimFile file;
  file.paper = "toy";
  for (const auto& sections : {std::vector{few, many, most}, std::vector{most, many, few}}) {
    Document document{.sections = sections, .manifest = Json::object()};
    document.papers.push_back({.file = file});
    const std::string page = render_html(document).at("index.html");
    CHECK_THAT(page, Catch::Contains("of toy/second"));
    CHECK_THAT(page, !Catch::Contains("of toy/first"));
    CHECK_THAT(page, !Catch::Contains("of another/third"));
  }
}

TEST_CASE("claims.json tells a claim's own texts by their names, and what was not measured") {
  JudgedClaim judged;
  judged.claim.id = "T07";
  judged.claim.kind = 'E';
  judged.claim.statement = "a statement";
  judged.claim.statistic = "a statistic";
  judged.claim.where = "a place";
  judged.claim.published = "a number";
  judged.claim.aside = "of others";
  judged.claim.registered = "a revision";
  judged.claim.experiments = {"toy/one", "toy/two"};
  judged.claim.changes = {
      {.revision = "a change's", .reason = "a reason", .before = "earlier", .after = "later"}};
  judged.verdict = Verdict::undecided;
  judged.parts = {{.part = {.name = "a part"}, .verdict = Verdict::undecided}};
  ClaimFile file;
  file.paper = "toy";
  Document document;
  document.papers.push_back({.file = file, .claims = {judged}});
  const Json claim = claims_json(document)[0];
  for (const auto& [key, text] :
       std::vector<std::pair<const char*, const char*>>{{"id", "T07"},
                                                        {"paper", "toy"},
                                                        {"kind", "E"},
                                                        {"statement", "a statement"},
                                                        {"statistic", "a statistic"},
                                                        {"where", "a place"},
                                                        {"published", "a number"},
                                                        {"aside", "of others"},
                                                        {"registered", "a revision"},
                                                        {"experiment", "toy/one"},
                                                        {"note", "not measured in this profile"}}) {
    INFO(key);
    CHECK(claim[key] == text);
  }
  CHECK(claim["estimate"].is_null());
  CHECK(claim["parts"][0]["experiment"] == "");
  CHECK(claim["changes"] == Json::array({{{"revision", "a change's"},
                                          {"reason", "a reason"},
                                          {"before", "earlier"},
                                          {"after", "later"}}}));
}

TEST_CASE("a guide lies across its panel where it is said to, with its label at its end") {
  const Panel panel{
      .x = {.label = "x", .low = 10, .high = 20},
      .y = {.label = "y", .low = 30, .high = 40},
      .series = {{.label = "s", .x = {11, 19}, .y = {31, 39}}},
      .guides = {{.at = 33, .label = "level"}, {.at = 12, .label = "upright", .vertical = true}}};
  const std::string script = panel_script(panel, "out.svg", 300, 200);
  CHECK_THAT(script, Catch::Contains("$dg0 << EOD\n10 33\n20 33\nEOD\n"));
  CHECK_THAT(script, Catch::Contains("$dg1 << EOD\n12 30\n12 40\nEOD\n"));
  CHECK_THAT(script, Catch::Contains("set label 'level' at graph 0.99, first 33 right"));
  CHECK_THAT(script, Catch::Contains("set label 'upright' at first 12, graph 0.96 left"));
  for (const char* drawn : {"$dg0 using 1:2 with lines", "$dg1 using 1:2 with lines"})
    CHECK_THAT(script, Catch::Contains(drawn));
}

}  // namespace
}  // namespace boltzmark::experiments

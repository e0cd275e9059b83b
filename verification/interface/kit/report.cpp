#include "experiments/kit/report/report.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "experiments/kit/csv.hpp"
#include "experiments/kit/document.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/report/html_parts.hpp"
#include "experiments/kit/run/reference.hpp"
#include "experiments/kit/run/selection.hpp"
#include "experiments/kit/sources.hpp"
#include "experiments/kit/text.hpp"
#include "verification/interface/kit/toys.hpp"

namespace boltzmark::experiments {
namespace {

using namespace std::string_literals;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("a CSV field is quoted where a reader would trip over it, and only there") {
  CHECK(csv_field("plain text") == "plain text");
  CHECK(csv_field("a,b") == "\"a,b\"");
  CHECK(csv_field("say \"x\"") == "\"say \"\"x\"\"\"");
  CHECK(csv_field("two\nlines") == "\"two\nlines\"");
}

TEST_CASE("a CSV number is the shortest text of its double") {
  CHECK(csv_number(0.1) == "0.1");
  CHECK(csv_number(0.1 + 0.2) == "0.30000000000000004");
  CHECK(csv_number(-kNan) == "nan");
  CHECK(csv_number(-std::numeric_limits<double>::infinity()) == "-inf");
}

TEST_CASE("a table's CSV has columns for intervals and marks only where they occur") {
  const Table table{.name = "t",
                    .caption = "",
                    .columns = {{"A", "a"}, {"B", "b"}},
                    .rows = {{std::string("x,y"), WithInterval{1, 0.5, 1.5, "*"}},
                             {2.5, NotRun{}},
                             {std::int64_t{3}, WithInterval{kNan}}}};
  CHECK(table_csv(table) == "a,b,b_lower,b_upper,b_mark\n\"x,y\",1,0.5,1.5,*\n2.5,,,,\n3,nan,,,\n");
}

TEST_CASE("tables and figures with faults are refused") {
  Summary summary;
  summary.add(Table{.name = "t", .caption = "", .columns = {{"A", "a"}}});
  CHECK_THROWS_AS(summary.add(Table{.name = "t", .caption = "", .columns = {}}), InvalidArgument);
  CHECK_THROWS_AS(summary.add(Table{.name = "a/b", .caption = "", .columns = {}}), InvalidArgument);
  CHECK_THROWS_AS(
      summary.add(Table{.name = "u", .caption = "", .columns = {{"A", "a"}}, .rows = {{}}}),
      InvalidArgument);
  Figure figure{.name = "f", .caption = ""};
  figure.panels.push_back(
      {.x = {""}, .y = {""}, .series = {{.label = "s", .x = {1, 2}, .y = {1}}}});
  CHECK_THROWS_AS(summary.add(figure), InvalidArgument);
  figure.panels[0].series[0] = {.label = "s", .x = {1}, .y = {1}, .lower = {0}};  // no upper limit
  CHECK_THROWS_AS(Summary().add(figure), InvalidArgument);
  figure.panels[0].series[0].upper = {2};
  Inset inset;
  inset.series = {Series{.label = "i", .x = {1, 2}, .y = {1}}};  // short of a y
  figure.panels[0].insets = {inset};
  CHECK_THROWS_AS(Summary().add(figure), InvalidArgument);
  figure.panels[0].insets[0].series[0].y = {1, 2};
  CHECK_NOTHROW(Summary().add(figure));
}

TEST_CASE("where trials come from is told with their numbers, and one that is not used too") {
  Experiment own;
  own.id = "toy/one";
  Section section{.experiment = &own, .planned = 12, .finished = 12};
  section.origins = {{"a", 3}, {"b", 9}};
  CHECK(origin_text(section) == "12 of 12 trials; 3 of a; 9 of b");
  section.origins = {{"a", 12}};
  section.stale = 1;
  CHECK_THAT(origin_text(section),
             Catch::StartsWith("12 of 12 trials; a; 1 more in the store belong to other builds"));
}

TEST_CASE("a cell filter compares numbers as numbers and texts as texts") {
  const Json inputs{{"rate", 0.1}, {"k", 5}, {"set", "bars"}, {"name", "5"}};
  CHECK(CellFilter("").matches(inputs));
  CHECK(CellFilter("rate=0.10").matches(inputs));
  CHECK(CellFilter("k=5,set=bars").matches(inputs));
  CHECK(CellFilter("name=5").matches(inputs));
  CHECK_FALSE(CellFilter("k=50").matches(inputs));
  CHECK_FALSE(CellFilter("k=five").matches(inputs));
  CHECK_FALSE(CellFilter("seed=5").matches(inputs));
}

TEST_CASE("a malformed cell filter is refused") {
  for (const char* text : {"k", "=5", "k=", "k=5,", ",k=5", "k=5,,c=2", "k=5,k=6"}) {
    INFO(text);
    CHECK_THROWS_AS(CellFilter(text), InvalidArgument);
  }
}

TEST_CASE("numbers for people keep a true minus sign and never show as nothing") {
  CHECK(number_text(-0.17284) == "−0.1728");
  CHECK(number_text(1.24e-5) == "1.2 × 10⁻⁵");
  CHECK(number_text(kNan) == "–");
  CHECK(decimals_text(0.5, 2) == "0.50");
  CHECK(decimals_text(0.0001, 2) == "10⁻⁴");
  CHECK(interval_text(kNan, kNan).empty());
  CHECK(cell_text(NotRun{}, 2) == "not run");
}

TEST_CASE("a measure shows as many decimals as its interval needs, and its power for what it is") {
  Measure measure{.claim = "C33", .estimate = 451.2519, .lower = 451.2351, .upper = 451.2687};
  CHECK(found_text(measure) == "451.252 [451.235, 451.269]");
  measure.interval = "98.75 %";
  CHECK(found_text(measure) == "451.252 [451.235, 451.269] (98.75 %)");
  measure.interval.clear();
  measure.power = 0.87;
  CHECK_THAT(measure_text(measure), Catch::Contains(", power 0.87"));
  measure.post_hoc = true;
  CHECK_THAT(measure_text(measure), Catch::Contains(", post hoc power 0.87"));
  CHECK(power_text(measure) == "0.87 post hoc");
  CHECK(power_text({.claim = "C", .power = kNan, .post_hoc = true}) == "–");
  CHECK(found_text({.claim = "C", .estimate = -0.5, .lower = -0.552, .upper = -0.448}) ==
        "−0.50 [−0.55, −0.45]");
  CHECK(found_text({.claim = "C", .estimate = 4438.1, .lower = 1764.7, .upper = 10333}) ==
        "4438 [1765, 10333]");
  CHECK(found_text({.claim = "C", .estimate = 0.25}) == "0.25");
  CHECK(shortest_text(451.255) == "451.255");
  CHECK(shortest_text(1e-12) == "10⁻¹²");
}

TEST_CASE("what was run is told by the trials, beside what was planned") {
  std::vector<Json> planned;
  for (const int sweeps : {1000, 10000, 1000000})
    for (int repeat = 1; repeat <= 10; ++repeat)
      planned.push_back({{"method", "rts"}, {"sweeps", sweeps}, {"repeat", repeat}});
  std::vector<Trial> finished;
  for (int i = 0; i < 14; ++i) finished.push_back({.inputs = planned[static_cast<std::size_t>(i)]});
  CHECK(run_text({Profile::paper, planned, finished}) ==
        "14 of 30 planned trials: 2 cells of 4 to 10 (of 10) repeats. method rts; sweeps 1000, "
        "10000. No trial yet of: sweeps 1000000.");
  CHECK(run_text({Profile::paper, planned, {}}) == "None of the 30 planned trials.");
  std::vector<Json> named;
  std::vector<Trial> all_named;
  for (int i = 0; i < 25; ++i) {
    named.push_back({{"name", "n" + std::to_string(i)}});
    all_named.push_back({.inputs = named.back(), .outputs = {{"x", 1}}});
  }
  CHECK_THAT(run_text({Profile::paper, named, all_named}), Catch::EndsWith("name 25 values."));
  finished.clear();
  for (const Json& inputs : planned) finished.push_back({.inputs = inputs});
  CHECK_THAT(run_text({Profile::paper, planned, finished}),
             Catch::StartsWith("All 30 of 30 planned trials: 3 cells of 10 repeats."));
}

TEST_CASE("a claim that was changed after a result says so, and is counted apart") {
  const TemporaryFolder out;
  ClaimFile claims = toy_claims();
  claims.claims[1].changes = {{.revision = "0123456",
                               .reason = "It counted <five> of 200",
                               .before = "reproduced, 0.4",
                               .after = "undecided, 1.1"}};
  reproduce({.out = out.path()}, toy_experiments(), {claims});
  for (const char* file : {"toy.html", "report.md"}) {
    const std::string text = read_text(out.path() + "/quick/report/" + file);
    for (const char* part : {"revision 0123456", "&lt;five&gt; of 200", "reproduced, 0.4",
                             "undecided, 1.1", "1 + 1 reproduced", "changed after a result"})
      CHECK_THAT(text, Catch::Contains(part));
    CHECK_THAT(text, Catch::Contains("Before: reproduced, 0.4. After: undecided, 1.1."));
  }
  const Json said = Json::parse(read_text(out.path() + "/quick/report/claims.json"));
  CHECK(said[0]["changes"].empty());
  CHECK(said[1]["changes"][0]["before"] == "reproduced, 0.4");
}

TEST_CASE("no trial of a tree with changes is kept") {
  const auto toys = toy_experiments();
  const auto keep_trials_of = [&](const std::string& revision) {
    const TemporaryFolder out;
    const ReproduceOptions options{.out = out.path(), .keep = true};
    const auto plan = plan_experiment(toys[0], options, CellFilter(""));
    for (const PlannedTrial& trial : plan.trials)
      plan.store->append(
          trial.key,
          {.inputs = trial.key.inputs, .outputs = {{"mean", 0.5}}, .revision = revision});
    reproduce(options, toys, {toy_claims()});
  };
  CHECK_THROWS_WITH(keep_trials_of("0123456789ab+changes"),
                    Catch::Contains("0123456789ab+changes (must be of a clean one"));
  // Nor one of a revision that nobody can check out.
  CHECK_THROWS_WITH(keep_trials_of("0123456789ab"),
                    Catch::Contains("0123456789ab (must be of one that this repository holds"));
  CHECK_FALSE(std::filesystem::exists(source_path("reports/reference/toy")));
  CHECK(is_clean("0123456789ab"));
  CHECK_FALSE(is_clean("0123456789ab+changes"));
  CHECK_FALSE(is_clean("unknown"));
}

TEST_CASE("the report escapes what experiments and claims say, and loads nothing from elsewhere") {
  const TemporaryFolder out;
  const ReproduceResult result = reproduce({.out = out.path()}, toy_experiments(), {toy_claims()});
  const std::string page =
      read_text(result.report) + read_text(out.path() + "/quick/report/toy.html");
  CHECK_THAT(page, Catch::Contains("A &amp; B"));
  CHECK_THAT(page, Catch::Contains("Fig. &lt;1&gt;"));
  CHECK_THAT(page, Catch::Contains("Means &amp; &lt;tags&gt;"));
  CHECK_THAT(page, Catch::Contains("0 &lt; 1 &amp; &lt;b&gt;"));
  CHECK_THAT(page, !Catch::Contains("<deviation>"));
  CHECK_THAT(page, !Catch::Contains("<script"));
  CHECK_THAT(page, !Catch::Contains("<link"));
  CHECK_THAT(page, !Catch::Contains("src="));
  CHECK_THAT(page, Catch::Contains("<svg"));
}

TEST_CASE("a report tells the settings of its own profile, and signs each part by its verdict") {
  const TemporaryFolder out;
  std::vector<Experiment> experiments = toy_experiments();
  experiments[0].settings = {.smoke = "few trials", .quick = "some trials", .paper = "all trials"};
  ClaimFile claims = toy_claims();
  claims.claims[1].parts[0].threshold = 2;  // no mean of uniforms is: the claim falls, by one part
  reproduce({.profile = Profile::smoke, .out = out.path()}, experiments, {claims});
  const std::string folder = out.path() + "/smoke/report/";
  for (const char* page : {"report.md", "toy.html"}) {
    CHECK_THAT(read_text(folder + page), Catch::Contains("few trials"));
    CHECK_THAT(read_text(folder + page), !Catch::Contains("some trials"));
  }
  const std::string page = read_text(folder + "toy.html");
  CHECK_THAT(page, Catch::Contains("<span class=\"sign not-reproduced\">✗</span> small: "));
  CHECK_THAT(page, Catch::Contains("<span class=\"sign reproduced\">✓</span> large: "));
}

TEST_CASE("a claim that fails by its second part alone fails in every table, each part as it is") {
  const TemporaryFolder out;
  ClaimFile claims = toy_claims();
  claims.claims[1].parts[1].threshold = 2;  // no mean of uniforms is
  reproduce({.out = out.path(), .quiet = true}, toy_experiments(), {claims});
  const std::string folder = out.path() + "/quick/report/", page = read_text(folder + "toy.html");
  const std::string chip = verdict_chip(Verdict::not_reproduced, "not reproduced");
  const std::string row = text_between(page, "<tr id=\"claim-T02\">", "</tr>");
  for (const std::string& said :
       {chip, "<span class=\"sign reproduced\">✓</span> <span class=\"name\">small</span>"s,
        "<span class=\"sign not-reproduced\">✗</span> <span class=\"name\">large</span>"s,
        "data-label=\"Claimed\">&gt; 0; &gt; 2</td>"s})
    CHECK_THAT(row, Catch::Contains(said));
  CHECK_THAT(page, Catch::Contains("<div class=\"claim\"><p>" + chip + " <b>T02</b>"));
  CHECK_THAT(text_between(read_text(folder + "report.md"), "| T02 |", "\n"),
             Catch::Contains("| ✗ not reproduced |"));
}

TEST_CASE("every row of a table stands in report.md with its own numbers") {
  const TemporaryFolder out;
  auto experiments = toy_experiments();
  experiments[0].summarise = [](const Results&, Summary& summary) {
    summary.add(
        Table{.name = "rows", .caption = "", .columns = {{"a", "a", 2}}, .rows = {{-1.0}, {2.0}}});
  };
  reproduce({.out = out.path(), .quiet = true}, experiments, {toy_claims()});
  CHECK_THAT(read_text(out.path() + "/quick/report/report.md"),
             Catch::Contains("| −1.00 |\n| 2.00 |"));
}

TEST_CASE("an experiment's time of computation is that of all its finished trials together") {
  const TemporaryFolder out;
  const auto toys = toy_experiments();
  const ReproduceOptions options{.out = out.path(), .quiet = true};
  const auto plan = plan_experiment(toys[0], options, CellFilter(""));
  for (const PlannedTrial& trial : plan.trials)
    plan.store->append(trial.key,
                       {.inputs = trial.key.inputs, .outputs = {{"mean", 0.5}}, .seconds = 2});
  CHECK(reproduce(options, toys, {toy_claims()}).reused == 12);
  CHECK(Json::parse(read_text(out.path() + "/quick/manifest.json"))["seconds"]["toy/one"] == 24);
  for (const char* page : {"toy.html", "report.md"})
    CHECK_THAT(read_text(out.path() + "/quick/report/" + page),
               Catch::Contains(". 24 s of computation."));
}

TEST_CASE("claims.json gives every claim with its verdict, numbers and parts") {
  const TemporaryFolder out;
  reproduce({.out = out.path()}, toy_experiments(), {toy_claims()});
  const Json claims = Json::parse(read_text(out.path() + "/quick/report/claims.json"));
  REQUIRE(claims.size() == 2);
  for (const char* field : {"id", "kind", "statement", "verdict", "estimate", "lower", "upper",
                            "power", "n", "threshold", "published", "experiment", "note"})
    for (const Json& claim : claims) CHECK(claim.contains(field));
  CHECK(claims[0]["verdict"] == "reproduced");
  CHECK(claims[1]["parts"].size() == 2);
  const Json manifest = Json::parse(read_text(out.path() + "/quick/manifest.json"));
  for (const char* field :
       {"revision", "compiler", "cpu", "simd", "rounding", "seed", "data", "seconds"})
    CHECK(manifest.contains(field));
}

TEST_CASE("every number of a measure stands in claims.json under its own name") {
  Measure measure;
  measure.claim = "C01";
  double next = 1;
  for (double* number : {&measure.estimate, &measure.lower, &measure.upper, &measure.p_value,
                         &measure.p_opposite, &measure.power})
    *number = next++;
  measure.n = 7;
  measure.interval = "98 %";
  measure.power_against = "a share of 0.6";
  measure.power_of_n = true;
  measure.post_hoc = true;
  measure.note = "a note";
  measure.likely_reason = "a reason";
  const JudgedPart part{.part = {.threshold = 8, .tolerance = 9},
                        .measures = {measure, measure},
                        .experiments = {"paper/figure", "paper/table"},
                        .verdict = Verdict::not_reproduced};
  JudgedClaim judged;
  judged.parts = {part};
  PaperVerdicts paper;
  paper.claims = {judged};
  Document document;
  document.papers = {paper};
  const Json claim = claims_json(document)[0];
  next = 1;
  for (const char* key : {"estimate", "lower", "upper", "p_value", "p_opposite", "power", "n",
                          "threshold", "tolerance"})
    CHECK(claim[key] == next++);
  CHECK(claim["interval"] == "98 %");
  CHECK(claim["power_against"] == "a share of 0.6");
  CHECK(claim["power_of_n"] == true);
  CHECK(claim["post_hoc"] == true);
  CHECK(claim["note"] == "a note");
  CHECK(claim["likely_reason"] == "a reason");
  REQUIRE(claim["parts"].size() == 2);
  CHECK(claim["parts"][0]["experiment"] == "paper/figure");
  CHECK(claim["parts"][1]["experiment"] == "paper/table");
}

TEST_CASE("a claim's own numbers in claims.json are those of the part that decides it") {
  const auto part = [](const char* name, double estimate, Verdict verdict) {
    Measure measure;
    measure.claim = "C01";
    measure.part = name;
    measure.estimate = estimate;
    return JudgedPart{.part = {.name = name},
                      .measures = {measure},
                      .experiments = {std::string("of ") + name},
                      .verdict = verdict};
  };
  const auto own = [](std::vector<JudgedPart> parts, Verdict verdict) {
    JudgedClaim judged;
    judged.parts = std::move(parts);
    judged.verdict = verdict;
    judged.claim.id = "C01";
    judged.claim.experiments = {"paper/figure"};
    ClaimFile file;
    file.paper = "paper";
    Document document;
    document.papers.push_back({.file = file, .claims = {judged}});
    const Json claim = claims_json(document)[0];
    CHECK(claim["verdict"] == verdict_name(verdict));
    CHECK(claim["parts"].size() == judged.parts.size());
    return std::pair(claim["estimate"].get<double>(), claim["experiment"].get<std::string>());
  };
  const JudgedPart holds = part("one", 1, Verdict::reproduced),
                   open = part("two", 2, Verdict::undecided),
                   fails = part("three", 3, Verdict::not_reproduced);
  CHECK(own({holds, open, fails}, Verdict::not_reproduced) == std::pair(3.0, "of three"s));
  CHECK(own({holds, open}, Verdict::undecided) == std::pair(2.0, "of two"s));
  CHECK(own({holds, part("four", 4, Verdict::reproduced)}, Verdict::reproduced) ==
        std::pair(1.0, "of one"s));
}

TEST_CASE("what a report says of a paper's claims is read from its claims.json") {
  const TemporaryFolder out;
  reproduce({.out = out.path(), .only = "size=small"}, toy_experiments(), {toy_claims()});
  const std::string path = out.path() + "/quick/report/claims.json";
  std::vector<ClaimFile> files = {toy_claims(), toy_claims()};
  files[1].paper = "another";
  read_committed(path, files);
  const ClaimFile &toys = files[0], &others = files[1];
  REQUIRE(toys.claims[0].committed);
  CHECK(toys.claims[0].committed->verdict == Verdict::reproduced);
  REQUIRE(toys.claims[1].committed);
  CHECK(toys.claims[1].committed->run == 1);
  CHECK(toys.claims[1].committed->parts == 2);
  CHECK_FALSE(others.claims[0].committed);
  read_committed(out.path() + "/none.json", files);
  for (const char* text :
       {"{", "[1]", R"([{"paper": "toy", "id": "T01"}])",
        R"([{"paper": "toy", "id": "T01", "parts": [], "verdict": "proved"}])"}) {
    write_text(path, text);
    CHECK_THROWS_WITH(read_committed(path, files), Catch::StartsWith(path));
  }
}

TEST_CASE("a measure that says that nothing was run does not count as a run") {
  // As of a data set that is not here: neither repeats nor an estimate.
  const Measure none{.claim = "C01", .decidable = false};
  const auto judged = [](const Measure& measure) {
    JudgedClaim claim;
    claim.claim.id = "C01";
    claim.claim.experiments = {"paper/figure"};
    claim.parts.push_back({.part = {}, .measures = {measure}, .experiments = {"paper/figure"}});
    return claim;
  };
  Measure exact = none, counted = none;
  exact.estimate = 0;  // without repeats: what enumeration finds
  counted.n = 3;       // repeats of which none has a number
  CHECK_FALSE(judged(none).measured());
  CHECK(judged(exact).measured());
  CHECK(judged(counted).measured());
  // So does a report that reads it as the committed one.
  const TemporaryFolder out;
  for (const auto& [measure, run] : {std::pair{none, 0}, {exact, 1}, {counted, 1}}) {
    ClaimFile file;
    file.paper = "paper";
    file.claims = {judged(measure).claim};
    Document document;
    document.papers.push_back({.file = file, .claims = {judged(measure)}});
    const std::string path = out.path() + "/claims.json";
    write_text(path, claims_json(document).dump());
    std::vector<ClaimFile> files = {file};
    read_committed(path, files);
    REQUIRE(files[0].claims[0].committed);
    CHECK(files[0].claims[0].committed->run == run);
    CHECK(files[0].claims[0].committed->parts == 1);
  }
}

TEST_CASE("what the committed report says otherwise is told, at the smaller profiles") {
  JudgedClaim judged;
  judged.verdict = Verdict::reproduced;
  CHECK(committed_text(judged, Profile::quick).empty());
  judged.claim.committed = {.verdict = Verdict::reproduced, .parts = 2, .run = 2};
  CHECK(committed_text(judged, Profile::quick).empty());
  judged.claim.committed->run = 1;
  CHECK(committed_text(judged, Profile::quick) == "at paper size, 1 of 2 parts: ✓\u00a0reproduced");
  judged.claim.committed->run = 0;
  CHECK(committed_text(judged, Profile::smoke) == "at paper size: not\u00a0run");
  CHECK(committed_text(judged, Profile::paper).empty());
}

TEST_CASE("the committed report's verdicts stand beside those of the smaller profiles") {
  ClaimFile claims = toy_claims();
  claims.claims[0].committed = {.verdict = Verdict::not_reproduced, .parts = 1, .run = 1};
  claims.claims[1].committed = {.parts = 2};
  for (const Profile profile : {Profile::smoke, Profile::quick, Profile::paper}) {
    const TemporaryFolder out;
    reproduce({.profile = profile, .out = out.path()}, toy_experiments(), {claims});
    const bool beside = profile != Profile::paper;
    for (const char* page : {"toy.html", "report.md"}) {
      const std::string text =
          read_text(out.path() + "/" + profile_name(profile) + "/report/" + page);
      CHECK((text.find("at paper size: ✗\u00a0not reproduced") != std::string::npos) == beside);
      CHECK((text.find("at paper size: not\u00a0run") != std::string::npos) == beside);
    }
  }
}

TEST_CASE("the committed report is one of the claims as they are") {
  const std::vector<ClaimFile> files = read_all_claims();
  std::map<std::string, Json> committed;
  for (const Json& said : Json::parse(read_text(source_path("reports/reference/claims.json"))))
    committed[said.at("paper").get<std::string>() + " " + said.at("id").get<std::string>()] = said;
  std::size_t claims = 0;
  for (const ClaimFile& file : files)
    for (const Claim& claim : file.claims) {
      ++claims;
      INFO(file.paper << " " << claim.id);
      const Json& said = committed.at(file.paper + " " + claim.id);
      CHECK(said.at("statement") == claim.statement);
      CHECK(said.at("statistic") == claim.statistic);
      CHECK(said.at("kind") == std::string(1, claim.kind));
      CHECK(said.at("registered") == claim.registered);
      CHECK(said.value("aside", "") == claim.aside);
      std::vector<std::string> changes, told;
      for (const ClaimChange& change : claim.changes)
        changes.push_back(change.revision + change.reason + change.before + change.after);
      for (const Json& change : said.at("changes"))
        told.push_back(
            change.at("revision").get<std::string>() + change.at("reason").get<std::string>() +
            change.at("before").get<std::string>() + change.at("after").get<std::string>());
      CHECK(told == changes);
      std::set<std::string> asserted, judged;
      for (const ClaimPart& part : claim.parts)
        asserted.insert(fmt::format("{}: {} +- {}", part.name, assertion(part), part.tolerance));
      for (const Json& part : said.at("parts"))
        judged.insert(fmt::format("{}: {} +- {}", part.at("part").get<std::string>(),
                                  part.at("test").get<std::string>(),
                                  part.at("tolerance").get<double>()));
      CHECK(judged == asserted);
    }
  CHECK(committed.size() == claims);
}

TEST_CASE("the committed report was made at a clean revision") {
  CHECK_THAT(read_text(source_path("reports/reference/index.html")),
             !Catch::Contains("+changes ·"));
}

TEST_CASE("the README counts the verdicts of the committed report, changed claims apart") {
  std::map<std::string, std::map<std::string, std::pair<int, int>>> counts;
  for (const Json& said : Json::parse(read_text(source_path("reports/reference/claims.json")))) {
    auto& [registered, changed] = counts[said.at("paper")][said.at("verdict")];
    ++(said.at("changes").empty() ? registered : changed);
  }
  const std::string readme = read_text(source_path("README.md"));
  for (auto& [paper, of] : counts) {
    int all = 0;
    const auto cell = [&](const char* verdict) {
      const auto& [registered, changed] = of[verdict];
      all += registered + changed;
      return changed > 0 ? fmt::format("{} + {}", registered, changed) : std::to_string(registered);
    };
    const std::string cells =
        fmt::format("{} | {} | {} | {}", cell("reproduced"), cell("not reproduced"),
                    cell("undecided"), cell("reported"));
    CHECK_THAT(readme, Catch::Contains(fmt::format("\n| {} | {} | {} |\n", paper, all, cells)));
  }
}

TEST_CASE("the README names the claims that are none of their papers'") {
  const std::string readme = read_text(source_path("README.md"));
  int asides = 0;
  for (const ClaimFile& file : read_all_claims()) {
    std::string ids;
    for (const Claim& claim : file.claims) {
      if (claim.aside.empty()) continue;
      ids += (ids.empty() ? " " : ", ") + claim.id;
      ++asides;
    }
    if (!ids.empty()) CHECK_THAT(readme, Catch::Contains("`" + file.paper + "`" + ids + "."));
  }
  CHECK(asides > 0);
}

TEST_CASE("seconds stand in the manifest and the trials alone, never in a CSV file") {
  const TemporaryFolder out;
  auto experiments = toy_experiments();
  experiments[0].summarise = [](const Results&, Summary& summary) {
    summary.add(Table{.name = "times", .caption = "", .columns = {{"s", "s"}}, .timing = true});
  };
  reproduce({.out = out.path()}, experiments, {toy_claims()});
  CHECK_THROWS_AS(read_text(out.path() + "/quick/toy/one/times.csv"), DataError);
}

}  // namespace
}  // namespace boltzmark::experiments

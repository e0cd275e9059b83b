// Texts that gnuplot is given, and a gnuplot that fails.
#include "experiments/kit/report/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>

#include "experiments/kit/printable.hpp"
#include "experiments/kit/subprocess.hpp"
#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/cli/program.hpp"

namespace boltzmark::experiments {
namespace {

using namespace std::chrono_literals;
using cli_test::Run;
using io_test::Folder;

constexpr const char* kReplacement = "\xEF\xBF\xBD";

/// Every printable character, and what ends strings, lines and commands.
std::vector<std::string> hostile_texts() {
  std::string printable;
  for (char c = 0x20; c < 0x7f; ++c) printable += c;
  std::string bytes;
  for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
  return {printable,
          bytes,
          "'; system('touch ran'); x='",
          "\nsystem(\"touch ran\")\n",
          "`touch ran`",
          "\"; system(\"touch ran\"); \"",
          "\\'; system('touch ran') #",
          "@ran",
          "'''",
          "a''b",
          "a'''; system('touch ran')#",
          "'",
          "''",
          "\\",
          "\\\n",
          "\xF0\x9F",
          "a\rb",
          "EOD\nsystem('touch ran')\n"};
}

Figure figure_of(const std::string& text) {
  Figure figure{.name = "f", .caption = text};
  figure.panels.push_back({.title = text,
                           .x = {.label = text, .ticks = {{text, 1}}},
                           .y = {text},
                           .series = {{.label = text, .x = {1, 2}, .y = {1, 3}}},
                           .guides = {{.at = 2, .label = text}}});
  return figure;
}

/// A folder whose `gnuplot` is a shell script.
std::string fake_gnuplot(const Folder& folder, const std::string& body) {
  std::filesystem::create_directory(folder / "bin");
  const std::string path = folder.write("bin/gnuplot", "#!/bin/sh\n" + body + "\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return folder / "bin";
}

/// compare on a small model, into `out`.
Run compare(const Folder& folder, const std::string& model, const std::string& out,
            const cli_test::Environment& environment = {}) {
  const std::string path = cli_test::saved(cli_test::random_rbm(4, 3, 0.5, 1), folder / "m.npz");
  if (model != "m.npz") std::filesystem::rename(path, folder / model);
  return cli_test::run({"compare", folder / model, "--out", out, "--methods", "ais", "--sweeps",
                        "10,20", "--repeats", "2"},
                       environment);
}

}  // namespace

TEST_CASE("a point's interval is drawn from its lower to its upper limit, however far each is") {
  const Panel panel{
      .x = {.label = "x"},
      .y = {.label = "y"},
      .series = {{.label = "s", .x = {1, 2}, .y = {5, 6}, .lower = {4, 3}, .upper = {8, 7}},
                 {.label = "t", .x = {3}, .y = {9}}}};
  CHECK_THAT(
      panel_script(panel, "p.svg", 600, 400),
      Catch::Contains("EOD\n1 5 4 8\n2 6 3 7\nEOD\n") && Catch::Contains("EOD\n3 9 9 9\nEOD\n"));
}

TEST_CASE("bands lie between the limits of a curve, and strokes from the lower to the upper one") {
  // Columns: x, y and the limits; a vector is given by its start and what is added to that.
  Panel panel{
      .x = {.label = "x"},
      .y = {.label = "y"},
      .series = {{.label = "s", .x = {1, 2}, .y = {5, 6}, .lower = {4, 3}, .upper = {8, 7}}}};
  const auto drawn_as = [&](Mark mark) {
    panel.series[0].mark = mark;
    return panel_script(panel, "p.svg", 600, 400);
  };
  for (const Mark mark : {Mark::line, Mark::dashed, Mark::dotted})
    CHECK_THAT(drawn_as(mark), Catch::Contains("$d0 using 1:3:4 with filledcurves"));
  for (const Mark mark : {Mark::points, Mark::line_points, Mark::bars})
    CHECK_THAT(drawn_as(mark), Catch::Contains("$d0 using 1:3:(0):($4-$3) with vectors nohead"));
}

TEST_CASE("lines that share a colour differ by their strokes") {
  Panel panel{.x = {.label = "x"}, .y = {.label = "y"}};
  for (int s = 0; s < 9; ++s)
    panel.series.push_back({.label = fmt::format("s{}", s), .x = {1, 2}, .y = {5, 6}});
  panel.series[8].colour = 3;
  const std::string script = panel_script(panel, "p.svg", 600, 400);
  const auto drawn_as = [&](int s, const std::string& dash, int colour) {
    return Catch::Contains(
        fmt::format("$d{} using 1:2 with lines lw 2 dt {} lc rgb palette[{}]", s, dash, colour));
  };
  CHECK_THAT(script, drawn_as(0, "solid", 1) && drawn_as(6, "solid", 7) &&
                         drawn_as(7, "(14,4,3,4)", 1) && drawn_as(8, "solid", 4));
}

TEST_CASE("points beyond an axis are marked at its edge and counted, none is dropped silently") {
  Figure figure{.name = "f", .caption = "c"};
  figure.panels.push_back({.x = {.label = "x"},
                           .y = {.label = "y", .low = -110, .high = -45},
                           .series = {{.label = "AIS",
                                       .x = {1, 2, 3, 4},
                                       .y = {-100, 4.4, -221, -50},
                                       .mark = Mark::points}}});
  CHECK(beyond_text(figure) ==
        " 2 points lie beyond the axes: each stretch of them is marked at the edge.");
  const std::string script = panel_script(figure.panels[0], "f.svg", 600, 360);
  CHECK_THAT(script, Catch::Contains("$de0 << EOD\n2 -45 9\n3 -110 11\nEOD"));
  CHECK_THAT(script, Catch::Contains("$de0 using 1:2:3 with points pt variable"));
  figure.panels[0].series[0].mark = Mark::line;  // a curve: once where it leaves
  figure.panels[0].series[0].y = {-100, 5, 6, -50};
  CHECK_THAT(panel_script(figure.panels[0], "f.svg", 600, 360),
             Catch::Contains("$de0 << EOD\n2 -45 9\nEOD"));
  figure.panels[0].y = {.label = "y"};
  CHECK(beyond_text(figure).empty());
  CHECK_THAT(panel_script(figure.panels[0], "f.svg", 600, 360), !Catch::Contains("$de0"));
  figure.panels[0].y.log = true;
  CHECK(beyond_text(figure) == " 2 points are not positive and not on the logarithmic axis.");
}

TEST_CASE(
    "the interval of a point within the axes that reaches beyond them is counted and marked") {
  Figure figure{.name = "f", .caption = "c"};
  figure.panels.push_back({.x = {.label = "x"},
                           .y = {.label = "y", .low = 0, .high = 1},
                           .series = {{.label = "s",
                                       .x = {1, 2, 3, 4},
                                       .y = {0.5, 0.9, 0.2, 3},
                                       .lower = {0.4, 0.8, -0.1, 2},
                                       .upper = {0.6, 1.2, 1.1, 4},
                                       .mark = Mark::points}}});
  // Of the fourth the point itself lies beyond.
  CHECK(beyond_text(figure) ==
        " 1 point lies beyond the axes: marked at the edge."
        " 2 intervals reach beyond the axes: hollow marks at the edge.");
  const auto script = [&] { return panel_script(figure.panels[0], "f.svg", 600, 360); };
  CHECK_THAT(script(), Catch::Contains("$de0 << EOD\n4 1 9\n3 0 10\n2 1 8\n3 1 8\nEOD"));
  figure.panels[0].series[0].mark = Mark::line;  // a band: once where it leaves
  CHECK_THAT(script(), Catch::Contains("$de0 << EOD\n4 1 9\n3 0 10\n2 1 8\nEOD"));
  figure.panels[0].series[0].upper[1] = 1 + 1e-12;  // rounding
  figure.panels[0].series[0].upper[2] = 1;
  CHECK_THAT(beyond_text(figure), Catch::EndsWith("1 interval reaches beyond the axes: a hollow "
                                                  "mark at the edge."));
}

TEST_CASE("an interval that reaches to zero ends at the least value of a logarithmic axis") {
  Figure figure{.name = "f", .caption = "c"};
  figure.panels.push_back({.x = {.label = "x"},
                           .y = {.label = "y", .log = true},
                           .series = {{.label = "s",
                                       .x = {1, 2},
                                       .y = {5, 4},
                                       .lower = {0, 2},
                                       .upper = {6, 5},
                                       .mark = Mark::points}}});
  CHECK(beyond_text(figure) == " 1 interval reaches beyond the axes: a hollow mark at the edge.");
  CHECK_THAT(
      panel_script(figure.panels[0], "f.svg", 600, 360),
      Catch::Contains("EOD\n1 5 2 6\n2 4 2 5\nEOD") && Catch::Contains("$de0 << EOD\n1 2 10\nEOD"));
}

TEST_CASE(
    "an infinite value stands at the end that its axis is given, and is counted without one") {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  Figure figure{.name = "f", .caption = "c"};
  figure.panels.push_back(
      {.x = {.label = "x"},
       .y = {.label = "y", .log = true, .low = 0.05, .high = 50},
       .series = {{.label = "s", .x = {1, 2, 3}, .y = {1, kInfinite, 0}, .mark = Mark::points}}});
  CHECK(beyond_text(figure) ==
        " 2 points lie beyond the axes: each stretch of them is marked at the edge.");
  CHECK_THAT(panel_script(figure.panels[0], "f.svg", 600, 360),
             Catch::Contains("EOD\n1 1 1 1\n2 nan nan nan\n3 nan nan nan\nEOD") &&
                 Catch::Contains("$de0 << EOD\n2 50 9\n3 0.05 11\nEOD"));
  figure.panels[0].y = {.label = "y"};
  CHECK(beyond_text(figure) == " 1 point is infinite and not on the axis.");
}

TEST_CASE("a bar that is cut off is marked where it stands beside the others") {
  // Two series: bars 0.4 wide, 0.2 to the left and to the right.
  Panel panel{.x = {.label = "x"}, .y = {.label = "y", .low = 0, .high = 2}};
  for (const char* label : {"a", "b"})
    panel.series.push_back({.label = label, .x = {1, 2}, .y = {3, 4}, .mark = Mark::bars});
  CHECK_THAT(panel_script(panel, "f.svg", 600, 360),
             Catch::Contains("$de0 << EOD\n0.8 2 9\n1.8 2 9\nEOD") &&
                 Catch::Contains("$de1 << EOD\n1.2 2 9\n2.2 2 9\nEOD"));
}

TEST_CASE("a line is made printable by its controls and by what is no UTF-8, and by nothing else") {
  std::string printable = "p₁ → π … 中文 😀 ";
  for (char c = 0x20; c < 0x7f; ++c) printable += c;
  CHECK(printable_line(printable) == printable);
  for (int c = 0; c < 0x20; ++c)
    CHECK(printable_line(std::string("a") + static_cast<char>(c) + "b") == "a b");
  CHECK(printable_line("a\x7F\xC2\x85z") == "a  z");  // DEL and the newline of C1
  // Lone, cut short, too long, a surrogate, beyond the last, and no character of XML.
  for (const char* bad : {"\x80", "\xFF", "\xC3", "\xE2\x82", "\xF0\x9F\x98"})
    CHECK_THAT(printable_line(bad), Catch::StartsWith(kReplacement));
  CHECK(printable_line("\xC3(") == std::string(kReplacement) + "(");
  for (const char* bad : {"\xE0\x80\xAF", "\xED\xA0\x80", "\xEF\xBF\xBF"})
    CHECK(printable_line(bad) == std::string(kReplacement) + kReplacement + kReplacement);
  CHECK_THAT(printable_line("\xC0\xAF"), Catch::StartsWith(kReplacement));
  CHECK_THAT(printable_line("\xF4\x90\x80\x80"), Catch::StartsWith(kReplacement));
}

TEST_CASE("no text leaves its string in a script of gnuplot") {
  CHECK(gnuplot_string("its") == "'its'");
  CHECK(gnuplot_string("it's") == R"('it' . "'" . 's')");
  CHECK(gnuplot_string("a\\") == "'a\\'");
  CHECK(gnuplot_string("") == "''");
  CHECK(gnuplot_string("a'\nsystem(\"ls\")") == R"('a' . "'" . ' system("ls")')");
  const std::string joint = R"(' . "'" . ')";
  for (const std::string& text : hostile_texts()) {
    std::string quoted = gnuplot_string(text);
    INFO(quoted);
    for (std::size_t at = 0; (at = quoted.find(joint, at)) != std::string::npos;)
      quoted.replace(at, joint.size(), "\x01");
    CHECK(quoted.find_first_of("\n\r") == std::string::npos);
    CHECK(std::count(quoted.begin(), quoted.end(), '\'') == 2);
    std::replace(quoted.begin(), quoted.end(), '\x01', '\'');
    CHECK(quoted == "'" + printable_line(text) + "'");
  }
}

TEST_CASE(
    "gnuplot prints a quoted text as it is, and draws labels of any text without running it") {
  const Folder folder;
  for (const std::string& text : hostile_texts()) {
    INFO(gnuplot_string(text));
    const ProgramResult printed =
        run_program({"gnuplot", "-e", "print " + gnuplot_string(text)}, folder / ".");
    CHECK(printed.status == 0);
    CHECK(printed.output == printable_line(text) + "\n");
    const auto pictures = draw_figure(figure_of(plain_label(text)), folder / ".");
    REQUIRE(pictures.size() == 1);
    CHECK_FALSE(std::filesystem::exists(folder / "ran"));
  }
  CHECK(draw_figure(figure_of(plain_label("a_b^c{d}@e&f~g")), folder / ".")
            .front()
            .find("a_b^c{d}@e&amp;f~g") != std::string::npos);
}

TEST_CASE("a folder of any name keeps its figures, and nothing in it is run") {
  const Folder folder;
  for (const std::string& name :
       {std::string("it's"), std::string("q'; system('touch ran'); x='"), std::string("a\"b\\"),
        std::string("two\nlines"), std::string("`touch ran`"), std::string("\xFF")}) {
    INFO(name);
    const std::string out = folder / name;
    std::filesystem::create_directory(out);
    REQUIRE(draw_figure(figure_of("x"), out).size() == 1);
    CHECK(std::filesystem::exists(out + "/f.svg"));
    CHECK_FALSE(std::filesystem::exists(out + "/f.gp"));
    CHECK_FALSE(std::filesystem::exists(out + "/ran"));
    CHECK_FALSE(std::filesystem::exists("ran"));
  }
}

TEST_CASE(
    "compare runs no command that a model's name or its folder holds, and draws its figures") {
  const Folder folder;
  const std::string mark = folder / "ran";
  const std::string out = folder / "q'; system('touch ran'); x='";
  for (const std::string& name :
       {std::string("m\nsystem(\"touch ran\")\n.npz"), std::string("it's_`touch ran`.npz")}) {
    const Run result = compare(folder, name, out);
    INFO(result.err);
    CHECK(result.code == 0);
    CHECK(result.err.find("missing") == std::string::npos);
    for (const char* file : {"compare.csv", "rmse.svg", "bias.svg"})
      CHECK(std::filesystem::exists(out + "/" + file));
    CHECK_FALSE(std::filesystem::exists(mark));
    CHECK_FALSE(std::filesystem::exists(out + "/ran"));
    CHECK_FALSE(std::filesystem::exists("ran"));
  }
}

TEST_CASE("what a terminal would obey in the name of a folder is told as text") {
  const Folder folder;
  const Run made = compare(folder, "m.npz", folder / "\x1b[31mred");
  REQUIRE(made.code == 0);
  CHECK_THAT(made.out, Catch::Contains("Written: ") && Catch::Contains(" [31mred/"));
  CHECK((made.out + made.err).find('\x1b') == std::string::npos);
}

TEST_CASE("reproduce draws its figures into a folder of any name, and runs nothing in it") {
  const Folder folder;
  for (const std::string& name :
       {std::string("it's"), std::string("q'; system('touch ran'); x='")}) {
    const std::string out = folder / name;
    for (const std::string item : {"fig1", "fig2"}) {  // by a script and by panels
      const Run result =
          cli_test::run({"reproduce", "bruegge2013/" + item, "--profile", "smoke", "--out", out});
      INFO(result.err);
      CHECK(result.code == 0);
      CHECK_THAT(result.out, Catch::Contains("report  " + out + "/smoke/report/index.html"));
      bool drawn = false;
      for (const auto& file :
           std::filesystem::directory_iterator(out + "/smoke/bruegge2013/" + item))
        drawn = drawn || file.path().extension() == ".svg";
      CHECK(drawn);
      CHECK_FALSE(std::filesystem::exists(out + "/smoke/bruegge2013/" + item + "/ran"));
      CHECK_FALSE(std::filesystem::exists("ran"));
    }
  }
}

TEST_CASE("a program of the folder that it would run in is not taken, whatever the PATH says") {
  const Folder folder;
  const std::string trap = fake_gnuplot(folder, "echo trapped");
  const std::string path = std::getenv("PATH");
  for (const std::string& relative : {std::string("."), std::string(), std::string("../bin")}) {
    setenv("PATH", (relative + ":" + path).c_str(), 1);
    const ProgramResult result = run_program({"gnuplot", "--version"}, trap);
    setenv("PATH", path.c_str(), 1);
    CHECK(result.status == 0);
    CHECK(result.output.starts_with("gnuplot "));
  }
  setenv("PATH", trap.c_str(), 1);
  const ProgramResult own = run_program({"gnuplot", "--version"}, ".");
  setenv("PATH", path.c_str(), 1);
  CHECK(own.output == "trapped\n");
  CHECK(run_program({"no such program"}).status == 127);
}

TEST_CASE("a program that hangs is ended at its limit, whether it has closed its output or not") {
  // However slow the machine, `sleep` would take ten minutes.
  for (const std::string script : {"exec sleep 600", "exec >/dev/null 2>&1; exec sleep 600"}) {
    const auto start = std::chrono::steady_clock::now();
    const ProgramResult result = run_program({"sh", "-c", script}, ".", 50ms);
    CHECK(result.timed_out);
    CHECK(result.status == 128 + 9);
    CHECK(std::chrono::steady_clock::now() - start < 300s);
  }
  const ProgramResult done = run_program({"sh", "-c", "echo yes; exit 3"});
  CHECK_FALSE(done.timed_out);
  CHECK(done.status == 3);
  CHECK(done.output == "yes\n");
}

TEST_CASE("a gnuplot that hangs is ended, and leaves neither a picture nor its script") {
  const Folder folder;
  REQUIRE(draw_figure(figure_of("x"), folder / ".").size() == 1);
  const std::string path = std::getenv("PATH");
  setenv("PATH", (fake_gnuplot(folder, "exec sleep 600") + ":" + path).c_str(), 1);
  CHECK_THROWS_WITH(draw_figure(figure_of("x"), folder / ".", 50ms),
                    Catch::Contains("took longer than 0.05 s") && Catch::Contains("f.svg"));
  // Those after it have no whole minute.
  CHECK_THROWS_WITH(draw_figure(figure_of("x"), folder / "."),
                    Catch::Contains("took longer than 2 s"));
  setenv("PATH", path.c_str(), 1);
  CHECK_FALSE(std::filesystem::exists(folder / "f.svg"));
  CHECK_FALSE(std::filesystem::exists(folder / "f.gp"));
}

TEST_CASE(
    "compare prints its table where gnuplot is missing or fails, and says which figures are") {
  const Folder folder;
  const std::string out = folder / "out";
  REQUIRE(compare(folder, "m.npz", out).code == 0);
  REQUIRE(std::filesystem::exists(out + "/rmse.svg"));
  std::filesystem::create_directory(folder / "empty");
  const std::string failing = fake_gnuplot(folder, "echo broken; exit 1");
  for (const auto& [path, reason] : {std::pair{folder / "empty", "not installed"},
                                     std::pair{failing, "gnuplot failed: broken"}}) {
    const Run result = compare(folder, "m.npz", out, {{"PATH", path}});
    INFO(result.out << result.err);
    CHECK(result.code == 0);
    CHECK_THAT(result.out, Catch::Contains("True log Z") && Catch::Contains("estimates.csv"));
    CHECK(result.out.find(".svg") == std::string::npos);
    CHECK_THAT(result.err, Catch::Contains("figure rmse is missing") && Catch::Contains(reason));
    CHECK(std::filesystem::exists(out + "/compare.csv"));
    CHECK_FALSE(std::filesystem::exists(out + "/rmse.svg"));  // a former run's
    CHECK_FALSE(std::filesystem::exists(out + "/rmse.gp"));
  }
}

TEST_CASE("a picture that was not written whole is an error, and none is left") {
  const Folder folder;
  const std::string out = folder / "out",
                    cut = fake_gnuplot(folder,
                                       "for f in *.gp; do printf '<svg' > \"${f%.gp}.svg\"; done"),
                    path = std::getenv("PATH");
  const Run result = compare(folder, "m.npz", out, {{"PATH", cut + ":" + path}});
  INFO(result.err);
  CHECK(result.code == 1);
  CHECK_THAT(result.err, Catch::Contains(".svg") && Catch::Contains("must have room on the disk"));
  CHECK_FALSE(std::filesystem::exists(out + "/rmse.svg"));
  CHECK_FALSE(std::filesystem::exists(out + "/bias.svg"));
}

}  // namespace boltzmark::experiments

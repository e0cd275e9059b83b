// The manual page and the completions against --help: they are made of the same tables.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <sstream>

#include "verification/interface/cli/program.hpp"

namespace {

using namespace cli_test;

// The first words of the lines of a part of a help, indented by two.
std::vector<std::string> listed_in(const std::string& help, const std::string& part) {
  std::istringstream text(help.substr(help.find("\n" + part + "\n") + part.size() + 2));
  std::vector<std::string> words;
  for (std::string line; std::getline(text, line) && !line.empty();)
    if (line.starts_with("  ") && line.at(2) != ' ')
      words.push_back(line.substr(2, line.find(' ', 2) - 2));
  return words;
}

std::vector<std::string> all_commands() { return listed_in(run({"--help"}).out, "Commands"); }

std::vector<std::string> options_in_help(const std::string& command) {
  return listed_in(run({command, "--help"}).out, "Options");
}

std::string made_page(const std::string& name) {
  const Run made = run({"help", name});
  REQUIRE(made.code == 0);
  CHECK(made.err.empty());
  return made.out;
}

bool is_there(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

// What bash would offer after some words, the last of which is begun.
std::string offered_by_bash(const io_test::Folder& folder, const std::string& words) {
  const std::string script = "source " + folder.write("c.bash", made_page("bash")) +
                             "; COMP_WORDS=(" + words +
                             "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _boltzmark; "
                             "printf '%s ' \"${COMPREPLY[@]}\"";
  const std::string file = folder.write("ask.bash", script);
  REQUIRE(std::system(("bash --norc " + file + " >" + (folder / "said")).c_str()) == 0);
  return io_test::read_all(folder / "said");
}

std::string joined_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + " ";
  return text;
}

// The part of a text from one mark to the next of its kind.
std::string part_of(const std::string& text, const std::string& mark, const std::string& next) {
  const std::size_t at = text.find(mark);
  REQUIRE(at != std::string::npos);
  return text.substr(at, text.find(next, at + mark.size()) - at);
}

}  // namespace

TEST_CASE(
    "the manual page and the completions of zsh and fish have every option of every command") {
  const std::string man = made_page("man"), zsh = made_page("zsh"), fish = made_page("fish");
  REQUIRE(all_commands().size() >= 16);
  for (const std::string& command : all_commands()) {
    const std::string section = part_of(man, "\n.SS " + command + "\n", "\n.S");
    const std::string branch = part_of(zsh, "\n  " + command + ")\n", "\n    ;;\n");
    CHECK(fish.find(" -a " + command + " -d ") != std::string::npos);
    const std::vector<std::string> options = options_in_help(command);
    REQUIRE(options.size() >= 4);  // those of every command
    for (const std::string& option : options) {
      INFO(command << " " << option);
      std::string bold = "\n.TP\n.B ";
      for (const char c : option) bold += c == '-' ? "\\-" : std::string(1, c);
      CHECK((section.find(bold + " ") != std::string::npos ||
             section.find(bold + "\n") != std::string::npos));
      CHECK((branch.find("'" + option + "[") != std::string::npos ||
             branch.find("'*" + option + "[") != std::string::npos));
      CHECK(fish.find("__fish_seen_subcommand_from " + command + "' -l " + option.substr(2) +
                      " ") != std::string::npos);
    }
  }
}

TEST_CASE("completions have the words that an option takes, and the manual page no text twice") {
  const std::string fish = made_page("fish"), zsh = made_page("zsh"), man = made_page("man");
  CHECK(fish.find(" -l profile -x -a 'smoke quick paper' -d ") != std::string::npos);
  CHECK(fish.find(" -l seed -r -d ") != std::string::npos);
  CHECK(fish.find(" -l quiet -d ") != std::string::npos);
  CHECK(zsh.find(":(smoke quick paper)'") != std::string::npos);
  const std::string sentence = "Exit code 3 if a check does not hold.";
  std::string flat = man;
  std::replace(flat.begin(), flat.end(), '\n', ' ');
  const std::size_t at = flat.find(sentence);
  REQUIRE(at != std::string::npos);
  CHECK(flat.find(sentence, at + 1) == std::string::npos);
}

TEST_CASE(
    "bash offers the commands, the options of a command, and the words that an option takes") {
  const io_test::Folder folder;
  CHECK(offered_by_bash(folder, "boltzmark ''") == "help " + joined_words(all_commands()));
  CHECK(offered_by_bash(folder, "boltzmark sp") == "spectrum ");
  for (const std::string& command : all_commands()) {
    INFO(command);
    CHECK(offered_by_bash(folder, "boltzmark " + command + " --") ==
          joined_words(options_in_help(command)));
  }
  CHECK(offered_by_bash(folder, "boltzmark reproduce --profile ''") == "smoke quick paper ");
  CHECK(offered_by_bash(folder, "boltzmark reproduce --profile q") == "quick ");
  CHECK(offered_by_bash(folder, "boltzmark exact m") == " ");  // a file: bash's own
}

TEST_CASE(
    "every shell that is there takes its completions, and the manual page is read without a warning") {
  const io_test::Folder folder;
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const std::string file = folder.write("completions." + shell, made_page(shell));
    INFO(shell);
    if (is_there(shell)) CHECK(std::system((shell + " -n " + file).c_str()) == 0);
  }
  const std::string man = folder.write("boltzmark.1", made_page("man"));
  if (!is_there("groff")) return;
  REQUIRE(std::system(("groff -k -man -Tutf8 -wall " + man + " >" + (folder / "page") + " 2>" +
                       (folder / "said"))
                          .c_str()) == 0);
  CHECK(io_test::read_all(folder / "said").empty());
}

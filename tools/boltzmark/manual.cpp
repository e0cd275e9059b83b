#include "manual.hpp"

#include <fmt/format.h>

#include "experiments/kit/printable.hpp"

namespace boltzmark::cli {
namespace {

using experiments::escaped;

std::string options_of(const Command& command) {
  std::string names;
  for (const Argument& argument : command.arguments())
    if (argument.is_option()) names += (names.empty() ? "" : " ") + argument.name;
  return names;
}

std::string names_of(const Commands& commands) {
  std::string names = "help";
  for (const Command* command : commands) names += " " + command->name();
  return names;
}

// Text of roff: a line must not begin as a request does.
std::string roff(const std::string& text) {
  std::string out, line;
  for (const char c : text + '\n') {
    if (c != '\n') {
      line += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
      continue;
    }
    out += (line.starts_with('.') || line.starts_with('\'') ? "\\&" : "") + line + '\n';
    line.clear();
  }
  return out;
}

std::string roff_as_it_stands(const std::string& text) { return ".nf\n" + roff(text) + ".fi\n"; }

std::string man_section(const Command& command) {
  std::string text = fmt::format(".SS {}\n", command.name());
  text += ".B " + roff(command.usage()) + ".PP\n" + roff(command.texts().about);
  for (const Argument& argument : command.arguments())
    text += ".TP\n.B " + roff(argument.shown) + roff(argument.help);
  if (!command.texts().notes.empty()) text += ".PP\n" + roff_as_it_stands(command.texts().notes);
  for (const std::string& example : command.texts().examples)
    text += ".PP\n" + roff_as_it_stands("    " + example);
  return text;
}

// 'text' of bash and zsh, whatever quotes are in it.
std::string shell_quoted(const std::string& text) { return "'" + escaped(text, "'", "'\\'") + "'"; }

// --option[help]:VALUE:action of zsh's _arguments.
std::string zsh_argument(const Argument& argument) {
  const auto plain = [](const std::string& text) { return escaped(text, "[]:\\", "\\"); };
  if (!argument.is_option())
    return fmt::format("{}:{}:_files", argument.many ? "*" : "", plain(argument.shown));
  std::string text = (argument.many ? "*" : "") + argument.name + "[" + plain(argument.help) + "]";
  if (argument.flag) return text;
  const std::string value = argument.shown.substr(argument.name.size() + 1);
  return text + ":" + plain(value) + ":" +
         (argument.choices.empty() ? "_files"
                                   : fmt::format("({})", fmt::join(argument.choices, " ")));
}

std::string fish_quoted(const std::string& text) { return "'" + escaped(text, "\\'", "\\") + "'"; }

std::string fish_argument(const Command& command, const Argument& argument) {
  std::string text = fmt::format("complete -c boltzmark -n '__fish_seen_subcommand_from {}' -l {}",
                                 command.name(), argument.name.substr(2));
  if (!argument.choices.empty())
    text += fmt::format(" -x -a '{}'", fmt::join(argument.choices, " "));
  else if (!argument.flag)
    text += " -r";
  return text + " -d " + fish_quoted(argument.help) + "\n";
}

}  // namespace

std::string man_page(const Commands& commands, const std::string& closing) {
  std::string text =
      ".TH BOLTZMARK 1 \"\" \"boltzmark " BOLTZMARK_VERSION
      "\" \"User commands\"\n"
      ".SH NAME\nboltzmark \\- a benchmark and verification suite for Boltzmann machines\n"
      ".SH SYNOPSIS\n.B boltzmark\n.I COMMAND\n[arguments] [options]\n.SH COMMANDS\n";
  for (const Command* command : commands) text += man_section(*command);
  return text + ".SH ALL COMMANDS\n" + roff_as_it_stands(closing);
}

std::string bash_completions(const Commands& commands) {
  std::string options, words;
  for (const Command* command : commands) {
    options += fmt::format("    {}) options='{}' ;;\n", command->name(), options_of(*command));
    for (const Argument& argument : command->arguments())
      if (!argument.choices.empty())
        words += fmt::format("    '{} {}') words='{}' ;;\n", command->name(), argument.name,
                             fmt::join(argument.choices, " "));
  }
  return fmt::format(
      "# Completions of boltzmark for bash, as `boltzmark help bash` prints them.\n"
      "_boltzmark() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} options='' words=''\n"
      "  case ${{COMP_WORDS[1]}} in\n{}  esac\n"
      "  case \"${{COMP_WORDS[1]}} ${{COMP_WORDS[COMP_CWORD - 1]}}\" in\n{}  esac\n"
      "  ((COMP_CWORD == 1)) && words='{}'\n"
      "  [[ -z $words && $word == -* ]] && words=$options\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "}}\n"
      "complete -o default -F _boltzmark boltzmark\n",
      options, words, names_of(commands));
}

std::string zsh_completions(const Commands& commands) {
  std::string names, cases;
  for (const Command* command : commands) {
    names += "    " + shell_quoted(escaped(command->name(), ":", "\\") + ":" + command->summary()) +
             "\n";
    cases += fmt::format("  {})\n    _arguments -s", command->name());
    for (const Argument& argument : command->arguments())
      cases += " \\\n      " + shell_quoted(zsh_argument(argument));
    cases += "\n    ;;\n";
  }
  return fmt::format(
      "#compdef boltzmark\n"
      "# Completions of boltzmark for zsh, as `boltzmark help zsh` prints them.\n"
      "if ((CURRENT == 2)); then\n  local -a names\n  names=(\n{}  )\n"
      "  _describe command names\n  return\nfi\n"
      "shift words\n((CURRENT--))\ncase $words[1] in\n{}esac\n",
      names, cases);
}

std::string fish_completions(const Commands& commands) {
  std::string text = "# Completions of boltzmark for fish, as `boltzmark help fish` prints them.\n";
  for (const Command* command : commands)
    text += fmt::format("complete -c boltzmark -f -n __fish_use_subcommand -a {} -d {}\n",
                        command->name(), fish_quoted(command->summary()));
  for (const Command* command : commands)
    for (const Argument& argument : command->arguments())
      if (argument.is_option()) text += fish_argument(*command, argument);
  return text;
}

}  // namespace boltzmark::cli

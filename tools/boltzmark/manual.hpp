#pragma once

#include <string>
#include <vector>

#include "command.hpp"

namespace boltzmark::cli {

/// What stands behind `boltzmark help man|bash|zsh|fish`: texts made of the tables that make --help.
using Commands = std::vector<const Command*>;

/// Writes the manual page boltzmark(1); `closing` is what the program's help says of all commands.
std::string man_page(const Commands& commands, const std::string& closing);

/// Writes completions of commands, their options and the words that options take.
std::string bash_completions(const Commands& commands);
std::string zsh_completions(const Commands& commands);
std::string fish_completions(const Commands& commands);

}  // namespace boltzmark::cli

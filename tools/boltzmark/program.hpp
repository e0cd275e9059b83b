#pragma once

#include <memory>
#include <string>
#include <vector>

#include "command.hpp"

namespace boltzmark::cli {

/// The program: its commands, its parser and its exit codes.
///   0 done; 2 bad usage or input; 3 an exact check or an exact claim does not hold; 4 an
///   estimate that is not ok, with --strict; 1 anything else, Ctrl-C too. Errors are one line on stderr.
class Program {
 public:
  /// Adds a command; --json, --quiet, --threads and --help come with every one.
  Command& command(CommandTexts texts);
  /// Parses the arguments, does the work and returns the exit code.
  int run(const std::vector<std::string>& arguments);

 private:
  std::string help() const;
  /// Prints what `help` has besides commands: conventions, man, bash, zsh, fish; false: no such page.
  bool print_page(const std::string& name) const;
  int run_rank_0(const std::vector<std::string>& arguments);
  int dispatch(const std::vector<std::string>& arguments);
  int run_command(Command& command, std::vector<std::string> arguments) const;
  Command& find(const std::string& name) const;

  std::vector<std::unique_ptr<Command>> commands_;
};

// Each adds one command; their files have the same names.
void add_list(Program& program);
void add_doctor(Program& program);
void add_describe(Program& program);
void add_convert(Program& program);
void add_make(Program& program);
void add_exact(Program& program);
void add_spectrum(Program& program);
void add_estimate(Program& program);
void add_modes(Program& program);
void add_compare(Program& program);
void add_score(Program& program);
void add_train(Program& program);
void add_sample(Program& program);
void add_verify(Program& program);
void add_reproduce(Program& program);
void add_report(Program& program);

}  // namespace boltzmark::cli

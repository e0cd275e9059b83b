#include "program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <list>
#include <map>
#include <new>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/memory.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/core/simd.hpp"
#include "conventions.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/ranks/equal_ranks.hpp"
#include "experiments/kit/ranks/launcher.hpp"
#include "experiments/kit/ranks/mpi_transport.hpp"
#include "experiments/kit/run/interrupt.hpp"
#include "manual.hpp"
#include "output.hpp"

namespace boltzmark::cli {
namespace {

/// Bad usage: the message says what is wrong and what it must be.
class UsageError : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
};

using Values = std::map<std::string, std::vector<std::string>>;

// Turns CLI11's parse errors into one line of ours.
[[noreturn]] void refuse_parse(const Command& command, const CLI::ParseError& error) {
  std::string what = error.what();
  if (const auto missing = what.find(": 1 required"); missing != std::string::npos)
    what = what.substr(0, missing) + " has no value (must be given one)";
  throw UsageError(fmt::format("{}: {}", command.name(), what));
}

// How many letters must be changed, added or taken out to make one word of another.
std::size_t edits(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t corner = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t kept = corner + (from[i] == to[j] ? 0 : 1);
      corner = row[j + 1];
      row[j + 1] = std::min({kept, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// The option that a word is nearest to, if no more than a third of it is otherwise.
std::string nearest_option(const Command& command, const std::string& word) {
  std::string nearest;
  std::size_t fewest = word.size() / 3 + 1;
  for (const Argument& argument : command.arguments()) {
    if (!argument.is_option()) continue;
    if (const std::size_t needed = edits(word, argument.name); needed < fewest) {
      fewest = needed;
      nearest = argument.name;
    }
  }
  return nearest;
}

// Of words after `--`, none is an option.
[[noreturn]] void refuse_extra(const Command& command, const std::string& text, bool options_end) {
  if (options_end || !text.starts_with("-") || text.size() < 2)
    throw UsageError(fmt::format("{}: unexpected argument {} (see 'boltzmark {} --help')",
                                 command.name(), text, command.name()));
  const std::string option = text.substr(0, text.find('='));
  const std::string nearest = nearest_option(command, option);
  std::error_code error;
  const char* of_file =
      std::filesystem::exists(text, error) ? "; a file of that name after --" : "";
  throw UsageError(fmt::format(
      "{}: unknown option {} (must be {}one of 'boltzmark {} --help'{})", command.name(), option,
      nearest.empty() ? "" : nearest + ", or another ", command.name(), of_file));
}

// CLI11 takes `--json=` for `--json`, and what stands behind it for a truth.
void refuse_values_of_flags(const Command& command, const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") return;
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos) continue;
    for (const Argument& known : command.arguments())
      if (known.flag && known.name == argument.substr(0, equals))
        throw UsageError(fmt::format("{}: {} has a value (must be {} alone)", command.name(),
                                     argument, known.name));
  }
}

// Splits the arguments of a command into the values of each of its arguments.
Values parse(const Command& command, std::vector<std::string> arguments) {
  refuse_values_of_flags(command, arguments);
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::map<std::string, CLI::Option*> options;
  for (const Argument& argument : command.arguments()) {
    CLI::Option*& option = options[argument.name];
    option = argument.flag ? app.add_flag(argument.name) : app.add_option(argument.name);
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    if (!argument.flag) option->expected(argument.is_option() || !argument.many ? 1 : -1);
  }
  try {
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    refuse_parse(command, error);
  }
  auto extra = app.remaining();
  const auto end = std::find(extra.begin(), extra.end(), "--");
  const bool options_end = end == extra.begin();  // before any word that nothing takes
  if (end != extra.end()) extra.erase(end);
  if (!extra.empty()) refuse_extra(command, extra.front(), options_end);
  Values values;
  for (const auto& [name, option] : options) values[name] = option->results();
  return values;
}

// Checks the counts and hands every value to its argument.
void take(const Command& command, const Values& values) {
  for (const Argument& argument : command.arguments()) {
    const std::vector<std::string>& given = values.at(argument.name);
    if (argument.required && given.empty())
      throw UsageError(fmt::format("{}: {} is missing (must be given; see 'boltzmark {} --help')",
                                   command.name(), argument.shown, command.name()));
    if (given.size() > 1 && !argument.many && !argument.flag)
      throw UsageError(fmt::format("{}: {} is given {} times (must be given once)", command.name(),
                                   argument.name, given.size()));
    for (const std::string& value : given) {
      if (argument.is_option() && value.starts_with("--"))
        throw UsageError(fmt::format("{}: {} has no value (must be given one, and {} follows)",
                                     command.name(), argument.name, value));
      argument.take(value);
    }
  }
}

// What the help says below the list of commands.
constexpr const char* kClosing =
    "Every command takes\n"
    "  --help       its arguments, options and examples (also: boltzmark help COMMAND)\n"
    "  --json       one JSON object on stdout and nothing else there\n"
    "  --quiet      no plan and no progress on stderr\n"
    "  --threads N  at most N threads; results never depend on it\n"
    "\nMODEL is an .npz file (W, b, c) or a .mat file (vishid, visbiases, hidbiases).\n"
    "DATASET is NAME[:train|valid|test|fit] of 'boltzmark list datasets', or a file.\n"
    "'boltzmark help conventions' has energies, base, ladder and what each method needs;\n"
    "'boltzmark help man|bash|zsh|fish' prints the manual page and completions.\n"
    "Exit codes: 0 done; 2 bad usage or input; 3 an exact check or an exact claim does not\n"
    "hold; 4 an estimate that is not ok, with --strict; 1 anything else, Ctrl-C too.\n"
    "Environment: BOLTZMARK_DATA names further data folders, separated by ':'; BOLTZMARK_SIMD\n"
    "names the SIMD path (amx, avx512, avx2, sse4; default: the best but amx).\n"
    "\nExamples\n"
    "  boltzmark reproduce bruegge2013 --profile smoke\n"
    "  boltzmark train mnist --hidden 16 --negative pcd:10 --updates 2000 --out rbm.npz\n"
    "  boltzmark exact rbm.npz\n";

// Connects the processes that a launcher started as one program, before anything settles the SIMD path.
std::shared_ptr<experiments::RankLink> start_ranks(const Command& command) {
  const experiments::Launch& launch = experiments::this_launch();
  if (launch.ranks <= 1) return nullptr;
  const auto refuse = [&](const std::string& must) {
    throw UsageError(fmt::format("{}: ranks = {} ({})", command.name(), launch.ranks, must));
  };
  if (!command.has_use_for_ranks()) refuse("must be 1: run it without mpirun or srun");
  if (!launch.problem.empty()) refuse(launch.problem);
  if (experiments::mpi_name().empty())
    refuse("must be 1: this program was built without MPI; see BOLTZMARK_MPI in the README");
  std::shared_ptr<experiments::RankLink> link = experiments::start_mpi();
  agree_on_build(*link);
  return link;
}

void add_common(Command& command, Session& session, bool& help_wanted) {
  command.integer(&session.threads, "--threads N", 1,
                  "Use at most N threads (default: all cores); results never depend on it.");
  command.flag(&session.json, "--json", "Print one JSON object on stdout and nothing else there.");
  command.flag(&session.quiet, "--quiet", "Print no plan and no progress on stderr.");
  command.flag(&help_wanted, "--help", "Print this help.");
}

}  // namespace

Command& Program::command(CommandTexts texts) {
  commands_.push_back(std::make_unique<Command>(std::move(texts)));
  return *commands_.back();
}

Command& Program::find(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& command : commands_) {
    if (command->name() == name) return *command;
    names.push_back(command->name());
  }
  if (name.starts_with("-"))
    throw UsageError(name +
                     " has no command before it (must come after one; see 'boltzmark --help')");
  throw UsageError(fmt::format("{}: unknown command (must be {})", name, join_or(names)));
}

std::string Program::help() const {
  std::string text =
      "boltzmark COMMAND [arguments] [options]\n\n"
      "A benchmark and verification suite for Boltzmann machines: exact log Z, likelihoods and\n"
      "spectra of small models, update rules verified by enumeration, and the tables and figures\n"
      "of published papers regenerated and judged claim by claim.\n\nCommands\n";
  for (const auto& command : commands_)
    text += fmt::format("  {:<11}{}\n", command->name(), command->summary());
  return text + "\n" + kClosing;
}

int Program::run_command(Command& command, std::vector<std::string> arguments) const {
  Session session;
  bool help_wanted = false;
  add_common(command, session, help_wanted);
  for (std::string& argument : arguments)
    if (argument == "-h") argument = "--help";
  const Values values = parse(command, std::move(arguments));
  if (!values.at("--help").empty()) {
    print(command.help());
    return 0;
  }
  take(command, values);
  command.check_given();
  command.check_files();
  session.ranks = start_ranks(command);
  simd_path();  // refuses a bad BOLTZMARK_SIMD before any work
  std::optional<ThreadLimit> limit;
  // More only take memory: loops have no use for them.
  constexpr int kMostThreads = 1024;
  if (session.threads > 0) limit.emplace(std::min(session.threads, kMostThreads));
  std::list<experiments::FileLock> locks;
  // Of several ranks the first writes.
  if (experiments::this_launch().rank == 0)
    for (const std::string& file : command.written_files()) locks.emplace_back(file);
  return command.act(session);
}

bool Program::print_page(const std::string& name) const {
  Session session;
  bool help_wanted = false;
  Commands all;
  const auto made = [&] {
    for (const auto& command : commands_) {
      add_common(*command, session, help_wanted);
      all.push_back(command.get());
    }
    return all;
  };
  if (name == "conventions")
    print(conventions());
  else if (name == "man")
    print(man_page(made(), kClosing));
  else if (name == "bash")
    print(bash_completions(made()));
  else if (name == "zsh")
    print(zsh_completions(made()));
  else if (name == "fish")
    print(fish_completions(made()));
  else
    return false;
  return true;
}

int Program::dispatch(const std::vector<std::string>& arguments) {
  if (arguments.empty()) throw UsageError("no command (must be given one; see 'boltzmark --help')");
  const std::string& first = arguments.front();
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  const bool asks_help = first == "--help" || first == "-h" || first == "help";
  if (asks_help && rest.empty()) {
    print(help());
    return 0;
  }
  if (asks_help && rest.size() > 1)
    throw UsageError(
        fmt::format("help: unexpected argument {} (must be one command or page)", rest[1]));
  if (asks_help && print_page(rest.front())) return 0;
  if (asks_help) return run_command(find(rest.front()), {"--help"});
  if (first == "--version") {
    print("boltzmark " BOLTZMARK_VERSION "\n");
    return 0;
  }
  return run_command(find(first), rest);
}

int Program::run(const std::vector<std::string>& arguments) {
  if (experiments::this_launch().rank == 0) return run_rank_0(arguments);
  // What is wrong is wrong at rank 0 too, which says so and gives the exit code.
  experiments::silence_output();
  run_rank_0(arguments);
  return 0;
}

int Program::run_rank_0(const std::vector<std::string>& arguments) {
  const double free_at_start = available_memory();
  limit_memory();
  try {
    const int code = dispatch(arguments);
    finish_output();
    return code;
  } catch (const InvalidArgument& error) {
    complain(error.what());
    return 2;
  } catch (const DataError& error) {
    complain(error.what());
    return 2;
  } catch (const experiments::Interrupted& error) {
    complain(error.what());
    return 1;
  } catch (const std::bad_alloc&) {
    complain(
        fmt::format("out of memory (the work must fit into the {} that are free: lower what "
                    "its options count, or --threads)",
                    human_bytes(free_at_start)));
    return 2;
  } catch (const std::exception& error) {
    complain(error.what());
    return 1;
  }
}

}  // namespace boltzmark::cli

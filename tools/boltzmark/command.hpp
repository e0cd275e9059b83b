#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/kit/ranks/rank_link.hpp"

namespace boltzmark::cli {

/// Reads a whole text as a number, as every option does: no blanks, no +, no hex.
std::optional<double> parse_real(const std::string& text);

/// What every command gets beside its own arguments.
struct Session {
  bool json = false;   ///< one JSON object on stdout and nothing else there
  bool quiet = false;  ///< no plan and no progress on stderr
  int threads = 0;     ///< 0: all cores
  std::shared_ptr<experiments::RankLink> ranks = nullptr;  ///< null: one process
};

/// The texts of a command's help.
struct CommandTexts {
  std::string name;
  std::string summary;     ///< one line, for the list of commands
  std::string about = {};  ///< paragraphs below the usage line, wrapped
  std::string notes = {};  ///< after the options, as it stands
  std::vector<std::string> examples = {};
};

/// The numbers that an option takes.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool above_low = false;   ///< low itself is not allowed
  bool below_high = false;  ///< nor high
};

/// One argument of a command, as the parser and the help see it.
struct Argument {
  std::string name;   ///< "--chains" or "MODEL"
  std::string shown;  ///< "--chains C"
  std::string help;
  bool required = false;
  bool many = false;                  ///< may be given several times
  bool flag = false;                  ///< takes no value
  std::vector<std::string> choices;   ///< the words that it takes; empty: any text
  bool writes = false;                ///< names a file that the command writes
  bool holds = false;                 ///< the command holds it by a lock of its own
  std::vector<std::string> into;      ///< all that it writes in the folder that it names
  bool given = false;                 ///< once parsed
  const std::string* text = nullptr;  ///< where a text goes; null: it takes no text
  std::vector<std::string> with;  ///< nothing reads it unless one of these is given; empty: always
  std::function<void(const std::string&)> take;

  bool is_option() const { return name.starts_with("-"); }
};

/// One command: its texts, its arguments and what it does.
/// Arguments are named as the help shows them, "--chains C" or "MODEL". Their texts are checked
/// when they are parsed: InvalidArgument `--chains = x (must be ...)`.
class Command {
 public:
  explicit Command(CommandTexts texts) : texts_(std::move(texts)) {}

  void positional(std::string* target, const std::string& shown, const std::string& help);
  void positionals(std::vector<std::string>* target, const std::string& shown,
                   const std::string& help, bool required = false);
  void text(std::string* target, const std::string& shown, const std::string& help);
  void required_text(std::string* target, const std::string& shown, const std::string& help);
  void choice(std::string* target, const std::string& shown, std::vector<std::string> choices,
              const std::string& help);
  void integer(int* target, const std::string& shown, int low, const std::string& help) {
    integer(target, shown, low, std::numeric_limits<int>::max(), help);
  }
  void integer(int* target, const std::string& shown, int low, int high, const std::string& help);
  /// Takes a required option that may be given several times.
  void integers(std::vector<int>* target, const std::string& shown, int low, int high,
                const std::string& help);
  void integer(std::uint64_t* target, const std::string& shown, const std::string& help);
  void real(double* target, const std::string& shown, Range range, const std::string& help);
  void flag(bool* target, const std::string& shown, const std::string& help);
  /// Says that arguments name files that the command writes; any other text may name one that it reads.
  void writes(std::initializer_list<std::string_view> names);
  /// Says so of a folder that the command holds by a lock of its own.
  void writes_folder(std::string_view name);
  /// Says that an argument names a folder in which the command writes these files alone.
  void writes_into(std::string_view name, std::vector<std::string> files);
  /// Says that nothing reads an option unless one of others is given.
  void comes_with(std::string_view name, std::vector<std::string> others);
  /// Says that an argument names models, which are looked for below the data folders too.
  void reads_models(std::string_view name);

  /// Says that the command runs on the ranks that mpirun or srun start.
  void uses_ranks() { has_use_for_ranks_ = true; }
  bool has_use_for_ranks() const { return has_use_for_ranks_; }

  /// Sets what the command does; it returns the exit code.
  void action(std::function<int(const Session&)> action) { action_ = std::move(action); }

  const std::string& name() const { return texts_.name; }
  const std::string& summary() const { return texts_.summary; }
  const CommandTexts& texts() const { return texts_; }
  const std::vector<Argument>& arguments() const { return arguments_; }
  std::string usage() const;  ///< in a line
  std::string help() const;
  /// Tells whether an argument was given, whatever its value.
  bool given(const std::string& name) const;
  /// Refuses the first of these arguments that was given.  Throws  InvalidArgument `NAME why`
  void refuse_given(const std::vector<std::string>& names, const std::string& why) const;
  /// Refuses what nothing would read.  Throws  InvalidArgument
  void check_given() const;
  /// Refuses to write over a file that another argument names, under whatever name, and to write
  /// one file twice.  Throws  DataError
  void check_files() const;
  /// Lists the files that it writes, but for folders that it holds itself.
  std::vector<std::string> written_files() const;
  int act(const Session& session) const { return action_(session); }

 private:
  /// Invariant  there is one of that name
  Argument& named(std::string_view name);
  Argument& add(const std::string& shown, const std::string& help,
                std::function<void(const std::string&)> take);

  CommandTexts texts_;
  std::vector<Argument> arguments_;
  bool has_use_for_ranks_ = false;
  std::function<int(const Session&)> action_;
};

/// Breaks a text into lines of at most `width` columns at its spaces; paragraphs stay apart.
std::string wrap(const std::string& text, int width, int indent);

}  // namespace boltzmark::cli

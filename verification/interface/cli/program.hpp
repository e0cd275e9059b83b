#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "verification/interface/io/files.hpp"

namespace cli_test {

/// Whether a sanitizer runs too, which needs memory and files of its own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// How one run of the program ended.
struct Run {
  int code = -1;  ///< exit code; minus the signal's number if one ended it
  std::string out;
  std::string err;
  double peak_bytes = 0;  ///< of memory that was resident
};

using Arguments = std::vector<std::string>;
/// Appends arguments.
inline Arguments with(Arguments first, const Arguments& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}
using Environment = std::map<std::string, std::string>;

/// A program that was started and may still run; its output goes to files of its own.
class Process {
 public:
  /// `limit` is a line of the shell before it, as `ulimit -n 16`.
  explicit Process(const Arguments& arguments, const Environment& environment = {},
                   const std::string& stdout_path = {}, const std::string& limit = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Waits until stdout holds a text; false if the program ends before.
  bool wait_for(const std::string& text);
  /// Waits until stderr does.
  bool wait_for_message(const std::string& text);
  void signal(int number) const;
  Run wait();

 private:
  bool ended(int options);
  bool wait_for(const std::string& text, const std::string& file);

  io_test::Folder folder_;
  std::string out_;
  std::string err_;
  pid_t pid_ = -1;
  int status_ = 0;
  bool ended_ = false;
  double peak_bytes_ = 0;
};

/// Runs the program to its end.
Run run(const Arguments& arguments, const Environment& environment = {});
/// Runs it under a limit of the shell, as `ulimit -n 16`.
Run run_under(const std::string& limit, const Arguments& arguments);

/// Checks that a run was refused: exit code 2, and one line on stderr alone that holds the texts.
void check_refused(const Run& result, const std::vector<std::string>& said);

/// Lists a folder: name -> content.
std::map<std::string, std::string> listing(const std::string& folder);

/// Counts the lines of a text; a last line without newline counts as two, so that it shows.
int lines(const std::string& text);

}  // namespace cli_test

#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "experiments/kit/temporary_folder.hpp"

namespace ranks_test {

/// Studies are in `out` there.
using Folder = boltzmark::experiments::TemporaryFolder;

/// A program and all that it starts, with output in files of its own.
class Launched {
 public:
  /// Starts it: on ranks of mpirun if there is more than one.
  Launched(int ranks, const std::vector<std::string>& arguments);
  /// Ends what is left of it.
  ~Launched();
  Launched(const Launched&) = delete;
  Launched& operator=(const Launched&) = delete;

  /// Waits for its end, no longer than so many seconds.  Returns  whether it has ended
  bool wait(double seconds = 60);
  void signal(int number) const;
  /// Finds the process that is a rank of mpirun; 0 if there is none.
  pid_t rank(int number) const;
  /// Waits for the end of a program of which a rank is stopped.  Returns  false if mpirun itself
  /// crashed or hung, as Open MPI 4.1's now and then does while it ends a stopped rank
  bool wait_with_stopped_rank();
  int code() const { return code_; }  ///< minus the number of a signal that ended it
  std::string out() const;
  std::string err() const;

 private:
  Folder folder_;
  pid_t pid_ = -1;
  int code_ = 0;
};

/// The study, to its end.
struct StudyRun {
  int code = 0;
  std::string out, err;
};
/// Runs a program to its end, of 120 s at most; code -1: it did not end.
StudyRun run_to_end(int ranks, const std::vector<std::string>& words);
StudyRun run_study(int ranks, const std::string& out, const std::vector<std::string>& options = {});
/// By mpirun, for one rank too.
StudyRun run_on_mpirun(int ranks, const std::string& out, const std::vector<std::string>& options);
/// On two ranks, of which the second has the host name "other", each started by a program of its own, if any.
StudyRun run_on_two_hosts(const std::string& out, const std::vector<std::string>& options,
                          const std::vector<std::string>& before_other = {},
                          const std::vector<std::string>& before_first = {});
bool can_name_hosts();
/// On three ranks, in a folder on a disk of its own of so many kB, which then is copied to `out`.
StudyRun run_on_small_disk(const std::string& folder, int kilobytes, const std::string& out,
                           const std::vector<std::string>& options);
std::vector<std::string> study(const std::string& out,
                               const std::vector<std::string>& options = {});

/// Has a program run on a system with one fault of those in verification/ranks/faults.
std::vector<std::string> with_fault(const std::string& fault,
                                    const std::vector<std::string>& words);

/// Waits until a condition holds, so many seconds at most.  Returns  whether it does
bool wait_until(double seconds, const std::function<bool()>& holds);
/// Waits until a file has so many lines; false after 30 s.
bool wait_for_lines(const std::string& path, int lines);
/// Reads the process that a rank of a study is.  Throws  std::runtime_error if it has not begun
pid_t pid_of(const std::string& out, int rank);
/// Waits until no rank of a study is left; false after 10 s.
bool wait_for_none(const std::string& out, int ranks);

/// Reads the result files of a study or a run: tables, figures and claims, by their paths.
std::map<std::string, std::string> result_files(const std::string& out);

}  // namespace ranks_test

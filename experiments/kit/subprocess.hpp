#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace boltzmark::experiments {

/// What a program left behind.
struct ProgramResult {
  int status = 0;          ///< exit status; 127 if it could not be started
  std::string output;      ///< standard output and standard error together
  bool timed_out = false;  ///< it ran longer than the limit, and was killed
};

/// Runs a program found in an absolute folder of the PATH, in a folder and without a shell, and waits for it, but no
/// longer than the limit. What the program itself has started may live on.
ProgramResult run_program(const std::vector<std::string>& arguments,
                          const std::string& folder = ".",
                          std::chrono::milliseconds limit = std::chrono::minutes(1));

}  // namespace boltzmark::experiments

#pragma once

#include <string>
#include <vector>

namespace boltzmark::experiments {

/// What a program left behind.
struct ProgramResult {
  int status = 0;      ///< exit status; 127 if it could not be started
  std::string output;  ///< standard output and standard error together
};

/// Runs a program found on the PATH, without a shell, and waits for it.
ProgramResult run_program(const std::vector<std::string>& arguments,
                          const std::string& folder = ".");

}  // namespace boltzmark::experiments

#pragma once

#include <functional>
#include <string>

namespace boltzmark::experiments {

/// What the launcher of this process says of it: the ranks are the processes that it started as one
/// program.
struct Launch {
  int rank = 0;
  int ranks = 1;             ///< 1: no launcher, or one process
  std::string problem = {};  ///< why ranks cannot be had of this launcher
};

/// Reads what mpirun or srun set. More than one rank is only where ranks can find each other: tasks
/// of srun need PMIx or PMI, and a plain run in an allocation is one process.
/// get  returns an environment variable, or null
Launch read_launch(const std::function<const char*(const char*)>& get);

/// What the launcher of this process says.
const Launch& this_launch();

/// Leaves this process without a voice on stdout and stderr: of several ranks only the first prints.
void silence_output();
/// Ends this process with exit code 1 and a line after so many seconds, unless it is called with 0 before: a
/// rank that dies as it starts leaves the others in a call of MPI that has no limit.
void limit_start(int seconds);
/// Writes to the stderr that this process had before, whether it is silent or not.
void say_aloud(const std::string& text);

}  // namespace boltzmark::experiments

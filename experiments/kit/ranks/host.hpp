#pragma once

#include <string>

namespace boltzmark::experiments {

/// Names this machine.
std::string host_name();

/// Names this process to others: "node7, process 4711", and the job where Slurm runs it.
std::string process_name();

}  // namespace boltzmark::experiments

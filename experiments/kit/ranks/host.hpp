#pragma once

#include <string>

namespace boltzmark::experiments {

/// Names this machine.
std::string host_name();

/// Names this process to others: "node7, process 4711, run of 2026-11-24 09:35:39 UTC", with the job
/// where Slurm runs it. No other process has the same name, nor will any have it.
std::string process_name();

}  // namespace boltzmark::experiments

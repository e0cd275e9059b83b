#pragma once

#include <string>

#include "command.hpp"
#include "experiments/kit/run/runner.hpp"

namespace boltzmark::cli {

/// Holds the file that each rank reads to rank 0's; nothing where there is one process.
/// Throws  InvalidArgument at every rank, naming the host that differs
void agree_on_file(const Session& session, const std::string& path);

/// Says what a rank uses for one job: the CPUs of its host, shared by the ranks there.
experiments::Parallelism one_job(const Session& session);

}  // namespace boltzmark::cli

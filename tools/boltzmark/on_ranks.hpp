#pragma once

#include <functional>
#include <string>

#include "command.hpp"
#include "experiments/kit/run/runner.hpp"

namespace boltzmark::cli {

/// Holds the file that each rank reads to rank 0's; nothing where there is one process.
/// Throws  InvalidArgument at every rank, naming the host that differs
void agree_on_file(const Session& session, const std::string& path);

/// Has every rank do what may fail at one of them alone, and holds what it made to what rank 0 made.
/// One process just does it.
/// Throws  InvalidArgument at every rank; what `work` throws where there is one process
void together(const Session& session, const std::string& name,
              const std::function<std::string()>& work);

/// Does what all ranks do in step, waiting for each other: one that fails alone ends all, with what went
/// wrong on stderr. One process just does it.
int in_step(const Session& session, const std::function<int()>& work);

/// Counts the ranks that share this host's memory.
int ranks_here(const Session& session);

/// Says what a rank uses for one job: the CPUs of its host, shared by the ranks there.
experiments::Parallelism one_job(const Session& session);

/// Ends the other ranks once all is written and said; nothing where there is one process.
void leave_ranks(const Session& session, int exit_code, bool all_heard);

}  // namespace boltzmark::cli

#include "on_ranks.hpp"

#include <fmt/format.h>

#include <exception>
#include <new>

#include "boltzmark/io/sha256.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/ranks/equal_ranks.hpp"
#include "experiments/kit/ranks/host.hpp"
#include "output.hpp"

namespace boltzmark::cli {

void agree_on_file(const Session& session, const std::string& path) {
  if (!session.ranks) return;
  agree_on(*session.ranks, path, [&path] {
    const std::string bytes = experiments::read_text(path);
    return sha256(bytes.data(), bytes.size());
  });
}

void together(const Session& session, const std::string& name,
              const std::function<std::string()>& work) {
  if (session.ranks)
    agree_on(*session.ranks, name, work);
  else
    work();
}

int in_step(const Session& session, const std::function<int()>& work) {
  if (!session.ranks) return work();
  experiments::RankLink& link = *session.ranks;
  try {
    return work();
  } catch (const std::exception& error) {
    const bool memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
    const std::string text = memory ? "out of memory" : error.what();
    const std::string where = link.rank() == 0 ? ""
                                               : fmt::format("rank {} on host {}: ", link.rank(),
                                                             experiments::host_name());
    link.fail(memory ? 2 : 1, fmt::format("boltzmark: {}{}\n", where, text));
    throw;
  }
}

int ranks_here(const Session& session) {
  return session.ranks ? session.ranks->ranks_on_host() : 1;
}

experiments::Parallelism one_job(const Session& session) {
  return experiments::parallelism({.jobs = 1, .threads = session.threads}, session.ranks.get());
}

void leave_ranks(const Session& session, int exit_code, bool all_heard) {
  if (!session.ranks) return;
  finish_output();
  session.ranks->finish(exit_code, all_heard, std::string("boltzmark: ") + experiments::kAllIsDone);
}

}  // namespace boltzmark::cli

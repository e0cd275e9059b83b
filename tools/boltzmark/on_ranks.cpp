#include "on_ranks.hpp"

#include "boltzmark/io/sha256.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/ranks/equal_ranks.hpp"

namespace boltzmark::cli {

void agree_on_file(const Session& session, const std::string& path) {
  if (!session.ranks) return;
  agree_on(*session.ranks, path, [&path] {
    const std::string bytes = experiments::read_text(path);
    return sha256(bytes.data(), bytes.size());
  });
}

experiments::Parallelism one_job(const Session& session) {
  return experiments::parallelism({.jobs = 1, .threads = session.threads}, session.ranks.get());
}

}  // namespace boltzmark::cli

#include "experiments/kit/ranks/host.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace boltzmark::experiments {

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "unknown";
  return name.data();
}

std::string process_name() {
  const char* job = std::getenv("SLURM_JOB_ID");
  return fmt::format("{}, process {}{}", host_name(), getpid(),
                     job ? fmt::format(", job {}", job) : "");
}

}  // namespace boltzmark::experiments

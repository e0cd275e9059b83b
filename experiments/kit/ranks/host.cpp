#include "experiments/kit/ranks/host.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <ctime>

namespace boltzmark::experiments {
namespace {

std::string now_text() {
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(std::time(nullptr)));
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "unknown";
  return name.data();
}

std::string process_name() {
  static const std::string start = now_text();  // of the first call: process ids come again
  const char* job = std::getenv("SLURM_JOB_ID");
  return fmt::format("{}, process {}{}, run of {}", host_name(), getpid(),
                     job ? fmt::format(", job {}", job) : "", start);
}

}  // namespace boltzmark::experiments

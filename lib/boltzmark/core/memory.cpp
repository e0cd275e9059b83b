#include "boltzmark/core/memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <limits>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

double page_bytes() { return static_cast<double>(sysconf(_SC_PAGESIZE)); }

/// Reads one number from a file; none where there is no file or no number, as "max".
double read_limit(const std::string& path, double none) {
  std::ifstream file(path);
  double number = 0;
  return file >> number ? number : none;
}

double free_of_machine() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  double kibibytes = 0;
  while (file >> word)
    if (word == "MemAvailable:" && file >> kibibytes) return 1024 * kibibytes;
  return machine_memory();
}

// The sum of the lines "name number" of these names.
double sum_of_lines(const std::string& path, std::initializer_list<std::string_view> names) {
  std::ifstream file(path);
  std::string name;
  double number = 0, sum = 0;
  while (file >> name >> number)
    if (std::find(names.begin(), names.end(), name) != names.end()) sum += number;
  return sum;
}

struct Taken {
  double address_space = 0, data = 0;
};

Taken taken_by_process() {
  std::ifstream file("/proc/self/statm");
  double pages[6] = {};
  for (double& count : pages) file >> count;
  return {pages[0] * page_bytes(), pages[5] * page_bytes()};
}

double free_of_limit(int resource, double taken) {
  struct rlimit limit {};
  if (getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0 ||
      limit.rlim_cur == RLIM_INFINITY)
    return kNoLimit;
  return static_cast<double>(limit.rlim_cur) - taken;
}

}  // namespace

double free_of_control_groups(const std::string& path, const std::string& root) {
  std::ifstream file(path);
  double least = kNoLimit;
  for (std::string line; std::getline(file, line);) {
    const bool unified = line.starts_with("0::");
    if (!unified && line.find(":memory:") == std::string::npos) continue;
    const std::string top = unified ? root : root + "/memory";
    std::string group = line.substr(line.rfind(':') + 1);
    for (;; group.resize(group.rfind('/'))) {  // from its own to the one above all
      least = std::min(least, free_of_control_group(top + group));
      if (group.rfind('/') == std::string::npos) break;
    }
  }
  return least;
}

double free_of_control_group(const std::string& folder) {
  const std::string file = folder + "/memory.";
  const double limit =
      std::min(read_limit(file + "max", kNoLimit), read_limit(file + "limit_in_bytes", kNoLimit));
  if (limit == kNoLimit) return kNoLimit;
  const double taken = read_limit(file + "current", read_limit(file + "usage_in_bytes", 0));
  const double caches =  // of version 1 with those of the groups below
      std::max(sum_of_lines(file + "stat", {"inactive_file", "active_file"}),
               sum_of_lines(file + "stat", {"total_inactive_file", "total_active_file"}));
  return limit - std::max(0.0, taken - caches);
}

double machine_memory() { return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * page_bytes(); }

double available_memory() {
  const Taken taken = taken_by_process();
  return std::max(0.0, std::min({free_of_machine(),
                                 free_of_control_groups("/proc/self/cgroup", "/sys/fs/cgroup"),
                                 free_of_limit(RLIMIT_AS, taken.address_space),
                                 free_of_limit(RLIMIT_DATA, taken.data)}));
}

std::string human_bytes(double bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (bytes >= 999.5 && unit < 4) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.3g} {}", bytes, units[unit]);
}

void require_memory(std::string_view work, double bytes, std::string_view remedy) {
  if (const double free = available_memory(); !(bytes <= free))
    throw InvalidArgument(fmt::format("memory for {} = {} (must fit into the {} that are free: {})",
                                      work, human_bytes(bytes), human_bytes(free), remedy));
}

void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their shadows count as data
  struct rlimit limit {};
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return;
  const double most = taken_by_process().data + available_memory();
  limit.rlim_cur = std::min(limit.rlim_max, static_cast<rlim_t>(most));
  setrlimit(RLIMIT_DATA, &limit);
#endif
}

}  // namespace boltzmark

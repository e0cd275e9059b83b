#include "experiments/kit/ranks/launcher.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string_view>

namespace boltzmark::experiments {
namespace {

using Environment = std::function<const char*(const char*)>;

int number_of(const Environment& get, const char* name) {
  const char* text = get(name);
  return text == nullptr ? 0 : std::atoi(text);
}

int first_number(const Environment& get, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (get(name) != nullptr) return number_of(get, name);
  return 0;
}

}  // namespace

Launch read_launch(const Environment& get) {
  Launch launch;
  const int tasks = number_of(get, "SLURM_STEP_NUM_TASKS");
  const bool has_pmi = get("PMIX_RANK") != nullptr || get("PMI_RANK") != nullptr;
  launch.ranks = number_of(get, "OMPI_COMM_WORLD_SIZE");
  if (launch.ranks <= 1) launch.ranks = number_of(get, "PMI_SIZE");
  if (launch.ranks <= 1 && tasks > 1) launch.ranks = tasks;
  if (launch.ranks <= 1) return {};
  launch.rank =
      first_number(get, {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"});
  if (get("OMPI_COMM_WORLD_SIZE") == nullptr && !has_pmi)
    launch.problem = "must be srun --mpi=pmix";
  return launch;
}

const Launch& this_launch() {
  static const Launch launch =
      read_launch([](const char* name) -> const char* { return std::getenv(name); });
  return launch;
}

namespace {

int loud_stderr = STDERR_FILENO;

}  // namespace

void silence_output() {
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return;
  const int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
  if (kept >= 0) loud_stderr = kept;
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  close(nowhere);
}

void limit_start(int seconds) {
  std::signal(SIGALRM, [](int) {
    constexpr std::string_view kText =
        "boltzmark: a rank has died, or does not answer: the ranks cannot start (must be started again)\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, kText.data(), kText.size());
    _exit(1);
  });
  alarm(static_cast<unsigned>(seconds));
}

void say_aloud(const std::string& text) {
  if (write(loud_stderr, text.data(), text.size()) < 0) return;
}

}  // namespace boltzmark::experiments

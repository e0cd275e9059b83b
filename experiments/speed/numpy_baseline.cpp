#include "experiments/speed/numpy_baseline.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/simd.hpp"
#include "experiments/kit/files.hpp"

namespace boltzmark::speed {
namespace {

// OpenBLAS before 0.3.22 does not know CPUs of today and would fall back to SSE3.
std::string blas_kernels() { return takes_avx512() ? "SKYLAKEX" : "HASWELL"; }

/// Finds the Python that has NumPy, the first on the path or the system's; empty if none has.
const std::string& python() {
  static const std::string found = [] {
    for (const std::string program : {"python3", "/usr/bin/python3"})
      if (std::system((program + " -c 'import numpy' >/dev/null 2>&1").c_str()) == 0)
        return program;
    return std::string();
  }();
  return found;
}

std::string command(int threads) {
  return fmt::format("OPENBLAS_CORETYPE={} OPENBLAS_NUM_THREADS={} OMP_NUM_THREADS={} exec {} '{}'",
                     blas_kernels(), threads, threads, python(),
                     experiments::source_path("experiments/speed/numpy_baseline.py"));
}

/// A Python process that reads lines and answers each with one.
class Worker {
 public:
  explicit Worker(int threads) {
    std::array<int, 2> in{}, out{};
    if (pipe2(in.data(), O_CLOEXEC) != 0 || pipe2(out.data(), O_CLOEXEC) != 0)
      throw Error("pipe: cannot be made");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    std::string text = command(threads), shell = "sh", flag = "-c";
    std::array<char*, 4> words{shell.data(), flag.data(), text.data(), nullptr};
    const int failed = posix_spawnp(&pid_, "sh", &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    to_ = fdopen(in[1], "w");
    from_ = fdopen(out[0], "r");
    if (failed != 0) throw Error("sh: cannot be run");
  }
  ~Worker() {
    std::fclose(to_);
    std::fclose(from_);
    waitpid(pid_, nullptr, 0);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  double ask(const std::string& line) {
    std::fprintf(to_, "%s\n", line.c_str());
    std::fflush(to_);
    std::array<char, 64> answer{};
    if (std::fgets(answer.data(), answer.size(), from_) == nullptr)
      throw Error("numpy_baseline.py: ended (must answer " + line + ")");
    return std::strtod(answer.data(), nullptr);
  }

 private:
  pid_t pid_ = 0;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

}  // namespace

bool has_numpy() { return !python().empty(); }

NumpyFacts numpy_facts(int threads) {
  const std::string ask = command(threads) + " --version";
  std::FILE* answer = popen(ask.c_str(), "r");
  if (answer == nullptr) throw Error("sh: cannot be run");
  std::array<char, 1024> line{};
  const bool read = std::fgets(line.data(), line.size(), answer) != nullptr;
  pclose(answer);
  return parse_numpy_facts(read ? line.data() : "nothing");
}

double time_numpy(const std::string& line, int threads) {
  static std::map<int, Worker> workers;
  return workers.try_emplace(threads, threads).first->second.ask(line);
}

}  // namespace boltzmark::speed

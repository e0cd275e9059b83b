#include "experiments/kit/subprocess.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>

#include "boltzmark/core/error.hpp"

namespace boltzmark::experiments {
namespace {

/// Looks a program up in the PATH's absolute folders: one relative to the folder that it is to run
/// in could hold anything. Empty if there is none.
std::string find_program(const std::string& name) {
  const char* variable = std::getenv("PATH");
  std::istringstream path(variable == nullptr ? "" : variable);
  for (std::string folder; std::getline(path, folder, ':');) {
    std::string file = folder + "/" + name;
    if (folder.starts_with('/') && access(file.c_str(), X_OK) == 0 &&
        std::filesystem::is_regular_file(file))
      return file;
  }
  return {};
}

/// Runs in the child: only calls that are safe after fork.
[[noreturn]] void become(const char* program, char* const* argv, const char* folder, int output) {
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  if (chdir(folder) == 0) execv(program, argv);
  _exit(127);
}

using Clock = std::chrono::steady_clock;

/// Whether a file has something to read, or has ended, before the deadline.
bool wait_until_readable(int file, Clock::time_point deadline) {
  pollfd waited{.fd = file, .events = POLLIN, .revents = 0};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    const int ready = poll(&waited, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

/// Reads until the file ends or the deadline passes.
std::string read_until(int file, Clock::time_point deadline) {
  std::string text;
  char buffer[4096];
  while (wait_until_readable(file, deadline)) {
    const ssize_t got = read(file, buffer, sizeof buffer);
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) break;
  }
  return text;
}

/// Whether the child ended before the deadline; takes its status then.
bool ended_until(pid_t child, Clock::time_point deadline, int& status) {
  for (;;) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return true;
    if (ended == 0 && Clock::now() >= deadline) return false;
    if (ended < 0 && errno != EINTR) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

ProgramResult run_program(const std::vector<std::string>& arguments, const std::string& folder,
                          std::chrono::milliseconds limit) {
  const Clock::time_point deadline = Clock::now() + limit;
  const std::string program = find_program(arguments.front());
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw Error("cannot make a pipe");
  const pid_t child = fork();
  if (child == 0) become(program.c_str(), argv.data(), folder.c_str(), ends[1]);
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    throw Error("cannot start " + arguments.front());
  }
  ProgramResult result{.status = 0, .output = read_until(ends[0], deadline)};
  close(ends[0]);
  int status = 0;
  if (!ended_until(child, deadline, status)) {
    result.timed_out = true;
    kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace boltzmark::experiments

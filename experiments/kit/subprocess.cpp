#include "experiments/kit/subprocess.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "boltzmark/core/error.hpp"

namespace boltzmark::experiments {
namespace {

/// Runs in the child: only calls that are safe after fork.
[[noreturn]] void become(char* const* argv, const char* folder, int output) {
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  if (chdir(folder) == 0) execvp(argv[0], argv);
  _exit(127);
}

std::string read_all(int file) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t got = read(file, buffer, sizeof buffer);
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) return text;
  }
}

}  // namespace

ProgramResult run_program(const std::vector<std::string>& arguments, const std::string& folder) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw Error("cannot make a pipe");
  const pid_t child = fork();
  if (child == 0) become(argv.data(), folder.c_str(), ends[1]);
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    throw Error("cannot start " + arguments.front());
  }
  ProgramResult result{.status = 0, .output = read_all(ends[0])};
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace boltzmark::experiments

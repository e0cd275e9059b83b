#include "verification/ranks/launched.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace ranks_test {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What mpirun needs on a machine with fewer cores than ranks, in a container too.
void set_environment() {
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  setenv("OMPI_MCA_mpi_yield_when_idle", "1", 1);
  setenv("OMPI_MCA_btl", "self,vader,tcp", 1);
  setenv("OMPI_MCA_btl_tcp_if_include", "lo", 1);
}

std::vector<std::string> with_mpirun(const std::string& ranks) {
  return {BOLTZMARK_MPIRUN, "--oversubscribe", "--bind-to", "none", "-n", ranks};
}

void append(std::vector<std::string>& words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
}

bool lives(pid_t pid) {
  const std::string status = read("/proc/" + std::to_string(pid) + "/stat");
  const auto end = status.rfind(')');
  return end != std::string::npos && status.find('Z', end) == std::string::npos;
}

void redirect(const std::string& path, int to) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  dup2(file, to);
  close(file);
}

}  // namespace

bool wait_until(double seconds, const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

Launched::Launched(int ranks, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = arguments;
  if (ranks > 1) {
    const std::vector<std::string> before = with_mpirun(std::to_string(ranks));
    words.insert(words.begin(), before.begin(), before.end());
  }
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const std::string out = folder_ / "out", err = folder_ / "err";
  pid_ = fork();
  if (pid_ != 0) return;
  setpgid(0, 0);
  set_environment();
  redirect(out, STDOUT_FILENO);
  redirect(err, STDERR_FILENO);
  execv(pointers[0], pointers.data());
  _exit(127);
}

Launched::~Launched() {
  if (pid_ < 0) return;
  ::kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

bool Launched::wait(double seconds) {
  int status = 0;
  const bool ended =
      pid_ < 0 || wait_until(seconds, [&] { return waitpid(pid_, &status, WNOHANG) == pid_; });
  if (!ended || pid_ < 0) return ended;
  code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  pid_ = -1;
  return true;
}

bool Launched::wait_with_stopped_rank() { return wait(60) && code_ != -SIGSEGV; }

void Launched::signal(int number) const { ::kill(pid_, number); }

pid_t Launched::rank(int number) const {
  std::string name = "OMPI_COMM_WORLD_RANK=";
  (name += std::to_string(number)) += '\0';
  const std::string mpirun = std::to_string(pid_);
  std::istringstream children(read("/proc/" + mpirun + "/task/" + mpirun + "/children"));
  for (std::string child; children >> child;)
    if (read("/proc/" + child + "/environ").find(name) != std::string::npos)
      return std::stoi(child);
  return 0;
}

std::string Launched::out() const { return read(folder_ / "out"); }
std::string Launched::err() const { return read(folder_ / "err"); }

std::vector<std::string> study(const std::string& out, const std::vector<std::string>& options) {
  std::vector<std::string> words = {BOLTZMARK_TOY_STUDY, out};
  words.insert(words.end(), options.begin(), options.end());
  return words;
}

StudyRun run_to_end(int ranks, const std::vector<std::string>& words) {
  Launched launched(ranks, words);
  const bool ended = launched.wait(120);
  return {ended ? launched.code() : -1, launched.out(), launched.err()};
}

StudyRun run_study(int ranks, const std::string& out, const std::vector<std::string>& options) {
  return run_to_end(ranks, study(out, options));
}

StudyRun run_on_mpirun(int ranks, const std::string& out, const std::vector<std::string>& options) {
  std::vector<std::string> words = with_mpirun(std::to_string(ranks));
  append(words, study(out, options));
  return run_to_end(1, words);
}

StudyRun run_on_two_hosts(const std::string& out, const std::vector<std::string>& options,
                          const std::vector<std::string>& before_other,
                          const std::vector<std::string>& before_first) {
  std::vector<std::string> words = with_mpirun("1");
  append(words, before_first);
  append(words, study(out, options));
  append(words,
         {":", "-n", "1", "unshare", "--uts", "sh", "-c", "hostname other; exec \"$@\"", "sh"});
  append(words, before_other);
  append(words, study(out, options));
  return run_to_end(1, words);
}

std::vector<std::string> with_fault(const std::string& fault,
                                    const std::vector<std::string>& words) {
  std::vector<std::string> all = {"/usr/bin/env", "LD_PRELOAD=" BOLTZMARK_FAULTS,
                                  "ASAN_OPTIONS=verify_asan_link_order=0",
                                  "BOLTZMARK_FAULT=" + fault};
  append(all, words);
  return all;
}

bool can_name_hosts() {
  return std::system("unshare --uts --mount sh -c 'hostname other' >/dev/null 2>&1") == 0;
}

StudyRun run_on_small_disk(const std::string& folder, int kilobytes, const std::string& out,
                           const std::vector<std::string>& options) {
  std::filesystem::create_directories(folder);
  const std::string script = "mount -t tmpfs -o size=" + std::to_string(kilobytes) + "k tmpfs " +
                             folder + " && { \"$@\"; code=$?; cp -r " + folder + "/out " + out +
                             "; exit $code; }";
  std::vector<std::string> words = {"/usr/bin/env", "unshare", "--mount", "sh", "-c", script, "sh"};
  append(words, with_mpirun("3"));
  append(words, study(folder + "/out", options));
  return run_to_end(1, words);
}

bool wait_for_lines(const std::string& path, int lines) {
  return wait_until(30, [&] {
    const std::string text = read(path);
    return std::count(text.begin(), text.end(), '\n') >= lines;
  });
}

pid_t pid_of(const std::string& out, int rank) {
  const std::string pid = read(out + ".pid." + std::to_string(rank));
  if (pid.empty()) throw std::runtime_error("a rank has not begun");  // a signal to 0 is one to us
  return std::stoi(pid);
}

bool wait_for_none(const std::string& out, int ranks) {
  return wait_until(10, [&] {
    for (int rank = 0; rank < ranks; ++rank)
      if (lives(pid_of(out, rank))) return false;
    return true;
  });
}

std::map<std::string, std::string> result_files(const std::string& out) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(out)) {
    const std::string path = entry.path().string();
    if (path.ends_with(".csv") || path.ends_with(".svg") || path.ends_with("claims.json"))
      files[path.substr(out.size())] = read(path);
  }
  return files;
}

}  // namespace ranks_test

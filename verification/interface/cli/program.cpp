#include "verification/interface/cli/program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

extern char** environ;

namespace cli_test {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> merged(const Environment& extra) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!extra.contains(text.substr(0, text.find('=')))) all.push_back(text);
  }
  for (const auto& [name, value] : extra) all.push_back(name + "=" + value);
  return all;
}

/// Signals that whoever started the tests ignores (nohup, a job in the background) count as usual.
class UsualSignals {
 public:
  UsualSignals() {
    sigset_t usual;
    sigemptyset(&usual);
    for (const int number : {SIGHUP, SIGINT, SIGTERM}) sigaddset(&usual, number);
    posix_spawnattr_init(&all_);
    posix_spawnattr_setsigdefault(&all_, &usual);
    posix_spawnattr_setflags(&all_, POSIX_SPAWN_SETSIGDEF);
  }
  ~UsualSignals() { posix_spawnattr_destroy(&all_); }
  UsualSignals(const UsualSignals&) = delete;
  UsualSignals& operator=(const UsualSignals&) = delete;
  const posix_spawnattr_t* get() const { return &all_; }

 private:
  posix_spawnattr_t all_;
};

}  // namespace

Process::Process(const Arguments& arguments, const Environment& environment,
                 const std::string& stdout_path, const std::string& limit)
    : out_(stdout_path.empty() ? folder_ / "out" : stdout_path), err_(folder_ / "err") {
  std::vector<std::string> words = {BOLTZMARK_PROGRAM};
  if (!limit.empty())
    words.insert(words.begin(), {"/bin/sh", "-c", limit + " && exec \"$0\" \"$@\""});
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = merged(environment);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out_.c_str(), flags, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err_.c_str(), flags, 0600);
  const int failed = posix_spawn(&pid_, words.front().c_str(), &actions, UsualSignals().get(),
                                 pointers(words).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("the program cannot be started");
}

Process::~Process() {
  if (ended(WNOHANG)) return;
  signal(SIGKILL);
  ended(0);
}

bool Process::ended(int options) {
  if (ended_) return true;
  struct rusage usage {};
  ended_ = wait4(pid_, &status_, options, &usage) == pid_;
  peak_bytes_ = 1024.0 * static_cast<double>(usage.ru_maxrss);
  return ended_;
}

void Process::signal(int number) const { kill(pid_, number); }

bool Process::wait_for(const std::string& text) { return wait_for(text, out_); }

bool Process::wait_for_message(const std::string& text) { return wait_for(text, err_); }

bool Process::wait_for(const std::string& text, const std::string& file) {
  while (true) {
    const bool last = ended(WNOHANG);
    if (io_test::read_all(file).find(text) != std::string::npos) return true;
    if (last) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

Run Process::wait() {
  ended(0);
  Run result;
  result.peak_bytes = peak_bytes_;
  result.code = WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_);
  if (out_ != "/dev/full") result.out = io_test::read_all(out_);
  result.err = io_test::read_all(err_);
  return result;
}

Run run(const Arguments& arguments, const Environment& environment) {
  return Process(arguments, environment).wait();
}

Run run_under(const std::string& limit, const Arguments& arguments) {
  return Process(arguments, {}, {}, limit).wait();
}

void check_refused(const Run& result, const std::vector<std::string>& said) {
  INFO(result.err);
  CHECK(result.code == 2);
  CHECK(result.out.empty());
  CHECK(lines(result.err) == 1);
  CHECK(result.err.starts_with("boltzmark: "));
  for (const std::string& text : said) CHECK(result.err.find(text) != std::string::npos);
}

std::map<std::string, std::string> listing(const std::string& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    all[entry.path().string()] =
        entry.is_regular_file() ? io_test::read_all(entry.path().string()) : "";
  return all;
}

int lines(const std::string& text) {
  const auto newlines = std::count(text.begin(), text.end(), '\n');
  return static_cast<int>(newlines) + (text.empty() || text.back() == '\n' ? 0 : 2);
}

}  // namespace cli_test

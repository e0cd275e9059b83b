// Files that are written whole or not at all, by many threads at once.
#include "boltzmark/core/atomic_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

using namespace boltzmark;

namespace {

// As the kernel tells it, without changing it.
std::string umask_now() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "Umask:" && status >> word) return word;
  return "0022";  // of a kernel that does not tell
}

}  // namespace

TEST_CASE("threads that write files at once leave each its rights, and the umask as it was") {
  namespace fs = std::filesystem;
  const std::string folder =
      (fs::temp_directory_path() / ("boltzmark-files-" + std::to_string(::getpid()))).string();
  fs::create_directories(folder);
  const mode_t before = ::umask(0022);
  std::atomic<int> writing = 8;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&folder, &writing, t] {
      for (int i = 0; i < 200; ++i) {
        AtomicFile file(folder + "/" + std::to_string(t) + "-" + std::to_string(i));
        file.write("x", 1);
        file.commit(Durability::system);
      }
      --writing;
    });
  // A thread that looks all the time would see another umask, however short a while it is there.
  int others = 0;
  while (writing > 0) others += umask_now() != "0022" ? 1 : 0;
  for (std::thread& thread : threads) thread.join();
  CHECK(::umask(before) == 0022);
  CHECK(others == 0);
  int files = 0, wrong = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    ++files;
    wrong += static_cast<unsigned>(entry.status().permissions()) != 0644U ? 1 : 0;
  }
  CHECK(files == 1600);
  CHECK(wrong == 0);
  fs::remove_all(folder);
}

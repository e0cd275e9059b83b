// Files that are written whole or not at all, by many threads at once.
#include "boltzmark/core/atomic_file.hpp"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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

// What was written to the disk while it is not null, and whether this file was there then.
std::vector<std::string>* synced = nullptr;
std::string watched;

}  // namespace

extern "C" int fsync(int file) {
  struct stat status {};
  if (synced != nullptr && ::fstat(file, &status) == 0)
    synced->push_back(std::string(S_ISDIR(status.st_mode) ? "folder" : "file") +
                      (std::filesystem::exists(watched) ? " after" : " before"));
  return static_cast<int>(::syscall(SYS_fsync, file));
}

TEST_CASE(
    "a file that is committed to the disk is there before it has its name, and its folder after") {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::temp_directory_path() / ("boltzmark-synced-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  watched = (folder / "m.npz").string();
  const auto committed = [](Durability durability) {
    fs::remove(watched);
    std::vector<std::string> order;
    AtomicFile file(watched);
    file.write("model");
    synced = &order;
    file.commit(durability);
    synced = nullptr;
    return order;
  };
  CHECK(committed(Durability::disk) == std::vector<std::string>{"file before", "folder after"});
  CHECK(committed(Durability::system).empty());
  fs::remove_all(folder);
}

TEST_CASE("what killed processes left of a file's drafts is removed, and no other file") {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::temp_directory_path() / ("boltzmark-drafts-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  ::waitpid(gone, nullptr, 0);
  const std::string of_gone = std::to_string(gone), alive = std::to_string(::getpid());
  const std::vector<std::string> kept = {"m.npz",
                                         "m.npz." + alive + "-0",
                                         "m.npz.bak",
                                         "m.npz." + of_gone,
                                         "m.npz." + of_gone + "-x",
                                         "other.npz." + of_gone + "-0"};
  for (const std::string& name : kept) std::ofstream(folder / name) << "x";
  for (const char* number : {"0", "17"})
    std::ofstream(folder / ("m.npz." + of_gone + "-" + number)) << "x";
  remove_drafts((folder / "m.npz").string());
  remove_drafts((folder / "no/m.npz").string());  // a folder that is not there
  std::size_t left = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) ++left;
  CHECK(left == kept.size());
  for (const std::string& name : kept) CHECK(fs::exists(folder / name));
  // A name as long as a file system allows has room for no more.
  const std::string longest = (folder / std::string(255, 'n')).string();
  {
    AtomicFile file(longest);
    file.write("x", 1);
    file.commit(Durability::system);
  }
  CHECK(fs::exists(longest));
  std::ofstream(folder / (std::string(200, 'n') + "." + of_gone + "-3")) << "x";
  remove_drafts(longest);
  CHECK(fs::exists(longest));
  CHECK_FALSE(fs::exists(folder / (std::string(200, 'n') + "." + of_gone + "-3")));
  fs::remove_all(folder);
}

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

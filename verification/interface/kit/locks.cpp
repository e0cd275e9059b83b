// Who holds a folder: names and signs of life in its locks, and what becomes of a run whose lock names another.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <regex>
#include <string>
#include <thread>

#include "boltzmark/core/error.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/ranks/host.hpp"
#include "experiments/kit/report/report.hpp"
#include "experiments/kit/run/folder_lock.hpp"
#include "verification/interface/cli/program.hpp"
#include "verification/interface/kit/faulty_system.hpp"
#include "verification/interface/kit/toys.hpp"

namespace boltzmark::experiments {
namespace {

constexpr const char* kOther = "elsewhere, process 7, run of 2026-01-01 00:00:00 UTC";

/// Puts the last sign of a lock back, by so many minutes.
void set_sign(const std::string& lock, int minutes) {
  const timespec then{.tv_sec = std::time(nullptr) - 60 * minutes, .tv_nsec = 0};
  const timespec times[2] = {then, then};
  REQUIRE(utimensat(AT_FDCWD, lock.c_str(), times, 0) == 0);
}

double sign_age(const std::string& lock) {
  struct stat file {};
  REQUIRE(stat(lock.c_str(), &file) == 0);
  return std::difftime(std::time(nullptr), file.st_mtim.tv_sec);
}

/// A lock that a process holds which gives no sign any more, as that of a host that is down.
class SilentHolder {
 public:
  SilentHolder(const std::string& lock, int kind, int minutes)
      : file_(open(lock.c_str(), O_RDWR | O_CREAT, 0666)) {
    REQUIRE(flock(file_, kind | LOCK_NB) == 0);
    const std::string name = kind == LOCK_EX ? kOther : "";
    REQUIRE(pwrite(file_, name.data(), name.size(), 0) == static_cast<ssize_t>(name.size()));
    set_sign(lock, minutes);
  }
  ~SilentHolder() { close(file_); }
  SilentHolder(const SilentHolder&) = delete;
  SilentHolder& operator=(const SilentHolder&) = delete;

 private:
  int file_;
};

bool soon(const std::function<bool()>& holds) {
  for (int i = 0; i < 3000 && !holds(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return holds();
}

bool is_lost(const FolderLock& lock) {
  try {
    lock.check();
    return false;
  } catch (const Error&) {
    return true;
  }
}

std::size_t stored(const std::string& out, const std::string& file = "trials.jsonl") {
  const std::string text = read_text(out + "/quick/toy/one/" + file);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// Puts another's name into a lock, which is never empty.
void put_other(const std::string& lock) {
  { std::fstream(lock, std::ios::in | std::ios::out) << kOther; }
  std::filesystem::resize_file(lock, std::string(kOther).size());
}

/// The toys, of which the fourth that runs has another's name put into a lock, once three are stored.
std::vector<Experiment> toys_that_lose(const std::string& lock,
                                       const std::function<int()>& stored_now) {
  std::vector<Experiment> toys = toy_experiments();
  toys[0].run = [lock, stored_now, run = toys[0].run, count = 0](
                    const Json& inputs, const TrialContext& context) mutable {
    if (++count == 4) {
      for (int i = 0; i < 1000 && stored_now() < 3; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      put_other(lock);
      for (int i = 0; i < 3000; ++i) {  // until the run gives its trials up
        context.progress(0.5);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    }
    return run(inputs, context);
  };
  return toys;
}

constexpr LockOptions kTakesOver{.take_over = true};

}  // namespace

TEST_CASE("a lock names host, process, job and run of its holder") {
  const TemporaryFolder out;
  const FolderLock lock(out.path(), Shard{});
  const std::string name = read_text(out.path() + "/.lock");
  CHECK(name == process_name());
  CHECK(name.starts_with(host_name() + fmt::format(", process {}", getpid())));
  CHECK(std::regex_search(name,
                          std::regex(", run of \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d UTC$")));
}

TEST_CASE("a run that finds another's name in its lock stops and stores nothing more") {
  for (const Shard shard : {Shard{}, Shard{0, 1}}) {
    INFO(shard.text());
    const TemporaryFolder out;
    const std::string lock = out.path() + "/" + (shard.whole() ? ".lock" : shard.lock_name());
    const auto stored_now = [&] {
      return static_cast<int>(
          stored(out.path(), shard.whole() ? "trials.jsonl" : shard.file_name()));
    };
    std::string said;
    bool bad_input = false;
    try {
      reproduce({.jobs = 1, .out = out.path(), .shard = shard, .sign_seconds = 0.01, .quiet = true},
                toys_that_lose(lock, stored_now), {toy_claims()});
    } catch (const DataError&) {
      bad_input = true;  // would be exit code 2
    } catch (const Error& error) {
      said = error.what();
    }
    CHECK_FALSE(bad_input);
    CHECK(said.find("its lock now names " + std::string(kOther)) != std::string::npos);
    CHECK(said.find("nothing more is stored") != std::string::npos);
    CHECK(stored_now() == 3);
    CHECK(read_text(lock) == kOther);  // whose it is now
  }
}

TEST_CASE("a run that loses its folder while it draws what ended last tells so") {
  const TemporaryFolder out;
  std::vector<Experiment> toys = toy_experiments();
  toys[0].summarise = [&, summarise = toys[0].summarise](const Results& results, Summary& summary) {
    summarise(results, summary);
    if (results.trials().size() < 12) return;
    put_other(out.path() + "/.lock");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // beyond two signs
  };
  CHECK_THROWS_WITH(reproduce({.jobs = 1, .out = out.path(), .sign_seconds = 0.01, .quiet = true},
                              toys, {toy_claims()}),
                    Catch::Contains("its lock now names " + std::string(kOther)));
}

TEST_CASE(
    "shards stop where their folder's lock names a whole run, and a run where shards have it") {
  const TemporaryFolder out;
  const std::string path = out.path() + "/.lock";
  {
    const FolderLock shard(out.path(), {0, 2}, {.renew_seconds = 0.01});
    CHECK_NOTHROW(shard.check());
    write_text(path, kOther);  // renamed onto it
    CHECK(soon([&] { return is_lost(shard); }));
  }
  const TemporaryFolder other;
  const FolderLock whole(other.path(), Shard{}, {.renew_seconds = 0.01});
  CHECK(truncate((other.path() + "/.lock").c_str(), 0) == 0);
  CHECK(soon([&] { return is_lost(whole); }));
  CHECK_THROWS_WITH(whole.check(), Catch::Contains("shards of a run"));
}

TEST_CASE("a run and a shard give signs of life in the lock that names them") {
  for (const Shard shard : {Shard{}, Shard{1, 2}}) {
    INFO(shard.text());
    const TemporaryFolder out;
    const FolderLock lock(out.path(), shard, {.renew_seconds = 0.01});
    const std::string path = out.path() + "/" + (shard.whole() ? ".lock" : shard.lock_name());
    set_sign(path, 60);
    CHECK(soon([&] { return sign_age(path) < 60; }));
    CHECK_NOTHROW(lock.check());
    CHECK(read_text(path) == process_name());
  }
}

TEST_CASE("a run gives no sign of life in a lock that names another") {
  const TemporaryFolder out;
  const std::string path = out.path() + "/.lock";
  const FolderLock lock(out.path(), Shard{}, {.renew_seconds = 0.2});
  set_sign(path, 60);
  CHECK(soon([&] { return sign_age(path) < 60; }));  // the next is due in 0.2 s
  put_other(path);
  set_sign(path, 30);
  CHECK(soon([&] { return is_lost(lock); }));
  CHECK(sign_age(path) >= 30 * 60);
}

TEST_CASE("a lock is told with its holder's last sign, and may be taken over after ten minutes") {
  const TemporaryFolder out;
  const std::string lock = out.path() + "/.lock";
  const SilentHolder silent(lock, LOCK_EX, 9);
  CHECK_THROWS_WITH(FolderLock(out.path(), Shard{}),
                    Catch::Contains("in use by another run: " + std::string(kOther) +
                                    ", whose last sign was 9 min") &&
                        Catch::Contains("must be free: wait, or choose another --out"));
  CHECK_THROWS_WITH(FolderLock(out.path(), Shard{}, kTakesOver),
                    Catch::Contains("must be silent for 10 min for --take-over"));
  set_sign(lock, 25);
  CHECK_THROWS_WITH(FolderLock(out.path(), {0, 2}),
                    Catch::Contains("last sign was 25 min") &&
                        Catch::Contains("if that run has ended, go on with --take-over"));
  {
    const FolderLock taken(out.path(), Shard{}, kTakesOver);
    CHECK(read_text(lock) == process_name());
    CHECK_THROWS_WITH(FolderLock(out.path(), Shard{}, kTakesOver),
                      Catch::Contains("must be silent for 10 min"));
  }
  CHECK_NOTHROW(FolderLock(out.path(), Shard{}));  // the silent one's lock is another file's
}

TEST_CASE("a run that another took over from finds the other, and leaves its lock alone") {
  const TemporaryFolder out;
  const std::string path = out.path() + "/.lock";
  auto first = std::make_unique<FolderLock>(out.path(), Shard{}, LockOptions{.renew_seconds = 0.5});
  std::unique_ptr<FolderLock> second;
  CHECK(soon([&] {  // unless the first gives a sign in between
    set_sign(path, 11);
    try {
      second = std::make_unique<FolderLock>(out.path(), Shard{}, kTakesOver);
    } catch (const DataError&) {
    }
    return second != nullptr;
  }));
  CHECK(soon([&] { return is_lost(*first); }));
  CHECK_FALSE(is_lost(*second));
  first.reset();
  CHECK(read_text(path) == process_name());
  CHECK_THROWS_AS(FolderLock(out.path(), Shard{}), DataError);
}

TEST_CASE("a lock's silence is by the clock of its file system, whatever this machine's says") {
  const TemporaryFolder out;
  const SilentHolder silent(out.path() + "/.lock", LOCK_EX, 22);
  file_clock_ahead = -20 * 60;
  CHECK_THROWS_WITH(FolderLock(out.path(), Shard{}, kTakesOver),
                    Catch::Contains("last sign was 2 min"));
  file_clock_ahead = 0;
  CHECK_NOTHROW(FolderLock(out.path(), Shard{}, kTakesOver));
}

TEST_CASE("of two that take a lock over at once the last has it, and the first is refused") {
  const TemporaryFolder out;
  const std::string lock = out.path() + "/.lock", draft = out.path() + "/.draft";
  const SilentHolder silent(lock, LOCK_EX, 20);
  std::unique_ptr<SilentHolder> last;
  after_rename = [&] {
    last = std::make_unique<SilentHolder>(draft, LOCK_EX, 0);
    std::filesystem::rename(draft, lock);
  };
  CHECK_THROWS_WITH(FolderLock(out.path(), Shard{}, kTakesOver),
                    Catch::Contains("in use by another run: " + std::string(kOther)));
  CHECK(last);
  CHECK(read_text(lock) == kOther);
}

TEST_CASE("a lock whose file is replaced as it is taken is taken of the new file") {
  const TemporaryFolder out;
  const std::string path = out.path() + "/.lock";
  before_flock = [&] { write_text(path, ""); };  // renamed onto it
  const FolderLock lock(out.path(), Shard{});
  CHECK_FALSE(before_flock);
  CHECK(read_text(path) == process_name());
  CHECK_THROWS_AS(FolderLock(out.path(), Shard{}), DataError);
}

TEST_CASE("a lock is taken all the same where signals interrupt") {
  const TemporaryFolder out;
  flock_interrupts = 3;
  CHECK_NOTHROW(FolderLock(out.path(), Shard{}));
  CHECK(flock_interrupts == 0);
}

TEST_CASE("of shards that a whole run would take over from, the last sign of any counts") {
  const TemporaryFolder out;
  const SilentHolder shared(out.path() + "/.lock", LOCK_SH, 30),
      first(out.path() + "/.lock.0-of-2", LOCK_EX, 30),
      second(out.path() + "/.lock.1-of-2", LOCK_EX, 5);
  CHECK_THROWS_WITH(FolderLock(out.path(), Shard{}, kTakesOver),
                    Catch::Contains(std::string(kOther) + ", shard 0-of-2 and others") &&
                        Catch::Contains("last sign was 5 min"));
  CHECK_THROWS_AS(FolderLock(out.path(), {1, 2}, kTakesOver), DataError);
  CHECK_NOTHROW(FolderLock(out.path(), {0, 2}, kTakesOver));  // a shard's own lock alone
  set_sign(out.path() + "/.lock.1-of-2", 12);
  CHECK_NOTHROW(FolderLock(out.path(), Shard{}, kTakesOver));
}

TEST_CASE(
    "a holder that could not write its name is known by its own signs, not by those of others") {
  const TemporaryFolder out;
  const std::string lock = out.path() + "/.lock";
  write_text(lock + ".0-of-2", kOther);  // left by a shard that was killed
  set_sign(lock + ".0-of-2", 60);
  const int held = open(lock.c_str(), O_RDWR | O_CREAT, 0666);
  REQUIRE(flock(held, LOCK_EX | LOCK_NB) == 0);
  set_sign(lock, 2);
  CHECK_THROWS_WITH(FolderLock(out.path(), Shard{}, kTakesOver),
                    Catch::Contains("last sign was 2 min") && !Catch::Contains(kOther));
  set_sign(lock, 12);
  CHECK_NOTHROW(FolderLock(out.path(), Shard{}, kTakesOver));
  close(held);
}

TEST_CASE(
    "reproduce --take-over goes on in a folder whose holder has been silent for ten minutes") {
  const TemporaryFolder out;
  const SilentHolder silent(out.path() + "/.lock", LOCK_EX, 20);
  const cli_test::Arguments arguments = {"reproduce", "bruegge2013/fig2", "--profile", "smoke",
                                         "--out",     out.path(),         "--quiet"};
  cli_test::check_refused(cli_test::run(arguments), {"last sign was 20 min", "--take-over"});
  cli_test::Arguments taking = arguments;
  taking.emplace_back("--take-over");
  CHECK(cli_test::run(taking).code == 0);
}

TEST_CASE("compare --take-over goes on in a folder of a run that was stopped") {
  const io_test::Folder folder;
  const std::string model = folder / "m.npz", out = folder / "out";
  REQUIRE(cli_test::run({"make", "well:8:4:5:1", "--out", model}).code == 0);
  const auto comparing = [&](const char* sweeps) {
    return cli_test::Arguments{"compare", model, "--sweeps",  sweeps, "--repeats", "2",
                               "--out",   out,   "--methods", "rts",  "--quiet"};
  };
  cli_test::Process stopped(comparing("5000000"));
  for (int i = 0; i < 10'000 && io_test::read_all(out + "/.lock").empty(); ++i)  // its name
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  stopped.signal(SIGSTOP);
  set_sign(out + "/.lock", 20);
  cli_test::check_refused(cli_test::run(comparing("10")), {"last sign was 20 min", "--take-over"});
  cli_test::Arguments taking = comparing("10");
  taking.emplace_back("--take-over");
  CHECK(cli_test::run(taking).code == 0);
}

}  // namespace boltzmark::experiments

// Work on the ranks of mpirun, on this machine: ranks that sleep stand for those of other hosts, whose cores it has not.
#include "experiments/speed/ranks.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <queue>
#include <thread>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/io/model_file.hpp"
#include "experiments/kit/ranks/equal_ranks.hpp"
#include "experiments/kit/ranks/launcher.hpp"
#include "experiments/kit/ranks/mpi_transport.hpp"
#include "experiments/kit/report/report.hpp"
#include "experiments/kit/run/reproduce.hpp"
#include "experiments/kit/subprocess.hpp"
#include "experiments/kit/temporary_folder.hpp"
#include "experiments/speed/contender.hpp"
#include "experiments/speed/sleepers.hpp"
#include "experiments/speed/workload.hpp"

namespace boltzmark::speed {
namespace {

using experiments::Json;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// CPU time of this thread, or of the processes that this one has waited for.
double cpu_seconds(int who) {
  rusage used{};
  getrusage(who, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

constexpr int kMessages = 2000, kEmptyTrials = 20000, kTrialsOfRank = 8;
constexpr std::size_t kMessageBytes = 1000, kLineBytes = 4000;

/// One way, of messages that go there and back.
double seconds_of_message(experiments::RankLink& link) {
  const auto wait = [&] {
    for (;;)
      if (auto message = link.receive()) return std::move(message->bytes);
  };
  std::string text(kMessageBytes, 'x');
  const auto start = Clock::now();
  for (int i = 0; i < kMessages; ++i) {
    if (link.rank() == 0) link.send(1, std::move(text));
    text = wait();
    if (link.rank() == 1) link.send(0, std::move(text));
  }
  const double seconds = seconds_since(start) / (2 * kMessages);
  if (link.rank() == 1) link.finish(0, true);
  return seconds;
}

/// Runs a study as a shard, which writes no report.
void run_study(const experiments::Experiment& study, experiments::RankLink& link) {
  std::string path;
  std::optional<experiments::TemporaryFolder> folder;
  if (link.rank() == 0) path = folder.emplace().path();
  const experiments::ReproduceOptions how{
      .jobs = 1, .threads = 1, .out = link.broadcast(path), .shard = {0, 1}, .quiet = true};
  experiments::reproduce(how, {study}, {}, &link);
}

}  // namespace

int run_on_ranks(const std::string& work) {
  if (experiments::this_launch().rank > 0) experiments::silence_output();
  const auto link = experiments::start_mpi();
  if (!link) throw InvalidArgument(work + ": ranks = 1 (must be started by mpirun)");
  experiments::agree_on_build(*link);
  const auto start = Clock::now();
  const double cpu = cpu_seconds(RUSAGE_THREAD);
  double seconds = 0;
  if (work == "message") {
    seconds = seconds_of_message(*link);
  } else if (work == "trials" || work == "trials-cpu") {
    run_study(sleepers(kEmptyTrials, kLineBytes, false), *link);
    seconds =
        (work == "trials" ? seconds_since(start) : cpu_seconds(RUSAGE_THREAD) - cpu) / kEmptyTrials;
  } else if (work == "asleep") {
    run_study(sleepers(kTrialsOfRank * link->ranks(), 100, true), *link);
    seconds = seconds_since(start);
  } else {
    throw InvalidArgument(work + ": unknown work (must be message, trials, trials-cpu or asleep)");
  }
  if (link->rank() > 0) return 0;
  fmt::print("{:.9f}\n", seconds);
  std::fflush(stdout);
  link->finish(0, true);
  return 0;
}

namespace {

std::string own_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
}

/// Starts a program, on ranks of mpirun if there is more than one.  Returns  what it prints
std::string output_of(int ranks, const std::string& transport,
                      const std::vector<std::string>& program) {
  std::vector<std::string> words;
  if (ranks > 1)
    words = {"mpirun",
             "--allow-run-as-root",
             "--oversubscribe",
             "--bind-to",
             ranks == 2 ? "core:overload-allowed" : "none",  // two as mpirun does by itself
             "--mca",
             "mpi_yield_when_idle",
             "1",
             "--mca",
             "btl",
             transport,
             "-n",
             std::to_string(ranks)};
  else
    words = {"env"};  // what is looked up in the PATH
  words.insert(words.end(), program.begin(), program.end());
  const auto result = experiments::run_program(words, ".", std::chrono::minutes(10));
  if (result.status != 0)
    throw Error(fmt::format("{}: exit code {}: {}", program[0], result.status, result.output));
  return result.output;
}

double bench_on_ranks(int ranks, const std::string& transport, const std::string& work) {
  return std::stod(output_of(ranks, transport, {own_folder() + "/bench", kOnRanks, work}));
}

/// How long the ranks would sleep if each took the next trial at once, the longest first.
double seconds_asleep(int ranks) {
  std::vector<double> trials;
  for (int i = 0; i < kTrialsOfRank * ranks; ++i) trials.push_back(sleep_of(i));
  std::sort(trials.rbegin(), trials.rend());
  std::priority_queue<double, std::vector<double>, std::greater<>> free;
  for (int rank = 0; rank < ranks; ++rank) free.push(0);
  double last = 0;
  for (const double seconds : trials) {
    const double end = free.top() + seconds;
    free.pop();
    free.push(end);
    last = std::max(last, end);
  }
  return last;
}

constexpr const char* kShared = "self,vader";
constexpr const char* kLoopback = "self,tcp";

/// Runs a command of the program.  Returns  the JSON that it prints
Json run_command(int ranks, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), own_folder() + "/boltzmark");
  arguments.insert(arguments.end(), {"--json", "--quiet"});
  const std::string text = output_of(ranks, kShared, arguments);
  return Json::parse(text.substr(std::min(text.find('{'), text.size())));
}

double seconds_of_program(int ranks, const std::vector<std::string>& arguments) {
  return run_command(ranks, arguments).at("seconds");
}

double cpu_of_program(int ranks, const std::vector<std::string>& arguments) {
  const double before = cpu_seconds(RUSAGE_CHILDREN);
  run_command(ranks, arguments);
  return cpu_seconds(RUSAGE_CHILDREN) - before;
}

std::string model_in(const experiments::TemporaryFolder& folder, const Size& size) {
  const std::string path = folder.path() + "/model.npz";
  write_model(random_rbm(size), path);
  return path;
}

double seconds_of_smoke(int ranks, const char* jobs) {
  const experiments::TemporaryFolder folder;
  const auto start = Clock::now();
  run_command(ranks, {"reproduce", "yokoyama2019", "--profile", "smoke", "--jobs", jobs, "--out",
                      folder.path()});
  return seconds_since(start);
}

}  // namespace

void add_ranks() {
  if (experiments::mpi_name().empty() ||
      experiments::run_program({"mpirun", "--version"}).status != 0)
    return;
  const auto timed = [](const std::string& work, const std::string& name, auto seconds) {
    add({.work = "on ranks of this machine: " + work,
         .name = name,
         .timed = seconds,
         .once = true});
  };
  for (const auto& [transport, name] :
       {std::pair{kShared, "shared memory"}, {kLoopback, "TCP over loopback"}}) {
    timed(fmt::format("a message one way/1 kB, {}", name), "boltzmark",
          [transport = transport] { return bench_on_ranks(2, transport, "message"); });
    // A rank a core: with more, what is measured is how the kernel shares out two cores.
    timed(fmt::format("a trial through rank 0/empty, line of 4 kB, 2 ranks, {}", name), "boltzmark",
          [transport = transport] { return bench_on_ranks(2, transport, "trials"); });
    timed(
        fmt::format(
            "a trial through rank 0/CPU of rank 0's main thread, planning included, line of 4 kB, 2 ranks, {}",
            name),
        "boltzmark",
        [transport = transport] { return bench_on_ranks(2, transport, "trials-cpu"); });
  }
  for (const int ranks : {2, 4, 16, 64}) {
    const std::string work =
        fmt::format("trials asleep/{} of 1 s on {} ranks", kTrialsOfRank * ranks, ranks);
    timed(work, "boltzmark", [=] { return bench_on_ranks(ranks, kShared, "asleep"); });
    timed(work, kTrialsAlone, [=] { return seconds_asleep(ranks); });
  }
  timed("a paper at smoke/yokoyama2019", "boltzmark, 2 jobs",
        [] { return seconds_of_smoke(1, "2"); });
  timed("a paper at smoke/yokoyama2019", "boltzmark, 3 ranks",
        [] { return seconds_of_smoke(3, "1"); });
  const auto on_one_and_two = [&](const std::string& work, const Size& size,
                                  const std::vector<std::string>& command, auto measure) {
    for (const int ranks : {1, 2})
      timed(work, ranks == 1 ? "boltzmark, 2 threads" : "boltzmark, 2 ranks", [=] {
        const experiments::TemporaryFolder folder;
        std::vector<std::string> words = {command[0], model_in(folder, size), "--threads",
                                          ranks == 1 ? "2" : "1"};
        words.insert(words.end(), command.begin() + 1, command.end());
        return measure(ranks, words);
      });
  };
  on_one_and_two("log Z by enumeration/784x26", {784, 26, 0}, {"exact"}, seconds_of_program);
  for (const int side : {8, 9})
    on_one_and_two(fmt::format("spectrum of T/{0}x{0}: CPU", side), {side, side, 0},
                   {"spectrum", "--rule", "flip"}, cpu_of_program);
}

}  // namespace boltzmark::speed

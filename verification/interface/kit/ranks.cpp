// What ranks are told by their launcher, what they tell each other, and who is refused.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "experiments/kit/ranks/chain_ranks.hpp"
#include "experiments/kit/ranks/equal_ranks.hpp"
#include "experiments/kit/ranks/fingerprint.hpp"
#include "experiments/kit/ranks/host.hpp"
#include "experiments/kit/ranks/launcher.hpp"
#include "experiments/kit/ranks/rank_messages.hpp"
#include "experiments/kit/ranks/rank_worker.hpp"
#include "experiments/kit/ranks/remote_ranks.hpp"
#include "experiments/kit/run/announce.hpp"
#include "experiments/kit/run/lease_clock.hpp"
#include "experiments/kit/run/runner.hpp"
#include "experiments/kit/run/trial_checkpoint.hpp"
#include "experiments/kit/run/trial_run.hpp"
#include "experiments/kit/run/workers.hpp"
#include "experiments/kit/sources.hpp"
#include "verification/interface/kit/toys.hpp"

namespace boltzmark::experiments {
namespace {

Launch launched(const std::map<std::string, std::string>& environment) {
  return read_launch([&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

TEST_CASE("ranks are those of a launcher that lets them find each other, all else is one process") {
  const Launch mpirun = launched({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}});
  CHECK(mpirun.ranks == 4);
  CHECK(mpirun.rank == 3);
  const Launch pmix =
      launched({{"SLURM_STEP_NUM_TASKS", "4"}, {"PMIX_RANK", "2"}, {"SLURM_PROCID", "2"}});
  CHECK(pmix.ranks == 4);
  CHECK(pmix.rank == 2);
  CHECK(launched({{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}}).rank == 1);
  for (const Launch& launch : {mpirun, pmix}) CHECK(launch.problem.empty());

  const Launch plain = launched({{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "1"}});
  CHECK(plain.ranks == 4);
  CHECK(plain.rank == 1);
  CHECK(plain.problem == "must be srun --mpi=pmix");

  const std::map<std::string, std::string> one_process[] = {
      {},
      {{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "64"}},  // in an allocation, or a batch script
      {{"SLURM_STEP_NUM_TASKS", "1"}, {"PMIX_RANK", "0"}, {"SLURM_NTASKS", "64"}},
      {{"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_RANK", "0"}}};
  for (const auto& environment : one_process) {
    const Launch launch = launched(environment);
    CHECK(launch.ranks == 1);
    CHECK(launch.rank == 0);
    CHECK(launch.problem.empty());
  }
}

TEST_CASE("all ranks take the SIMD path of the weakest") {
  CHECK(weakest_path({"avx512"}) == "avx512");
  CHECK(weakest_path({"avx512", "avx2", "avx512"}) == "avx2");
  CHECK(weakest_path({"sse4", "amx"}) == "sse4");
  CHECK(weakest_path({"avx512", "amx"}) == "avx512");
}

TEST_CASE(
    "a rank that differs from the first in one thing is named with its host and both values") {
  const RankIdentity first{.host = "a", .facts = {{"sources", "1"}, {"arithmetic", "2"}}};
  RankIdentity other = first;
  other.host = "b";
  CHECK(difference({first}).empty());
  CHECK(difference({first, other}).empty());
  other.facts[1].second = "3";
  CHECK(difference({first, first, other}) ==
        "rank 2 on host b: arithmetic = 3 (must be that of rank 0 on host a, 2)");
  CHECK(numeric_fingerprint() == numeric_fingerprint());
  CHECK(program_hash().size() == 16);
}

TEST_CASE("messages between ranks come back as they were sent, and what is none is refused") {
  const RankNote sent{.kind = RankNote::Kind::give,
                      .number = 1234567890123,
                      .attempt = 7,
                      .text = std::string("a\0b\n", 4)};
  const RankNote got = decode(encode(sent));
  CHECK(got.kind == sent.kind);
  CHECK(got.number == sent.number);
  CHECK(got.attempt == sent.attempt);
  CHECK(got.text == sent.text);
  CHECK_THROWS_AS(decode("short"), Error);
}

/// A link to ranks that say what a test has them say.
class ScriptedRanks final : public RankLink {
 public:
  explicit ScriptedRanks(int on_host, int number = 0) : on_host_(on_host), number_(number) {}
  int rank() const override { return number_; }
  int ranks() const override { return 8; }
  int ranks_on_host() const override { return on_host_; }
  std::vector<std::string> gather(const std::string& text) override {
    std::vector<std::string> all = others;
    all.insert(all.begin(), text);
    return all;
  }
  std::string broadcast(const std::string& text) override { return number_ == 0 ? text : first; }
  void send(int to, std::string bytes) override { sent.push_back({to, decode(bytes)}); }
  std::optional<RankMessage> receive() override {
    --looks;
    if (incoming.empty()) return std::nullopt;
    RankMessage message = std::move(incoming.front());
    incoming.pop_front();
    return message;
  }
  void finish(int, bool, const std::string&) override {}
  void fail(int, const std::string&) override {}
  bool ended() const override { return looks <= 0; }

  std::vector<std::string> others = {};   ///< what the other ranks gather
  std::string first = {};                 ///< what rank 0 broadcasts to another
  std::deque<RankMessage> incoming = {};  ///< messages that come
  std::vector<std::pair<int, RankNote>> sent = {};
  int looks = 0;  ///< for messages, until rank 0 ends the ranks

 private:
  int on_host_, number_;
};

TEST_CASE("ranks of one host share its CPUs, each has one at least, and options are of one rank") {
  const int all = parallelism({}, nullptr).threads;
  const ScriptedRanks two(2), many(1000);
  CHECK(parallelism({}, &two).threads == std::max(1, all / 2));
  CHECK(parallelism({}, &two).jobs == parallelism({}, &two).threads);
  CHECK(parallelism({}, &many).threads == 1);
  CHECK(parallelism({}, &many).alone_threads == all);  // a trial that has the host for itself
  CHECK(parallelism({.jobs = 3, .threads = 5}, &two).threads == 5);
  CHECK(parallelism({.jobs = 3, .threads = 5}, &two).jobs == 3);
}

std::string joins(const std::string& host) {
  return encode({.kind = RankNote::Kind::join, .number = 1, .text = host});
}

TEST_CASE("rank 0 knows which ranks have one host, and is heard by all of them within a lease") {
  ScriptedRanks link(1);
  link.incoming = {{1, joins("b")}, {2, joins(host_name())}, {3, joins("c")}, {4, joins("b")}};
  RemoteRanks remote(&link, 1);
  int joined = 0;
  const auto take = [&](int, const RankNote& note) { joined += note.kind == RankNote::Kind::join; };
  CHECK(remote.hear(take));
  CHECK(joined == 4);
  CHECK_FALSE(remote.hear(take));
  std::vector<int> hosts;
  for (int rank = 0; rank < 5; ++rank) hosts.push_back(remote.host(rank));
  CHECK(hosts == std::vector<int>{0, 1, 0, 2, 1});
  const double start = now_seconds();
  std::set<int> heard;
  bool over = false;  // looked at before, so that a machine that stands still makes no difference
  while (heard.size() < 4 && !std::exchange(over, now_seconds() - start > 1)) {
    remote.hear(take);
    for (const auto& [to, note] : link.sent)
      if (note.kind == RankNote::Kind::beat) heard.insert(to);
  }
  CHECK(heard == std::set<int>{1, 2, 3, 4});
}

TEST_CASE("of much to hear rank 0 takes a part at a time, in order") {
  ScriptedRanks link(1);
  for (std::size_t i = 0; i < 2500; ++i)
    link.incoming.push_back({1, encode({.kind = RankNote::Kind::result, .number = i})});
  RemoteRanks remote(&link, 1);
  std::size_t next = 0, parts = 0;
  while (remote.hear([&](int, const RankNote& note) { CHECK(note.number == next++); }))
    CHECK(remote.all_heard() == (++parts == 3));
  CHECK(next == 2500);
  CHECK(parts == 3);
  CHECK_FALSE(RemoteRanks(nullptr, 1).hear([](int, RankNote&) {}));
}

TEST_CASE("leases leave out what a process was away for itself, but for a beat") {
  LeaseClock clock(10, 100);
  CHECK(clock.seconds_at(100) == 0);
  CHECK(clock.seconds_at(101.5) == 1.5);
  CHECK(clock.seconds_at(1000) == 3.5);  // away: a fifth of a lease
  CHECK(clock.seconds_at(1002) == 5.5);
}

TEST_CASE("a rank that hears nothing of rank 0 for five leases ends, but not once it rests") {
  constexpr double kLease = 0.02;
  const RankService service{.run = [](std::size_t, int) { return TrialOutcome{}; }};
  ScriptedRanks silent(1, 1), resting(1, 1);
  silent.looks = 4000;  // half a millisecond each, or more
  CHECK_THROWS_WITH(serve_rank_0(silent, kLease, {}, service), Catch::Contains("five leases"));
  resting.looks = 400;
  resting.incoming = {{0, encode({.kind = RankNote::Kind::rest})}};
  CHECK_NOTHROW(serve_rank_0(resting, kLease, {}, service));
  REQUIRE(!resting.sent.empty());
  CHECK(resting.sent[0].second.kind == RankNote::Kind::join);
  CHECK(resting.sent[0].second.text == host_name());
}

TEST_CASE("what goes wrong with one rank's chains is thrown on all, with its host") {
  Eigen::VectorXd values = Eigen::VectorXd::Constant(48, 1);
  ScriptedRanks first(1), second(1, 1);
  const auto exchange = [&](ScriptedRanks& link, const std::string& failure) {
    share_chains(link).exchange(values, {0, 16}, failure);
  };
  const Eigen::VectorXd theirs = Eigen::VectorXd::LinSpaced(32, 0, 1);
  first.others = {"b" + std::string(reinterpret_cast<const char*>(theirs.data()), 32 * 8)};
  exchange(first, "");
  CHECK(values.head(16) == Eigen::VectorXd::Constant(16, 1));
  CHECK(values.tail(32) == theirs);
  CHECK_THROWS_WITH(exchange(first, "no luck"), "host " + host_name() + ": no luck");
  first.others = {"fhost there: no luck"};
  CHECK_THROWS_WITH(exchange(first, ""), "host there: no luck");
  second.first = "fhost elsewhere: no luck";
  CHECK_THROWS_WITH(exchange(second, ""), "host elsewhere: no luck");
}

TEST_CASE("of a fresh run a trial that is given again goes on from the state that was left") {
  const TemporaryFolder out;
  std::optional<std::string> found;
  Experiment toy = toy_experiments()[0];
  toy.run = [&](const Json&, const TrialContext& context) -> Json {
    found = context.kept_state();
    return {{"mean", 1}};
  };
  const ReproduceOptions options{.out = out.path(), .fresh = true};
  const PlannedExperiment plan = list_trials(toy, options, CellFilter(""));
  const PlannedTrial& trial = plan.trials[0];
  Progress progress(0, 0, false);
  TrialRun run(options, "r", progress);
  TrialCheckpoint(plan.folder, trial.key).write("begun");
  CHECK(run.run(plan, trial, 1).kind == TrialOutcome::Kind::result);
  CHECK(found == "begun");
  run.run(plan, trial, 0);
  CHECK_FALSE(found);
}

TEST_CASE("work that wants the process for itself runs while no other does") {
  Workers workers(3, 3, 3);
  std::atomic<int> running{0}, others_beside{0};
  const auto work = [&](bool alone) {
    const int before = running++;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    if (alone) others_beside += before + running - 1;
    --running;
  };
  for (const bool alone : {false, false, true, false, true, true, false})
    workers.add([&, alone] { work(alone); }, alone);
  workers.wait();
  CHECK(others_beside == 0);
}

TEST_CASE("what is foretold of several ranks is no shorter than the longest trial") {
  // 180 hours of one core, of which the longest trial takes 80 minutes.
  const double all = 90 * 3600, longest = 40 * 60;
  CHECK(placement_text({.ranks = 64, .hosts = 4, .threads = 64, .jobs = 64}, all, longest) ==
        "64 ranks on 4 hosts, 64 trials at once: 2 h 48 min; longest trial 1 h 20 min: more than "
        "135 cores do not help");
  CHECK_THAT(placement_text({.ranks = 2, .hosts = 1, .threads = 256, .jobs = 1}, all, longest),
             Catch::StartsWith("2 ranks on 1 host, 1 trial at once: 1 h 20 min;"));
}

TEST_CASE("a trial that is given again goes on from its last whole state, in a file of its own") {
  const TemporaryFolder out;
  const TrialKey key{.inputs = {{"size", "small"}}, .simd = "s", .sources = "a"};
  const TrialCheckpoint first(out.path(), key), second(out.path(), key, 1);
  first.write("one");
  CHECK(second.read() == "one");
  second.write("two");
  const auto states = [&] {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(out.path() + "/checkpoints"))
      all.push_back(entry.path().filename().string());
    return all;
  };
  CHECK(states().size() == 2);
  CHECK(first.read() == "two");
  first.write("three");
  CHECK(TrialCheckpoint(out.path(), key, 2).read() == "three");
  TrialKey other = key;
  other.inputs["size"] = "large";
  TrialCheckpoint(out.path(), other).write("other");
  first.remove();
  CHECK(states().size() == 1);
  CHECK(TrialCheckpoint(out.path(), other).read() == "other");
}

TEST_CASE("states of the trials that were stored go, all attempts, and of no other trial") {
  const TemporaryFolder out;
  std::vector<TrialKey> keys;
  for (int i = 0; i < 3; ++i) keys.push_back({.inputs = {{"i", i}}, .simd = "s", .sources = "a"});
  TrialCheckpoint::remove(out.path(), {&keys[0]});  // there is no state, nor a folder of them
  CHECK_FALSE(std::filesystem::exists(out.path() + "/checkpoints"));
  for (const TrialKey& key : keys)
    for (const int attempt : {0, 1}) TrialCheckpoint(out.path(), key, attempt).write("state");
  TrialCheckpoint::remove(out.path(), {&keys[0], &keys[2]});
  CHECK_FALSE(TrialCheckpoint(out.path(), keys[0]).read());
  CHECK(TrialCheckpoint(out.path(), keys[1]).read() == "state");
  CHECK_FALSE(TrialCheckpoint(out.path(), keys[2]).read());
  TrialCheckpoint::remove(out.path(), {&keys[1]});
  CHECK_FALSE(std::filesystem::exists(out.path() + "/checkpoints"));
}

TEST_CASE("whoever waits for messages looks again soon after one, then ever less often") {
  Naps naps;
  double slept = 0;
  for (int i = 0; i < 100; ++i, naps.note(false)) slept += naps.seconds();
  CHECK(naps.seconds() == Naps::kLongest);
  CHECK(slept > 90 * Naps::kLongest);
  naps.note(true);
  CHECK(naps.seconds() == Naps::kShortest);
}

TEST_CASE("jobs that one alone held back begin together when it ends") {
  std::atomic<bool> held{false};
  std::atomic<int> begun{0}, met{0};
  const auto wait_for = [](const auto& holds) {
    const double start = now_seconds();
    while (!holds() && now_seconds() - start < 10) std::this_thread::yield();
    return holds();
  };
  Workers workers(3, 3, 3);
  workers.add([&] { wait_for([&] { return held.load(); }); }, true);
  for (int i = 0; i < 3; ++i) {
    const auto job = [&] {
      ++begun;
      met += wait_for([&] { return begun == 3; });
    };
    workers.add(job, false);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // for the other workers to see them
  held = true;
  workers.wait();
  CHECK(met == 3);
}

}  // namespace
}  // namespace boltzmark::experiments

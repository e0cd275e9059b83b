// A study of toy trials as a program of its own, for mpirun to start:
//   toy_study OUT [--count N] [--sleep MS] [--bytes N] [--estimate MS] [--lease S] [--jobs J] [--shard K/N]
//             [--max-seconds S] [--hold-seed S] [--odd-rank R] [--other-data-rank R] [--slow-rank R] [--throws-at N] [--sign MS]
//             [--stall-after N: a rank's trials after so many take a minute each, so that a study waits to be killed]
//             [--chatter 1] [--start-seconds S] [--mute-rank R: says nothing from the start] [--alone 1] [--times 1: OUT.times has where and when each trial ran] [--steps N: so many of MS, with a state after each;
//             OUT.steps has trial, step and rank]
//   toy_study OUT --exact UNITS [--sleep MS] [--lease S]
//             log Z of a random model of so many hidden units, its chunks slow, checkpoint OUT.sums
// Each rank leaves its process id in OUT.pid.RANK.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <thread>

#include "boltzmark/core/error.hpp"
#include "boltzmark/exact/enumeration/chunk_total.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/ranks/chunk_ranks.hpp"
#include "experiments/kit/ranks/equal_ranks.hpp"
#include "experiments/kit/ranks/host.hpp"
#include "experiments/kit/ranks/launcher.hpp"
#include "experiments/kit/ranks/mpi_transport.hpp"
#include "experiments/kit/ranks/rank_messages.hpp"
#include "experiments/kit/report/report.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/summary.hpp"

using namespace boltzmark;
using namespace boltzmark::experiments;

namespace {

using Options = std::map<std::string, std::string>;

int number_of(const Options& options, const char* name, int otherwise) {
  const auto found = options.find(name);
  return found == options.end() ? otherwise : std::atoi(found->second.c_str());
}

/// Adds a line to a file that all ranks write.
void add_line(const std::string& path, const std::string& line) {
  std::ofstream(path, std::ios::app) << line + "\n" << std::flush;
}

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Makes the steps of a trial that are left to make, and keeps its state after each.
void make_steps(const std::string& path, int trial, int steps, int sleep,
                const TrialContext& context) {
  for (int step = std::stoi(context.kept_state().value_or("0")); step < steps; ++step) {
    sleep_ms(sleep);
    add_line(path, fmt::format("{} {} {}", trial, step, this_launch().rank));
    context.progress((step + 1.0) / steps, [&] { return std::to_string(step + 1); });
  }
}

Experiment study(const std::string& out, const Options& options) {
  const int rank = this_launch().rank, count = number_of(options, "--count", 40);
  const int sleep = number_of(options, "--sleep", 10), bytes = number_of(options, "--bytes", 0);
  const bool odd = number_of(options, "--odd-rank", -1) == rank;
  const int slow = number_of(options, "--slow-rank", -1) == rank ? 4500 : 0;
  const int throws_at = number_of(options, "--throws-at", -1);
  const int stall_after = number_of(options, "--stall-after", std::numeric_limits<int>::max());
  const int steps = number_of(options, "--steps", 0);
  const bool times = number_of(options, "--times", 0) != 0;
  Experiment experiment{.id = "toy/one", .item = "Fig. 1", .title = "Toys", .paper_did = "Nothing"};
  experiment.seconds.quick = number_of(options, "--estimate", 20) / 1000.0 * count;
  experiment.trials = [count](Profile) {
    std::vector<Json> all;
    for (int i = 0; i < count; ++i) all.push_back({{"i", i}});
    return all;
  };
  experiment.cost = [](const Json& inputs) { return 1 + inputs.at("i").get<int>() % 5; };
  const auto begun = std::make_shared<std::atomic<int>>(0);
  experiment.run = [=](const Json& inputs, const TrialContext& context) -> Json {
    if (inputs.at("i") == throws_at) throw Error("no luck");
    const double start = now();
    if (steps > 0)
      make_steps(out + ".steps", inputs.at("i"), steps, sleep, context);
    else
      sleep_ms(++*begun > stall_after ? 60000 : sleep + slow);
    context.progress(0.5);
    if (times) add_line(out + ".times", fmt::format("{} {} {}", host_name(), start, now()));
    const double mean = Stream(context.key, Purpose::test).uniform();
    return {{"mean", odd ? -mean : mean}, {"text", std::string(bytes, 'x')}};
  };
  experiment.summarise = [](const Results& results, Summary& summary) {
    Table table{.name = "means", .caption = "Means", .columns = {{"i", "i"}, {"mean", "mean"}}};
    for (const Trial& trial : results.trials())
      table.rows.push_back({trial.inputs.at("i").get<std::int64_t>(),
                            WithInterval{.value = number(trial.outputs.at("mean"))}});
    summary.add(table);
  };
  experiment.alone = number_of(options, "--alone", 0) != 0;
  if (number_of(options, "--other-data-rank", -1) == rank) experiment.data = {"no-such-file"};
  return experiment;
}

/// Has another link do everything.
class PassingLink : public RankLink {
 public:
  explicit PassingLink(std::unique_ptr<RankLink> link) : link_(std::move(link)) {}
  int rank() const override { return link_->rank(); }
  int ranks() const override { return link_->ranks(); }
  int ranks_on_host() const override { return link_->ranks_on_host(); }
  std::vector<std::string> gather(const std::string& text) override { return link_->gather(text); }
  std::string broadcast(const std::string& text) override { return link_->broadcast(text); }
  void send(int to, std::string bytes) override { link_->send(to, std::move(bytes)); }
  void finish(int code, bool all_heard, const std::string& farewell) override {
    link_->finish(code, all_heard, farewell);
  }
  void fail(int code, const std::string& farewell) override { link_->fail(code, farewell); }
  bool ended() const override { return link_->ended(); }
  std::optional<RankMessage> receive() override { return link_->receive(); }

 private:
  std::unique_ptr<RankLink> link_;
};

/// Holds messages back, and so lets those of other ranks pass, by a seed.
class HoldingLink final : public PassingLink {
 public:
  HoldingLink(std::unique_ptr<RankLink> link, int seed)
      : PassingLink(std::move(link)),
        stream_(make_key(static_cast<std::uint64_t>(seed + 1000 * rank())), Purpose::test) {}
  std::optional<RankMessage> receive() override {
    if (auto message = PassingLink::receive()) held_[message->from].push_back(std::move(*message));
    if (held_.empty() || stream_.uniform() < 0.5) return std::nullopt;
    const auto queue = std::next(held_.begin(), static_cast<long>(stream_.below(held_.size())));
    RankMessage message = std::move(queue->second.front());
    queue->second.pop_front();
    if (queue->second.empty()) held_.erase(queue);
    return message;
  }

 private:
  Stream stream_;
  std::map<int, std::deque<RankMessage>> held_;
};

/// Beats without an end, once the other has joined: there is always something to hear.
class ChatteringLink final : public PassingLink {
 public:
  using PassingLink::PassingLink;
  std::optional<RankMessage> receive() override {
    auto message = PassingLink::receive();
    if (rank() != 0) return message;
    if (message) joined_ = true;
    if (!message && joined_) message = {.from = 1, .bytes = encode({.kind = RankNote::Kind::beat})};
    return message;
  }

 private:
  bool joined_ = false;
};

/// An enumeration that takes its time and saves every sum that it has taken.
int run_exact(const std::string& out, const Options& options, RankLink* link) {
  const bool is_slow = number_of(options, "--slow-rank", -1) == this_launch().rank;
  const int units = number_of(options, "--exact", 18);
  const int sleep = number_of(options, "--sleep", 0) + (is_slow ? 300 : 0);
  Stream stream(make_key(5, "exact"), Purpose::test);
  Eigen::MatrixXd weights(40, units);
  for (Eigen::Index i = 0; i < weights.size(); ++i) weights.data()[i] = stream.normal();
  const auto model = Layered::rbm(weights, Eigen::VectorXd::Zero(40), Eigen::VectorXd::Zero(units));
  int lost = 0;
  ExactOptions how{.checkpoint = out + ".sums", .checkpoint_seconds = 0};
  ChunkDriver driver = [](const EnumerationChunks& chunks) {
    for (auto i = chunks.first; i < chunks.end; ++i) chunks.take(chunks.sum(i, 1));
  };
  if (link != nullptr)
    driver = rank_driver(
        *link, {.lease_seconds = static_cast<double>(number_of(options, "--lease", 60))}, lost);
  how.driver = [&](const EnumerationChunks& chunks) {
    EnumerationChunks slow = chunks;
    slow.sum = [&](std::uint64_t first, std::uint64_t count) {
      sleep_ms(sleep);
      return chunks.sum(first, count);
    };
    if (this_launch().rank == 0) fmt::print("from {} of {}\n", chunks.first, chunks.end);
    std::fflush(stdout);
    driver(slow);
  };
  if (this_launch().rank > 0) how.checkpoint.clear();
  const ExactLogZ result = exact_log_z(model, how);
  if (this_launch().rank > 0) return 0;
  fmt::print("log Z {:a} +- {:a}\n", result.log_z, result.error_bound);
  std::fflush(stdout);
  if (link != nullptr) link->finish(0, lost == 0);
  return 0;
}

int run(const std::string& out, const Options& options) {
  const Launch& launch = this_launch();
  write_text(fmt::format("{}.pid.{}", out, launch.rank), std::to_string(getpid()));
  std::unique_ptr<RankLink> link;
  if (launch.ranks > 1)
    link = start_mpi(number_of(options, "--most-bytes", 1 << 30),
                     number_of(options, "--start-seconds", 60));
  if (number_of(options, "--mute-rank", -1) == launch.rank) sleep_ms(1000000);
  if (link) agree_on_build(*link);
  if (link && options.contains("--hold-seed"))
    link = std::make_unique<HoldingLink>(std::move(link), number_of(options, "--hold-seed", 0));
  if (link && number_of(options, "--chatter", 0) > 0)
    link = std::make_unique<ChatteringLink>(std::move(link));
  if (options.contains("--exact")) return run_exact(out, options, link.get());
  ReproduceOptions how{.jobs = number_of(options, "--jobs", 1),
                       .threads = 1,
                       .out = out,
                       .lease_seconds = static_cast<double>(number_of(options, "--lease", 60)),
                       .sign_seconds = number_of(options, "--sign", 10000) / 1000.0,
                       .quiet = true};
  if (options.contains("--steps")) how.checkpoint_seconds = 0;
  if (options.contains("--max-seconds")) how.max_seconds = number_of(options, "--max-seconds", 0);
  if (options.contains("--shard")) how.shard = parse_shard(options.at("--shard"));
  const auto start = std::chrono::steady_clock::now();
  const ReproduceResult result = reproduce(how, {study(out, options)}, {}, link.get());
  if (launch.rank > 0) return 0;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  fmt::print("{}\n", Json{{"ran", result.ran},
                          {"reused", result.reused},
                          {"ranks", result.ranks},
                          {"lost", result.lost_ranks},
                          {"reissued", result.reissued},
                          {"out_of_time", result.out_of_time},
                          {"failures", result.failures},
                          {"seconds", seconds.count()}}
                         .dump());
  std::fflush(stdout);
  if (link)
    link->finish(result.exit_code(), result.lost_ranks == 0,
                 std::string("toy_study: ") + kAllIsDone);
  return result.exit_code();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 2; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
  if (this_launch().rank > 0) silence_output();
  const auto fail = [](const std::exception& error, int code) {
    fmt::print(stderr, "toy_study: {}\n", error.what());
    return this_launch().rank > 0 ? 0 : code;
  };
  try {
    return run(argv[1], options);
  } catch (const InvalidArgument& error) {
    return fail(error, 2);
  } catch (const std::exception& error) {
    return fail(error, 1);
  }
}

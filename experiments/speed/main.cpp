// Times the engine against baselines in one run. `make bench` interleaves the repetitions at random
// and leaves out/bench/bench.json and the speed page made of it.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/core/simd.hpp"
#include "experiments/kit/sources.hpp"
#include "experiments/speed/contender.hpp"
#include "experiments/speed/numpy_baseline.hpp"
#include "experiments/speed/page.hpp"
#include "experiments/speed/ranks.hpp"
#include "experiments/speed/workload.hpp"

namespace boltzmark::speed {
namespace {

// What a contender prepared, shared by its repetitions.
struct Prepared {
  Contender contender;
  std::function<void()> run = {};
};

void time_here(benchmark::State& state, Prepared& prepared) {
  const ThreadLimit limit(prepared.contender.threads);
  if (!prepared.run) {
    prepared.run = prepared.contender.make();
    prepared.run();  // warms caches and threads
  }
  for (auto _ : state) prepared.run();
}

}  // namespace

void add(Contender contender) {
  const std::string name =
      fmt::format("{}/{}/threads:{}", contender.work, contender.name, contender.threads);
  const auto prepared = std::make_shared<Prepared>(Prepared{std::move(contender)});
  if (prepared->contender.timed) {
    auto* timed = benchmark::RegisterBenchmark(name.c_str(), [prepared](benchmark::State& state) {
      for (auto _ : state) try {
          state.SetIterationTime(prepared->contender.timed());
        } catch (const std::exception& error) {
          state.SkipWithError(error.what());
          break;
        }
    });
    timed->UseManualTime()->Unit(benchmark::kMicrosecond);
    if (prepared->contender.once) timed->Iterations(1);
  } else
    benchmark::RegisterBenchmark(
        name.c_str(), [prepared](benchmark::State& state) { time_here(state, *prepared); })
        ->UseRealTime()
        ->Unit(benchmark::kMicrosecond);
}

namespace {

// With as many threads as it is timed with at most.
std::string numpy_text() {
  return has_numpy() ? describe_numpy(numpy_facts(thread_counts().back())) : "not installed";
}

void add_all() {
  benchmark::AddCustomContext("simd", simd_path());
  benchmark::AddCustomContext("cpu", experiments::cpu_name());
  benchmark::AddCustomContext("compiler", experiments::compiler_name());
  benchmark::AddCustomContext("revision", experiments::revision());
  benchmark::AddCustomContext("numpy", numpy_text());
  add_sweeps();
  add_scaling();
  add_draws();
  add_enumerations();
  add_annealing();
  add_training();
  add_spectra();
  add_studies();
  add_ranks();
}

}  // namespace
}  // namespace boltzmark::speed

int main(int argc, char** argv) {
  using namespace boltzmark;
  try {
    // The options of Google Benchmark; `--folder=DIR` first of all keeps bench.json and the page.
    std::vector<std::string> words(argv, argv + argc);
    if (words.size() == 3 && words[1] == speed::kOnRanks) return speed::run_on_ranks(words[2]);
    std::string folder;
    if (words.size() > 1 && words[1].starts_with("--folder=")) {
      folder = words[1].substr(std::string("--folder=").size());
      words.erase(words.begin() + 1);
      std::filesystem::create_directories(folder);
      words.push_back("--benchmark_out=" + folder + "/bench.json");
      words.push_back("--benchmark_out_format=json");
    }
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    int count = static_cast<int>(pointers.size());
    speed::add_all();
    benchmark::Initialize(&count, pointers.data());
    if (benchmark::ReportUnrecognizedArguments(count, pointers.data())) return 2;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    if (!folder.empty()) speed::write_page(folder);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench: {}\n", error.what());
    return 1;
  }
}

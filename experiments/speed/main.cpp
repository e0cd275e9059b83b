// Times the engine against baselines in one run. `make bench` interleaves the repetitions at random
// and leaves out/bench/bench.json, of which `boltzmark report` makes the speed page.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/core/simd.hpp"
#include "experiments/speed/contender.hpp"

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
  if (prepared->contender.timed)
    benchmark::RegisterBenchmark(name.c_str(),
                                 [prepared](benchmark::State& state) {
                                   for (auto _ : state)
                                     state.SetIterationTime(prepared->contender.timed());
                                 })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  else
    benchmark::RegisterBenchmark(
        name.c_str(), [prepared](benchmark::State& state) { time_here(state, *prepared); })
        ->UseRealTime()
        ->Unit(benchmark::kMicrosecond);
}

}  // namespace boltzmark::speed

int main(int argc, char** argv) {
  using namespace boltzmark;
  benchmark::AddCustomContext("simd", simd_path());
  speed::add_sweeps();
  speed::add_draws();
  speed::add_enumerations();
  speed::add_annealing();
  speed::add_training();
  speed::add_spectra();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}

#include "experiments/speed/sleepers.hpp"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace boltzmark::speed {
namespace {

using experiments::Json;

constexpr double kLongestSleep = 1.5;

}  // namespace

double sleep_of(int trial) { return kLongestSleep * (1.0 / 3 + (trial * 37 % 101) / 150.0); }

experiments::Experiment sleepers(int count, std::size_t bytes, bool asleep) {
  experiments::Experiment experiment{
      .id = "speed/sleepers", .item = "", .title = "", .paper_did = ""};
  experiment.seconds.quick = asleep ? count * kLongestSleep : 1e-4 * count;
  experiment.trials = [count](experiments::Profile) {
    std::vector<Json> all;
    for (int i = 0; i < count; ++i) all.push_back({{"i", i}});
    return all;
  };
  if (asleep) experiment.cost = [](const Json& inputs) { return sleep_of(inputs.at("i")); };
  experiment.run = [=](const Json& inputs, const experiments::TrialContext&) -> Json {
    if (asleep)
      std::this_thread::sleep_for(std::chrono::duration<double>(sleep_of(inputs.at("i"))));
    return {{"text", std::string(bytes, 'x')}};
  };
  return experiment;
}

}  // namespace boltzmark::speed

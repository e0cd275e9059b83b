#include "experiments/speed/sleepers.hpp"

#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>
#include <vector>

#include "boltzmark/core/error.hpp"

namespace boltzmark::speed {
namespace {

using experiments::Json;

constexpr double kLongestSleep = 0.375;

}  // namespace

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "boltzmark-bench-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw Error(name + ": cannot be made");
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

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

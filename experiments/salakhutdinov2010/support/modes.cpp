#include "experiments/salakhutdinov2010/support/modes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "experiments/salakhutdinov2010/support/overlaps.hpp"

namespace boltzmark::experiments {
namespace {

constexpr double kInitialWeights = 0.01;  // standard deviation

/// Training cases in both forms that a run needs.
struct ModesCases {
  CaseValues values;
  Cases cases;
  explicit ModesCases(const std::string& name) : values(load_dataset(name).values), cases(values) {}
};

/// Loads each data set once in a process.
const ModesCases& modes_cases(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, ModesCases> all;
  const std::lock_guard lock(mutex);
  return all.try_emplace(name, name).first->second;
}

}  // namespace

const std::vector<ModesNetwork>& modes_networks() {
  static const std::vector<ModesNetwork> all = {
      {"rbm", "RBM 16-10", {16, 10}, 10, 0.001, 0, 500000, 20000},
      {"dbm", "DBM 16-8-8", {16, 8, 8}, 100, 0.05, 4000, 40000, 400},
  };
  return all;
}

const ModesNetwork& find_network(const std::string& name) {
  return *std::find_if(modes_networks().begin(), modes_networks().end(),
                       [&](const ModesNetwork& network) { return network.name == name; });
}

Json train_on_modes(const Json& inputs, const TrialContext& context) {
  const ModesNetwork& network = find_network(inputs.at("network"));
  const ModesCases& data = modes_cases(inputs.at("data"));
  const int updates = inputs.at("updates");
  const StreamKey key = context.shared_key(fmt::format("{} {} seed {}", network.name,
                                                       inputs.at("data").get<std::string>(),
                                                       inputs.at("seed").get<int>()));
  Optimiser optimiser = Optimiser::sgd();
  optimiser.rate_decay = network.rate_decay;
  Trainer trainer(initial_network(network.sizes, kInitialWeights, key), data.values,
                  {.negative = parse_negative_description(inputs.at("negative").get<std::string>()),
                   .optimiser = optimiser,
                   .learning_rate = network.rate,
                   .batch = std::min(network.batch, static_cast<int>(data.values.cols())),
                   .updates = static_cast<std::uint64_t>(updates)},
                  key);
  std::vector<double> curve;
  Json outputs;
  const auto record = [&] {
    curve.push_back(exact_mean_log_likelihood(trainer.model(), data.cases));
    context.progress(static_cast<double>(trainer.updates()) / updates);
  };
  const auto late = static_cast<std::uint64_t>(updates - updates / 5);
  Overlaps overlaps(updates / 5, trainer.sampler().chains());
  try {
    record();
    while (trainer.updates() < static_cast<std::uint64_t>(updates)) {
      trainer.step();
      if (trainer.updates() % network.record == 0 ||
          trainer.updates() == static_cast<std::uint64_t>(updates))
        record();
      if (trainer.updates() > late) overlaps.see(trainer.sampler(), trainer.model());
    }
    const Overlaps::Time time = overlaps.time();
    outputs["overlap_time"] = time.tau;
    outputs["overlap_supported"] = time.supported;
  } catch (const Diverged& stop) {
    outputs["diverged_at"] = stop.update();
  }
  outputs["log_likelihood"] = curve;
  return outputs;
}

double modes_ceiling(const std::string& data) { return -modes_cases(data).cases.entropy(); }

}  // namespace boltzmark::experiments

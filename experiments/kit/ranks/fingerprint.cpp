#include "experiments/kit/ranks/fingerprint.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "boltzmark/core/checkpoint.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark::experiments {
namespace {

constexpr int kUnits = 24, kChains = 20, kSweeps = 4, kArguments = 50;

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::vector<double> function_values() {
  std::vector<double> values;
  for (int i = 0; i < kArguments; ++i) {
    const double x = -9.7 + 0.3971 * i, positive = 0.013 + 0.731 * i;
    for (const double value : {std::exp(x), std::log(positive), std::log1p(positive),
                               std::tanh(x / 4), std::erf(x / 4), std::pow(positive, x / 3)})
      values.push_back(value);
  }
  return values;
}

Layered small_rbm(StreamKey key) {
  Stream stream(key, Purpose::test);
  Eigen::MatrixXd weights(kUnits, kUnits);
  for (Eigen::Index i = 0; i < weights.size(); ++i) weights.data()[i] = stream.normal();
  return Layered::rbm(weights, Eigen::VectorXd::Constant(kUnits, 0.1),
                      Eigen::VectorXd::Constant(kUnits, -0.2));
}

std::vector<float> swept_states(const Rule& rule) {
  const StreamKey key = make_key(1, "fingerprint", rule.name());
  const Layered model = small_rbm(key);
  Chains chains(model, kChains);
  chains.randomise(key);
  sweep(PackedModel(model, {.chains = kChains, .sweeps = kSweeps}), chains, PhiloxDraws(key),
        {.rule = rule, .sweeps = kSweeps});
  std::vector<float> states;
  for (int layer = 0; layer < chains.layers(); ++layer) {
    const Eigen::MatrixXf values = chains.get_layer(layer);
    states.insert(states.end(), values.data(), values.data() + values.size());
  }
  return states;
}

}  // namespace

std::string numeric_fingerprint() {
  std::string bytes = bytes_of(function_values());
  for (const Rule& rule : {Rule::gibbs(), Rule::flip(), Rule::blended(0.5), Rule::metropolis()})
    bytes += bytes_of(swept_states(rule));
  return fmt::format("{:016x}", hash_bytes(bytes));
}

}  // namespace boltzmark::experiments

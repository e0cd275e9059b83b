#include "experiments/carlson2016/all_methods.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/kit/errors.hpp"

namespace boltzmark::experiments {
namespace {

Eigen::VectorXd hidden_state(std::uint64_t bits, int hidden) {
  Eigen::VectorXd h(hidden);
  for (int j = 0; j < hidden; ++j) h[j] = static_cast<double>((bits >> j) & 1U);
  return h;
}

Eigen::VectorXd visible_input(const Layered& rbm, std::uint64_t bits) {
  return rbm.bias(0) + rbm.weights(0) * hidden_state(bits, rbm.size(1));
}

// Running sums of p(h) over all hidden states, up to a constant.
std::vector<double> cumulated_hidden_law(const Layered& rbm) {
  const int hidden = rbm.size(1);
  std::vector<double> sums(std::size_t{1} << hidden);
  for (std::size_t bits = 0; bits < sums.size(); ++bits) {
    sums[bits] = rbm.bias(1).dot(hidden_state(bits, hidden));
    for (const double x : visible_input(rbm, bits)) sums[bits] += softplus(x);
  }
  const double highest = *std::max_element(sums.begin(), sums.end());
  double sum = 0;
  for (double& value : sums) value = sum += std::exp(value - highest);
  return sums;
}

}  // namespace

Json run_all_methods(const LayeredTarget& target, const MethodSettings& settings,
                     const TrialContext& context) {
  Json outputs = Json::object();
  MethodRuns runs(target, settings);
  const auto& methods = registered_methods();
  for (const MethodInfo& method : methods) {
    outputs[method.name] = describe_estimate(runs.estimate(method.name));
    context.progress(static_cast<double>(outputs.size()) / static_cast<double>(methods.size()));
  }
  return outputs;
}

Eigen::MatrixXf draw_exact_cases(const Layered& rbm, int count, StreamKey key) {
  const std::vector<double> sums = cumulated_hidden_law(rbm);
  Stream stream(key, Purpose::data);
  Eigen::MatrixXf cases(rbm.size(0), count);
  for (int c = 0; c < count; ++c) {
    const auto at = std::upper_bound(sums.begin(), sums.end() - 1, stream.uniform() * sums.back());
    const Eigen::VectorXd input = visible_input(rbm, static_cast<std::uint64_t>(at - sums.begin()));
    for (int i = 0; i < cases.rows(); ++i)
      cases(i, c) = stream.uniform() < sigmoid(input[i]) ? 1.0F : 0.0F;
  }
  return cases;
}

}  // namespace boltzmark::experiments

#include "experiments/carlson2016/all_methods.hpp"

#include "boltzmark/exact/exact_sampler.hpp"
#include "experiments/kit/errors.hpp"

namespace boltzmark::experiments {

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
  const ExactSampler sampler(rbm);
  Stream stream(key, Purpose::data);
  Eigen::MatrixXf cases(rbm.size(0), count);
  Eigen::VectorXf hidden(rbm.size(1));
  for (int c = 0; c < count; ++c) sampler.draw(stream, cases.col(c), hidden);
  return cases;
}

}  // namespace boltzmark::experiments

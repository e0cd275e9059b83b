#include "experiments/carlson2016/support/all_methods.hpp"

#include "boltzmark/exact/exact_sampler.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark::experiments {

Json run_all_methods(const LayeredTarget& target, double truth, const MethodSettings& settings,
                     const TrialContext& context) {
  Json estimates = Json::object();
  MethodRuns runs(target, settings);
  const auto& methods = registered_methods();
  for (const Method& method : methods) {
    estimates[method.name] = describe_estimate(runs.estimate(method.name));
    context.progress(static_cast<double>(estimates.size()) / static_cast<double>(methods.size()));
  }
  return {{"truth", truth}, {"estimates", estimates}};
}

ErrorCell method_errors(const Results& results, const Json& filter, const std::string& method) {
  std::vector<Outcome> outcomes;
  for (const Trial* trial : results.where(filter)) {
    const Json& estimates = trial->outputs.at("estimates");
    if (estimates.contains(method))  // kept trials may be older than a method
      outcomes.push_back(read_outcome(estimates.at(method), trial->outputs.at("truth")));
  }
  return sum_up_errors(outcomes);
}

Layered draw_random_rbm(int visible, int hidden, double scale, StreamKey key) {
  Stream stream(key, Purpose::initial_weights);
  const auto uniform = [&] { return stream.uniform(-scale, scale); };
  const Eigen::MatrixXd weights = Eigen::MatrixXd::NullaryExpr(visible, hidden, uniform);
  const Eigen::VectorXd bias = Eigen::VectorXd::NullaryExpr(visible, uniform);
  return Layered::rbm(weights, bias, Eigen::VectorXd::NullaryExpr(hidden, uniform));
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

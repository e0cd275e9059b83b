#include "experiments/speed/workload.hpp"

#include <fmt/format.h>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/speed/contender.hpp"
#include "experiments/speed/numpy_baseline.hpp"

namespace boltzmark::speed {

std::string Size::name() const {
  return fmt::format("{}x{}, {} chain{}", visible, hidden, chains, chains == 1 ? "" : "s");
}

Layered random_rbm(const Size& size) {
  Stream stream(make_key(1, "speed"), Purpose::initial_weights);
  Eigen::MatrixXd weights(size.visible, size.hidden);
  for (double& w : weights.reshaped()) w = 0.1 * stream.normal();
  return Layered::rbm(weights, Eigen::VectorXd::Zero(size.visible),
                      Eigen::VectorXd::Zero(size.hidden));
}

std::shared_ptr<baseline::Rbm> baseline_rbm(const Size& size) {
  const Eigen::MatrixXf weights = random_rbm(size).weights(0).cast<float>();
  return {baseline::make_rbm(size.visible, size.hidden, size.chains, weights.data()),
          baseline::destroy};
}

std::vector<int> thread_counts() {
  const int all = thread_count();
  return all > 1 ? std::vector<int>{1, all} : std::vector<int>{1};
}

void add_numpy(const std::string& work, const std::string& line) {
  if (!has_numpy()) return;
  static const std::string name = has_fast_blas(numpy_facts(1)) ? kNumpy : kSlowNumpy;
  for (const int threads : thread_counts())
    add({.work = work, .name = name, .threads = threads, .timed = [line, threads] {
           return time_numpy(line, threads);
         }});
}

}  // namespace boltzmark::speed

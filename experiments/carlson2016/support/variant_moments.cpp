#include "experiments/carlson2016/support/variant_moments.hpp"

#include <algorithm>
#include <cmath>

#include "boltzmark/estimate/estimators/rts.hpp"
#include "boltzmark/exact/spectrum/operator.hpp"
#include "boltzmark/random/stream.hpp"
#include "verification/checks/laws/annealing_moments.hpp"

namespace boltzmark::experiments {
namespace {

constexpr int kMomentRungs = 8;

Layered random_rbm(int size, TrialContext const& context) {
  Stream stream(context.key, Purpose::initial_weights);
  Eigen::MatrixXd weights(size, size);
  Eigen::VectorXd visible(size), hidden(size);
  for (double& value : weights.reshaped()) value = 2 * stream.normal();
  for (double& value : visible) value = stream.normal();
  for (double& value : hidden) value = stream.normal();
  return Layered::rbm(std::move(weights), std::move(visible), std::move(hidden));
}

/// A law over few outcomes, drawn by inversion of its cumulative sums.
class Law {
 public:
  explicit Law(const Eigen::VectorXd& probabilities) : sums_(probabilities.size()) {
    double sum = 0;
    for (Eigen::Index i = 0; i < probabilities.size(); ++i) sums_[i] = sum += probabilities[i];
  }
  Eigen::Index draw(Stream& stream) const {
    const auto found =
        std::upper_bound(sums_.begin(), sums_.end(), stream.uniform() * sums_.back());
    return std::min<Eigen::Index>(found - sums_.begin(),
                                  static_cast<Eigen::Index>(sums_.size()) - 1);
  }

 private:
  std::vector<double> sums_;
};

/// Simulated tempering of an RBM whose states, kernels and rung probabilities are in tables. The
/// base is uniform, so that f_b is the RBM with all parameters multiplied by b.
class TabulatedTempering {
 public:
  TabulatedTempering(const Layered& model, bool independent) {
    const Ladder ladder = Ladder::linear(kMomentRungs);
    Eigen::MatrixXd log_q;
    for (int k = 0; k < kMomentRungs; ++k) {
      const double b = ladder[k];
      const StateSpace space(
          Layered::rbm(b * model.weights()[0], b * model.bias(0), b * model.bias(1)));
      if (k == 0) log_q.resize(kMomentRungs, static_cast<Eigen::Index>(space.states()));
      log_q.row(k) = space.log_p().transpose();
      equilibrium_.emplace_back(space.p());
      if (independent) continue;
      const Eigen::MatrixXd sweep = sweep_matrix(space, Rule::gibbs());
      kernels_.emplace_back();
      for (const auto& row : sweep.rowwise()) kernels_.back().emplace_back(row.transpose());
    }
    rungs_.resize(kMomentRungs, log_q.cols());
    for (Eigen::Index x = 0; x < log_q.cols(); ++x) {
      rung_probabilities(log_q.col(x), Eigen::VectorXd::Zero(kMomentRungs), rungs_.col(x));
      rung_laws_.emplace_back(rungs_.col(x));
    }
  }

  /// Adds up q(b | x) of each chain, started in equilibrium.
  RungSums sample(int chains, int sweeps, Stream& stream) const {
    RungSums sums{.weight = Eigen::MatrixXd::Zero(kMomentRungs, chains)};
    sums.samples = chains * sweeps;
    for (int c = 0; c < chains; ++c) {
      auto k = static_cast<std::size_t>(stream.below(kMomentRungs));
      Eigen::Index x = equilibrium_[k].draw(stream);
      for (int s = 0; s < sweeps; ++s) {
        if (s > 0) x = kernels_[k][static_cast<std::size_t>(x)].draw(stream);
        sums.weight.col(c) += rungs_.col(x);
        k = static_cast<std::size_t>(rung_laws_[static_cast<std::size_t>(x)].draw(stream));
      }
    }
    return sums;
  }

 private:
  std::vector<Law> equilibrium_;           // p_k
  std::vector<std::vector<Law>> kernels_;  // of rung k from state x
  Eigen::MatrixXd rungs_;                  // q(b_k | x) [rungs x states]
  std::vector<Law> rung_laws_;
};

}  // namespace

Json run_moments(const Json& inputs, const TrialContext& context) {
  const std::string chains = inputs.at("chains");
  const bool independent = chains != "parallel";
  const int samples = chains == kManyIndependent ? 400 : 100;  // of a simulation, if independent
  const int repeats = inputs.at("repeats");
  const TabulatedTempering tempering(random_rbm(4, context), independent);
  double mean = 0, squares = 0, bias = 0, variance = 0;
  for (int r = 0; r < repeats; ++r) {
    Stream stream(context.key, Purpose::data, static_cast<std::uint64_t>(r));
    const RungSums sums =
        independent ? tempering.sample(samples, 1, stream) : tempering.sample(20, 20, stream);
    // Zhat = Z: what RTS adds to it is its error.
    const Eigen::VectorXd c = sums.weight.rowwise().sum();
    const double error = std::log(c[kMomentRungs - 1] / c[0]);
    const OccupancyMoments moments = occupancy_moments(sums, kMomentRungs - 1);
    mean += error / repeats;
    squares += error * error / repeats;
    bias += rts_bias(moments) / repeats;
    variance += rts_variance(moments) / repeats;
    if (r % 1000 == 0) context.progress(static_cast<double>(r) / repeats);
  }
  return {{"bias", mean},
          {"variance", squares - mean * mean},
          {"formula_bias", bias},
          {"formula_variance", variance}};
}

Json run_annealing_slope(const Json&, const TrialContext& context) {
  const Layered model = random_rbm(3, context);
  const auto log_variance = [&](int rungs) {
    return std::log(
        exact_ais_moments(model, Base::uniform(model), Ladder::linear(rungs)).variance_log);
  };
  return {{"slope", (log_variance(1025) - log_variance(513)) / std::log(1025.0 / 513.0)}};
}

}  // namespace boltzmark::experiments

#include "verification/checks/laws/constant_factor.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "boltzmark/sample/chains/adaptive_chains.hpp"
#include "verification/checks/laws/adaptive_pairs.hpp"
#include "verification/checks/laws/coupling_laws.hpp"

namespace boltzmark {
namespace {

constexpr int kMostSteps = 50000;
constexpr double kStationary = 1e-13;

// The law of (x, k, d): d is the low rung's log g less that of b = 1, [states x lattice] a rung.
class Lattice {
 public:
  Lattice(const Layered& model, float lowest, double gamma)
      : ladder_{lowest, 1.0F},
        step_(std::log1p(gamma)),
        pairs_(exact_pairs(model, ladder_, Eigen::VectorXd::Zero(2))) {
    const Eigen::VectorXd& log_f = pairs_.log_f;
    // Beyond the d at which every state moves, the next sweep takes d back.
    const Eigen::ArrayXd even = (static_cast<double>(lowest) - 1) * log_f.array();
    first_ = static_cast<int>(std::floor(even.minCoeff() / step_)) - kMargin;
    const int points = static_cast<int>(std::ceil(even.maxCoeff() / step_)) + kMargin - first_ + 1;
    for (const int from : {0, 1}) {
      accept_[from].resize(log_f.size(), points);
      for (int m = 0; m < points; ++m) {
        const std::array<double, 2> log_g = {(first_ + m) * step_, 0.0};
        for (Eigen::Index x = 0; x < log_f.size(); ++x)
          accept_[from](x, m) = rung_step_probability(ladder_, log_g, log_f[x], from, 1 - from);
      }
    }
  }

  // p_k(x), with d evenly on the points where the two rungs are about as likely, of both parities:
  // d is odd and even in turn.
  std::array<Eigen::MatrixXd, 2> start(const Layered& model) const {
    const Eigen::VectorXd log_z = rung_log_z(model, ladder_);
    const auto middle = static_cast<Eigen::Index>((log_z[0] - log_z[1]) / step_) - first_;
    std::array<Eigen::MatrixXd, 2> law;
    for (const int k : {0, 1}) {
      law[k] = Eigen::MatrixXd::Zero(accept_[0].rows(), accept_[0].cols());
      const Eigen::VectorXd p = pairs_.stationary.col(k) / pairs_.stationary.col(k).sum();
      law[k].col(middle) = law[k].col(middle + 1) = p / 4;
    }
    return law;
  }

  // A sweep, a rung step, and g raised where the chain is then.
  std::array<Eigen::MatrixXd, 2> next(const std::array<Eigen::MatrixXd, 2>& law) const {
    const Eigen::Index points = law[0].cols();
    std::array<Eigen::MatrixXd, 2> stays, moves, result;
    for (const int k : {0, 1}) {
      const Eigen::MatrixXd swept = pairs_.sweeps[k].transpose() * law[k];
      moves[k] = swept.cwiseProduct(accept_[k]);
      stays[k] = swept - moves[k];
    }
    for (const int k : {0, 1}) {
      std::array<double, 2> log_g = {0, 0};
      raise_weight(log_g, k, 1);  // in steps of the lattice
      const auto shift = static_cast<Eigen::Index>(log_g[0]);
      const Eigen::MatrixXd here = stays[k] + moves[1 - k];
      result[k] = Eigen::MatrixXd::Zero(here.rows(), points);
      for (Eigen::Index m = 0; m < points; ++m)
        result[k].col(std::clamp<Eigen::Index>(m + shift, 0, points - 1)) += here.col(m);
    }
    return result;
  }

  const AdaptivePairs& pairs() const { return pairs_; }

 private:
  static constexpr int kMargin = 5;
  std::vector<float> ladder_;
  double step_;
  AdaptivePairs pairs_;
  int first_ = 0;
  std::array<Eigen::MatrixXd, 2> accept_;
};

}  // namespace

ConstantFactorLaw constant_factor_law(const Layered& model, float lowest, double gamma) {
  const Lattice lattice(model, lowest, gamma);
  std::array<Eigen::MatrixXd, 2> law = lattice.start(model);
  ConstantFactorLaw found;
  for (int step = 0; step < kMostSteps; ++step) {
    std::array<Eigen::MatrixXd, 2> next = lattice.next(law);
    found.change = (next[0] - law[0]).lpNorm<1>() + (next[1] - law[1]).lpNorm<1>();
    law = std::move(next);
    if (found.change < kStationary) break;
  }
  found.joint.resize(law[0].rows(), 2);
  for (const int k : {0, 1}) found.joint.col(k) = law[k].rowwise().sum();
  found.top_share = found.joint.col(1).sum();
  found.top = found.joint.col(1) / found.top_share;
  found.distance = total_variation(found.top, lattice.pairs().p);
  for (const Eigen::MatrixXd& rung : law)
    found.edge_mass += rung.col(0).sum() + rung.col(rung.cols() - 1).sum();
  return found;
}

}  // namespace boltzmark

#include "verification/checks/laws/coupling_laws.hpp"

#include <Eigen/LU>
#include <utility>
#include <vector>

namespace boltzmark {
namespace {

constexpr int kMostIterations = 100000;
constexpr double kSettled = 1e-15;

Eigen::VectorXd normalised_law(const Eigen::VectorXd& law) { return law / law.sum(); }

// The probability of leaving b = 1 in a step from x there.
Eigen::VectorXd leaving(const AdaptivePairs& pairs) {
  return 1 - pairs.steps[pairs.top()].col(pairs.top()).array();
}

// The kernel of pairs (x, k), index k * states + x, between rungs first..last-1 and first2..last2-1.
Eigen::MatrixXd block_of_kernel(const AdaptivePairs& pairs, int first, int last, int to_first,
                                int to_last) {
  const Eigen::Index n = pairs.states();
  Eigen::MatrixXd kernel((last - first) * n, (to_last - to_first) * n);
  for (int from = first; from < last; ++from)
    for (int to = to_first; to < to_last; ++to)
      kernel.block((from - first) * n, (to - to_first) * n, n, n) =
          pairs.sweeps[from] * pairs.steps[from].col(to).asDiagonal();
  return kernel;
}

// The kernel between the rungs below b = 1, the one into b = 1 and the one out of it.
Eigen::MatrixXd among_low(const AdaptivePairs& pairs) {
  return block_of_kernel(pairs, 0, pairs.top(), 0, pairs.top());
}
Eigen::MatrixXd top_to_low(const AdaptivePairs& pairs) {
  return block_of_kernel(pairs, pairs.top(), pairs.rungs(), 0, pairs.top());
}

}  // namespace

Eigen::VectorXd arrival_law(const AdaptivePairs& pairs) {
  Eigen::VectorXd arrivals = Eigen::VectorXd::Zero(pairs.states());
  for (int from = 0; from < pairs.top(); ++from) {
    const Eigen::VectorXd moved = pairs.sweeps[from].transpose() * pairs.stationary.col(from);
    arrivals += moved.cwiseProduct(pairs.steps[from].col(pairs.top()));
  }
  return normalised_law(arrivals);
}

Eigen::VectorXd predicted_arrival_law(const AdaptivePairs& pairs) {
  return normalised_law(pairs.p.cwiseProduct(leaving(pairs)));
}

// For each last state z, the stationary mass m_z of the pairs below b = 1 with it: what left z, and
// what was there before and has not returned.   m_z = (pi(z, 1) out_z + m_z) Q'
Eigen::VectorXd last_top_law(const AdaptivePairs& pairs) {
  const Eigen::MatrixXd low = among_low(pairs), out = top_to_low(pairs);
  const Eigen::VectorXd at_top = pairs.stationary.col(pairs.top());
  const Eigen::MatrixXd left = at_top.asDiagonal() * out;
  const Eigen::MatrixXd system = Eigen::MatrixXd::Identity(low.rows(), low.cols()) - low;
  const Eigen::MatrixXd below = system.transpose().partialPivLu().solve(left.transpose());
  return normalised_law(at_top + below.colwise().sum().transpose());
}

Eigen::VectorXd predicted_last_top_law(const AdaptivePairs& pairs) {
  const Eigen::MatrixXd low = among_low(pairs);
  const Eigen::MatrixXd system = Eigen::MatrixXd::Identity(low.rows(), low.cols()) - low;
  const Eigen::VectorXd to_top = system.partialPivLu().solve(Eigen::VectorXd::Ones(low.rows()));
  const Eigen::VectorXd returns = 1 + (top_to_low(pairs) * to_top).array();
  return normalised_law(pairs.stationary.col(pairs.top()).cwiseProduct(returns));
}

// The last visit is after n sweeps at z, and none of the lag - n others ends at b = 1.
Eigen::MatrixXd last_top_kernel(const AdaptivePairs& pairs, int lag) {
  const Eigen::Index n = pairs.states(), top = pairs.top();
  const Eigen::MatrixXd kernel = block_of_kernel(pairs, 0, pairs.rungs(), 0, pairs.rungs());
  const Eigen::MatrixXd low = among_low(pairs), out = top_to_low(pairs);
  std::vector<Eigen::VectorXd> stays = {Eigen::VectorXd::Ones(n)};
  Eigen::VectorXd below = Eigen::VectorXd::Ones(low.rows());
  for (int away = 1; away <= lag; ++away) {
    stays.emplace_back(out * below);
    below = low * below;
  }
  Eigen::MatrixXd law = Eigen::MatrixXd::Zero(n, kernel.rows());
  law.rightCols(n).setIdentity();
  Eigen::MatrixXd last = Eigen::MatrixXd::Zero(n, n);
  for (int sweep = 0; sweep <= lag; ++sweep) {
    last += law.middleCols(top * n, n) * stays[static_cast<std::size_t>(lag - sweep)].asDiagonal();
    law = law * kernel;
  }
  return last;
}

Eigen::VectorXd slow_law_of_last(const AdaptivePairs& pairs, int lag) {
  const Eigen::MatrixXd& sweep = pairs.sweeps[pairs.top()];
  const Eigen::MatrixXd last = last_top_kernel(pairs, lag);
  Eigen::VectorXd law = pairs.p, mean;
  for (int i = 0; i < kMostIterations; ++i) {
    Eigen::VectorXd slow = law;
    mean = law / lag;
    for (int s = 1; s <= lag; ++s) {
      slow = sweep.transpose() * slow;
      if (s < lag) mean += slow / lag;
    }
    const Eigen::VectorXd next = last.transpose() * slow;
    const double change = (next - law).lpNorm<1>();
    law = next;
    if (change < kSettled) break;
  }
  return mean;
}

Eigen::VectorXd slow_law(const AdaptivePairs& pairs, SwapRule rule) {
  JointLaw law = product_law(pairs);
  for (int i = 0; i < kMostIterations; ++i) {
    JointLaw next = advance(pairs, law, rule, false);
    const double change = largest_difference(next, law);
    law = std::move(next);
    if (change < kSettled) break;
  }
  Eigen::VectorXd slow = Eigen::VectorXd::Zero(pairs.states());
  for (const Eigen::MatrixXd& rung : law) slow += rung.rowwise().sum();
  return slow;
}

double total_variation(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  return 0.5 * (a - b).lpNorm<1>();
}

}  // namespace boltzmark

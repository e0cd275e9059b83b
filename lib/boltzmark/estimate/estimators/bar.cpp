#include "boltzmark/estimate/estimators/bar.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/sample/tempering/mixing.hpp"

namespace boltzmark {
namespace {

using Eigen::Index;

// The samples of two neighbouring rungs, as log f_{k+1} - log f_k.
struct Pair {
  Eigen::VectorXd delta;  // of the lower rung, then of the upper one
  Index lower = 0;        // how many are of the lower rung

  double count(int side) const {
    return static_cast<double>(side == 0 ? lower : delta.size() - lower);
  }
};

struct Ratio {
  double log_ratio = 0;
  double curvature = 0;  // H
  bool converged = false;
};

Pair make_pair(const SampleStore& store, const std::vector<std::vector<Index>>& samples, int k) {
  const double step = store.ladder[k + 1] - store.ladder[k];
  Pair pair;
  pair.lower = static_cast<Index>(samples[k].size());
  pair.delta.resize(pair.lower + static_cast<Index>(samples[k + 1].size()));
  Index at = 0;
  for (const int rung : {k, k + 1})
    for (const Index n : samples[rung]) pair.delta[at++] = step * store.log_ratio.data()[n];
  return pair;
}

double share(const Pair& pair, Index n, double x) {
  return sigmoid(std::log(pair.count(1) / pair.count(0)) + pair.delta[n] - x);
}

// Newton's method for a decreasing function; a step that leaves the bracket is a bisection. At the
// least delta every share is n_{k+1} / (n_k + n_{k+1}) or more, at the largest or less.
Ratio solve(const Pair& pair) {
  double low = pair.delta.minCoeff(), high = pair.delta.maxCoeff();
  const Index upper = pair.delta.size() - pair.lower;
  Ratio ratio{.log_ratio =
                  0.5 * (pair.delta.head(pair.lower).mean() + pair.delta.tail(upper).mean())};
  for (int iteration = 0; iteration < 200 && !ratio.converged; ++iteration) {
    double excess = -pair.count(1);
    ratio.curvature = 0;
    for (Index n = 0; n < pair.delta.size(); ++n) {
      const double s = share(pair, n, ratio.log_ratio);
      excess += s;
      ratio.curvature += s * (1 - s);
    }
    (excess > 0 ? low : high) = ratio.log_ratio;
    double next = ratio.log_ratio + excess / ratio.curvature;
    if (!(next >= low && next <= high)) next = 0.5 * (low + high);
    ratio.converged = std::abs(next - ratio.log_ratio) <= 1e-12 * (1 + std::abs(next));
    ratio.log_ratio = next;
  }
  return ratio;
}

void add_influences(const Pair& pair, const Ratio& ratio, const std::vector<Index>& lower,
                    const std::vector<Index>& upper, Eigen::MatrixXd& influences) {
  const double scale = static_cast<double>(influences.size()) / ratio.curvature;
  const double means[] = {ratio.curvature / pair.count(0), 1 - ratio.curvature / pair.count(1)};
  for (Index n = 0; n < pair.delta.size(); ++n) {
    const bool is_upper = n >= pair.lower;
    const Index place = is_upper ? upper[n - pair.lower] : lower[n];
    influences.data()[place] += scale * (share(pair, n, ratio.log_ratio) - means[is_upper]);
  }
}

}  // namespace

Estimate bar(const SampleStore& store) {
  store.check();
  Estimate estimate;
  const auto samples = samples_by_rung(store);
  Eigen::VectorXd counts(store.rungs());
  for (int k = 0; k < store.rungs(); ++k) counts[k] = static_cast<double>(samples[k].size());
  if (!judge_visits(estimate, counts)) return estimate;
  std::vector<Ratio> ratios(store.rungs() - 1);
  parallel_for(ratios.size(), [&](std::size_t k) {
    ratios[k] = solve(make_pair(store, samples, static_cast<int>(k)));
  });
  estimate.log_z_rungs = Eigen::VectorXd::Zero(store.rungs());
  Eigen::MatrixXd influences = Eigen::MatrixXd::Zero(store.sweeps(), store.chains());
  for (int k = 0; k + 1 < store.rungs(); ++k) {
    estimate.log_z_rungs[k + 1] = estimate.log_z_rungs[k] + ratios[k].log_ratio;
    add_influences(make_pair(store, samples, k), ratios[k], samples[k], samples[k + 1], influences);
  }
  estimate.log_z = estimate.log_z_rungs[store.rungs() - 1];
  set_error(estimate, influences, store.bundle());
  if (!std::all_of(ratios.begin(), ratios.end(), [](const Ratio& r) { return r.converged; }))
    estimate.refuse(
        Status::not_converged,
        "a ratio of neighbouring rungs was not solved: run more sweeps, or use more rungs");
  judge_mixing(estimate, store);
  return estimate;
}

}  // namespace boltzmark

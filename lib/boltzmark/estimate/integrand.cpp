#include "boltzmark/estimate/integrand.hpp"

#include <fmt/format.h>

#include "boltzmark/core/error.hpp"

namespace boltzmark {

using Eigen::Index;
using Eigen::VectorXd;

Integrand::Integrand(const RungSums& sums, const Ladder& ladder) : sums_(sums), ladder_(ladder) {
  if (sums.rungs() != ladder.rungs() || sums.first.size() != sums.weight.size() ||
      sums.second.size() != sums.weight.size())
    throw InvalidArgument(
        fmt::format("sums = {} rungs (must be {}, with sums of D)", sums.rungs(), ladder.rungs()));
  counts_ = sums.weight.rowwise().sum();
  if (!(counts_.sum() > 0)) throw InvalidArgument("sums = 0 samples (must be at least 1)");
  mean_ = VectorXd::Zero(counts_.size());
  variance_ = mean_;
  for (Index k = 0; k < counts_.size(); ++k) {
    if (counts_[k] <= 0) continue;
    mean_[k] = sums.first.row(k).sum() / counts_[k];
    variance_[k] = sums.second.row(k).sum() / counts_[k] - mean_[k] * mean_[k];
  }
}

Integrand::Source Integrand::source(Index rung) const {
  Index below = rung, above = rung;
  while (below >= 0 && counts_[below] <= 0) --below;
  while (above < counts_.size() && counts_[above] <= 0) ++above;
  if (below < 0) below = above;
  if (above == counts_.size()) above = below;
  const auto b = [&](Index k) { return ladder_[static_cast<int>(k)]; };
  const double gap = b(above) - b(below);
  return {below, above, gap > 0 ? (b(above) - b(rung)) / gap : 1};
}

Integral Integrand::integrate(Quadrature quadrature) const {
  Integral out;
  out.log_z_rungs = out.by_mean = out.by_variance = VectorXd::Zero(counts_.size());
  const auto add = [&](const QuadratureTerm& term, Index rung, double share) {
    if (share == 0) return;
    const double scale = share * sums_.samples / counts_[rung];
    // A variance that overflows is nothing to a rule that has no slopes.
    const double correction = term.slope == 0 ? 0 : term.slope * variance_[rung];
    out.log_z_rungs[term.interval + 1] += share * (term.value * mean_[rung] + correction);
    out.by_mean[rung] += scale * term.value;
    out.by_variance[rung] += scale * term.slope;
  };
  for (const QuadratureTerm& term : quadrature_terms(quadrature, ladder_)) {
    const Source from = source(term.rung);
    add(term, from.below, from.share);
    add(term, from.above, 1 - from.share);
  }
  for (Index k = 1; k < counts_.size(); ++k) out.log_z_rungs[k] += out.log_z_rungs[k - 1];
  return out;
}

double Integrand::influence(const Integral& integral, const VectorXd& weights,
                            double log_ratio) const {
  const Eigen::ArrayXd centred = log_ratio - mean_.array();
  return (weights.array() * (integral.by_mean.array() * centred +
                             integral.by_variance.array() * (centred.square() - variance_.array())))
      .sum();
}

VectorXd Integrand::group_influences(const Integral& integral) const {
  VectorXd groups = VectorXd::Zero(sums_.groups());
  for (Index k = 0; k < counts_.size(); ++k) {
    const double a = integral.by_mean[k], v = integral.by_variance[k], e = mean_[k];
    groups += v * sums_.second.row(k).transpose() +
              (a - 2 * v * e) * sums_.first.row(k).transpose() +
              (v * (e * e - variance_[k]) - a * e) * sums_.weight.row(k).transpose();
  }
  return groups;
}

double Integrand::hard_mean_square(const Integral& integral) const {
  return integral.by_mean.cwiseAbs2().cwiseProduct(variance_).dot(counts_) / sums_.samples;
}

}  // namespace boltzmark

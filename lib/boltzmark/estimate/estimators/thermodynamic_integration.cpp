#include "boltzmark/estimate/estimators/thermodynamic_integration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/closing.hpp"
#include "boltzmark/sample/tempering/mixing.hpp"

namespace boltzmark {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// The integral of E[D | b] by one rule, and how it depends on the moments of each rung.
struct Integral {
  VectorXd log_z_rungs;  ///< to each rung, first 0
  VectorXd by_mean;      ///< N / (sum_n w_kn) d log Z / d E_k
  VectorXd by_variance;  ///< N / (sum_n w_kn) d log Z / d V_k
};

/// The mean E_k and the variance V_k of D at every rung, from sums over samples.
/// A rung without samples takes both from its visited neighbours, linearly in b.
class Integrand {
 public:
  /// Keeps references.
  /// Throws  InvalidArgument if shapes disagree, sums of D are not kept, or no rung was visited
  Integrand(const RungSums& sums, const Ladder& ladder) : sums_(sums), ladder_(ladder) {
    if (sums.rungs() != ladder.rungs() || sums.first.size() != sums.weight.size() ||
        sums.second.size() != sums.weight.size())
      throw InvalidArgument(fmt::format("sums = {} rungs (must be {}, with sums of D)",
                                        sums.rungs(), ladder.rungs()));
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

  const VectorXd& counts() const { return counts_; }  ///< sum_n w_kn [rungs]

  Integral integrate(Quadrature quadrature) const {
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

  /// Computes the influence of a sample with D = log_ratio on an integral.
  ///   sum_k w_k (a_k (D - E_k) + v_k ((D - E_k)^2 - V_k)),  a, v = by_mean, by_variance
  /// Shapes  weights [rungs]
  double influence(const Integral& integral, const VectorXd& weights, double log_ratio) const {
    const Eigen::ArrayXd centred = log_ratio - mean_.array();
    return (weights.array() *
            (integral.by_mean.array() * centred +
             integral.by_variance.array() * (centred.square() - variance_.array())))
        .sum();
  }

  /// Sums the influences of each group of samples.  Shapes  result [groups]
  VectorXd group_influences(const Integral& integral) const {
    VectorXd groups = VectorXd::Zero(sums_.groups());
    for (Index k = 0; k < counts_.size(); ++k) {
      const double a = integral.by_mean[k], v = integral.by_variance[k], e = mean_[k];
      groups += v * sums_.second.row(k).transpose() +
                (a - 2 * v * e) * sums_.first.row(k).transpose() +
                (v * (e * e - variance_[k]) - a * e) * sums_.weight.row(k).transpose();
    }
    return groups;
  }

  /// Computes the standard error of an integral by what rises between rungs, which their slopes do not tell:
  ///   sqrt(sum_k (h_k d_k)^2 / 12),  d_k = E_{k+1} - E_k - h_k (V_k + V_{k+1}) / 2,
  /// for a step of size d_k is anywhere between its rungs. Of a smooth integrand d_k is of order h^3.
  double unseen_steps() const {
    double squares = 0;
    for (Index k = 0; k + 1 < counts_.size(); ++k) {
      const int rung = static_cast<int>(k);
      const double h = ladder_[rung + 1] - ladder_[rung];
      const double step = moment(mean_, k + 1) - moment(mean_, k) -
                          h * (moment(variance_, k) + moment(variance_, k + 1)) / 2;
      squares += h * h * step * step / 12;
    }
    return std::isfinite(squares) ? std::sqrt(squares) : 0;  // of variances that overflow
  }

  /// Computes the mean square of influences if each sample were given to one rung, by_mean alone.
  double hard_mean_square(const Integral& integral) const {
    return integral.by_mean.cwiseAbs2().cwiseProduct(variance_).dot(counts_) / sums_.samples;
  }

 private:
  // Moments of a rung are `share` those of rung `below` and 1 - share those of rung `above`.
  struct Source {
    Index below = 0, above = 0;
    double share = 1;
  };

  Source source(Index rung) const {
    Index below = rung, above = rung;
    while (below >= 0 && counts_[below] <= 0) --below;
    while (above < counts_.size() && counts_[above] <= 0) ++above;
    if (below < 0) below = above;
    if (above == counts_.size()) above = below;
    const auto b = [&](Index k) { return ladder_[static_cast<int>(k)]; };
    const double gap = b(above) - b(below);
    return {below, above, gap > 0 ? (b(above) - b(rung)) / gap : 1};
  }

  double moment(const VectorXd& of, Index rung) const {
    const Source from = source(rung);
    // A rung that has no share may be none's, of moments that are not finite.
    return from.share == 1 ? of[from.below]
                           : from.share * of[from.below] + (1 - from.share) * of[from.above];
  }

  const RungSums& sums_;
  const Ladder& ladder_;
  VectorXd counts_, mean_, variance_;
};

using MeanSquare = std::function<double(const Integrand&, const Integral&)>;

// The integral by one rule with its sampling error.
Estimate sampled(const Integrand& integrand, Quadrature quadrature, const RungSums& sums,
                 const MeanSquare& mean_square) {
  Estimate estimate;
  const Integral integral = integrand.integrate(quadrature);
  estimate.log_z_rungs = integral.log_z_rungs;
  estimate.log_z = integral.log_z_rungs[integral.log_z_rungs.size() - 1];
  set_error(estimate, {.groups = integrand.group_influences(integral),
                       .batches = sums.batches,
                       .samples = sums.samples,
                       .mean_square = mean_square(integrand, integral)});
  return estimate;
}

Estimate integrate(const RungSums& sums, const Ladder& ladder, const TiOptions& options,
                   const MeanSquare& mean_square) {
  const Integrand integrand(sums, ladder);
  Estimate refusal;
  const bool visited = judge_visits(refusal, integrand.counts());
  if (!visited && !options.interpolate_empty) return refusal;
  Estimate estimate = sampled(integrand, options.quadrature, sums, mean_square);
  const auto other = [&](Quadrature quadrature) {
    return sampled(integrand, quadrature, sums, &Integrand::hard_mean_square);
  };
  const Quadrature finer =
      options.quadrature == Quadrature::corrected ? Quadrature::simpson : Quadrature::corrected;
  estimate.std_error = std::hypot(estimate.std_error, estimate.log_z - other(finer).log_z);
  estimate.steps = integrand.unseen_steps();
  estimate.lower = std::min(estimate.lower, other(Quadrature::left).lower);
  estimate.upper = std::max(estimate.upper, other(Quadrature::right).upper);
  if (!visited) estimate.refuse(refusal.status, refusal.warnings.front());
  return estimate;
}

// The mean square of influences over the samples of a store.
double stored_mean_square(const SampleStore& store, Assignment assignment,
                          const Integrand& integrand, const Integral& integral) {
  std::optional<RungLaw> law;
  if (assignment == Assignment::soft) law.emplace(store, States::joint);
  VectorXd squares = VectorXd::Zero(store.chains());
  parallel_for(static_cast<std::size_t>(store.chains()), [&](std::size_t chain) {
    const auto c = static_cast<Index>(chain);
    VectorXd weights(store.rungs());
    double sum = 0;
    for (Index n = c * store.sweeps(); n < (c + 1) * store.sweeps(); ++n) {
      if (law)
        (*law)(n, weights);
      else
        weights = VectorXd::Unit(store.rungs(), store.rung.data()[n]);
      const double x = integrand.influence(integral, weights, store.log_ratio.data()[n]);
      sum += x * x;
    }
    squares[c] = sum;
  });
  return squares.sum() / store.samples();
}

}  // namespace

Estimate thermodynamic_integration(const RungSums& sums, const Ladder& ladder,
                                   const TiOptions& options) {
  return closed(integrate(sums, ladder, options, &Integrand::hard_mean_square));
}

Estimate thermodynamic_integration(const SampleStore& store, Assignment assignment,
                                   const TiOptions& options) {
  Estimate estimate = integrate(sum_by_rung(store, assignment), store.ladder, options,
                                [&](const Integrand& integrand, const Integral& integral) {
                                  return stored_mean_square(store, assignment, integrand, integral);
                                });
  judge_mixing(estimate, store);
  return closed(std::move(estimate), range_of(store.log_ratio));
}

Estimate ti_continuous(const Eigen::MatrixXd& log_ratio, const Eigen::MatrixXd& density) {
  if (log_ratio.size() == 0 || log_ratio.rows() != density.rows() ||
      log_ratio.cols() != density.cols())
    throw InvalidArgument("density (must be the shape of D, not empty)");
  if (!log_ratio.allFinite() || !density.allFinite() || density.minCoeff() <= 0)
    throw InvalidArgument("D, density (must be finite, densities positive)");
  const Eigen::MatrixXd terms = log_ratio.cwiseQuotient(density);
  Estimate estimate;
  estimate.log_z = terms.mean();
  set_error(estimate, terms.array() - estimate.log_z);
  return closed(std::move(estimate), range_of(log_ratio));
}

namespace {

double width(const Ladder& ladder, int interval) { return ladder[interval + 1] - ladder[interval]; }

// The integral of the parabola through three rungs from `near` to `mid`, a distance h apart; `far`
// lies `other` beyond mid.
void add_parabola(int interval, int near, int step, double h, double other,
                  std::vector<QuadratureTerm>& terms) {
  const double both = h + other;
  terms.push_back({interval, near, h * (2 * h + 3 * other) / (6 * both)});
  terms.push_back({interval, near + step, h * (h + 3 * other) / (6 * other)});
  terms.push_back({interval, near + 2 * step, -h * h * h / (6 * other * both)});
}

void add_simpson(const Ladder& ladder, int k, std::vector<QuadratureTerm>& terms) {
  const double h = width(ladder, k);
  if (k % 2 == 0 && k + 2 < ladder.rungs())
    add_parabola(k, k, 1, h, width(ladder, k + 1), terms);
  else
    add_parabola(k, k + 1, -1, h, width(ladder, k - 1), terms);
}

void add_interval(Quadrature quadrature, const Ladder& ladder, int k,
                  std::vector<QuadratureTerm>& terms) {
  const double h = width(ladder, k);
  switch (quadrature) {
    case Quadrature::left:
      terms.push_back({k, k, h});
      return;
    case Quadrature::right:
      terms.push_back({k, k + 1, h});
      return;
    case Quadrature::simpson:
      if (ladder.rungs() > 2) return add_simpson(ladder, k, terms);
      [[fallthrough]];
    case Quadrature::trapezoid:
      terms.push_back({k, k, h / 2});
      terms.push_back({k, k + 1, h / 2});
      return;
    case Quadrature::corrected:
      terms.push_back({k, k, h / 2, h * h / 12});
      terms.push_back({k, k + 1, h / 2, -h * h / 12});
      return;
  }
  throw InvalidArgument("quadrature (must be one of the enumeration)");
}

}  // namespace

std::vector<QuadratureTerm> quadrature_terms(Quadrature quadrature, const Ladder& ladder) {
  std::vector<QuadratureTerm> terms;
  for (int k = 0; k + 1 < ladder.rungs(); ++k) add_interval(quadrature, ladder, k, terms);
  return terms;
}

}  // namespace boltzmark

#include "boltzmark/sample/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/quantiles.hpp"
#include "boltzmark/diagnose/pareto.hpp"
#include "boltzmark/sample/sample_store.hpp"

namespace boltzmark {
namespace {

// In the order of the enumeration.
constexpr std::array<std::string_view, 5> kStatuses = {
    "ok", "few_effective_samples", "not_converged", "unvisited_rung", "below_bound"};

constexpr double kEffectivePerBatch = 12;
constexpr Eigen::Index kLeastGroups = 5;
constexpr double kRounding = 1e-9;  // nats; log Z of 10^4 comes from sums that are rounded by less

double squared_error(const InfluenceSums& sums) {
  const auto groups = static_cast<double>(sums.groups.size());
  return groups / (groups - 1) * sums.groups.squaredNorm() / (sums.samples * sums.samples);
}

// Of equal samples only rounding is left, whose shares say nothing.
double effective_samples(const InfluenceSums& sums) {
  const double variance = squared_error(sums);
  return variance > kRounding * kRounding ? sums.mean_square / variance : sums.samples;
}

// Whole chains are independent however short they are.
bool are_independent(const InfluenceSums& sums) {
  return sums.batches == 1 || effective_samples(sums) >= kEffectivePerBatch * sums.groups.size();
}

bool can_join(const InfluenceSums& sums) {
  return sums.batches % 2 == 0 && sums.groups.size() / 2 >= kLeastGroups;
}

void join_neighbours(InfluenceSums& sums) {
  const Eigen::Map<const Eigen::Matrix2Xd> pairs(sums.groups.data(), 2, sums.groups.size() / 2);
  sums.groups = pairs.colwise().sum().transpose().eval();
  sums.batches /= 2;
}

// The log means without each weight. Shapes  counts as weights, of mean 1
double jackknife_error(const Eigen::ArrayXd& weights, const Eigen::ArrayXd& counts) {
  const auto n = static_cast<double>(weights.size());
  // The largest weight is 1: what is left of it is summed afresh, not as a difference.
  Eigen::ArrayXd rest = weights.sum() - weights;
  Eigen::Index largest = 0;
  weights.maxCoeff(&largest);
  rest[largest] = weights.head(largest).sum() + weights.tail(weights.size() - largest - 1).sum();
  const Eigen::ArrayXd logs =
      rest.max(std::numeric_limits<double>::min()).log() - (n - counts).log();
  return std::sqrt((n - 1) / n * (logs - logs.mean()).square().sum());
}

// 49.9 are fewer than 50, and not said to be as many.
double whole(double samples, double needed) {
  return std::min(std::floor(samples + 1e-6), std::ceil(needed) - 1);
}

void refuse_heavy_tail(Estimate& estimate, double pareto_k) {
  if (estimate.effective_samples < kFewEffectiveSamples)
    estimate.refuse(
        Status::few_effective_samples,
        fmt::format("{:.0f} effective samples (fewer than {:.0f}): run more chains or "
                    "sweeps",
                    whole(estimate.effective_samples, kFewEffectiveSamples), kFewEffectiveSamples));
  if (pareto_k > 0.5)
    estimate.refuse(
        Status::few_effective_samples,
        fmt::format("Pareto k = {:.2f} of the weights (above 0.5): a tail so heavy that {:.4g} "
                    "effective samples count too many; run more sweeps",
                    pareto_k, estimate.effective_samples));
}

double student(int count) { return students_t_quantile(count - 1, 0.975); }

double normal_limit(Eigen::VectorXd log_weights) {
  std::sort(log_weights.begin(), log_weights.end());
  const Eigen::Index n = log_weights.size(), half = n / 2;
  const double median = (log_weights[half] + log_weights[n - 1 - half]) / 2;
  const double q = (log_weights.tail(half).array() - median).square().mean();
  const auto count = static_cast<double>(n);
  return median + q / 2 +
         student(static_cast<int>(n)) * std::sqrt(std::numbers::pi / 2 * q / count + q * q / count);
}

}  // namespace

std::string_view name(Status status) { return kStatuses[static_cast<std::size_t>(status)]; }

void Estimate::refuse(Status reason, std::string warning) {
  if (reason > status) status = reason;
  warnings.push_back(std::move(warning));
}

bool Estimate::add_missing(double more) {
  constexpr double kNormal95 = 1.96;
  const double error = std::log1p(more), before = std::max(std_error, 0.0);
  std_error = std::hypot(before, error);
  upper += kNormal95 * error;
  return error > before;
}

void set_error(Estimate& estimate, InfluenceSums sums) {
  if (sums.groups.size() < 2) throw InvalidArgument("groups = 1 (must be at least 2)");
  while (!are_independent(sums) && can_join(sums)) join_neighbours(sums);
  estimate.effective_samples = effective_samples(sums);
  estimate.std_error = std::sqrt(squared_error(sums));
  const double half =
      students_t_quantile(static_cast<double>(sums.groups.size()) - 1, 0.975) * estimate.std_error;
  estimate.lower = estimate.log_z - half;
  estimate.upper = estimate.log_z + half;
  const double needed = std::max(
      kFewEffectiveSamples,
      sums.batches == 1 ? 0 : kEffectivePerBatch * static_cast<double>(sums.groups.size()));
  if (estimate.effective_samples < needed)
    estimate.refuse(Status::few_effective_samples,
                    fmt::format("{:.0f} effective samples (fewer than {:.0f}): run more sweeps or "
                                "chains",
                                whole(estimate.effective_samples, needed), needed));
}

void set_error(Estimate& estimate, const Eigen::MatrixXd& influences, Eigen::Index bundle) {
  if (bundle < 1 || influences.cols() % bundle != 0)
    throw InvalidArgument(fmt::format("bundle = {} chains (must be at least 1, and divide {})",
                                      bundle, influences.cols()));
  const Eigen::Index sweeps = influences.rows(), bundles = influences.cols() / bundle;
  const int batches = batches_per_chain(bundles, sweeps);
  Eigen::VectorXd groups(bundles * batches);
  for (Eigen::Index g = 0; g < groups.size(); ++g) {
    const Eigen::Index batch = g % batches;
    const Eigen::Index first = batch * sweeps / batches, last = (batch + 1) * sweeps / batches;
    groups[g] =
        influences.middleCols(g / batches * bundle, bundle).middleRows(first, last - first).sum();
  }
  const auto samples = static_cast<double>(influences.size());
  set_error(estimate, {.groups = groups,
                       .batches = batches,
                       .samples = samples,
                       .mean_square = influences.squaredNorm() / samples});
}

WeightSummary summarise(const Eigen::VectorXd& log_weights) {
  return summarise(log_weights, Eigen::VectorXd::Ones(log_weights.size()));
}

WeightSummary summarise(const Eigen::VectorXd& given, const Eigen::VectorXd& given_counts) {
  if (given.size() < 2)
    throw InvalidArgument(fmt::format("log weights = {} (must be at least 2)", given.size()));
  if (!given.allFinite()) throw InvalidArgument("log weights (must be finite)");
  if (given_counts.size() != given.size() || !(given_counts.minCoeff() > 0))
    throw InvalidArgument("counts (must be positive, one a weight)");
  const Eigen::ArrayXd counts = given_counts.array() / given_counts.mean();
  const Eigen::VectorXd log_weights = given.array() + counts.log();
  const double highest = log_weights.maxCoeff();
  const Eigen::ArrayXd weights = (log_weights.array() - highest).exp();
  const double sum = weights.sum();
  return {.log_mean = highest + std::log(sum / static_cast<double>(weights.size())),
          .std_error = jackknife_error(weights, counts),
          .effective_samples = sum * sum / weights.square().sum(),
          .pareto_k = pareto_shape({log_weights.data(), log_weights.data() + log_weights.size()}),
          .count = static_cast<int>(log_weights.size()),
          .normal_limit = normal_limit(log_weights)};
}

Estimate estimate_from_weights(const WeightSummary& summary, Bound bound) {
  // Equal weights have no error but that of the sums that they come from.
  constexpr double kRounding = 1e-12;
  const double half = std::max(student(summary.count) * summary.std_error,
                               kRounding * (1 + std::abs(summary.log_mean)));
  const double below = std::min(half, std::log(40.0));
  const double above = std::max(half, summary.normal_limit - summary.log_mean);
  const double sign = bound == Bound::lower ? 1 : -1;
  Estimate estimate;
  estimate.log_z = sign * summary.log_mean;
  estimate.std_error = summary.std_error;
  estimate.lower = estimate.log_z - (bound == Bound::lower ? below : above);
  estimate.upper = estimate.log_z + (bound == Bound::lower ? above : below);
  estimate.effective_samples = summary.effective_samples;
  refuse_heavy_tail(estimate, summary.pareto_k);
  return estimate;
}

Estimate sandwich(const Estimate& below, const Estimate& above) {
  Estimate joined;
  const double gap = std::max(0.0, above.log_z - below.log_z);
  joined.log_z = (below.log_z + above.log_z) / 2;
  joined.std_error = std::hypot((below.std_error + above.std_error) / 2, gap / std::sqrt(12.0));
  joined.lower = below.lower;
  joined.upper = above.upper;
  joined.effective_samples = std::min(below.effective_samples, above.effective_samples);
  joined.status = std::max(below.status, above.status);
  joined.warnings = below.warnings;
  joined.warnings.insert(joined.warnings.end(), above.warnings.begin(), above.warnings.end());
  if (below.log_z_rungs.size() == above.log_z_rungs.size())
    joined.log_z_rungs = (below.log_z_rungs + above.log_z_rungs) / 2;
  if (std::isnan(joined.log_z)) joined.refuse(Status::not_converged, "log Z is not a number");
  if (joined.lower > joined.upper) {
    joined.refuse(Status::not_converged,
                  fmt::format("the lower limit {:.3f} exceeds the upper one {:.3f}: samples are "
                              "far from equilibrium",
                              joined.lower, joined.upper));
    std::swap(joined.lower, joined.upper);
  }
  return joined;
}

}  // namespace boltzmark

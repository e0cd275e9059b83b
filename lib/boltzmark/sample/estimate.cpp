#include "boltzmark/sample/estimate.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/quantiles.hpp"
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
                                estimate.effective_samples, needed));
}

void set_error(Estimate& estimate, const Eigen::MatrixXd& influences, Eigen::Index bundle) {
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

}  // namespace boltzmark

#include "boltzmark/estimate/places/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"
#include "boltzmark/core/quantiles.hpp"
#include "boltzmark/exact/modes/fixed_points.hpp"
#include "boltzmark/exact/modes/mean_field.hpp"

namespace boltzmark {

std::vector<int> Parts::parts_of(const Chains& states) const {
  return parts_of(all_values(states).cast<double>());
}

std::vector<int> Parts::parts_of(const Eigen::Ref<const Eigen::MatrixXd>& values) const {
  if (values.rows() != scales.size())
    throw InvalidArgument(
        fmt::format("values = {} units (must be {})", values.rows(), scales.size()));
  std::vector<int> parts(static_cast<std::size_t>(values.cols()));
  for (Eigen::Index c = 0; c < values.cols(); ++c) {
    const Eigen::VectorXd scaled = scales.cwiseProduct(values.col(c));
    Eigen::Index nearest = 0;
    (centres.colwise() - scaled).colwise().squaredNorm().minCoeff(&nearest);
    parts[c] = static_cast<int>(nearest);
  }
  return parts;
}

double least_log_mass(const Eigen::Ref<const Eigen::VectorXd>& log_weights) {
  constexpr int kFewest = 3;
  constexpr double kErrors = 2, kLevel = 0.025, kNone = -std::numeric_limits<double>::infinity();
  double count = 0, sum = 0;
  for (const double x : log_weights)
    if (x > kNone) {
      ++count;
      sum += x;
    }
  if (count < kFewest) return kNone;
  const double mean = sum / count;
  double squares = 0;
  for (const double x : log_weights)
    if (x > kNone) squares += (x - mean) * (x - mean);
  const double all = static_cast<double>(log_weights.size());
  return mean - kErrors * std::sqrt(squares / (count - 1) / count) +
         std::log(beta_quantile(count, all - count + 1, kLevel));
}

double PhaseMasses::log_z() const { return log_sum_exp(log_masses); }

double PhaseMasses::std_error() const {
  return ((log_masses.array() - log_z()).exp() * errors.array()).matrix().norm();
}

Eigen::ArrayXd PhaseMasses::lowest(double errors_off, double log_scale) const {
  const Eigen::ArrayXd lower =
      (log_masses.array() - log_scale).exp() * (1 - errors_off * errors.array()).max(0);
  if (log_least.size() == 0) return lower;
  return lower.max((log_least.array() - log_scale).exp());
}

double PhaseMasses::share(Eigen::Index part, double errors_off) const {
  const double off = std::abs(errors_off);
  const Eigen::ArrayXd low = lowest(off, log_z());
  const Eigen::ArrayXd high = (log_masses.array() - log_z()).exp() * (1 + off * errors.array());
  Eigen::ArrayXd masses = errors_off > 0 ? low : high;
  masses[part] = errors_off > 0 ? high[part] : low[part];
  return masses[part] / masses.sum();
}

namespace {

Chains candidates(const Layered& model, const Modes& modes, int most) {
  const int others = modes.others ? std::min(modes.others->chains(), most) : 0;
  const int count = std::min(modes.count(), most);
  Chains states(model, count + others);
  for (int c = 0; c < count; ++c) states.copy_chain(c, modes.states, c);
  for (int c = 0; c < others; ++c) states.copy_chain(count + c, *modes.others, c);
  return states;
}

}  // namespace

Places find_places(const Layered& model, const Modes& modes, int most) {
  constexpr int kUpdates = 5;
  const Chains states = candidates(model, modes, most);
  Chains means = states;
  const std::vector<MeanFieldBound> bounds =
      mean_field(model, list_side(model, modes.parity), modes.parity, kUpdates, means);
  std::vector<int> order(bounds.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return bounds[a].log_z > bounds[b].log_z; });
  const Eigen::MatrixXf all = all_values(means);
  std::vector<int> different;
  for (const int c : order)
    if (std::all_of(different.begin(), different.end(), [&](int other) {
          return (all.col(c) - all.col(other)).squaredNorm() > kSamePlace;
        }))
      different.push_back(c);
  const auto count = std::ssize(different);
  Places places{Chains(model, static_cast<int>(count)), Eigen::MatrixXf(model.units(), count), {}};
  for (Eigen::Index c = 0; c < count; ++c) {
    const int from = different[c];
    places.states.copy_chain(static_cast<int>(c), states, from);
    places.means.col(c) = all.col(from);
    places.log_z.push_back(bounds[from].log_z);
  }
  return places;
}

}  // namespace boltzmark

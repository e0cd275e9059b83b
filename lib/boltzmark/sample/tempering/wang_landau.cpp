#include "boltzmark/sample/tempering/wang_landau.hpp"

#include <fmt/format.h>

#include <cmath>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

AdaptingFactor checked_factor(const AdaptingFactor& factor) {
  if (!factor.is_valid())
    throw InvalidArgument(fmt::format("factor = {} (must be positive and finite)", factor.size));
  return factor;
}

}  // namespace

void raise_weight(std::span<double> log_g, int rung, double increase) {
  log_g[static_cast<std::size_t>(rung)] += increase;
  const double top = log_g.back();
  for (double& value : log_g) value -= top;
}

AdaptiveWeights::AdaptiveWeights(int rungs, int chains, const AdaptingFactor& factor,
                                 WeightSharing sharing)
    : factor_(checked_factor(factor)),
      log_g_(Eigen::MatrixXd::Zero(rungs, sharing == WeightSharing::own ? chains : 1)) {}

std::span<const double> AdaptiveWeights::log_g(int chain) const {
  return {log_g_.col(set_of(chain)).data(), static_cast<std::size_t>(log_g_.rows())};
}

void AdaptiveWeights::update(std::span<const int> rungs) {
  // The chains of one set of weights share an update's increase.
  const double share = static_cast<double>(log_g_.cols()) / static_cast<double>(rungs.size());
  const double increase = share * std::log1p(factor_.at(++updates_));
  for (std::size_t c = 0; c < rungs.size(); ++c)
    raise_weight(
        {log_g_.col(set_of(static_cast<int>(c))).data(), static_cast<std::size_t>(log_g_.rows())},
        rungs[c], increase);
}

void AdaptiveWeights::set(const Eigen::VectorXd& log_g) {
  if (log_g.size() != log_g_.rows() || !log_g.allFinite())
    throw InvalidArgument(
        fmt::format("log_g = {} values (must be {}, finite)", log_g.size(), log_g_.rows()));
  log_g_.colwise() = (log_g.array() - log_g[log_g.size() - 1]).matrix();
}

void AdaptiveWeights::save(CheckpointWriter& out) const {
  out.write(log_g_);
  out.write(updates_);
}

void AdaptiveWeights::restore(CheckpointReader& in) {
  in.read(log_g_);
  updates_ = in.read();
}

}  // namespace boltzmark

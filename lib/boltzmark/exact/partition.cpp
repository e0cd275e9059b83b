#include "boltzmark/exact/partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

double positive_size(double value, const char* name) {
  if (!(value > 0) || !std::isfinite(value))
    throw InvalidArgument(fmt::format("{} = {} (must be above 0)", name, value));
  return value;
}

}  // namespace

Partition::Partition(const Layered& model, std::vector<int> set_of)
    : space_(model), set_of_(std::move(set_of)) {
  if (set_of_.size() != space_.states())
    throw InvalidArgument(fmt::format("set_of = {} numbers (must be {}, one a state)",
                                      set_of_.size(), space_.states()));
  sets_ = *std::max_element(set_of_.begin(), set_of_.end()) + 1;
  for (int k = 0; k < sets_; ++k)
    if (std::find(set_of_.begin(), set_of_.end(), k) == set_of_.end())
      throw InvalidArgument(fmt::format("set_of = none is {} (must number sets from 0 on)", k));
  if (*std::min_element(set_of_.begin(), set_of_.end()) < 0)
    throw InvalidArgument("set_of = a negative number (must be at least 0)");
  for (const int parity : {1, 0})
    order_.insert(order_.end(), space_.side(parity).begin(), space_.side(parity).end());
}

void Partition::require_state(std::size_t state) const {
  if (state >= space_.states())
    throw InvalidArgument(
        fmt::format("state = {} (must be below {}, the number of states)", state, space_.states()));
}

Eigen::VectorXd Partition::sums(const Eigen::Ref<const Eigen::VectorXd>& values) const {
  Eigen::VectorXd sums = Eigen::VectorXd::Zero(sets_);
  for (Eigen::Index x = 0; x < values.size(); ++x)
    sums[set_of_[static_cast<std::size_t>(x)]] += values[x];
  return sums;
}

void Partition::unit_law(int unit, std::size_t state, std::span<const double> log_g,
                         std::span<double> law) const {
  for (std::size_t k = 0; k < law.size(); ++k) {
    const std::size_t other = space_.moved(unit, state, static_cast<int>(k));
    law[k] = space_.log_p()[static_cast<Eigen::Index>(other)] -
             log_g[static_cast<std::size_t>(set_of_[other])];
  }
  const double top = *std::max_element(law.begin(), law.end());
  double sum = 0;
  for (double& value : law) sum += value = std::exp(value - top);
  for (double& value : law) value /= sum;
}

WeightRule WeightRule::constant(double factor) {
  return WeightRule(std::log1p(positive_size(factor, "factor")), false);
}

WeightRule WeightRule::vanishing(double factor) {
  return WeightRule(positive_size(factor, "factor"), true);
}

WeightRule WeightRule::fast_weights(double rate, int data_set, double keep) {
  if (data_set < 0)
    throw InvalidArgument(fmt::format("data_set = {} (must be at least 0)", data_set));
  if (!(keep > 0 && keep <= 1))
    throw InvalidArgument(fmt::format("keep = {} (must be above 0 and at most 1)", keep));
  WeightRule rule(positive_size(rate, "rate"), false);
  rule.data_set_ = data_set;
  rule.keep_ = keep;
  return rule;
}

void WeightRule::require_sets(int sets) const {
  if (data_set_ >= sets)
    throw InvalidArgument(
        fmt::format("data_set = {} (must be below {}, the number of sets)", data_set_, sets));
}

void WeightRule::apply(std::uint64_t t, int set, std::span<double> log_g) const {
  if (keep_ != 1)
    for (double& value : log_g) value *= keep_;
  if (set == data_set_) return;
  log_g[static_cast<std::size_t>(set)] +=
      vanishing_ ? std::log1p(size_ / static_cast<double>(t)) : size_;
  if (data_set_ >= 0) log_g[static_cast<std::size_t>(data_set_)] -= size_;
}

PartitionChain::PartitionChain(const Partition& partition, const WeightRule& rule,
                               std::size_t state)
    : partition_(&partition),
      rule_(rule),
      state_(state),
      log_g_(static_cast<std::size_t>(partition.sets())) {
  rule.require_sets(partition.sets());
  partition.require_state(state);
}

void PartitionChain::update(Stream& stream) {
  const StateSpace& space = partition_->space();
  for (const int unit : partition_->sweep_order()) {
    law_.resize(static_cast<std::size_t>(space.values(unit)));
    partition_->unit_law(unit, state_, log_g_, law_);
    double left = stream.uniform();
    int value = 0;
    while (value + 1 < space.values(unit) && left >= law_[static_cast<std::size_t>(value)])
      left -= law_[static_cast<std::size_t>(value++)];
    state_ = space.moved(unit, state_, value);
  }
  rule_.apply(++updates_, set(), log_g_);
}

}  // namespace boltzmark

#include "boltzmark/exact/exact_sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"
#include "boltzmark/exact/enumeration/enumeration.hpp"

namespace boltzmark {
namespace {

constexpr int kMostHidden = 24;
constexpr std::uint64_t kBlock = 256;    // hidden states of one matrix product
constexpr double kTwo32 = 4294967296.0;  // a draw is an integer below this

void check(const Layered& rbm) {
  if (!rbm.is_rbm() || !rbm.is_binary() || rbm.size(1) > kMostHidden)
    throw InvalidArgument(
        fmt::format("model = {} layers, {} hidden units (must be a binary RBM with "
                    "at most {})",
                    rbm.layers(), rbm.size(1), kMostHidden));
  check_magnitude(list_side(rbm, 1));
}

/// Hidden states first, first + 1, .. as columns: unit j is bit j.
Eigen::MatrixXd hidden_states(int hidden, std::uint64_t first, std::uint64_t count) {
  Eigen::MatrixXd states(hidden, static_cast<Eigen::Index>(count));
  for (std::uint64_t s = 0; s < count; ++s)
    for (int j = 0; j < hidden; ++j)
      states(j, static_cast<Eigen::Index>(s)) = static_cast<double>((first + s) >> j & 1U);
  return states;
}

/// sum_i log(1 + e^x_i) of every column, with one logarithm for up to 512 of them: their factors
/// 1 + e^-|x_i| are at most 2 each.
Eigen::RowVectorXd softplus_sums(const Eigen::MatrixXd& x) {
  constexpr Eigen::Index kFactors = 512;
  Eigen::RowVectorXd sums = x.cwiseMax(0).colwise().sum();
  for (Eigen::Index first = 0; first < x.rows(); first += kFactors) {
    const auto rows = x.middleRows(first, std::min(kFactors, x.rows() - first)).array();
    sums += ((-rows.abs()).exp() + 1).colwise().prod().log().matrix();
  }
  return sums;
}

}  // namespace

ExactSampler::ExactSampler(const Layered& rbm) : rbm_(rbm) {
  check(rbm);
  const std::uint64_t states = std::uint64_t{1} << rbm.size(1);
  for (std::uint64_t first = 0; first < states; first += kBlock) {
    const Eigen::MatrixXd h = hidden_states(rbm.size(1), first, std::min(kBlock, states - first));
    const Eigen::MatrixXd input = (rbm.weights(0) * h).colwise() + rbm.bias(0);
    const Eigen::VectorXd log_p = h.transpose() * rbm.bias(1) + softplus_sums(input).transpose();
    sums_.insert(sums_.end(), log_p.begin(), log_p.end());
  }
  const double highest = *std::max_element(sums_.begin(), sums_.end());
  double sum = 0;
  for (double& value : sums_) value = sum += std::exp(value - highest);
  log_z_ = highest + std::log(sum);
}

void ExactSampler::draw(Stream& stream, Eigen::Ref<Eigen::VectorXf> visible,
                        Eigen::Ref<Eigen::VectorXf> hidden) const {
  if (visible.size() != rbm_.size(0) || hidden.size() != rbm_.size(1))
    throw InvalidArgument("visible, hidden (must be of the model's units)");
  const auto at = std::upper_bound(sums_.begin(), sums_.end() - 1, stream.uniform() * sums_.back());
  const Eigen::VectorXd h =
      hidden_states(rbm_.size(1), static_cast<std::uint64_t>(at - sums_.begin()), 1);
  const Eigen::VectorXd input = rbm_.bias(0) + rbm_.weights(0) * h;
  hidden = h.cast<float>();
  for (Eigen::Index i = 0; i < visible.size(); ++i)
    visible[i] = stream() < kTwo32 * sigmoid(input[i]) ? 1.0F : 0.0F;
}

}  // namespace boltzmark

#include <cmath>
#include <cstring>
#include <string>
#include <unordered_map>

#include "boltzmark/core/error.hpp"
#include "boltzmark/exact/likelihood.hpp"

namespace boltzmark {
namespace {

/// FNV-1a over the bit patterns of a case; -0 counts as 0.
std::uint64_t hash_of(const float* values, Eigen::Index size) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (Eigen::Index i = 0; i < size; ++i) {
    std::uint32_t bits;
    const float x = values[i] + 0.0F;
    std::memcpy(&bits, &x, sizeof bits);
    hash = (hash ^ bits) * 0x100000001b3ULL;
  }
  return hash;
}

}  // namespace

Cases::Cases(const Eigen::Ref<const Eigen::MatrixXf>& data)
    : visible_(static_cast<int>(data.rows())), count_(static_cast<std::size_t>(data.cols())) {
  if (data.rows() < 1 || data.cols() < 1) {
    throw InvalidArgument("data = " + std::to_string(data.rows()) + " x " +
                          std::to_string(data.cols()) + " (must have a unit and a case)");
  }
  bool binary = true;
  for (Eigen::Index c = 0; c < data.cols(); ++c) {
    for (Eigen::Index i = 0; i < data.rows(); ++i) {
      const float x = data(i, c);
      if (!std::isfinite(x)) throw InvalidArgument("data = not finite (must be finite)");
      binary = binary && (x == 0.0F || x == 1.0F);
    }
  }
  std::unordered_multimap<std::uint64_t, std::size_t> known;
  std::vector<Eigen::Index> first;  // where each distinct case first stands
  starts_.push_back(0);
  for (Eigen::Index c = 0; c < data.cols(); ++c) {
    const std::uint64_t hash = hash_of(data.col(c).data(), data.rows());
    const auto [begin, end] = known.equal_range(hash);
    auto same = begin;
    while (same != end && data.col(first[same->second]) != data.col(c)) ++same;
    if (same != end) {
      weights_[same->second] += 1;
      continue;
    }
    known.emplace(hash, first.size());
    first.push_back(c);
    weights_.push_back(1);
    for (Eigen::Index i = 0; i < data.rows(); ++i) {
      if (data(i, c) == 0.0F) continue;
      units_.push_back(static_cast<std::uint32_t>(i));
      if (!binary) values_.push_back(data(i, c));
    }
    starts_.push_back(units_.size());
  }
  for (double& weight : weights_) weight /= static_cast<double>(count_);
}

Eigen::VectorXd Cases::state(std::size_t k) const {
  Eigen::VectorXd v = Eigen::VectorXd::Zero(visible_);
  const float* x = values(k);
  for (const std::uint32_t* i = begin(k); i != end(k); ++i) v[*i] = x ? *x++ : 1.0;
  return v;
}

}  // namespace boltzmark

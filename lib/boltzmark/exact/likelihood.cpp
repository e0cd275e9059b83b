#include "boltzmark/exact/likelihood.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <unordered_map>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/exact/likelihood_kernel.hpp"
#include "boltzmark/exact/log_z.hpp"

namespace boltzmark {
namespace {

constexpr std::size_t kChunkCases = 256;

[[noreturn]] void refuse_value(double x, Unit unit) {
  throw InvalidArgument("data value = " + std::to_string(x) + " (must be a value of the visible " +
                        unit.name() + " units)");
}

/// Computes -own_energy, sum_i b_i v_i from the non-zero values.
double visible_term(const Layered& model, const Cases& cases, std::size_t k) {
  const Layer& layer = model.layer(0);
  if (layer.unit.has_scale()) return -own_energy(layer, cases.state(k));
  const float* x = cases.values(k);
  double sum = 0;
  for (const std::uint32_t* i = cases.begin(k); i != cases.end(k); ++i) {
    sum += layer.bias[*i] * (x ? static_cast<double>(*x++) : 1.0);
  }
  return sum;
}

/// Averages log f over all cases; `fill(first, count, out)` writes those of some distinct ones.
/// Chunks are combined in order.
template <typename Fill>
double mean_over(const Cases& cases, const Fill& fill) {
  const std::size_t chunks = (cases.distinct() + kChunkCases - 1) / kChunkCases;
  std::vector<double> sums(chunks);
  const auto body = [&](std::size_t chunk) {
    const std::size_t first = chunk * kChunkCases;
    const std::size_t count = std::min(kChunkCases, cases.distinct() - first);
    std::array<double, kChunkCases> log_f{};
    fill(first, count, log_f.data());
    for (std::size_t k = 0; k < count; ++k) sums[chunk] += cases.weight(first + k) * log_f[k];
  };
  if (chunks == 1) {
    body(0);
  } else {
    parallel_for(chunks, body);
  }
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

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

void check_cases(const Layered& model, const Cases& cases) {
  if (cases.visible() != model.size(0)) {
    throw InvalidArgument("data units = " + std::to_string(cases.visible()) + " (must be " +
                          std::to_string(model.size(0)) + ")");
  }
  const Unit unit = model.layer(0).unit;
  if (unit.has_scale() || (unit.is_bernoulli() && cases.is_binary())) return;
  for (std::size_t k = 0; k < cases.distinct(); ++k) {
    const Eigen::VectorXd v = cases.state(k);
    for (const double x : v)
      if (!unit.holds(x, 2e-6)) refuse_value(x, unit);
  }
}

double log_unnormalised(const Layered& model, const Eigen::Ref<const Eigen::VectorXd>& visible) {
  return sum_states(given_visible(model, visible)).log_z;
}

double mean_log_f(const Layered& model, const Cases& cases) {
  check_cases(model, cases);
  if (model.is_rbm() && model.layer(1).unit.is_bernoulli()) {
    const FreeEnergyTable table(model.weights(0), model.bias(1));
    return mean_over(cases, [&](std::size_t first, std::size_t count, double* out) {
      for (std::size_t k = 0; k < count; ++k) out[k] = visible_term(model, cases, first + k);
      table.add_hidden_terms(cases, first, count, out);
    });
  }
  return mean_over(cases, [&](std::size_t first, std::size_t count, double* out) {
    for (std::size_t k = 0; k < count; ++k)
      out[k] = log_unnormalised(model, cases.state(first + k));
  });
}

double mean_log_likelihood(const Layered& model, const Cases& cases, double log_z) {
  return mean_log_f(model, cases) - log_z;
}

double exact_mean_log_likelihood(const Layered& model, const Cases& cases) {
  return mean_log_likelihood(model, cases, exact_log_z(model).log_z);
}

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

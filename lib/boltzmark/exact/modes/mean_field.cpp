#include "boltzmark/exact/modes/mean_field.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <utility>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/exact/enumeration/plain.hpp"
#include "boltzmark/model/sides.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {

namespace {

/// A product law over a side: each unit's law is proportional to e^{input x}.
struct ProductLaw {
  Eigen::VectorXd means;
  double entropy = 0;  // to the reference measure
  double size = 0;     // of the terms of the entropy
};

ProductLaw product_law(const Bipartite& sides, const Eigen::VectorXd& inputs) {
  ProductLaw law{.means = Eigen::VectorXd(inputs.size())};
  for (Eigen::Index i = 0; i < inputs.size(); ++i) {
    law.means[i] = mean_value(sides.enumerated[i], inputs[i]);
    law.entropy += log_partition(sides.enumerated[i], inputs[i]) - inputs[i] * law.means[i];
    law.size += std::abs(inputs[i]) + 2;
  }
  return law;
}

// The inputs of a side's units of every chain.  Shapes  [units x chains]
Eigen::MatrixXd side_inputs(const PackedModel& packed, const Chains& chains, int parity) {
  Eigen::MatrixXd all(0, chains.chains());
  for (int l = parity; l < packed.layers(); l += 2) {
    all.conservativeResize(all.rows() + chains.size(l), Eigen::NoChange);
    all.bottomRows(chains.size(l)) = layer_inputs(packed, chains, l);
  }
  return all;
}

}  // namespace

// Means are off by 4 ulp, 8 u of values of at most 1; each entropy term by 4 ulp of the log partition and of
// the mean, and by its own roundings and sum's.
MeanFieldBound jensen_bound(const Bipartite& sides, const Eigen::VectorXd& means, double entropy,
                            double size) {
  const double u = std::numeric_limits<double>::epsilon() / 2;
  const Eigen::VectorXd other = sides.other_input + sides.weights * means;
  const double linear = sides.bias.dot(means);
  const auto terms = static_cast<double>(means.size());
  return {.log_z = log_weight(sides, other, linear) + entropy,
          .error_bound = 1.01 * u * (log_weight_roundings(sides, 8) + (terms + 24) * size)};
}

std::vector<MeanFieldBound> mean_field(const Layered& model, const Bipartite& sides, int parity,
                                       int updates, Chains& chains) {
  const PackedModel packed(
      model,
      {.chains = chains.chains(), .sweeps = static_cast<std::uint64_t>(updates), .values = false});
  const auto average = [&](int side) {
    for (int l = side; l < model.layers(); l += 2) set_means(packed, chains, l);
  };
  for (int s = 0; s < updates; ++s) {
    average(1 - parity);
    average(parity);
  }
  average(1 - parity);
  const Eigen::MatrixXd inputs = side_inputs(packed, chains, parity);
  std::vector<MeanFieldBound> bounds(static_cast<std::size_t>(chains.chains()));
  parallel_for(bounds.size(), [&](std::size_t c) {
    const ProductLaw law = product_law(sides, inputs.col(static_cast<Eigen::Index>(c)));
    bounds[c] = jensen_bound(sides, law.means, law.entropy, law.size);
  });
  return bounds;
}

namespace {

constexpr int kUpdates = 30;
constexpr double kSettled = 1e-6;  // of every mean: a law near the best bounds almost as well

using Signs = std::vector<bool>;  // true: the unit is positive; false for discrete ones

struct Orthant {
  Signs signs;
  Eigen::VectorXd means;
  MeanFieldBound bound = {};
};

/// A unit's law ~ e^{input x} on its values in an orthant.
struct UnitLaw {
  double mean, entropy;  // to the reference measure
};

UnitLaw law_of(Unit unit, bool positive, double input) {
  if (unit.is_discrete()) {
    const double mean = mean_value(unit, input);
    return {mean, log_partition(unit, input) - input * mean};
  }
  // x = (sign + y) / 2 with y on [-1, 1].
  const double mean = mean_value(unit, input / 2);
  return {((positive ? 1 : -1) + mean) / 2,
          log_partition(unit, input / 2) - input / 2 * mean - std::log(2.0)};
}

Eigen::VectorXd inputs_given(const Bipartite& sides, const Eigen::VectorXd& means) {
  Eigen::VectorXd other = sides.other_input + sides.weights * means;
  for (Eigen::Index j = 0; j < other.size(); ++j)
    other[j] = mean_value(sides.other[static_cast<std::size_t>(j)], other[j]);
  return sides.bias + sides.weights.transpose() * other;
}

void settle(const Bipartite& sides, Orthant& orthant) {
  double entropy = 0, size = 0, moved = 1;
  for (int update = 0; update < kUpdates && moved > kSettled; ++update) {
    const Eigen::VectorXd inputs = inputs_given(sides, orthant.means);
    entropy = size = moved = 0;
    for (Eigen::Index i = 0; i < inputs.size(); ++i) {
      const auto place = static_cast<std::size_t>(i);
      const UnitLaw law = law_of(sides.enumerated[place], orthant.signs[place], inputs[i]);
      moved = std::max(moved, std::abs(law.mean - orthant.means[i]));
      orthant.means[i] = law.mean;
      entropy += law.entropy;
      size += std::abs(inputs[i]) + 3;
    }
  }
  orthant.bound = jensen_bound(sides, orthant.means, entropy, size);
}

class Growth {
 public:
  explicit Growth(const Bipartite& sides) : sides_(sides) {
    constexpr double kProducts = 0x1p31, kOfMean = 300;  // products that a mean takes as long as
    const double units = static_cast<double>(sides.weights.rows() + sides.weights.cols());
    const double of_update = 4.0 * static_cast<double>(sides.weights.size()) + kOfMean * units;
    most_ = static_cast<std::size_t>(std::clamp(kProducts / (kUpdates * of_update), 1.0, 1024.0));
  }

  void add(Eigen::VectorXd means) {
    Signs signs(sides_.enumerated.size());
    for (std::size_t i = 0; i < signs.size(); ++i)
      signs[i] = !sides_.enumerated[i].is_discrete() && means[static_cast<Eigen::Index>(i)] > 0;
    if (all_.size() + fresh_.size() >= most_ || !known_.insert(signs).second) return;
    fresh_.push_back({std::move(signs), std::move(means)});
  }

  /// Settles those that were added, then those next to the likeliest, to the end of the list.
  MeanFieldBound grow() {
    settle_fresh();
    while (!frontier_.empty() && all_.size() < most_) {
      const std::size_t next = frontier_.begin()->second;
      frontier_.erase(frontier_.begin());
      for (std::size_t i = 0; i < sides_.enumerated.size(); ++i)
        if (!sides_.enumerated[i].is_discrete()) add(across(next, static_cast<Eigen::Index>(i)));
      settle_fresh();
    }
    return sum();
  }

 private:
  Eigen::VectorXd across(std::size_t orthant, Eigen::Index unit) const {
    Eigen::VectorXd means = all_[orthant].means;
    means[unit] = all_[orthant].signs[static_cast<std::size_t>(unit)] ? -0.5 : 0.5;
    return means;
  }

  void settle_fresh() {
    parallel_for(fresh_.size(), [&](std::size_t k) { settle(sides_, fresh_[k]); });
    for (Orthant& orthant : fresh_) {
      frontier_.emplace(-orthant.bound.log_z, all_.size());
      all_.push_back(std::move(orthant));
    }
    fresh_.clear();
  }

  MeanFieldBound sum() const {
    Eigen::VectorXd log_masses(std::ssize(all_));
    double error = 0;
    for (std::size_t k = 0; k < all_.size(); ++k) {
      log_masses[static_cast<Eigen::Index>(k)] = all_[k].bound.log_z;
      error = std::max(error, all_[k].bound.error_bound);
    }
    const double total = log_sum_exp(log_masses), u = std::numeric_limits<double>::epsilon();
    return {total, error + u * (static_cast<double>(log_masses.size()) + 8 + std::abs(total))};
  }

  const Bipartite& sides_;
  std::size_t most_ = 0;
  std::vector<Orthant> all_, fresh_;
  std::set<Signs> known_;
  std::set<std::pair<double, std::size_t>> frontier_;  ///< the likeliest first
};

}  // namespace

std::optional<int> side_of_orthants(const Layered& model) {
  const int fewer = side_of_fewer_units(model);
  for (int l = fewer; l < model.layers(); l += 2)
    if (!model.layer(l).unit.is_discrete()) return fewer;
  return std::nullopt;
}

MeanFieldBound sum_over_orthants(const Bipartite& sides, const Eigen::MatrixXd& starts) {
  Growth growth(sides);
  for (Eigen::Index k = 0; k < starts.cols(); ++k) growth.add(starts.col(k));
  return growth.grow();
}

MeanFieldBound bound_by_orthants(const Layered& model, const Chains& starts) {
  const std::optional<int> parity = side_of_orthants(model);
  if (!parity) return {};
  const Bipartite sides = list_side(model, *parity);
  if (!(magnitude(sides) < kUnresolved)) return {};
  Eigen::MatrixXd values(0, starts.chains());
  for (int l = *parity; l < model.layers(); l += 2) {
    values.conservativeResize(values.rows() + model.size(l), Eigen::NoChange);
    values.bottomRows(model.size(l)) = starts.get_layer(l).cast<double>();
  }
  return sum_over_orthants(sides, values);
}

}  // namespace boltzmark

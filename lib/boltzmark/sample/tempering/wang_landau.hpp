#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "boltzmark/core/checkpoint.hpp"

namespace boltzmark {

/// Gamma_t, by how much an adaptive weight grows: its size, or its size over t.
struct AdaptingFactor {
  bool vanishing = false;
  double size = 10;

  /// Returns gamma_t of the t-th update, from 1.
  double at(std::uint64_t update) const;
  /// Writes it as it is parsed: constant:10, vanishing:10.
  std::string name() const;
  friend bool operator==(const AdaptingFactor&, const AdaptingFactor&) = default;
};
/// Parses a name; returns none unless it is constant:X or vanishing:X with finite X > 0.
std::optional<AdaptingFactor> parse_adapting_factor(std::string_view text);

/// Whose visits raise a chain's adaptive weights: its own, or the mean over all chains.
enum class WeightSharing { own, shared };
std::string_view name(WeightSharing sharing);
/// Parses a name; returns none if it is not one.
std::optional<WeightSharing> parse_weight_sharing(std::string_view text);

/// Raises the adaptive weight of one rung, and keeps all relative to the last rung's.
///   log g_k <- log g_k + increase                              [salakhutdinov2010, Eq. 5, Alg. 1.5]
void raise_weight(std::span<double> log_g, int rung, double increase);

/// The adaptive weights g of chains on a ladder, all 1 at first, that grow where chains are.
///   own     log g_k += log(1 + gamma_t) where the chain is
///   shared  log g_k += log(1 + gamma_t) n_k / chains, n_k of which are on rung k
class AdaptiveWeights {
 public:
  /// Throws  InvalidArgument if the factor's size is not positive and finite
  AdaptiveWeights(int rungs, int chains, const AdaptingFactor& factor, WeightSharing sharing);

  /// Returns log g of a chain, relative to its last rung's.  Shapes  [rungs]
  std::span<const double> log_g(int chain) const;
  /// Raises the weights where the chains are now.  Shapes  rungs [chains]
  void update(std::span<const int> rungs);

  /// Goes on from other weights of every chain.
  /// Throws  InvalidArgument unless there is a finite one for each rung
  void set(const Eigen::VectorXd& log_g);

  void save(CheckpointWriter& out) const;
  void restore(CheckpointReader& in);

 private:
  Eigen::Index set_of(int chain) const { return log_g_.cols() == 1 ? 0 : chain; }

  AdaptingFactor factor_;
  Eigen::MatrixXd log_g_;  ///< [rungs x chains, or 1 where shared]
  std::uint64_t updates_ = 0;
};

}  // namespace boltzmark

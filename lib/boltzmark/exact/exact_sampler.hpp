#pragma once

#include <Eigen/Core>
#include <vector>

#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {

/// Draws independent samples of a binary RBM without a Markov chain.
///   h from the cumulated p(h) ~ e^(c.h) prod_i (1 + e^(a_i + W_i.h)), enumerated; then v given h
/// Accuracy  p(h) to 1e-12, each visible unit's probability to 2^-32
/// Cost  2^hidden x visible to make; visible x hidden a draw     Memory  2^hidden doubles
class ExactSampler {
 public:
  /// Throws  InvalidArgument unless the model is a binary RBM with at most 24 hidden units
  explicit ExactSampler(const Layered& rbm);

  /// log Z, a by-product, in nats.
  double log_z() const { return log_z_; }
  /// Draws one state of both layers.  Shapes  visible [visible], hidden [hidden], values 0 or 1
  /// Throws  InvalidArgument if these are of other sizes
  void draw(Stream& stream, Eigen::Ref<Eigen::VectorXf> visible,
            Eigen::Ref<Eigen::VectorXf> hidden) const;

 private:
  Layered rbm_;
  std::vector<double> sums_;  ///< of p(h), up to a factor, over hidden states in binary order
  double log_z_ = 0;
};

}  // namespace boltzmark

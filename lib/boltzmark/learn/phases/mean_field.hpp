#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {

/// When mean field stops.
struct MeanFieldStop {
  int updates = 5;      ///< at most; 5 in training             [salakhutdinov2010, Sec. 8]
  float tolerance = 0;  ///< stop before if no mean moves by more; 0: make them all

  /// Goes on until no mean moves by more than 1e-6, for 1,000 updates at most.
  static constexpr MeanFieldStop converged() { return {1000, 1e-6F}; }
  friend bool operator==(const MeanFieldStop&, const MeanFieldStop&) = default;
};

/// Mean field of a deep model: for each case v the factorised law q(h) = prod_i q_i(h_i), q_i(h) ~
/// e^{x_i h} as the unit's law, that is fitted to p(h|v) by coordinate ascent on the bound
///   log p(v) >= E_q[log f(v, h)] + H(q) - log Z    [salakhutdinov2010, Eq. 3; Salakhutdinov &
///                                                    Hinton 2009, Sec. 3.1]
/// Starts by one bottom-up pass, weights doubled but for those into the top layer. An update is that
/// of all odd layers given the even ones, then of the hidden even ones: units of a side do not
/// meet, so that neither half lowers the bound. An RBM's q is exact after the start.
/// Accuracy  means are float32, each of its own input as set_means; a bound is that of the law
///   that the inputs give, in double, and so a bound however they were rounded
class MeanField {
 public:
  /// Throws  InvalidArgument if a layer is Gaussian or stop.updates < 0
  explicit MeanField(const Layered& model, MeanFieldStop stop = {});
  /// Goes on under other parameters of a model of the same shape.
  void set_model(const Layered& model);

  /// Fills the hidden layers of cases with the means of q given their layer 0.
  /// Returns  how many cases' means moved by more than the tolerance at last; 0 if there is none
  /// Throws   InvalidArgument if shapes differ
  int fill(Chains& cases);
  /// Returns how many updates the last `fill` made after its start.
  int updates() const { return updates_; }
  /// The steps of `fill`: the bottom-up pass, and half an update, of the hidden layers of a parity.
  void start(Chains& cases);
  void update_side(Chains& cases, int parity);

  /// Computes E_q[log f(v, h)] + H(q), at most log f(v), of the cases last updated.
  /// Shapes  [cases]     Units  nats     Throws  InvalidArgument if the model is of other shapes
  Eigen::VectorXd bounds(const Layered& model, const Chains& cases) const;

 private:
  PackedModel packed_;
  MeanFieldStop stop_;
  int updates_ = 0;
  std::vector<std::vector<float>> inputs_;  ///< x of each layer, as fill_inputs lays them out
  std::optional<Chains> before_;            ///< the last update
};

/// Lower bounds of log f(v), the unnormalised log probability.
struct VariationalBounds {
  std::vector<double> log_f = {};  ///< [cases], nats
  int not_converged = 0;           ///< cases whose means still moved at the last update
  int updates = 0;  ///< that were made; the most of any 512 cases, which stop together
};

/// Computes the mean-field bound of every case.
/// Shapes  cases [visible x cases]
/// Throws  InvalidArgument if shapes differ, a value is outside its unit's, or a layer is Gaussian
VariationalBounds variational_bounds(const Layered& model,
                                     const Eigen::Ref<const Eigen::MatrixXf>& cases,
                                     MeanFieldStop stop = MeanFieldStop::converged());

}  // namespace boltzmark

#pragma once

#include <Eigen/Core>

// Slow references for training: everything about a small binary RBM by running over all its joint
// states, each an integer with bit i = visible unit i and bit visible + j = hidden unit j. They
// share no code with the library.
namespace oracle {

struct SmallRbm {
  Eigen::MatrixXd weights;  // [visible x hidden]
  Eigen::VectorXd visible_bias;
  Eigen::VectorXd hidden_bias;

  int visible() const { return static_cast<int>(visible_bias.size()); }
  int hidden() const { return static_cast<int>(hidden_bias.size()); }
  int units() const { return visible() + hidden(); }
  int states() const { return 1 << units(); }
};

/// log f(x) of one joint state.
double log_f(const SmallRbm& rbm, int state);

/// log of (f^b p1^(1-b))(x), p1 the unnormalised product of e^{logit_u x_u}.
double log_tempered(const SmallRbm& rbm, const Eigen::VectorXd& base_logits, double b, int state);

/// What decides a unit: `flip` mixes T in with this share, the rest is Gibbs.
struct Step {
  double flip = 0;
  double b = 1;
  Eigen::VectorXd base_logits = {};  // [units], or empty for a uniform base
};

/// The transition matrix of updating all hidden (or all visible) units at once, by the ratio of
/// unnormalised probabilities with the unit on and off.
Eigen::MatrixXd side_matrix(const SmallRbm& rbm, const Step& step, bool hidden_side);

/// T = T_h T_v as a matrix: hidden units first.
Eigen::MatrixXd sweep_matrix(const SmallRbm& rbm, const Step& step);

/// Normalised probabilities of all joint states.
Eigen::VectorXd probabilities(const SmallRbm& rbm, const Eigen::VectorXd& base_logits, double b);

/// Means of v p(h|v)', v and p(h|v) when v follows the marginal of a law of joint states.
struct Means {
  Eigen::MatrixXd weights;
  Eigen::VectorXd visible;
  Eigen::VectorXd hidden;
};
Means means(const SmallRbm& rbm, const Eigen::VectorXd& law);

/// The law after CD-k from one case: h0 ~ p(h|v0), T_v, then k - 1 times T_h T_v.
Eigen::VectorXd cd_law(const SmallRbm& rbm, int visible_state, const Step& step, int k);

/// Mean log-likelihood of cases in {0,1}, log Z over the hidden states.
double mean_log_likelihood(const SmallRbm& rbm, const Eigen::MatrixXf& cases);

}  // namespace oracle

// Checks of what yokoyama2019 derives of RBMs with multivalued and continuous hidden units.

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/transition/rule.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/check_slopes.hpp"
#include "verification/checks/check_unit_functions.hpp"
#include "verification/checks/laws/states.hpp"
#include "verification/checks/subjects.hpp"
#include "verification/checks/worst.hpp"

namespace boltzmark {
namespace {

/// Draws an RBM of visible spins.
Layered draw_spin_rbm(Stream& stream, Unit hidden_unit, int most) {
  const int visible = draw_size(stream, most), hidden = draw_size(stream, most);
  const double scale = stream.uniform(0.1, 2);
  return Layered(
      {{.unit = Unit::multivalued(1), .bias = draw_matrix(stream, visible, 1, scale), .sigma0 = {}},
       {.unit = hidden_unit, .bias = draw_matrix(stream, hidden, 1, scale), .sigma0 = {}}},
      {draw_matrix(stream, visible, hidden, scale)});
}

/// Draws cases of spins.
Eigen::MatrixXf draw_spins(Stream& stream, int units, int cases) {
  Eigen::MatrixXf data(units, cases);
  for (float& value : data.reshaped()) value = stream.below(2) == 0 ? -1.0F : 1.0F;
  return data;
}

std::string describe_units(const Layered& model) {
  return fmt::format("{} spins, {} hidden {}", model.size(0), model.size(1),
                     model.layer(1).unit.name());
}

std::string describe_units(const Layered& model, const Eigen::MatrixXf& data) {
  return fmt::format("{}, {} of {} values -1", describe_units(model), (data.array() == -1).count(),
                     data.size());
}

/// An RBM of spins, and that of bits with v = 2 v' - 1 and h = 2 h' - 1.
struct Encodings {
  Layered spins, bits;
  double log_z_shift;  ///< log Z of the spins less that of the bits
};

Encodings draw_encodings(Stream& stream) {
  Layered spins = draw_spin_rbm(stream, Unit::multivalued(1), 5);
  const Eigen::MatrixXd& w = spins.weights(0);
  Layered bits = Layered::rbm(4 * w, 2 * spins.bias(0) - 2 * w.rowwise().sum(),
                              2 * spins.bias(1) - 2 * w.colwise().sum().transpose());
  const double shift = w.sum() - spins.bias(0).sum() - spins.bias(1).sum();
  return {std::move(spins), std::move(bits), shift};
}

CaseOutcome spins_are_bits(Stream& stream, const ExactGradient& find_gradient) {
  const Encodings models = draw_encodings(stream);
  const Eigen::MatrixXf data = draw_spins(stream, models.spins.size(0), 6);
  const Cases spins(data), bits((data.array() + 1) / 2);
  double worst = std::abs(exact_log_z(models.spins).log_z - exact_log_z(models.bits).log_z -
                          models.log_z_shift);
  worst = worse(worst, std::abs(exact_mean_log_likelihood(models.spins, spins) -
                                exact_mean_log_likelihood(models.bits, bits)));
  // The chain rule of W' = 4 W, a' = 2 a - 2 W 1, c' = 2 c - 2 W' 1.
  Parameters gradient = find_gradient(models.bits, bits);
  gradient.weights[0] = (4 * gradient.weights[0]).eval();
  gradient.weights[0].colwise() -= 2 * gradient.biases[0];
  gradient.weights[0].rowwise() -= 2 * gradient.biases[1].transpose();
  for (Eigen::VectorXd& biases : gradient.biases) biases *= 2;
  worst = worse(worst, largest_difference(gradient, find_gradient(models.spins, spins)));
  return {worst, describe_units(models.spins, data)};
}

/// All states of one layer, a column each.
Eigen::MatrixXd layer_states(const Layered& model, int layer) {
  const Unit unit = model.layer(layer).unit;
  Eigen::Index count = 1;
  for (int i = 0; i < model.size(layer); ++i) count *= unit.values();
  Eigen::MatrixXd states(model.size(layer), count);
  for (Eigen::Index c = 0; c < count; ++c) {
    Eigen::Index rest = c;
    for (double& value : states.col(c)) {
      value = unit.value(static_cast<int>(rest % unit.values()));
      rest /= unit.values();
    }
  }
  return states;
}

/// The law of one layer's next state given every state of the other, by the rule's double law of
/// units that have their first value now.
/// Shapes  [states of the layer x states of the other]
Eigen::MatrixXd layer_law(const Layered& model, const Rule& rule, int layer,
                          const Eigen::MatrixXd& states, const Eigen::MatrixXd& others) {
  const Unit unit = model.layer(layer).unit;
  std::vector<double> next(static_cast<std::size_t>(unit.values()));
  Eigen::MatrixXd law = Eigen::MatrixXd::Ones(states.cols(), others.cols());
  for (Eigen::Index o = 0; o < others.cols(); ++o) {
    State state{others.col(o), others.col(o)};
    state[layer].setZero(model.size(layer));
    const Eigen::VectorXd inputs = layer_input(model, state, layer);
    for (Eigen::Index i = 0; i < states.rows(); ++i) {
      next_law(rule, unit, inputs[i], 0, next);
      for (Eigen::Index c = 0; c < states.cols(); ++c)
        law(c, o) *= next[static_cast<std::size_t>(
            std::lround((states(i, c) - unit.lowest()) / unit.spacing()))];
    }
  }
  return law;
}

// p T_h T_v against p, both from the energies and the conditional laws (8) and (9) alone.
CaseOutcome blocked_gibbs(Stream& stream, const Rule& rule) {
  const Layered model = draw_spin_rbm(stream, Unit::multivalued(draw_size(stream, 4)), 3);
  const Eigen::MatrixXd v = layer_states(model, 0), h = layer_states(model, 1);
  Eigen::MatrixXd p(h.cols(), v.cols());
  for (Eigen::Index j = 0; j < h.cols(); ++j)
    for (Eigen::Index i = 0; i < v.cols(); ++i) p(j, i) = -energy(model, {v.col(i), h.col(j)});
  p = (p.array() - p.maxCoeff()).exp();
  p /= p.sum();
  const Eigen::MatrixXd after_hidden =
      layer_law(model, rule, 1, h, v) * p.colwise().sum().asDiagonal();
  const Eigen::MatrixXd after =
      (layer_law(model, rule, 0, v, h) * after_hidden.rowwise().sum().asDiagonal()).transpose();
  const double worst = worse(largest_of(after_hidden - p), largest_of(after - p));
  return {worst, describe_units(model)};
}

CaseOutcome rbm_gradient(Stream& stream) {
  const Layered model = draw_spin_rbm(stream, draw_unit(stream), 3);
  const Eigen::MatrixXf data = draw_spins(stream, model.size(0), 5);
  const Cases cases(data);
  Parameters at{.weights = model.weights(), .biases = {model.bias(0), model.bias(1)}};
  const double worst = slope_error(at, exact_gradient(model, cases), [&] {
    return exact_mean_log_likelihood(with_parameters(model, at), cases);
  });
  return {worst, describe_units(model, data)};
}

/// The toy of two visible spins and one weight: its means are 0 and its correlation is not
/// negative.
CaseOutcome toy_moments(Stream& stream) {
  const int hidden = draw_size(stream, 4);
  const double w = stream.uniform(-3, 3);
  const Unit unit = draw_unit(stream);
  const Layered model(
      {{.unit = Unit::multivalued(1), .bias = Eigen::VectorXd::Zero(2), .sigma0 = {}},
       {.unit = unit, .bias = Eigen::VectorXd::Zero(hidden), .sigma0 = {}}},
      {Eigen::MatrixXd::Constant(2, hidden, w)});
  // Weights relative to that of equal spins, so that only differences of up to 4 ln phi <= 24 are
  // rounded before their exponentials: a few 1e-15.
  const double log_equal = log_unnormalised(model, Eigen::Vector2d(1, 1));
  Eigen::Vector2d mean = Eigen::Vector2d::Zero();
  double alpha = 0, total = 0;
  for (const double a : {-1.0, 1.0})
    for (const double b : {-1.0, 1.0}) {
      const double weight = std::exp(log_unnormalised(model, Eigen::Vector2d(a, b)) - log_equal);
      total += weight;
      mean += weight * Eigen::Vector2d(a, b);
      alpha += weight * a * b;
    }
  mean /= total;
  alpha /= total;
  const double closed =
      std::tanh(hidden * (log_partition(unit, 2 * w) - std::numbers::ln2) / 2);  // Eq. 19
  const double worst = worse(largest_of(mean), std::abs(alpha - closed));
  return {alpha >= 0 ? worst : 1e300,
          fmt::format("|H| = {}, {}, w = {:.4f}, alpha = {:.6f}", hidden, unit.name(), w, alpha)};
}

}  // namespace

Check blocked_gibbs_check(const Rule& rule) {
  return bounded_check("blocked-gibbs", "multivalued",
                       "Gibbs sampling of layers by (8) and (9) leaves P_s unchanged", 1e-12,
                       [rule](Stream& s) { return blocked_gibbs(s, rule); });
}

Check spins_are_bits_check(const ExactGradient& find_gradient) {
  return bounded_check(
      "spins-are-bits", "multivalued",
      "s = 1 is the binary RBM: log Z, log-likelihood and gradients against {0,1} by change of "
      "variables",
      1e-10, [find_gradient](Stream& s) { return spins_are_bits(s, find_gradient); });
}

Check inverse_transform_check(const HalfSweep& move) {
  return bounded_check(
      "inverse-transform", "multivalued",
      "F(F^-1(u)) = u for the continuous unit, inputs 0 to +-700, and F of a production draw is "
      "its u up to float32's rounding (error over that, times 1e-12)",
      1e-12, [move](Stream& s) { return inverse_transform(s, move); });
}

std::vector<Check> unit_checks() {
  return {
      spins_are_bits_check(exact_gradient),
      bounded_check(
          "phi-closed-form", "multivalued",
          "ln phi_s in closed form against the sum over X(s), in ulp; phi is even and phi(0) = 2",
          4, phi_is_the_sum),
      bounded_check(
          "phi-limit", "multivalued",
          "ln phi_s at s = 65535 against ln phi_inf, |x| <= 5 (1e-5 at s = 1e6, falling as 1/s)",
          1e-5 * 1e6 / Unit::max_steps, phi_becomes_continuous),
      bounded_check("psi-slope", "multivalued",
                    "psi_s against the slope of ln phi_s and the mean over X(s)", 1e-9,
                    psi_is_the_slope),
      inverse_transform_check(half_sweep),
      blocked_gibbs_check(Rule::gibbs()),
      bounded_check("gradient-slope", "multivalued",
                    "gradients (11)-(13) against central differences", 1e-7, rbm_gradient),
      bounded_check("two-spins", "multivalued",
                    "two spins of one weight: means 0, alpha >= 0 and as in Eq. 19", 1e-14,
                    toy_moments),
  };
}

}  // namespace boltzmark

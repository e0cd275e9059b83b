#include "verification/checks/laws/decision_bound.hpp"

#include <cmath>

#include "boltzmark/core/simd.hpp"
#include "verification/checks/laws/states.hpp"

namespace boltzmark {
namespace {

constexpr double kUnitRoundoff = 0x1p-24;  // float32

// The sum of the absolute terms of a unit's input, how many there are, and from how many layers.
struct InputTerms {
  double magnitude = 0;
  int terms = 1;
  int neighbours = 0;
  bool exact = true;  // every float32 partial sum is exact: multiples of 2^-11 below 2^12
};

InputTerms input_terms(const Layered& model, const StateSpace::Place& place, const State& state) {
  InputTerms result;
  const auto add = [&](double parameter, double state_value) {
    result.magnitude += std::abs(parameter * state_value);
    result.exact = result.exact && parameter * 2048 == std::round(parameter * 2048);
  };
  add(model.bias(place.layer)[place.unit], 1);
  const auto add_neighbour = [&](int layer, const auto& weights) {
    const double scale = static_cast<double>(model.layer(layer).unit.state_scale());
    for (Eigen::Index j = 0; j < weights.size(); ++j)
      add(weights[j] / scale, scale * state[layer][j]);
    result.terms += static_cast<int>(weights.size());
    ++result.neighbours;
  };
  if (place.layer > 0)
    add_neighbour(place.layer - 1, model.weights(place.layer - 1).col(place.unit));
  if (place.layer + 1 < model.layers())
    add_neighbour(place.layer + 1, model.weights(place.layer).row(place.unit));
  result.exact = result.exact && result.magnitude < 0x1p12;
  return result;
}

// P(next >= k-th value) at k - 1, k = 1..values - 1.
std::vector<double> tails_of(const std::vector<double>& law) {
  std::vector<double> tails(law.size() - 1);
  double sum = 0;
  for (std::size_t k = law.size() - 1; k > 0; --k) tails[k - 1] = sum += law[k];
  return tails;
}

// A law of one's own is computed in double from the float32 input. Its tails move with the input:
// by twice what they do at the ends of its error, if the law is smooth within; sums of tails err by
// an ulp of 1 a value, and thresholds by half of 2^-32.
std::vector<double> own_errors(const Rule& rule, Unit unit, int now, const DecisionBound& bound) {
  std::vector<double> errors(bound.tails.size(), 0.5 * 0x1p-32 + unit.values() * 0x1p-52);
  std::vector<double> next(static_cast<std::size_t>(unit.values()));
  for (const double sign : {-1.0, 1.0}) {
    next_law(rule, unit, bound.input + sign * bound.input_error, now, next);
    const std::vector<double> moved = tails_of(next);
    for (std::size_t k = 0; k < errors.size(); ++k)
      errors[k] += 2 * std::abs(moved[k] - bound.tails[k]);
  }
  return errors;
}

}  // namespace

DecisionBound decision_bound(const Layered& model, const Base& base, const Rule& rule,
                             float inverse_temperature, const StateSpace& space, int unit,
                             std::size_t state) {
  const double u = kUnitRoundoff;
  const StateSpace::Place place = space.place(unit);
  const State values = state_at(space, state);
  const InputTerms terms = input_terms(model, place, values);
  const double b = static_cast<double>(inverse_temperature);
  const double base_input = (1 - b) * base.logits[place.layer][place.unit];

  DecisionBound bound;
  const double input = layer_input(model, values, place.layer)[place.unit];
  bound.input = b * input + base_input;
  // Narrowing costs u a term and each of the sequential sums u of what was summed so far. Tiles add
  // the three parts of a neighbouring layer's products to it one after the other.
  const int roundings = terms.terms + (takes_tiles() ? 3 * terms.neighbours : 1);
  if (!terms.exact) bound.input_error = roundings * u * terms.magnitude;
  // Tempering: narrowing of the base, 1 - b, their product, and the fused multiply-add.
  if (b != 1) {
    bound.input_error =
        b * bound.input_error + u * (4 * std::abs(base_input) + std::abs(b * input)) * (1 + 8 * u);
  }
  bound.sign_is_certain = bound.input_error == 0 || std::abs(bound.input) > bound.input_error;

  // Values counted from the likeliest one have tails that change by at most e^{steps error} when
  // the log odds z change by `error`. z carries 2 u (spacing, product) and the exponents of weights
  // u more; exp is good to 4 u, the sums over values to u each, the rule's arithmetic to 6 u, and a
  // threshold adds half of 2^-32. Of two values z and exponent are the input itself.
  const Unit kind = place.kind;
  const int steps = kind.steps();
  std::vector<double> next(static_cast<std::size_t>(steps) + 1);
  next_law(rule, kind, bound.input, space.value_index(unit, state), next);
  bound.tails = tails_of(next);
  if (rule.kind == Rule::Kind::own) {
    bound.errors = own_errors(rule, kind, space.value_index(unit, state), bound);
    return bound;
  }
  const double z = std::abs(bound.input) * kind.spacing();
  double error = bound.input_error * kind.spacing() + 10 * u;
  if (steps > 1) error += (3 * z + 2) * u;
  const double relative = std::expm1(steps * error);
  bound.errors.resize(bound.tails.size());
  double below = 0;
  for (int k = 1; k <= steps; ++k) {
    below += next[k - 1];
    const double unlikely = bound.input > 0 ? below : bound.tails[k - 1];
    bound.errors[k - 1] = unlikely * relative + 0.5 * 0x1p-32;
  }
  return bound;
}

}  // namespace boltzmark

#include "boltzmark/exact/recovered_sweep.hpp"

#include <algorithm>
#include <cmath>

#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {
namespace {

constexpr std::uint64_t kFull = std::uint64_t{1} << 32;

// Draws read from a table [unit of the layer][chain]; the padding gets zeros.
class ScriptedDraws final : public Draws {
 public:
  ScriptedDraws(const Layered& model, std::size_t chains) : chains_(chains) {
    for (int l = 0; l < model.layers(); ++l) tables_.emplace_back(model.size(l) * chains, 0U);
  }
  std::uint32_t& at(int layer, int unit, std::size_t chain) {
    return tables_[layer][unit * chains_ + chain];
  }
  void fill(std::uint32_t* out, const DrawTile& tile) const override {
    const auto& table = tables_[tile.layer];
    const std::size_t units = table.size() / chains_;
    for (std::size_t u = 0; u < tile.units; ++u)
      for (std::size_t c = 0; c < tile.chains; ++c) {
        const std::size_t unit = tile.first_unit + u;
        const std::size_t chain = tile.first_chain + c;
        out[u * tile.chains + c] =
            unit < units && chain < chains_ ? table[unit * chains_ + chain] : 0U;
      }
  }

 private:
  std::size_t chains_;
  std::vector<std::vector<std::uint32_t>> tables_;
};

Chains all_states(const Layered& model, const StateSpace& space) {
  Chains chains(model, static_cast<int>(space.states()));
  for (std::size_t x = 0; x < space.states(); ++x)
    for (int u = 0; u < space.units(); ++u)
      chains.set(space.place(u).layer, space.place(u).unit, static_cast<int>(x),
                 space.on(u, x) ? 1.0F : 0.0F);
  return chains;
}

// Narrows [low, high], which holds the threshold, by asking whether the unit is on at the middle.
struct Bracket {
  std::uint64_t low = 0;
  std::uint64_t high = kFull;
  bool open() const { return low < high; }
  std::uint32_t draw() const { return static_cast<std::uint32_t>((low + high) / 2); }
  void answer(bool on) { (on ? low : high) = on ? std::uint64_t{draw()} + 1 : draw(); }
};

}  // namespace

RecoveredSweep::RecoveredSweep(const Layered& model, const Base& base, const Rule& rule,
                               float inverse_temperature)
    : space_(model), thresholds_(static_cast<std::size_t>(space_.units()) * space_.states()) {
  const PackedModel packed(model, base);
  const Chains start = all_states(model, space_);
  const std::vector<float> betas(space_.states(), inverse_temperature);
  ScriptedDraws draws(model, space_.states());
  std::vector<Bracket> brackets(thresholds_.size());
  for (int parity = 0; parity < 2; ++parity) {
    for (int step = 0; step < 33; ++step) {
      for (const int u : space_.side(parity))
        for (std::size_t x = 0; x < space_.states(); ++x)
          if (const Bracket& b = brackets[u * space_.states() + x]; b.open())
            draws.at(space_.place(u).layer, space_.place(u).unit, x) = b.draw();
      Chains chains = start;
      half_sweep(packed, chains, draws, {.rule = rule, .inverse_temperatures = betas}, parity);
      for (const int u : space_.side(parity))
        for (std::size_t x = 0; x < space_.states(); ++x)
          if (Bracket& b = brackets[u * space_.states() + x]; b.open())
            b.answer(chains.get(space_.place(u).layer, space_.place(u).unit, static_cast<int>(x)) !=
                     0);
    }
  }
  for (std::size_t i = 0; i < brackets.size(); ++i) thresholds_[i] = brackets[i].low;
}

Eigen::MatrixXd RecoveredSweep::side_matrix(int parity) const {
  const auto states = static_cast<Eigen::Index>(space_.states());
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(states, states);
  const std::vector<int>& side = space_.side(parity);
  for (std::size_t x = 0; x < space_.states(); ++x) {
    const std::size_t rest = x & ~space_.side_mask(parity);
    for (std::size_t bits = 0; bits < std::size_t{1} << side.size(); ++bits) {
      std::size_t next = rest;
      double probability = 1;
      for (std::size_t k = 0; k < side.size(); ++k) {
        const bool on = (bits >> k) & 1U;
        if (on) next |= std::size_t{1} << side[k];
        const double p = on_probability(side[k], x);
        probability *= on ? p : 1 - p;
      }
      matrix(static_cast<Eigen::Index>(x), static_cast<Eigen::Index>(next)) = probability;
    }
  }
  return matrix;
}

namespace {

constexpr double kUnitRoundoff = 0x1p-24;  // float32

// The sum of the absolute terms of a unit's input, and how many there are.
struct InputTerms {
  double magnitude = 0;
  int terms = 1;
  bool exact = true;  // every float32 partial sum is exact: multiples of 2^-8 below 2^15
};

InputTerms input_terms(const Layered& model, const StateSpace::Place& place, const State& state) {
  InputTerms result;
  const auto add = [&](double value) {
    result.magnitude += std::abs(value);
    result.exact = result.exact && value * 256 == std::round(value * 256);
  };
  add(model.bias(place.layer)[place.unit]);
  const auto add_neighbour = [&](int layer, const auto& weights) {
    for (Eigen::Index j = 0; j < weights.size(); ++j) add(weights[j] * state[layer][j]);
    result.terms += static_cast<int>(weights.size());
  };
  if (place.layer > 0)
    add_neighbour(place.layer - 1, model.weights(place.layer - 1).col(place.unit));
  if (place.layer + 1 < model.layers())
    add_neighbour(place.layer + 1, model.weights(place.layer).row(place.unit));
  result.exact = result.exact && result.magnitude < 0x1p15;
  return result;
}

}  // namespace

DecisionBound decision_bound(const Layered& model, const Base& base, const Rule& rule,
                             float inverse_temperature, const StateSpace& space, int unit,
                             std::size_t state) {
  const double u = kUnitRoundoff;
  const StateSpace::Place place = space.place(unit);
  const State values = space.state(state);
  const InputTerms terms = input_terms(model, place, values);
  const double b = static_cast<double>(inverse_temperature);
  const double base_input = (1 - b) * base.logits[place.layer][place.unit];

  DecisionBound bound;
  const double input = layer_input(model, values, place.layer)[place.unit];
  bound.input = b * input + base_input;
  // Narrowing costs u a term and each of the sequential sums u of what was summed so far.
  if (!terms.exact) bound.input_error = (terms.terms + 1) * u * terms.magnitude;
  // Tempering: narrowing of the base, 1 - b, their product, and the fused multiply-add.
  if (b != 1) {
    bound.input_error =
        b * bound.input_error + u * (4 * std::abs(base_input) + std::abs(b * input)) * (1 + 8 * u);
  }
  bound.sign_is_certain = bound.input_error == 0 || std::abs(bound.input) > bound.input_error;

  // The less likely state's q changes by at most a factor e^input_error; exp is good to 4 u, and
  // the rule's arithmetic (add, divide, blend) to 6 u more. The threshold adds half of 2^-32.
  const bool on = space.on(unit, state);
  const double flip = flip_probability(rule, bound.input, on);
  const double unlikely = on != (bound.input > 0) ? 1 - flip : flip;
  bound.probability = unlikely * std::expm1(bound.input_error + 10 * u) + 0.5 * 0x1p-32;
  return bound;
}

}  // namespace boltzmark

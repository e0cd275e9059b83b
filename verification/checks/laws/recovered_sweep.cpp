#include "verification/checks/laws/recovered_sweep.hpp"

#include <algorithm>

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
  void fill(std::uint32_t* out, const DrawRange& range) const override {
    const auto& table = tables_[range.layer];
    const std::size_t units = table.size() / chains_;
    for (std::size_t u = 0; u < range.units; ++u)
      for (std::size_t c = 0; c < range.chains; ++c) {
        const std::size_t unit = range.first_unit + u;
        const std::size_t chain = range.first_chain + c;
        out[u * range.chains + c] =
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
                 static_cast<float>(space.value(u, x)));
  return chains;
}

// Narrows [low, high], which holds the threshold, by asking whether the unit's value is high at the
// middle.
struct Bracket {
  std::uint64_t low = 0;
  std::uint64_t high = kFull;
  bool open() const { return low < high; }
  std::uint32_t draw() const { return static_cast<std::uint32_t>((low + high) / 2); }
  void answer(bool is_high) {
    (is_high ? low : high) = is_high ? std::uint64_t{draw()} + 1 : draw();
  }
};

// The index of a unit's value now.
int value_index(const Chains& chains, const StateSpace::Place& place, std::size_t chain) {
  const float value = chains.get(place.layer, place.unit, static_cast<int>(chain));
  return place.kind.index(place.kind.stored(value));
}

}  // namespace

RecoveredSweep::RecoveredSweep(const Layered& model, const Base& base, const Rule& rule,
                               float inverse_temperature, const Packing& packing)
    : space_(model), thresholds_(static_cast<std::size_t>(space_.units())) {
  const std::size_t states = space_.states();
  const PackedModel packed(model, base, packing);
  const Chains start = all_states(model, space_);
  const std::vector<float> betas(states, inverse_temperature);
  ScriptedDraws draws(model, states);
  int most = 0;
  for (int u = 0; u < space_.units(); ++u) most = std::max(most, space_.values(u));
  for (int k = 1; k < most; ++k) {
    std::vector<Bracket> brackets(thresholds_.size() * states);
    for (int parity = 0; parity < 2; ++parity) {
      for (int step = 0; step < 33; ++step) {
        for (const int u : space_.side(parity))
          for (std::size_t x = 0; x < states; ++x)
            if (const Bracket& b = brackets[u * states + x]; b.open())
              draws.at(space_.place(u).layer, space_.place(u).unit, x) = b.draw();
        Chains chains = start;
        half_sweep(packed, chains, draws, {.rule = rule, .inverse_temperatures = betas}, parity);
        for (const int u : space_.side(parity))
          for (std::size_t x = 0; x < states; ++x)
            if (Bracket& b = brackets[u * states + x]; b.open())
              b.answer(value_index(chains, space_.place(u), x) >= k);
      }
    }
    for (int u = 0; u < space_.units(); ++u)
      if (k < space_.values(u))
        for (std::size_t x = 0; x < states; ++x)
          thresholds_[u].push_back(brackets[u * states + x].low);
  }
}

double RecoveredSweep::probability(int unit, std::size_t state, int k) const {
  const double from = k == 0 ? 1 : tail(unit, state, k);
  return k + 1 == space_.values(unit) ? from : from - tail(unit, state, k + 1);
}

Eigen::MatrixXd RecoveredSweep::side_matrix(int parity) const {
  const auto states = static_cast<Eigen::Index>(space_.states());
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(states, states);
  for (std::size_t x = 0; x < space_.states(); ++x) {
    const std::size_t rest = space_.side_state(1 - parity, space_.side_part(1 - parity, x));
    for (std::size_t part = 0; part < space_.side_states(parity); ++part) {
      const std::size_t next = rest + space_.side_state(parity, part);
      double p = 1;
      for (const int u : space_.side(parity)) p *= probability(u, x, space_.value_index(u, next));
      matrix(static_cast<Eigen::Index>(x), static_cast<Eigen::Index>(next)) = p;
    }
  }
  return matrix;
}

}  // namespace boltzmark

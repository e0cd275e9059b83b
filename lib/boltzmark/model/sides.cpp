#include "boltzmark/model/sides.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace boltzmark {

double log2_states(const Layered& model, int parity, int first_layer) {
  double bits = 0;
  for (int l = first_layer; l < model.layers(); ++l) {
    if (l % 2 != parity) continue;
    const Unit unit = model.layer(l).unit;
    if (!unit.is_discrete()) return std::numeric_limits<double>::infinity();
    bits += model.size(l) * std::log2(unit.values());
  }
  return bits;
}

int smaller_side(const Layered& model, int first_layer) {
  return log2_states(model, 0, first_layer) < log2_states(model, 1, first_layer) ? 0 : 1;
}

namespace {

std::array<int, 2> units_of_sides(const Layered& model) {
  std::array<int, 2> units = {0, 0};
  for (int l = 0; l < model.layers(); ++l) units[l % 2] += model.size(l);
  return units;
}

}  // namespace

int side_of_fewer_units(const Layered& model) {
  const auto [even, odd] = units_of_sides(model);
  return even < odd ? 0 : 1;
}

int larger_side(const Layered& model) {
  const auto [even, odd] = units_of_sides(model);
  return odd >= even ? 1 : 0;
}

const char* side_name(const Layered& model, int parity) {
  if (model.is_rbm()) return parity == 0 ? "visible" : "hidden";
  return parity == 0 ? "even layers" : "odd layers";
}

}  // namespace boltzmark

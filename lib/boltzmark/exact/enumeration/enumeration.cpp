#include "boltzmark/exact/enumeration/enumeration.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "boltzmark/core/error.hpp"
#include "boltzmark/model/sides.hpp"

namespace boltzmark {
namespace {

/// The layers of a view and the input that reaches the first of them from outside.
struct View {
  const Layered& model;
  int first_layer;
  Eigen::VectorXd shift;  ///< added to the inputs of the first layer; empty: none
};

bool in_view(const View& view, int layer, int parity) {
  return layer >= view.first_layer && layer % 2 == parity;
}

std::vector<UnitPlace> places_of(const View& view, int parity) {
  std::vector<UnitPlace> places;
  for (int l = 0; l < view.model.layers(); ++l) {
    if (!in_view(view, l, parity)) continue;
    for (int i = 0; i < view.model.size(l); ++i) places.push_back({l, i});
  }
  return places;
}

double shift_of(const View& view, UnitPlace place) {
  return place.layer == view.first_layer && view.shift.size() > 0 ? view.shift[place.unit] : 0.0;
}

double weight_between(const Layered& model, UnitPlace a, UnitPlace b) {
  if (a.layer + 1 == b.layer) return model.weights(a.layer)(a.unit, b.unit);
  if (b.layer + 1 == a.layer) return model.weights(b.layer)(b.unit, a.unit);
  return 0;
}

void check_size(const View& view, int parity, int max_units) {
  if (max_units < 0 || max_units > 62) {
    throw InvalidArgument(fmt::format("max_enumerated_units = {} (must be 0 to 62)", max_units));
  }
  long units = 0;
  for (int l = 0; l < view.model.layers(); ++l) {
    if (in_view(view, l, parity)) units += view.model.size(l);
  }
  const double bits = log2_states(view.model, parity, view.first_layer);
  if (std::isinf(bits)) {
    throw InvalidArgument(
        "enumerated side = a layer that is not discrete (must have units of "
        "finitely many values)");
  }
  if (units > max_units) {
    throw InvalidArgument(
        fmt::format("enumerated_units = {} (must be at most {})", units, max_units));
  }
  if (bits > 62) {
    throw InvalidArgument(
        fmt::format("states = 2^{} (must be at most 2^62)", static_cast<int>(std::ceil(bits))));
  }
}

Bipartite make_sides(const View& view, int parity) {
  Bipartite sides;
  sides.places = places_of(view, parity);
  sides.other_places = places_of(view, 1 - parity);
  const auto n = static_cast<Eigen::Index>(sides.places.size());
  const auto m = static_cast<Eigen::Index>(sides.other_places.size());
  sides.bias.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const UnitPlace p = sides.places[i];
    const Unit unit = view.model.layer(p.layer).unit;
    sides.enumerated.push_back(unit);
    sides.bias[i] = view.model.bias(p.layer)[p.unit] + shift_of(view, p);
    if (unit.is_discrete()) sides.constant += unit.log_weight();
  }
  sides.other_input.resize(m);
  sides.other_mean = Eigen::VectorXd::Zero(m);
  sides.other_sigma = Eigen::VectorXd::Zero(m);
  sides.weights.resize(m, n);
  for (Eigen::Index j = 0; j < m; ++j) {
    const UnitPlace q = sides.other_places[j];
    const Layer& layer = view.model.layer(q.layer);
    sides.other.push_back(layer.unit);
    sides.other_input[j] = shift_of(view, q);
    if (layer.unit.has_scale()) {
      sides.other_mean[j] = layer.bias[q.unit];
      sides.other_sigma[j] = layer.sigma0[q.unit];
    } else {
      sides.other_input[j] += layer.bias[q.unit];
    }
    for (Eigen::Index i = 0; i < n; ++i) {
      sides.weights(j, i) = weight_between(view.model, q, sides.places[i]);
    }
  }
  return sides;
}

Bipartite enumerated(const View& view, int parity, int max_units = kEnumeratedUnits) {
  check_size(view, parity, max_units);
  Bipartite sides = make_sides(view, parity);
  for (const Unit unit : sides.enumerated)
    sides.states *= static_cast<std::uint64_t>(unit.values());
  return sides;
}

}  // namespace

Bipartite list_side(const Layered& model, int parity) {
  Bipartite sides = make_sides({model, 0, {}}, parity);
  sides.states = 0;
  return sides;
}

Bipartite enumerate_side(const Layered& model, int parity, int max_units) {
  return enumerated({model, 0, {}}, parity, max_units);
}

Bipartite enumerate_smaller_side(const Layered& model, int max_units) {
  return enumerated({model, 0, {}}, smaller_side(model), max_units);
}

Bipartite given_visible(const Layered& model, const Eigen::Ref<const Eigen::VectorXd>& visible) {
  if (visible.size() != model.size(0)) {
    throw InvalidArgument(
        fmt::format("visible units = {} (must be {})", visible.size(), model.size(0)));
  }
  const View view{model, 1, model.weights(0).transpose() * visible};
  Bipartite sides = enumerated(view, smaller_side(model, 1));
  sides.constant -= own_energy(model.layer(0), visible);
  return sides;
}

Bipartite enumerate_odd_hidden(const Layered& model) { return enumerated({model, 1, {}}, 1); }

double log_other_partition(const Bipartite& sides, int j, double input) {
  if (!sides.other[j].has_scale()) return log_partition(sides.other[j], input);
  const double sigma = sides.other_sigma[j];
  return std::log(sigma) + std::log(2 * std::numbers::pi) / 2 + sides.other_mean[j] * input +
         sigma * sigma * input * input / 2;
}

double mean_other(const Bipartite& sides, int j, double input) {
  if (!sides.other[j].has_scale()) return mean_value(sides.other[j], input);
  return sides.other_mean[j] + sides.other_sigma[j] * sides.other_sigma[j] * input;
}

}  // namespace boltzmark

#include "boltzmark/estimate/places/numbered_sides.hpp"

#include <algorithm>
#include <iterator>

namespace boltzmark {

NumberedSides::NumberedSides(const Layered& model, int parity) : sides(list_side(model, parity)) {
  std::vector<Eigen::Index> first = {0};
  for (int l = 0; l < model.layers(); ++l) first.push_back(first.back() + model.size(l));
  const auto number = [&](const UnitPlace& place) {
    return first[static_cast<std::size_t>(place.layer)] + place.unit;
  };
  std::transform(sides.places.begin(), sides.places.end(), std::back_inserter(units), number);
  std::transform(sides.other_places.begin(), sides.other_places.end(), std::back_inserter(others),
                 number);
}

}  // namespace boltzmark

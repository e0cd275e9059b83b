#include "boltzmark/estimate/places/unit_draws.hpp"

#include <algorithm>
#include <cmath>

namespace boltzmark {

// How far from the likelier end: so many steps of a discrete unit, each as likely as the step before it times
// e^{-|input| spacing}; of a continuous one the exponential law that ends at the other end.
double value_at(Unit unit, double input, double uniform) {
  if (!unit.is_discrete()) {
    const double rate = std::abs(input), width = unit.highest() - unit.lowest();
    const double away =
        rate > 0 ? -std::log1p(uniform * std::expm1(-rate * width)) / rate : uniform * width;
    return input > 0 ? unit.highest() - std::min(away, width)
                     : unit.lowest() + std::min(away, width);
  }
  const double step = -std::abs(input) * unit.spacing(), all = unit.values();
  const double steps =
      step < 0 ? std::log1p(uniform * std::expm1(all * step)) / step : uniform * all;
  const int away = std::min(unit.steps(), static_cast<int>(steps));
  return unit.value(input > 0 ? unit.steps() - away : away);
}

}  // namespace boltzmark

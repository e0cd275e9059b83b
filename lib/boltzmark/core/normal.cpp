#include "boltzmark/core/normal.hpp"

#include <boost/math/special_functions/erf.hpp>
#include <cmath>

namespace boltzmark {

// erfc_inv keeps both tails precise.
double normal_quantile(double probability) {
  return probability < 0.5 ? -M_SQRT2 * boost::math::erfc_inv(2 * probability)
                           : M_SQRT2 * boost::math::erfc_inv(2 * (1 - probability));
}

}  // namespace boltzmark

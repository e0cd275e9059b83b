#include "boltzmark/core/quantiles.hpp"

#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>

namespace boltzmark {

double students_t_quantile(double freedom, double probability) {
  return quantile(boost::math::students_t(freedom), probability);
}

double chi_squared_quantile(double freedom, double probability) {
  return quantile(boost::math::chi_squared(freedom), probability);
}

double beta_quantile(double a, double b, double probability) {
  return quantile(boost::math::beta_distribution<>(a, b), probability);
}

// erfc_inv keeps both tails precise.
double normal_quantile(double probability) {
  return probability < 0.5 ? -M_SQRT2 * boost::math::erfc_inv(2 * probability)
                           : M_SQRT2 * boost::math::erfc_inv(2 * (1 - probability));
}

}  // namespace boltzmark

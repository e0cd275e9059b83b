#include "boltzmark/core/quantiles.hpp"

#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/students_t.hpp>

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

}  // namespace boltzmark

// Marginal densities of units whose inputs are so large that each of their factors is tiny.
#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/target/layered_target.hpp"

using namespace boltzmark;

namespace {

// log f(v) - log p_1(v) of a free visible unit and hidden ones of one bias, summed out.
double log_ratio(int hidden, Unit unit, double bias) {
  const Layered model({{Unit::bernoulli(), Eigen::VectorXd::Zero(1), {}},
                       {unit, Eigen::VectorXd::Constant(hidden, bias), {}}},
                      {Eigen::MatrixXd::Zero(1, hidden)});
  const LayeredTarget target(model, Base::uniform(model));
  const auto population = target.populate(0, 1, make_key(1));
  population->draw_base();
  double increment = 0;
  population->log_increment(0, 1, {&increment, 1});
  return increment;
}

}  // namespace

TEST_CASE("densities of many units with extreme inputs are finite, and those of their closed form") {
  // log phi of X(65535) at 1e6 is 1e6 - 15 log 2; 100 factors of 2^-15 are no double.
  const double fifty = log_ratio(100, Unit::multivalued(65535), 1e6) -
                       log_ratio(50, Unit::multivalued(65535), 1e6);
  CHECK(fifty == Approx(50 * (1e6 - 15 * std::log(2.0))).epsilon(1e-12));
  // Of continuous units it is u - log u, and 28 factors of 1 / u are no double either.
  CHECK(log_ratio(28, Unit::continuous(), 1e30) == Approx(28e30).epsilon(1e-6));
  const double fourteen =
      log_ratio(28, Unit::continuous(), 1e12) - log_ratio(14, Unit::continuous(), 1e12);
  const double u = static_cast<float>(1e12);
  CHECK(fourteen == Approx(14 * (u - std::log(u))).epsilon(1e-14));
}

// Updates of units X(s) by the production kernels, on scripted draws, against the double law.

#include "verification/exact/support/unit_updates.hpp"

#include <algorithm>
#include <numeric>

#include "boltzmark/core/error.hpp"
#include "boltzmark/random/stream.hpp"

using namespace unit_test;

namespace {

// P(next >= m), m = 0..values, from the double law.
std::vector<double> tails(const Rule& rule, Unit unit, double input, int from) {
  std::vector<double> law(static_cast<std::size_t>(unit.values()));
  next_law(rule, unit, input, from, law);
  law.push_back(0);
  for (std::size_t m = law.size() - 1; m-- > 0;) law[m] += law[m + 1];
  return law;
}

// Bounds |float32 tail - tail| for the thresholds of X(s). The log odds z carry two roundings
// (spacing, product), times m one more: 3 m |z| u of an exponent; exp 2 u; the sums over values u
// each; the law's divisions and products 10 u. Tails are counted from the likeliest value, so the
// error is relative to the smaller side. The threshold is rounded to 2^-32.
double tail_error(Unit unit, double input, double tail) {
  const double steps = unit.values() - 1;
  const double log_odds = std::abs(input) * unit.spacing();
  const double relative = std::expm1((3 * steps * log_odds + 2 * steps + 12) * kRoundoff);
  return std::min(1.0,
                  (input > 0 ? 1 - tail : tail) * relative + 0.5 * 0x1p-32 + 16 * 0x1p-53 * steps);
}

// Bisects every threshold of every unit (row) and chain (column): the number of draws that lead to
// the m-th value or higher.
std::vector<Eigen::MatrixXd> recovered_tails(const Layered& model, const Eigen::MatrixXf& from,
                                             const Rule& rule) {
  const Unit unit = model.layer(1).unit;
  std::vector<Eigen::MatrixXd> result;
  for (int m = 1; m < unit.values(); ++m) {
    Eigen::MatrixXd low = Eigen::MatrixXd::Zero(from.rows(), from.cols());
    Eigen::MatrixXd high = Eigen::MatrixXd::Constant(from.rows(), from.cols(), 0x1p32);
    TableDraws draws(static_cast<std::size_t>(from.rows()), static_cast<std::size_t>(from.cols()));
    for (int step = 0; step < 33; ++step) {
      const Eigen::ArrayXXd middle = ((low + high) / 2).array().floor().min(0x1p32 - 1);
      for (Eigen::Index i = 0; i < from.size(); ++i)
        draws.at(static_cast<std::size_t>(i % from.rows()),
                 static_cast<std::size_t>(i / from.rows())) =
            static_cast<std::uint32_t>(middle.data()[i]);
      const Eigen::MatrixXf next = moved(model, from, draws, rule);
      for (Eigen::Index i = 0; i < from.size(); ++i) {
        if (low.data()[i] >= high.data()[i]) continue;
        if (index_of(unit, next.data()[i]) >= m)
          low.data()[i] = middle.data()[i] + 1;
        else
          high.data()[i] = middle.data()[i];
      }
    }
    result.push_back(low * 0x1p-32);
  }
  return result;
}

}  // namespace

TEST_CASE("an update of X(s) follows the double law of every rule, from every value") {
  const std::vector<float> biases = inputs();
  for (const int steps : {1, 2, 3, 4, 5, 6, 7, 8, 20}) {
    const Unit unit = Unit::multivalued(steps);
    const Layered model = isolated(unit, biases);
    Eigen::MatrixXf from(biases.size(), unit.values());
    for (int k = 0; k < unit.values(); ++k)
      from.col(k).setConstant(static_cast<float>(unit.value(k)));
    for (const Rule& rule : kRules) {
      const std::vector<Eigen::MatrixXd> recovered = recovered_tails(model, from, rule);
      for (std::size_t i = 0; i < biases.size(); ++i)
        for (int k = 0; k < unit.values(); ++k) {
          const auto input = static_cast<double>(biases[i]);
          const std::vector<double> law = tails(rule, unit, input, k);
          for (int m = 1; m < unit.values(); ++m) {
            CAPTURE(steps, rule.name(), input, k, m);
            const double found = recovered[m - 1](static_cast<Eigen::Index>(i), k);
            CHECK(std::abs(found - law[m]) <= tail_error(unit, input, law[m]));
          }
        }
    }
  }
}

TEST_CASE("a Gibbs update of X(65535) is the number of thresholds above the draw") {
  // One chain a draw: the extremes, and draws of every size.
  std::vector<std::uint32_t> script = {0, 1, 2, 0x7fffffffU, 0x80000000U, 0xfffffffeU, 0xffffffffU};
  Stream stream(make_key(41), Purpose::test);
  for (int i = 0; i < 600; ++i) script.push_back(stream() >> stream.below(32));
  for (int i = 0; i < 200; ++i) script.push_back(~(stream() >> stream.below(32)));
  std::sort(script.begin(), script.end());
  std::vector<float> biases = inputs();
  for (const float more : {0.01F, 5e3F, 1e5F, 3e6F}) biases.insert(biases.end(), {more, -more});
  for (const int steps : {17, 64, 1000, 65535}) {
    const Unit unit = Unit::multivalued(steps);
    const Layered model = isolated(unit, biases);
    TableDraws draws(biases.size(), script.size());
    for (std::size_t i = 0; i < biases.size(); ++i)
      for (std::size_t c = 0; c < script.size(); ++c) draws.at(i, c) = script[c];
    const Eigen::MatrixXf from = Eigen::MatrixXf::Constant(
        static_cast<Eigen::Index>(biases.size()), static_cast<Eigen::Index>(script.size()), -1.0F);
    const Eigen::MatrixXf next = moved(model, from, draws, Rule::gibbs());
    for (std::size_t i = 0; i < biases.size(); ++i) {
      const auto input = static_cast<double>(biases[i]);
      const std::vector<double> law = tails(Rule::gibbs(), unit, input, 0);
      // From the closed form of a tail: 3 m |z| u as above, exp 2 u, both expm1 8 u and 3 u of
      // their arguments, product and quotient 2 u.
      const auto error = [&](double tail, double m) {
        const double log_odds = std::abs(input) * unit.spacing();
        const double counted = input > 0 ? steps + 1 - m : m;
        const double relative = std::expm1((3 * counted * log_odds + 26) * kRoundoff);
        return (input > 0 ? 1 - tail : tail) * relative + 0.5 * 0x1p-32 + steps * 0x1p-52;
      };
      int last = steps;
      for (std::size_t c = 0; c < script.size(); ++c) {
        CAPTURE(steps, input, script[c]);
        const int k =
            index_of(unit, next(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(c)));
        const double draw = script[c] * 0x1p-32;
        if (k > 0) REQUIRE(draw < law[k] + error(law[k], k));
        if (k < steps) REQUIRE(draw >= law[k + 1] - error(law[k + 1], k + 1));
        REQUIRE(k <= last);  // not increasing in the draw
        last = k;
      }
    }
  }
}

TEST_CASE("the spin X(1) is moved bit for bit as a binary unit of twice its input") {
  const std::vector<float> biases = inputs();
  std::vector<float> twice;
  for (const float b : biases) twice.push_back(2 * b);
  const Layered spins = isolated(Unit::multivalued(1), biases);
  const Layered binary = isolated(Unit::bernoulli(), twice);
  constexpr int kChains = 1000;
  const PhiloxDraws draws(make_key(42));
  for (const Rule& rule : kRules) {
    Chains a(spins, kChains), b(binary, kChains);
    a.randomise(make_key(43));
    b.randomise(make_key(43));
    sweep(PackedModel(spins), a, draws, {.rule = rule, .sweeps = 5});
    sweep(PackedModel(binary), b, draws, {.rule = rule, .sweeps = 5});
    CHECK(a.get_layer(1) == (2 * b.get_layer(1).array() - 1).matrix());
  }
}

TEST_CASE("the double law of X(s) is Liu's Metropolised Gibbs, value by value") {
  for (const int steps : {2, 3, 5})
    for (const double input : {0.0, 0.3, -1.7, 12.0, -40.0}) {
      const Unit unit = Unit::multivalued(steps);
      const int values = unit.values();
      std::vector<long double> p(values);
      for (int k = 0; k < values; ++k)
        p[k] = std::exp(static_cast<long double>(input) * (2 * k - steps) / steps);
      const long double sum = std::accumulate(p.begin(), p.end(), 0.0L);
      for (long double& x : p) x /= sum;
      for (int from = 0; from < values; ++from) {
        std::vector<double> gibbs(values), liu(values), half(values);
        next_law(Rule::gibbs(), unit, input, from, gibbs);
        next_law(Rule::flip(), unit, input, from, liu);
        next_law(Rule::blended(0.5), unit, input, from, half);
        long double stay = 1;
        for (int k = 0; k < values; ++k) {
          CAPTURE(steps, input, from, k);
          CHECK(gibbs[k] == Approx(static_cast<double>(p[k])).epsilon(1e-14));
          CHECK(half[k] == Approx((gibbs[k] + liu[k]) / 2).margin(1e-15));
          if (k == from) continue;
          // 1 - p as a sum, which does not cancel.
          long double others_from = 0, others_to = 0;
          for (int j = 0; j < values; ++j) {
            if (j != from) others_from += p[j];
            if (j != k) others_to += p[j];
          }
          const long double move = p[k] * std::min(1 / others_from, 1 / others_to);
          CHECK(liu[k] == Approx(static_cast<double>(move)).epsilon(1e-14));
          stay -= move;
        }
        CHECK(liu[from] == Approx(static_cast<double>(stay)).margin(1e-15));
      }
    }
  std::vector<double> law(2);
  CHECK_THROWS_AS(next_law(Rule::gibbs(), Unit::continuous(), 0, 0, law), InvalidArgument);
  CHECK_THROWS_AS(next_law(Rule::gibbs(), Unit::multivalued(2), 0, 0, law), InvalidArgument);
}

TEST_CASE("the double law of two values keeps the digits of the unlikely one, wherever a unit is") {
  // Of odds of e^50 and e^20, which 1 less a probability near 1 has not.
  std::vector<double> law(2);
  for (const int from : {0, 1})
    for (const double input : {20.0, 50.0}) {
      next_law(Rule::gibbs(), Unit::bernoulli(), input, from, law);
      CHECK(law[0] == Approx(std::exp(-input) / (1 + std::exp(-input))).epsilon(1e-14));
      next_law(Rule::gibbs(), Unit::bernoulli(), -input, from, law);
      CHECK(law[1] == Approx(std::exp(-input) / (1 + std::exp(-input))).epsilon(1e-14));
    }
  // T leaves the unlikely state for sure: what stays is the half of Gibbs' probability.
  next_law(Rule::blended(0.5), Unit::bernoulli(), 40, 0, law);
  CHECK(law[0] == Approx(0.5 * std::exp(-40)).epsilon(1e-12));
}

TEST_CASE("of infinite odds the double law is the limit, of every unit and rule") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const Unit unit :
       {Unit::bernoulli(), Unit::multivalued(1), Unit::multivalued(2), Unit::multivalued(5)})
    for (const Rule& rule : {Rule::gibbs(), Rule::flip(), Rule::blended(0.3), Rule::metropolis()})
      for (int from = 0; from < unit.values(); ++from) {
        std::vector<double> law(static_cast<std::size_t>(unit.values())), far = law;
        for (const double sign : {1.0, -1.0}) {
          next_law(rule, unit, sign * kInfinity, from, law);
          next_law(rule, unit, sign * 1e4, from, far);
          INFO(unit.name() << " " << rule.name() << " from " << from);
          CHECK(law == far);
        }
      }
}

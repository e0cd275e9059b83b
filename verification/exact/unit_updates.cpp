// Updates of single units by the production kernels, on scripted draws, against the double law.

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "boltzmark/core/error.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/transition/statistics.hpp"
#include "boltzmark/transition/sweep.hpp"

using namespace boltzmark;

namespace {

constexpr double kRoundoff = 0x1p-24;  // float32

const std::vector<Rule> kRules = {Rule::gibbs(), Rule::flip(), Rule::blended(0.5),
                                  Rule::metropolis()};

// Both signs of sizes from a tie to certainty, all float32.
std::vector<float> inputs() {
  std::vector<float> result = {0};
  for (const float size :
       {1e-30F, 1e-7F, 1e-3F, 0.1F, 0.75F, 1.0F, 3.3F, 10.0F, 30.0F, 88.0F, 700.0F})
    for (const float sign : {1.0F, -1.0F}) result.push_back(sign * size);
  return result;
}

// A hidden layer of one kind whose inputs are its biases.
Layered isolated(Unit unit, const std::vector<float>& biases) {
  const auto units = static_cast<Eigen::Index>(biases.size());
  Eigen::VectorXd bias(units);
  for (Eigen::Index i = 0; i < units; ++i) bias[i] = static_cast<double>(biases[i]);
  return {{{.unit = Unit::bernoulli(), .bias = Eigen::VectorXd::Zero(1), .sigma0 = {}},
           {.unit = unit, .bias = bias, .sigma0 = {}}},
          {Eigen::MatrixXd::Zero(1, units)}};
}

// Draws that a table holds for every unit and chain of the hidden layer.
class TableDraws final : public Draws {
 public:
  TableDraws(std::size_t units, std::size_t chains) : chains_(chains), table_(units * chains) {}
  std::uint32_t& at(std::size_t unit, std::size_t chain) { return table_[unit * chains_ + chain]; }
  void fill(std::uint32_t* out, const DrawTile& tile) const override {
    for (std::size_t u = 0; u < tile.units; ++u)
      for (std::size_t c = 0; c < tile.chains; ++c) {
        const std::size_t i = (tile.first_unit + u) * chains_ + tile.first_chain + c;
        const bool inside = tile.first_chain + c < chains_ && i < table_.size();
        out[u * tile.chains + c] = inside ? table_[i] : 0;
      }
  }

 private:
  std::size_t chains_;
  std::vector<std::uint32_t> table_;
};

// Moves the hidden layer once from the given values of every chain.
Eigen::MatrixXf moved(const Layered& model, const Eigen::MatrixXf& from, const Draws& draws,
                      const Rule& rule) {
  Chains chains(model, static_cast<int>(from.cols()));
  chains.set_layer(1, from);
  half_sweep(PackedModel(model), chains, draws, {.rule = rule}, 1);
  return chains.get_layer(1);
}

// The index of a value among the unit's values; fails if it is none.
int index_of(Unit unit, float value) {
  const double k = (static_cast<double>(value) - unit.lowest()) / unit.spacing();
  REQUIRE(value == static_cast<float>(unit.value(static_cast<int>(std::lround(k)))));
  return static_cast<int>(std::lround(k));
}

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

TEST_CASE("F^-1 of the continuous unit inverts F, from a zero input to +-700") {
  for (const double input : {0.0, 1e-300, 1e-12, 1e-6, 0.01, 1.0, 5.0, 36.0, 88.0, 300.0, 700.0})
    for (const double sign : {1.0, -1.0})
      for (int i = 0; i <= 1000; ++i) {
        const double u = i / 1000.0;
        CAPTURE(input, sign, u);
        const double x = continuous_quantile(sign * input, u);
        CHECK(std::abs(x) <= 1);
        CHECK(std::abs(continuous_cdf(sign * input, x) - u) <= 1e-12);
      }
  CHECK(continuous_quantile(0, 0.75) == 0.5);
  CHECK(continuous_quantile(1e-20, 0.75) == Approx(0.5));
  // Within 1/700 of the likelier end: F^-1(1/2) = 1 - ln 2 / 700.
  CHECK(1 - continuous_quantile(700, 0.5) == Approx(std::log(2) / 700).epsilon(1e-12));
  CHECK(1 + continuous_quantile(-700, 0.5) == Approx(std::log(2) / 700).epsilon(1e-12));
}

TEST_CASE("an update of a continuous unit is F^-1 of its draw, whatever the rule") {
  std::vector<std::uint32_t> script = {0, 1, 0x7fffffffU, 0x80000000U, 0xfffffffeU, 0xffffffffU};
  Stream stream(make_key(44), Purpose::test);
  for (int i = 0; i < 2000; ++i) script.push_back(stream() >> stream.below(32));
  for (int i = 0; i < 2000; ++i) script.push_back(~(stream() >> stream.below(32)));
  std::sort(script.begin(), script.end());
  const std::vector<float> biases = inputs();
  const Layered model = isolated(Unit::continuous(), biases);
  TableDraws draws(biases.size(), script.size());
  for (std::size_t i = 0; i < biases.size(); ++i)
    for (std::size_t c = 0; c < script.size(); ++c) draws.at(i, c) = script[c];
  const Eigen::MatrixXf from = Eigen::MatrixXf::Zero(static_cast<Eigen::Index>(biases.size()),
                                                     static_cast<Eigen::Index>(script.size()));
  const Eigen::MatrixXf next = moved(model, from, draws, Rule::gibbs());
  for (const Rule& rule : kRules) CHECK(moved(model, from, draws, rule) == next);
  for (std::size_t i = 0; i < biases.size(); ++i) {
    const auto input = static_cast<double>(biases[i]);
    const double rate = std::abs(input);
    for (std::size_t c = 0; c < script.size(); ++c) {
      CAPTURE(input, script[c]);
      const auto x =
          static_cast<double>(next(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(c)));
      REQUIRE(std::abs(x) <= 1);
      // The distance t from the likelier end: (1 - S) expm1 carries 2 u + 8 u, of which log1p makes
      // at most 1.45 times as much and adds 4 u, the quotient u; the other form less. Then 1 - t is
      // rounded to u. F moves by the density, a e^{-at} / (1 - e^{-2a}), times that.
      const double t = input > 0 ? 1 - x : 1 + x;
      const double density =
          rate < 1e-6 ? 0.5 : -rate * std::exp(-rate * t) / std::expm1(-2 * rate);
      const double error = 1.5 * density * (20 * t + 1) * kRoundoff;
      const double u = 1 - (script[c] + 0.5) * 0x1p-32;
      REQUIRE(std::abs(continuous_cdf(input, x) - u) <= error + 1e-15);
      if (c > 0)
        REQUIRE(x <= static_cast<double>(
                         next(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(c) - 1)) +
                         20 * kRoundoff * t);
    }
  }
}

TEST_CASE("set_means gives every unit's mean given its neighbours") {
  std::vector<float> biases = inputs();
  for (float x = -6; x < 6; x += 0.0625F) biases.push_back(x);
  std::vector<Unit> units = {Unit::bernoulli(), Unit::continuous()};
  for (const int steps : {1, 2, 3, 4, 8, 100, 65535}) units.push_back(Unit::multivalued(steps));
  for (const Unit unit : units) {
    const Layered model = isolated(unit, biases);
    Chains chains(model, 1);
    set_means(PackedModel(model), chains, 1);
    for (std::size_t i = 0; i < biases.size(); ++i) {
      CAPTURE(unit.name(), biases[i]);
      const double mean = mean_value(unit, static_cast<double>(biases[i]));
      const auto found = static_cast<double>(chains.get(1, static_cast<int>(i), 0));
      // Langevin's function is good to some 5 u, and X(s) takes at most twice one less another.
      CHECK(std::abs(found - mean) <= 16 * kRoundoff);
    }
  }
}

TEST_CASE("statistics and log ratios are those of the values, however they are stored") {
  Stream stream(make_key(45), Purpose::test);
  const auto draw = [&stream](Eigen::Index rows, Eigen::Index columns) {
    Eigen::MatrixXd values(rows, columns);
    for (double& x : values.reshaped()) x = stream.uniform(-2, 2);
    return values;
  };
  const Layered model({{.unit = Unit::multivalued(3), .bias = draw(5, 1), .sigma0 = {}},
                       {.unit = Unit::continuous(), .bias = draw(4, 1), .sigma0 = {}},
                       {.unit = Unit::multivalued(6), .bias = draw(3, 1), .sigma0 = {}}},
                      {draw(5, 4), draw(4, 3)});
  const Base base{.logits = {draw(5, 1), draw(4, 1), draw(3, 1)}};
  constexpr int kChains = 21;
  Chains chains(model, kChains);
  chains.randomise(make_key(46));
  Parameters sum = model.zero_parameters(), expected = sum;
  add_statistics(chains, {}, 0.5, sum);
  const std::vector<double> ratios = log_ratio(model, base, chains);
  for (int c = 0; c < kChains; ++c) {
    const State x = chains.get_chain(c);
    double ratio = log_normaliser(model, base) - energy(model, x);
    for (int l = 0; l < 3; ++l) {
      for (const double value : x[l]) CHECK(std::abs(value) <= 1);
      expected.biases[l] += 0.5 * x[l];
      if (l < 2) expected.weights[l] += 0.5 * x[l] * x[l + 1].transpose();
      ratio -= base.logits[l].dot(x[l]);
    }
    // Values are float32 here, and exact multiples of 1/s there.
    CHECK(ratios[c] == Approx(ratio).margin(100 * kRoundoff));
  }
  for (int l = 0; l < 3; ++l) {
    CHECK((sum.biases[l] - expected.biases[l]).cwiseAbs().maxCoeff() <= kChains * kRoundoff);
    if (l < 2)
      CHECK((sum.weights[l] - expected.weights[l]).cwiseAbs().maxCoeff() <= kChains * kRoundoff);
  }
}

TEST_CASE("values are stored and read back, and random starts are uniform on them") {
  for (const int steps : {1, 2, 3, 7, 10, 255, 65535}) {
    const Unit unit = Unit::multivalued(steps);
    const Layered model = isolated(unit, {0});
    Chains chains(model, 1);
    CHECK(chains.get(1, 0, 0) == -1);
    for (int k = 0; k <= steps; k += 1 + steps / 1000) {
      chains.set(1, 0, 0, static_cast<float>(unit.value(k)));
      CHECK(*chains.block(1, 0) == static_cast<float>(2 * k - steps));
      CHECK(chains.get(1, 0, 0) == static_cast<float>(unit.value(k)));
    }
    chains.set(1, 0, 0, 0.1F / static_cast<float>(steps));
    CHECK(*chains.block(1, 0) == Approx(0.1F));
  }
  // 40,000 draws of 4 values: each share within 0.025 of 1/4 but for 2e-21, a mean of
  // (-1, 1) within 0.05 but for 4e-22 (Hoeffding).
  const Unit unit = Unit::multivalued(3);
  Chains chains(isolated(unit, {0}), 40000);
  chains.randomise(make_key(47));
  std::vector<int> counts(4);
  for (int c = 0; c < 40000; ++c) ++counts[index_of(unit, chains.get(1, 0, c))];
  for (const int count : counts) CHECK(std::abs(count / 40000.0 - 0.25) <= 0.025);
  Chains line(isolated(Unit::continuous(), {0}), 40000);
  line.randomise(make_key(48));
  CHECK(std::abs(line.get_layer(1).mean()) <= 0.05);
  CHECK(line.get_layer(1).cwiseAbs().maxCoeff() <= 1);
}

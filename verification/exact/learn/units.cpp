// Training RBMs of spins, multivalued and continuous units.

#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "boltzmark/random/stream.hpp"
#include "verification/exact/support/spin_encoding.hpp"

using namespace boltzmark;

namespace {

const Unit kSpin = Unit::multivalued(1);

// Parameters are multiples of 2^-8: float32 sums are exact in either encoding.
Layered short_rbm(int visible, int hidden, NetworkUnits units) {
  Stream stream(make_key(51), Purpose::test);
  const auto draw = [&stream](Eigen::Index rows, Eigen::Index columns) {
    Eigen::MatrixXd values(rows, columns);
    for (double& x : values.reshaped()) x = (static_cast<double>(stream.below(257)) - 128) / 256;
    return values;
  };
  return {{{.unit = units.visible, .bias = draw(visible, 1), .sigma0 = {}},
           {.unit = units.hidden, .bias = draw(hidden, 1), .sigma0 = {}}},
          {draw(visible, hidden)}};
}

// Cases of which each pixel copies its left neighbour but for one in ten.
Eigen::MatrixXf smooth_bits(int visible, int cases) {
  Stream stream(make_key(52), Purpose::test);
  Eigen::MatrixXf data(visible, cases);
  for (int n = 0; n < cases; ++n)
    for (int i = 0; i < visible; ++i) {
      const bool fresh = i == 0 || stream.below(10) == 0;
      data(i, n) = fresh ? static_cast<float>(stream.below(2)) : data(i - 1, n);
    }
  return data;
}

}  // namespace

TEST_CASE("a spin RBM is trained as its Bernoulli form, through the change of variables") {
  const Eigen::MatrixXf bits = smooth_bits(7, 40);
  const Eigen::MatrixXf signs = 2 * bits.array() - 1;
  struct Case {
    NetworkUnits units;
    const Eigen::MatrixXf& data;
  };
  for (const Case& one : {Case{{kSpin, kSpin}, signs}, Case{{Unit::bernoulli(), kSpin}, bits},
                          Case{{kSpin, Unit::bernoulli()}, signs}})
    for (const Negative& negative : {Negative::cd(3), Negative::pcd(2), Negative::pt(4, 1)})
      for (const Rule& rule : {Rule::gibbs(), Rule::flip()}) {
        CAPTURE(one.units.visible.name(), one.units.hidden.name(), negative.name(), rule.name());
        const Layered spins = short_rbm(7, 5, one.units);
        const TrainOptions options{.negative = negative, .rule = rule, .batch = 25};
        Trainer trainer(spins, one.data, options, make_key(53));
        Trainer reference(to_bernoulli(spins).model, bits, options, make_key(53));
        trainer.step();
        reference.step();
        CHECK((trainer.negative().get_layer(0).array() > 0).all() ==
              (reference.negative().get_layer(0).array() > 0).all());
        const Parameters expected = spin_gradient(spins, reference.gradient());
        // Means are float32, their products are summed in float32 over 25 cases.
        const double bound = 4 * 30 * 0x1p-24;
        CHECK((trainer.gradient().weights[0] - expected.weights[0]).cwiseAbs().maxCoeff() <= bound);
        for (int l = 0; l < 2; ++l)
          CHECK((trainer.gradient().biases[l] - expected.biases[l]).cwiseAbs().maxCoeff() <= bound);
      }
}

TEST_CASE("training raises the exact log-likelihood of RBMs of every kind of unit") {
  const Eigen::MatrixXf bits = smooth_bits(6, 100);
  const Eigen::MatrixXf signs = 2 * bits.array() - 1;
  const Unit two = Unit::multivalued(2), many = Unit::multivalued(40), line = Unit::continuous();
  for (const NetworkUnits units :
       {NetworkUnits{kSpin, kSpin}, NetworkUnits{kSpin, two}, NetworkUnits{kSpin, many},
        NetworkUnits{kSpin, line}, NetworkUnits{two, two}, NetworkUnits{two, line},
        NetworkUnits{Unit::bernoulli(), two}})
    for (const Negative& negative : {Negative::cd(1), Negative::pcd(2), Negative::pt(4, 1)}) {
      CAPTURE(units.visible.name(), units.hidden.name(), negative.name());
      const Eigen::MatrixXf& data = units.visible.is_bernoulli() ? bits : signs;
      const Cases cases(data);
      Trainer trainer(initial_rbm(6, 4, 0.01, make_key(54), units), data,
                      {.negative = negative, .rule = Rule::flip(), .learning_rate = 0.1},
                      make_key(55));
      const double before = exact_mean_log_likelihood(trainer.model(), cases);
      for (int i = 0; i < 1500; ++i) trainer.step();
      const double after = exact_mean_log_likelihood(trainer.model(), cases);
      // The chain that made the data has a fair coin and 5 of (0.95, 0.05), an entropy of ln 2 +
      // 5 * 0.1985; densities are over the reference weight. Half of the way from independent
      // pixels shows that weights are learnt; 100 cases are an empirical law somewhat above.
      const double ceiling = -std::log(2.0) - 5 * 0.1985 - 6 * units.visible.log_weight();
      CHECK(after > before + 0.5 * (ceiling - before));
      CHECK(after < ceiling + 0.3);
    }
}

TEST_CASE("cases outside the range of the visible units are refused") {
  const Eigen::MatrixXf signs = 2 * smooth_bits(3, 5).array() - 1;
  CHECK_THROWS_AS(Trainer(initial_rbm(3, 2, 0.1, make_key(1), {Unit::bernoulli(), kSpin}), signs,
                          {}, make_key(1)),
                  InvalidArgument);
}

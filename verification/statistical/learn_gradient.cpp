// With Philox draws the negative samples of CD-k have the enumerated means: what the exact test
// shows of scripted draws holds for the shipped ones.
#include <catch2/catch.hpp>
#include <vector>

#include "boltzmark/learn/trainer.hpp"
#include "decide.hpp"
#include "oracle/learn_enumeration.hpp"

using namespace boltzmark;
using namespace boltzmark::verification;

namespace {

constexpr int kGradientVisible = 3;
constexpr int kGradientHidden = 2;
constexpr int kCase = 3;  // v0 = (1, 1, 0), the case whose means tell the chains apart best

const StatisticalTest kMeans({.name = "learn: negative samples of CD-k",
                              .false_alarm = 1e-9,
                              .deviation = 0.02,
                              .cases = 24});

// Peaked: the likeliest state is e^11 times as likely as the least likely one.
oracle::SmallRbm peaked_rbm() {
  oracle::SmallRbm rbm{Eigen::MatrixXd(kGradientVisible, kGradientHidden),
                       Eigen::VectorXd(kGradientVisible), Eigen::VectorXd(kGradientHidden)};
  rbm.weights << 2, -1.5, -2.5, 1, 1.5, -3;
  rbm.visible_bias << -1, 0.5, 1;
  rbm.hidden_bias << 0.5, 1;
  return rbm;
}

// v_i p(h_j | v) of every negative sample of one update from copies of one case.
std::vector<double> samples_of(const Rule& rule, int k, int i, int j, std::size_t samples,
                               StreamKey key) {
  const oracle::SmallRbm rbm = peaked_rbm();
  Eigen::MatrixXf data(kGradientVisible, samples);
  for (int u = 0; u < kGradientVisible; ++u)
    data.row(u).setConstant(static_cast<float>(kCase >> u & 1));
  Trainer trainer(Layered::rbm(rbm.weights, rbm.visible_bias, rbm.hidden_bias), data,
                  {.negative = Negative::cd(k), .rule = rule}, key);
  trainer.step();
  const Chains& chains = trainer.negative();
  std::vector<double> outcomes;
  for (int c = 0; c < chains.chains(); ++c)
    outcomes.push_back(static_cast<double>(chains.get(0, i, c) * chains.get(1, j, c)));
  return outcomes;
}

Eigen::MatrixXd expected_means(double flip, int k) {
  const oracle::SmallRbm rbm = peaked_rbm();
  return oracle::means(rbm, oracle::cd_law(rbm, kCase, {.flip = flip}, k)).weights;
}

}  // namespace

TEST_CASE("the negative samples of CD-k have the enumerated mean of v h'") {
  for (const Rule& rule : {Rule::gibbs(), Rule::flip()}) {
    const double flip = rule == Rule::flip() ? 1 : 0;
    for (const int k : {1, 2}) {
      const Eigen::MatrixXd expected = expected_means(flip, k);
      // The deviation that is seen tells k from k + 1 and one rule from the other.
      REQUIRE((expected - expected_means(flip, k + 1)).cwiseAbs().maxCoeff() > 0.02);
      REQUIRE((expected - expected_means(1 - flip, k)).cwiseAbs().maxCoeff() > 0.02);
      for (int i = 0; i < kGradientVisible; ++i)
        for (int j = 0; j < kGradientHidden; ++j) {
          const Decision decision =
              decide_mean(kMeans, expected(i, j), 0, 1, [&](std::size_t samples, StreamKey key) {
                return samples_of(rule, k, i, j, samples, key);
              });
          INFO(decision.summary);
          CHECK(decision.holds);
        }
    }
  }
}

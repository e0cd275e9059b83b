// The law of chains that start at cases.
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "boltzmark/learn/initial.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "decide.hpp"

using namespace boltzmark;
using namespace boltzmark::verification;

namespace {

const StatisticalTest kHeldLaw({.name = "learn: hidden layers of chains that start at a case",
                                .false_alarm = 1e-9,
                                .deviation = 0.02});

// log f of a 2-2-2 model's joint state, bit 0 of each the first unit's.
double log_f_of(const Layered& model, const Eigen::Vector2d& v, int first, int second) {
  const Eigen::Vector2d h1(first & 1, first >> 1), h2(second & 1, second >> 1);
  return model.bias(0).dot(v) + model.bias(1).dot(h1) + model.bias(2).dot(h2) +
         v.dot(model.weights(0) * h1) + h1.dot(model.weights(1) * h2);
}

}  // namespace

TEST_CASE("the hidden layers of chains that start at a case are those of the case") {
  const Layered model = initial_network(std::vector{2, 2, 2}, 1.5, make_key(8));
  const Eigen::MatrixXf data = Eigen::Vector2f(1, 0);
  // How often the first units of both hidden layers agree.
  double agree = 0, all = 0;
  for (int first = 0; first < 4; ++first)
    for (int second = 0; second < 4; ++second) {
      const double f = std::exp(log_f_of(model, Eigen::Vector2d(1, 0), first, second));
      all += f;
      if ((first & 1) == (second & 1)) agree += f;
    }
  const Decision decision = decide_proportion(
      kHeldLaw, agree / all, Claim::equal, [&](std::size_t samples, StreamKey key) {
        GivenCases source(data, Unit::bernoulli());
        const Chains states = chains_at_cases(model, source, static_cast<int>(samples), key);
        std::vector<int> hits;
        for (int c = 0; c < states.chains(); ++c)
          hits.push_back(states.get(1, 0, c) == states.get(2, 0, c) ? 1 : 0);
        return hits;
      });
  INFO(decision.summary);
  CHECK(decision.holds);
}

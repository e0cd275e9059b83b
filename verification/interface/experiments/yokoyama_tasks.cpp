// What the experiments of yokoyama2019 compute themselves, against enumeration and closed forms.
#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "boltzmark/exact/state_space.hpp"
#include "boltzmark/learn/initial.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/kit/claims.hpp"
#include "experiments/kit/paired.hpp"
#include "experiments/yokoyama2019/support/exact_ascent.hpp"
#include "experiments/yokoyama2019/support/learning.hpp"
#include "experiments/yokoyama2019/support/spin_law.hpp"
#include "experiments/yokoyama2019/support/two_spins.hpp"
#include "experiments/yokoyama2019/support/units.hpp"
#include "verification/interface/experiments/made_trials.hpp"

namespace boltzmark::experiments {
namespace {

Layered random_rbm(int visible, int hidden, int s) {
  Stream stream(make_key(61), Purpose::test, static_cast<std::uint64_t>(s));
  const auto draw = [&stream](Eigen::Index rows, Eigen::Index columns) {
    Eigen::MatrixXd values(rows, columns);
    for (double& x : values.reshaped()) x = stream.normal();
    return values;
  };
  return {{{.unit = Unit::multivalued(1), .bias = draw(visible, 1), .sigma0 = {}},
           {.unit = unit_of_steps(s), .bias = draw(hidden, 1), .sigma0 = {}}},
          {draw(visible, hidden)}};
}

}  // namespace

TEST_CASE("w* of the two spins is REFERENCE's to 1e-9, and the likelihood there is the same") {
  const std::pair<int, double> published[] = {
      {1, 0.6584789485}, {2, 0.7833996185}, {4, 0.8940962071}, {0, 1.0886594925}};
  for (const auto& [s, w] : published) {
    const TwoSpins toy = two_spins(s);
    CHECK(std::abs(toy.maximum() - w) <= 1e-9);
    CHECK(std::abs(toy.alpha(toy.maximum()) - 0.6) <= 1e-14);
    CHECK(std::abs(toy.log_likelihood(toy.maximum()) - -1.1935496041) <= 1e-9);
    CHECK(std::abs(toy.gradient(toy.maximum())) <= 1e-14);
  }
}

// l'' by a central difference of l': truncation h^2 l''''/6 and rounding 1e-16/h, both below 1e-9.
TEST_CASE("the sharpness of the two spins' peak is the curvature of their likelihood") {
  for (const int s : {1, 2, 4, 7, 0}) {
    const TwoSpins toy = two_spins(s);
    const double w = toy.maximum(), h = 1e-5;
    const double curvature = (toy.gradient(w - h) - toy.gradient(w + h)) / (2 * h);
    CHECK(toy.sharpness() == Approx(curvature).epsilon(1e-8));
  }
}

TEST_CASE("the law of visible spins is the marginal of the enumerated joint law") {
  for (const int s : {1, 2, 3}) {
    const Layered model = random_rbm(4, 3, s);
    const StateSpace space(model);
    Eigen::VectorXd marginal = Eigen::VectorXd::Zero(16);
    for (std::size_t x = 0; x < space.states(); ++x) {
      Eigen::Index visible = 0;
      for (int i = 0; i < 4; ++i) visible |= Eigen::Index{space.value_index(i, x)} << i;
      marginal[visible] += std::exp(space.log_p()[static_cast<Eigen::Index>(x)]);
    }
    const Eigen::VectorXd law = log_spin_law(model);
    CHECK((law.array().exp().matrix() - marginal).cwiseAbs().maxCoeff() <= 1e-14);
  }
}

TEST_CASE("a task's cases are states of its law, and fewer cases are the first of more") {
  const LearningTask small = draw_task(1, 3, 50), large = draw_task(1, 3, 200);
  CHECK(small.log_law == large.log_law);
  CHECK(small.data == large.data.leftCols(50));
  CHECK(large.empirical.sum() == Approx(1).epsilon(1e-12));
  CHECK(std::exp(large.log_law.maxCoeff()) <= 1);
  CHECK(large.log_law.array().exp().sum() == Approx(1).epsilon(1e-12));
  CHECK_FALSE(draw_task(1, 4, 50).log_law == small.log_law);
  CHECK(divergence(large, large.log_law) == 0);
}

// sum (n - N p)^2 / (N p) over 255 degrees of freedom; 0.9999997 quantile 386: one false alarm in
// 3e6 over all seeds, and this seed is fixed.
TEST_CASE("a task's cases follow its law") {
  const int cases = 200000;
  const LearningTask task = draw_task(1, 0, cases);
  const Eigen::ArrayXd p = task.log_law.array().exp();
  REQUIRE(cases * p.minCoeff() > 5);
  CHECK((cases * (task.empirical.array() - p).square() / p).sum() < 386);
}

TEST_CASE("exact ascent ends where the gradient of the penalised likelihood is zero") {
  const LearningTask task = draw_task(1, 0, 100);
  for (const int s : {1, 3, 0}) {
    const double decay = 0.02;
    ExactAscent ascent(initial_learner(1, 0, 3, s), task, 0.003, decay);
    const auto objective = [&](const Layered& model) {
      return kTaskSpins * log_likelihood(task, log_spin_law(model)) -
             decay / 2 * model.weights(0).squaredNorm();
    };
    const double before = objective(ascent.model());
    ascent.advance(20000);
    const double after = objective(ascent.model());
    CHECK(after > before);
    // Adam ends within its last steps of the maximum; a forgotten penalty leaves slopes above 0.02.
    Stream stream(make_key(62), Purpose::test);
    for (int direction = 0; direction < 10; ++direction) {
      Parameters step = ascent.model().zero_parameters();
      for (double& w : step.weights[0].reshaped()) w = stream.normal();
      for (Eigen::VectorXd& biases : step.biases)
        for (double& b : biases) b = stream.normal();
      Layered ahead = ascent.model(), behind = ascent.model();
      ahead.add(step, 1e-5);
      behind.add(step, -1e-5);
      CHECK(std::abs(objective(ahead) - objective(behind)) / 2e-5 < 5e-3);
    }
  }
}

TEST_CASE("a regularised run is told at five penalties, of which the largest are 0.1 and 0.3") {
  const Json inputs = {{"question", "regularisation"}, {"repeat", 0}, {"s", 1}};
  const std::vector<double> decayed =
      numbers(made::run_trial("yokoyama2019/conjectures", inputs).outputs.at("decayed"));
  REQUIRE(decayed.size() == 5);
  const LearningTask task = draw_task(1, 0, 200);
  for (const auto& [found, decay] : {std::pair{decayed[3], 0.1}, {decayed[4], 0.3}}) {
    ExactAscent ascent(initial_learner(1, 0, kTaskHidden + 5, 1), task, 0.01, decay);
    ascent.advance(3000);
    CHECK(found == Approx(divergence(task, ascent.log_law())).epsilon(1e-9));
  }
}

TEST_CASE("every restart of a task has a start of its own") {
  const Json inputs = {{"question", "restarts"}, {"repeat", 0}, {"s", 1}, {"restarts", 3}};
  const std::vector<double> ends =
      numbers(made::run_trial("yokoyama2019/conjectures", inputs).outputs.at("log_likelihood"));
  CHECK(std::set<double>(ends.begin(), ends.end()).size() == 3);
}

TEST_CASE("the figures' learners share their initial weights whatever s") {
  const Layered spins = initial_learner(1, 2, 9, 1), continuous = initial_learner(1, 2, 9, 0);
  CHECK(spins.weights(0) == continuous.weights(0));
  CHECK(continuous.layer(1).unit == Unit::continuous());
  CHECK_FALSE(initial_learner(1, 3, 9, 1).weights(0) == spins.weights(0));
}

namespace {

/// Judges pairs whose differences are given against a promise of positive ones.
Measure compared(const std::vector<double>& differences) {
  return paired_measure("Y22", "", differences, std::vector<double>(differences.size(), 0.0), true,
                        "");
}
Verdict judged(const Measure& measure) {
  return judge({.name = "", .test = Test::greater, .threshold = 0}, 'D', measure);
}

}  // namespace

// The least p-value of n non-zero differences is 2^-n.
TEST_CASE("pairs decide only with five differences that are not zero") {
  for (const double d : {0.1, -0.1}) {
    for (int n = 0; n <= 4; ++n) {
      std::vector<double> differences(6, 0.0);
      for (int i = 0; i < n; ++i) differences[i] = d * (i + 1);
      const Measure measure = compared(differences);
      CAPTURE(n, d);
      CHECK(judged(measure) == Verdict::undecided);
      CHECK_FALSE(measure.decidable);
      CHECK(measure.power == 0);
      CHECK(measure.n == 6);
    }
    const Measure five = compared({d, 2 * d, 3 * d, 4 * d, 5 * d, 0});
    CHECK(judged(five) == (d > 0 ? Verdict::reproduced : Verdict::not_reproduced));
    CHECK(five.power > 0);
    CHECK((d > 0 ? five.p_value : five.p_opposite) == 1.0 / 32);
  }
}

// With 5 differences only W+ = 15 has p <= 0.05: the power is P(all above 0) = P(N(0.5, 1) > 0)^5 =
// 0.6915^5 = 0.158; 1,000 replicates have a standard deviation of 0.0115, four of which are
// allowed.
TEST_CASE("the power of few pairs is that of the signed-rank test") {
  CHECK(std::abs(compared({1, 2, 3, 4, 5}).power - 0.158) < 0.046);
  CHECK(compared(std::vector<double>(200, 1.0)).power > 0.999);
}

}  // namespace boltzmark::experiments

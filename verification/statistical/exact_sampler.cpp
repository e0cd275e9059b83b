#include "boltzmark/exact/exact_sampler.hpp"

#include <catch2/catch.hpp>

#include "boltzmark/core/error.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/exact/state_space.hpp"
#include "boltzmark/learn/initial.hpp"
#include "decide.hpp"

using namespace boltzmark;
using namespace boltzmark::verification;

namespace {

// Weights of standard deviation 2 make the law peaked; a lost bias moves its modes by far more.
const StatisticalTest kStates({.name = "exact: states of an exact sampler",
                               .false_alarm = 1e-9,
                               .deviation = 0.01});

constexpr int kDrawnVisible = 4, kDrawnHidden = 3;

Layered drawn_rbm() {
  Stream stream(make_key(5, "exact sampler"), Purpose::test);
  const auto normal = [&] { return 2 * stream.normal(); };
  const Eigen::MatrixXd weights = Eigen::MatrixXd::NullaryExpr(kDrawnVisible, kDrawnHidden, normal);
  const Eigen::VectorXd visible = Eigen::VectorXd::NullaryExpr(kDrawnVisible, normal);
  return Layered::rbm(weights, visible, Eigen::VectorXd::NullaryExpr(kDrawnHidden, normal));
}

/// The place of a state: visible unit i is bit i, the hidden units follow.
std::size_t place_of(const Eigen::VectorXf& visible, const Eigen::VectorXf& hidden) {
  std::size_t place = 0;
  for (int i = 0; i < kDrawnVisible; ++i) place |= static_cast<std::size_t>(visible[i]) << i;
  for (int j = 0; j < kDrawnHidden; ++j)
    place |= static_cast<std::size_t>(hidden[j]) << (kDrawnVisible + j);
  return place;
}

}  // namespace

TEST_CASE("an exact sampler draws every state as often as its probability says") {
  const Layered rbm = drawn_rbm();
  const ExactSampler sampler(rbm);
  const Eigen::VectorXd p = StateSpace(rbm).p();
  REQUIRE(p.maxCoeff() / p.minCoeff() > 40);
  const Decision decision =
      decide_frequencies(kStates, {p.data(), static_cast<std::size_t>(p.size())},
                         one_by_one<std::size_t>([&](Stream& stream) {
                           Eigen::VectorXf visible(kDrawnVisible), hidden(kDrawnHidden);
                           sampler.draw(stream, visible, hidden);
                           return place_of(visible, hidden);
                         }));
  INFO(decision.summary);
  CHECK(decision.holds);
}

TEST_CASE("an exact sampler knows log Z, and refuses what it cannot enumerate") {
  const Layered rbm = drawn_rbm();
  // Sums of 8 states of 4 units, each term good to 1e-15.
  CHECK(ExactSampler(rbm).log_z() == Approx(exact_log_z(rbm).log_z).epsilon(1e-13));
  // More visible units than have their logarithm taken together.
  const Layered wide = initial_rbm(600, 3, 0.5, make_key(4));
  CHECK(ExactSampler(wide).log_z() == Approx(exact_log_z(wide).log_z).epsilon(1e-13));
  const Eigen::VectorXd many = Eigen::VectorXd::Zero(25);
  CHECK_THROWS_AS(ExactSampler(Layered::rbm(Eigen::MatrixXd::Zero(1, 25), many.head(1), many)),
                  InvalidArgument);
}

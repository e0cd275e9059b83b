// Checks of exact likelihoods of deep models.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "boltzmark/exact/likelihood/split_marginal.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/subjects.hpp"
#include "verification/checks/worst.hpp"

namespace boltzmark {
namespace {

Layered draw_deep_model(Stream& stream, DrawModel draw) {
  for (;;) {
    Layered model = draw(stream);
    if (!model.is_rbm()) return model;
  }
}

// The largest relative difference over 20 cases; those that the product leaves to an enumeration
// of their own are counted, but not compared with it.
CaseOutcome product_case(Stream& stream, DrawModel draw, const DeepLogSums& find_sums) {
  constexpr int kCases = 20;
  const Layered model = draw_deep_model(stream, draw);
  const Eigen::MatrixXd data =
      draw_states(stream, model.layer(0).unit, model.size(0), kCases).cast<double>();
  const Eigen::VectorXd sums = find_sums(model, model.weights(0).transpose() * data);
  double worst = 0;
  int left = 0;
  for (int k = 0; k < kCases; ++k) {
    if (std::isnan(sums[k])) {
      ++left;
      continue;
    }
    const double alone = log_unnormalised(model, data.col(k));
    const double difference = std::abs(model.bias(0).dot(data.col(k)) + sums[k] - alone);
    worst = worse(worst, difference / std::max(1.0, std::abs(alone)));
  }
  return {worst, fmt::format("{}: {} of {} cases left to their own enumeration",
                             describe_case(model), left, kCases)};
}

}  // namespace

std::vector<Check> likelihood_checks(const DeepLogSums& find_sums) {
  const auto of = [&find_sums](DrawModel draw) {
    return [draw, find_sums](Stream& s) { return product_case(s, draw, find_sums); };
  };
  return {
      bounded_check(
          "dbm-likelihood", "likelihood",
          "log f(v) of deep models by one matrix product for all cases equals that case by case: "
          "difference relative to max(1, |log f|)",
          1e-10, of(draw_binary_model)),
      bounded_check("dbm-likelihood (discrete units)", "likelihood",
                    "so it is with multivalued units", 1e-10, of(draw_unit_model))};
}

std::vector<Check> likelihood_checks() {
  return likelihood_checks([](const Layered& model, const Eigen::MatrixXd& inputs) {
    return SplitMarginal(model).log_sums(inputs);
  });
}

}  // namespace boltzmark

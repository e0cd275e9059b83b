#include "verification/checks/check_tempered_cases.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "verification/checks/check_cases.hpp"

namespace boltzmark {
namespace {

Eigen::VectorXd draw_log_prior(Stream& stream, int rungs) {
  Eigen::VectorXd result = Eigen::VectorXd::Zero(rungs);
  if (stream.below(2) == 0)
    for (double& value : result) value = stream.uniform(-2, 2);
  return result.array() - log_sum_exp(result);
}

}  // namespace

TemperedChain TemperedCase::chain(States states, TemperedOptions options) const {
  options.log_prior = log_prior;
  options.log_z_hat = log_z_hat;
  return TemperedChain(space(states), std::move(options));
}

TemperedCase draw_tempered_case(Stream& stream, Layered model, int max_rungs) {
  const Ladder ladder = draw_ladder(stream, max_rungs);
  return draw_tempered_case(stream, std::move(model), ladder);
}

TemperedCase draw_tempered_case(Stream& stream, Layered model, const Ladder& ladder) {
  Base base = draw_base(stream, model);
  Eigen::VectorXd log_prior = draw_log_prior(stream, ladder.rungs());
  Eigen::VectorXd log_z_hat = TemperedSpace(model, base, ladder, States::joint).log_z();
  const double error = stream.below(2) == 0 ? 0 : 5;
  for (double& value : log_z_hat.tail(ladder.rungs() - 1)) value += error * stream.uniform(-1, 1);
  std::string detail = fmt::format("{}, {} rungs, Zhat {}", describe_case(model), ladder.rungs(),
                                   error == 0 ? "exact" : "off");
  return {std::move(model),     std::move(base),      ladder,
          std::move(log_prior), std::move(log_z_hat), std::move(detail)};
}

Ladder draw_ladder(Stream& stream, int max_rungs) {
  const int rungs = 2 + draw_below(stream, max_rungs - 1);
  switch (stream.below(3)) {
    case 0:
      return Ladder::linear(rungs);
    case 1:
      return Ladder::geometric(rungs);
    default:
      break;
  }
  // Steps of random size, none so small that single precision would join two rungs.
  std::vector<double> values(static_cast<std::size_t>(rungs), 0.0);
  for (std::size_t k = 1; k < values.size(); ++k)
    values[k] = values[k - 1] + stream.uniform(0.1, 1);
  for (double& value : values) value /= values.back();
  return Ladder(values);
}

States draw_states(Stream& stream) {
  return stream.below(2) == 0 ? States::joint : States::collapsed;
}

}  // namespace boltzmark

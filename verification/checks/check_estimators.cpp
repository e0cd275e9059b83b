// Checks of what is computed by enumerating one side against sums over every state.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/exact/state_space.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/laws/cd_gradient.hpp"
#include "verification/checks/worst.hpp"

namespace boltzmark {
namespace {

CaseOutcome log_z_case(Stream& stream, DrawModel draw) {
  const Layered model = draw(stream);
  const double all = StateSpace(model).log_z();
  return {std::abs(exact_log_z(model).log_z - all) / std::max(1.0, std::abs(all)),
          fmt::format("{}: log Z = {:.12g}", describe_case(model), all)};
}

CaseOutcome gradient_case(Stream& stream) {
  const Layered model = draw_generic_rbm(stream, 4, 3);
  Eigen::MatrixXf data(model.size(0), 3);
  for (float& value : data.reshaped()) value = static_cast<float>(stream.below(2));
  return {largest_difference(exact_gradient(model, Cases(data)), enumerated_gradient(model, data)),
          fmt::format("{}, {} of {} values 1", describe_case(model), (data.array() == 1).count(),
                      data.size())};
}

}  // namespace

std::vector<Check> estimator_checks() {
  return {
      bounded_check(
          "enumeration", "log_z",
          "log Z by enumerating one side equals the sum over all states: difference relative to "
          "max(1, |log Z|)",
          1e-12, [](Stream& s) { return log_z_case(s, draw_binary_model); }),
      bounded_check("enumeration (discrete units)", "log_z", "so it is with multivalued units",
                    1e-12, [](Stream& s) { return log_z_case(s, draw_unit_model); }),
      bounded_check("enumeration", "gradient",
                    "the gradient of an RBM by enumerating one side equals the one over all states",
                    1e-12, gradient_case)};
}

}  // namespace boltzmark

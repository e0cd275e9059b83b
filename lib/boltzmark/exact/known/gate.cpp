#include "boltzmark/exact/known/gate.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"
#include "boltzmark/exact/known/plain_rbm.hpp"

namespace boltzmark {
namespace {

constexpr double kGateWeight = 3;
// All units of a well on are as likely as all off, and the way between them is e^-10.
constexpr int kWellVisible = 12, kWellHidden = 6;
constexpr double kWellWeight = 1.2;

double well_log_z() {
  LogSum sum;
  double choices = 0;  // log of the hidden states with so many on
  for (int on = 0; on <= kWellHidden; ++on) {
    sum.add(choices - on * kWellWeight * kWellVisible / 2 +
            kWellVisible * softplus(kWellWeight * (on - kWellHidden / 2.0)));
    choices += std::log(kWellHidden - on) - std::log(on + 1);
  }
  return sum.log();
}

}  // namespace

KnownModel make_gate(const Gate& gate, Stream& draws) {
  if (gate.visible < 1 || gate.wells < 0)
    throw InvalidArgument(fmt::format("visible, wells = {}, {} (must be at least 1 and 0)",
                                      gate.visible, gate.wells));
  const int visible = gate.visible + kWellVisible * gate.wells,
            hidden = 1 + kWellHidden * gate.wells;
  const std::vector<int> rows = permutation(visible, draws), cols = permutation(hidden, draws);
  PlainRbm rbm{Eigen::MatrixXd::Zero(visible, hidden), Eigen::VectorXd::Zero(visible),
               Eigen::VectorXd::Zero(hidden)};
  for (int i = 0; i < gate.visible; ++i)
    rbm.weights(rows[static_cast<std::size_t>(i)], cols[0]) = kGateWeight;
  rbm.above[cols[0]] = gate.ahead + gate.visible * (std::log(2.0) - softplus(kGateWeight));
  for (int well = 0; well < gate.wells; ++well) {
    const int first_row = gate.visible + kWellVisible * well, first_col = 1 + kWellHidden * well;
    for (int i = 0; i < kWellVisible; ++i) {
      const int row = rows[static_cast<std::size_t>(first_row + i)];
      rbm.below[row] = -kWellWeight * kWellHidden / 2;
      for (int j = 0; j < kWellHidden; ++j)
        rbm.weights(row, cols[static_cast<std::size_t>(first_col + j)]) = kWellWeight;
    }
    for (int j = 0; j < kWellHidden; ++j)
      rbm.above[cols[static_cast<std::size_t>(first_col + j)]] = -kWellWeight * kWellVisible / 2;
  }
  const double log_z = gate.visible * std::log(2.0) + softplus(gate.ahead) +
                       gate.wells * well_log_z() - flip_half(rbm, draws);
  const KnownLogZ known{log_z, rounding_of(rbm, log_z),
                        "sums over both sides of the gate and over each well"};
  return {.model = Layered::rbm(std::move(rbm.weights), std::move(rbm.below), std::move(rbm.above)),
          .known = known};
}

}  // namespace boltzmark

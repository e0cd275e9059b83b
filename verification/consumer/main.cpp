// Computes log Z of a small RBM twice, by the library's enumeration of one side and by summing
// e^-E over every joint state here, and fails if the two differ. Writes the RBM to the file named.
#include <cmath>
#include <cstdio>

#include "boltzmark/boltzmark.hpp"

namespace {

/// Makes the state whose units are the bits of `index`, visible units first.
boltzmark::State state_of(const boltzmark::Layered& model, unsigned index) {
  boltzmark::State state;
  for (int layer = 0; layer < model.layers(); ++layer) {
    Eigen::VectorXd values(model.size(layer));
    for (int unit = 0; unit < values.size(); ++unit, index >>= 1U) values[unit] = index & 1U;
    state.push_back(values);
  }
  return state;
}

}  // namespace

int main(int count, char** arguments) {
  Eigen::MatrixXd weights(3, 2);
  weights << 0.5, -1.25, 2.0, 0.75, -0.5, 1.5;
  const auto model = boltzmark::Layered::rbm(weights, Eigen::Vector3d(0.25, -0.5, 1.0),
                                             Eigen::Vector2d(-0.75, 0.125));
  if (count > 1) boltzmark::write_model(model, arguments[1]);
  double sum = 0;
  for (unsigned index = 0; index < 1U << model.units(); ++index)
    sum += std::exp(-boltzmark::energy(model, state_of(model, index)));
  const double log_z = boltzmark::exact_log_z(model).log_z;
  std::printf("log Z = %.15g by enumeration, %.15g by brute force\n", log_z, std::log(sum));
  // 32 terms, each right to a few ulp of a sum of magnitude below 8.
  return std::abs(log_z - std::log(sum)) < 1e-12 ? 0 : 1;
}

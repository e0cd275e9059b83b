#include "boltzmark/learn/initial.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {
namespace {

template <class Array>
void draw_normals(Array& values, double sd, Stream& stream) {
  for (Eigen::Index i = 0; i < values.size(); ++i) values.data()[i] = sd * stream.normal();
}

}  // namespace

Layered initial_rbm(int visible, int hidden, double sd, StreamKey key, RbmUnits units) {
  if (visible < 1) throw InvalidArgument(fmt::format("visible = {} (must be positive)", visible));
  if (hidden < 1) throw InvalidArgument(fmt::format("hidden = {} (must be positive)", hidden));
  if (!(sd >= 0 && std::isfinite(sd)))
    throw InvalidArgument(fmt::format("sd = {} (must be finite and not negative)", sd));
  Stream stream(key, Purpose::initial_weights);
  Eigen::MatrixXd weights(visible, hidden);
  Eigen::VectorXd visible_bias(visible), hidden_bias(hidden);
  draw_normals(weights, sd, stream);
  draw_normals(visible_bias, sd, stream);
  draw_normals(hidden_bias, sd, stream);
  return Layered({{.unit = units.visible, .bias = std::move(visible_bias), .sigma0 = {}},
                  {.unit = units.hidden, .bias = std::move(hidden_bias), .sigma0 = {}}},
                 {std::move(weights)});
}

}  // namespace boltzmark

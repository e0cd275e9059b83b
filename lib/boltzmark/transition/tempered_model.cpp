#include "boltzmark/transition/tempered_model.hpp"

#include <fmt/format.h>

#include <utility>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

double inverse_scale(const Layered& model, int layer) {
  return 1 / static_cast<double>(model.layer(layer).unit.state_scale());
}

std::vector<Eigen::VectorXd> gains_of(const Layered& model, const Base& base) {
  std::vector<Eigen::VectorXd> gains;
  for (int l = 0; l < model.layers(); ++l)
    gains.emplace_back((model.bias(l) - base.logits[l]) * inverse_scale(model, l));
  return gains;
}

std::vector<Eigen::VectorXd> stored_logits_of(const Layered& model, const Base& base) {
  std::vector<Eigen::VectorXd> logits;
  for (int l = 0; l < model.layers(); ++l)
    logits.emplace_back(base.logits[l] * inverse_scale(model, l));
  return logits;
}

int checked_side(int side) {
  if (side != 0 && side != 1)
    throw InvalidArgument(fmt::format("summed_side = {} (must be 0, even, or 1, odd)", side));
  return side;
}

}  // namespace

TemperedModel::TemperedModel(Layered layered, Base p1, const Packing& packing, int summed_side)
    : model(std::move(layered)),
      base(std::move(p1)),
      packed(model, base, packing),
      summed(checked_side(summed_side)),
      gains(gains_of(model, base)),
      stored_logits(stored_logits_of(model, base)) {}

}  // namespace boltzmark

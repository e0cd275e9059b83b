#include "boltzmark/transition/tempered_model.hpp"

#include <fmt/format.h>

#include <utility>

#include "boltzmark/core/error.hpp"

namespace boltzmark {

TemperedModel::TemperedModel(Layered layered, Base p1, const Packing& packing, int summed_side)
    : model(std::move(layered)),
      base(std::move(p1)),
      packed(model, base, packing),
      summed(summed_side) {
  if (summed != 0 && summed != 1)
    throw InvalidArgument(fmt::format("summed_side = {} (must be 0, even, or 1, odd)", summed));
  for (int l = 0; l < model.layers(); ++l) {
    const double inverse_scale = 1 / static_cast<double>(model.layer(l).unit.state_scale());
    gains.emplace_back((model.bias(l) - base.logits[l]) * inverse_scale);
    stored_logits.emplace_back(base.logits[l] * inverse_scale);
  }
}

}  // namespace boltzmark

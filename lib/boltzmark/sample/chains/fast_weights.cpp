#include "boltzmark/sample/chains/fast_weights.hpp"

#include <fmt/format.h>

#include <cmath>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

double checked_rate(double rate) {
  if (!(rate >= 0 && std::isfinite(rate)))
    throw InvalidArgument(fmt::format("fast_rate = {} (must be finite and not negative)", rate));
  return rate;
}

double checked_decay(double decay) {
  if (!(decay >= 0 && decay <= 1))
    throw InvalidArgument(fmt::format("fast_decay = {} (must be from 0 to 1)", decay));
  return decay;
}

}  // namespace

FastWeights::FastWeights(const SamplerSetup& setup, double rate, double decay)
    : packed_(setup.model, setup.packing),
      sum_(setup.model),
      fast_(setup.model.zero_parameters()),
      chains_(setup),
      rate_(checked_rate(rate)),
      decay_(checked_decay(decay)) {}

void FastWeights::set_model(const Layered& model) {
  packed_.update(model);
  sum_ = model;
  sum_.add(fast_, 1);
  chains_.set_model(sum_);
}

void FastWeights::follow(const Parameters& gradient) { combine(decay_, fast_, rate_, gradient); }

void FastWeights::save(CheckpointWriter& out) const {
  write_parameters(fast_, out);
  chains_.save(out);
}

void FastWeights::restore(CheckpointReader& in) {
  read_parameters(fast_, in);
  chains_.restore(in);
}

}  // namespace boltzmark

#pragma once

#include <functional>

#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/kit/experiment.hpp"

namespace boltzmark::experiments {

/// RBMs of as many visible as hidden units, weights uniform on (-c, c), the biases too or zero.
struct SquareRbms {
  int units;
  double c;
  bool with_biases = false;
  int first = 0;  ///< number of the first one: it counts the streams
  int count;
};

/// Draws the RBMs, each from a stream of its own, which body may draw from further.
/// Reports the share done as the trial's progress.
void for_each_rbm(const SquareRbms& rbms, StreamKey key, const TrialContext& context,
                  const std::function<void(const Layered&, Stream&)>& body);

}  // namespace boltzmark::experiments

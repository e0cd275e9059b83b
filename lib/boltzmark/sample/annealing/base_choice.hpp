#pragma once

#include <cstddef>
#include <span>

#include "boltzmark/model/base.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/key.hpp"

namespace boltzmark {

/// The short annealing that bases are judged by.
struct BaseChoice {
  int chains = 64;
  int sweeps = 200;  ///< and as many equal steps of b
  StreamKey key = {};
  int summed_side = 1;  ///< the parity of the layers that are summed out
};

/// Chooses the base from which short annealed importance sampling has the greatest mean log weight.
///   E[log w] <= log Z, and what it lacks is the work that annealing wastes, in nats: the relative
///   entropy of its paths to those of annealing downwards from the model       [Neal 2001; Crooks 1998]
/// The earliest of equal ones. The choice is made before a run's first draw and by draws of its own,
/// so that what the run is unbiased for stays so.
/// Randomness  choice.key, the same draws for every base
/// Throws      InvalidArgument if there is no base, shapes differ or a layer is Gaussian
/// Cost        chains * sweeps sweeps of one chain for every base
std::size_t choose_base(const Layered& model, std::span<const Base> bases,
                        const BaseChoice& choice);

}  // namespace boltzmark

#pragma once

#include "boltzmark/sample/estimate.hpp"
#include "boltzmark/sample/sample_store.hpp"

namespace boltzmark {

/// By which law of a rung given a state stored samples are read.
enum class StoredLaw {
  drawn,  ///< by log_prior and log_z_hat, by which rungs were drawn: (7) of carlson2016
  mbar    ///< by the rungs' shares of the samples and MBAR's log Z, whatever those two are
};

/// Refuses the estimate of stored samples whose parts do not belong together: rungs in another order, D of
/// another base or scale, another ladder, or weights that rungs were not drawn by. An estimate of the samples
/// alone says ok of such all the same, far off and with a small error. In equilibrium
///   E[1{rung = k} (D - m)^i] = E[q(b_k | x) (D - m)^i],   i = 0, 1,
/// of every rung, m its mean of D, and of the mean rung; both sides are of the same samples, and the error is that
/// of groups of sweeps of a chain or bundle, of eight or more, or of rungs drawn one by one if that is more. A constant in D is no matter of the samples: p_1 must
/// be normalised.
///   A false refusal of right samples: 10^-7 a comparison (Student's t of as many groups)
/// Status  not_converged     Throws  InvalidArgument as sum_by_rung
/// Cost    samples x rungs exponentials; by MBAR also as mbar
void hold_to_rungs(const SampleStore& store, StoredLaw law, Estimate& estimate);

}  // namespace boltzmark

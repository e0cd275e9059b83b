#pragma once

/// The public face of the library: what a user includes. What this file does not reach is not
/// installed. `lib/README.md` has the map of the layers and a glossary.

// Models: layered networks of any units, and the base that tempering starts from.
#include "boltzmark/model/base.hpp"
#include "boltzmark/model/discriminative.hpp"
#include "boltzmark/model/layered.hpp"

// Files: models and cases.
#include "boltzmark/io/dataset.hpp"
#include "boltzmark/io/model_file.hpp"

// Moving chains: update rules, block sweeps, what they are moved on.
#include "boltzmark/target/continuous.hpp"
#include "boltzmark/target/continuous_target.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "boltzmark/transition/log_density.hpp"
#include "boltzmark/transition/rule.hpp"
#include "boltzmark/transition/sweep.hpp"

// Moving them over a ladder of inverse temperatures.
#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/sample/tempering/parallel_tempering.hpp"
#include "boltzmark/sample/tempering/simulated_tempering.hpp"
#include "boltzmark/sample/tempering/tracked_tempering.hpp"

// Training.
#include "boltzmark/learn/cases/standardisation.hpp"
#include "boltzmark/learn/classes/discriminative.hpp"
#include "boltzmark/learn/phases/mean_field.hpp"
#include "boltzmark/learn/pretraining.hpp"
#include "boltzmark/learn/trainer.hpp"

// log Z by sampling: every method by its name, from a model or from a sample store; log f of a case.
// estimate_held is what `boltzmark estimate --sweeps N` does.
#include "boltzmark/estimate/closing.hpp"
#include "boltzmark/estimate/estimators/rts.hpp"
#include "boltzmark/estimate/held/attempts.hpp"
#include "boltzmark/estimate/held/case_likelihood.hpp"
#include "boltzmark/estimate/held/held_estimate.hpp"
#include "boltzmark/estimate/held/log_z_tracker.hpp"
#include "boltzmark/estimate/methods.hpp"

// What enumeration makes exact.
#include "boltzmark/exact/exact_sampler.hpp"
#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/exact/modes/lower_bound.hpp"
#include "boltzmark/exact/modes/modes.hpp"
#include "boltzmark/exact/spectrum/spectrum.hpp"

// Diagnostics of Markov chains.
#include "boltzmark/diagnose/autocorrelation_time.hpp"

// How many threads take part.
#include "boltzmark/core/parallel.hpp"

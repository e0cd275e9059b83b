#pragma once

#include <string>

#include "experiments/kit/results.hpp"

namespace boltzmark::experiments {

/// Trains a deep model on MNIST, grey levels drawn afresh for each minibatch, by the settings of
/// salakhutdinov2010, Sec. 8: batches of 100, five updates of mean field, rate 0.005 falling as
/// 10 / (2,000 + t). Estimates mean field's bound as it goes, with log Z by AIS.
/// All negative phases of a seed share start, minibatches and drawn images.
///   inputs   layers, as 784-100-200; negative, with its options; seed; updates; record, updates
///            between records; epochs of pretraining, or start, the name of a committed model;
///            temperatures, of the AIS of a record; last {cases, temperatures}, of the test bound at
///            the end
///   outputs  train, test [records from update 0], mean bounds of the same images; log_z, log_z_error
///            [records]; overlap_time, the autocorrelation time in updates of the last fifth's negative
///            states; last {bound, cases_error, log_z, log_z_error}; diverged_at if training left
///            the finite numbers
/// Goes on from the state that an interrupted trial kept, to the same bytes.
Json train_by_bound(const Json& inputs, const TrialContext& context);

}  // namespace boltzmark::experiments

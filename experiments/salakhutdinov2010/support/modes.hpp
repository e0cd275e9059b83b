#pragma once

#include <string>
#include <vector>

#include "experiments/kit/results.hpp"

namespace boltzmark::experiments {

/// A network that is trained on Artificial Modes, and how.
struct ModesNetwork {
  const char* name;   ///< in the trials' inputs
  const char* title;  ///< in tables and figures
  std::vector<int> sizes;
  int batch;
  double rate;
  double rate_decay;  ///< update t, from 0, is made at rate rate_decay / (rate_decay + t); 0: stays
  int updates;
  int record;  ///< updates from one exact likelihood to the next
};

/// Lists the networks: the RBM of Desjardins et al. 2010, and a deep one.
const std::vector<ModesNetwork>& modes_networks();
const ModesNetwork& find_network(const std::string& name);

/// Trains a network on Artificial Modes, or another data set of 16 units, by minibatches of its size or of
/// all cases if they are fewer, and computes the exact log-likelihood of the training cases
/// as it goes. Initial weights and minibatches of a seed are the same for every negative phase.
///   inputs   network, data, negative, seed, updates
///   outputs  log_likelihood, from update 0 on; overlap_time, autocorrelation time in updates of the
///   last fifth's negative states, by their overlap with a mode of Artificial Modes; and diverged_at if training left the finite numbers
Json train_on_modes(const Json& inputs, const TrialContext& context);

/// Computes the likelihood that no model can exceed: that of the cases under their own shares.
double modes_ceiling(const std::string& data);

}  // namespace boltzmark::experiments

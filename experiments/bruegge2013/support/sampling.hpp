#pragma once

#include <string>
#include <vector>

#include "boltzmark/model/layered.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/statistics/interval.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// A family of trained RBMs under datasets/models/bruegge2013, by its folder there.
struct ModelSet {
  const char* folder;  ///< "bas-pt"
  const char* title;   ///< as Table 2 names the problem
  int models;          ///< how many are committed
};
inline constexpr ModelSet kTable2Sets[] = {{"bas-pt", "Bars and Stripes", 25},
                                           {"modes-0.1-pt", "Artificial Modes 0.1", 25},
                                           {"modes-0.01-pt", "Artificial Modes 0.01", 25},
                                           {"mnist-10-pt", "MNIST 10", 3},
                                           {"mnist-500-pt", "MNIST 500", 4}};
inline constexpr ModelSet kClassSets[] = {{"modes-0.1-cd", "p_mut 0.1", 25},
                                          {"modes-0.01-cd", "p_mut 0.01", 25}};

/// Names a model's file relative to datasets/.
std::string model_file(const std::string& folder, int index);
/// Lists the files of a set, for Experiment::data.
std::vector<std::string> model_files(std::span<const ModelSet> sets);
/// Reads a committed model.  Throws  DataError if it is in none of data_folders()
Layered read_committed_model(const std::string& folder, int index);

/// How long one RBM is sampled: `chains` chains side by side, `steps` recorded sweeps of each.
struct SamplingLength {
  int chains = 16;
  int steps = 62500;
  int burn_in = 1000;
};

/// Samples a committed RBM with G and T and estimates autocorrelations of the joint energy.
///   inputs   set, model, chains, steps, burn_in, lags
///   outputs  per rule: acf [lags + 1], tau and std_error (Geyer), tau_batch, tau_ar, order,
///            order_at_maximum, decided, status
Json run_autocorrelation(const Json& inputs, const TrialContext& context);

/// Tells what one costs, relative to others: sweeps, by the model's weights.
double autocorrelation_cost(const Json& inputs);

/// Makes the inputs of run_autocorrelation.
Json autocorrelation_trial(const ModelSet& set, int model, const SamplingLength& length, int lags);

}  // namespace boltzmark::experiments

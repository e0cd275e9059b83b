#pragma once

#include <span>
#include <string>
#include <vector>

#include "boltzmark/model/layered.hpp"
#include "experiments/bruegge2013/support/training.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/statistics/interval.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// A family of trained RBMs under datasets/models/bruegge2013, by its folder there.
struct ModelSet {
  const char* folder;  ///< "bas-pt"
  const char* title;   ///< as the paper's tables name the problem
  int models;          ///< how many are committed
};
inline constexpr ModelSet kClassSets[] = {{"modes-0.1-cd", "p_mut 0.1", 25},
                                          {"modes-0.01-cd", "p_mut 0.01", 25}};

/// A problem of Table 2: the RBMs that the paper samples, and what is committed in their place.
struct SampledProblem {
  ModelSet committed;    ///< fewer RBMs, of fewer updates
  const char* training;  ///< of these: "20-PT10, 10000 updates"
  TrainedRbm recipe;     ///< the paper's, trained inside a trial
  int rbms = 25;         ///< of the recipe
  const char* title() const { return committed.title; }
};
/// Lists them in the order of the table; the last is MNIST with 500 hidden units.
const std::vector<SampledProblem>& sampled_problems();

/// Returns the trials of a problem's RBMs: those of its recipe, or, where none was run, of the
/// committed ones.
std::vector<const Trial*> find_rbms(const Results& results, const SampledProblem& problem);
/// Tells whether a trial trained its RBM.
bool is_trained(const Trial& trial);

/// Names a model's file relative to datasets/.
std::string model_file(const std::string& folder, int index);
/// Lists the files of sets, for Experiment::data.
std::vector<std::string> model_files(std::span<const ModelSet> sets);
/// Reads a committed model.  Throws  DataError if it is in none of data_folders()
Layered read_committed_model(const std::string& folder, int index);

/// How long one RBM is sampled: `chains` chains side by side, `steps` recorded sweeps of each.
struct SamplingLength {
  int chains = 16;
  int steps = 62500;
  int burn_in = 1000;
};

/// Trains an RBM or reads a committed one, samples it with G and T and estimates autocorrelations of the joint energy.
///   inputs   set, or data, hidden, negative, rate, updates; model, chains, steps, burn_in, lags
///   outputs  per rule: acf [lags + 1], tau and std_error (Geyer), tau_batch, tau_ar, order,
///            order_at_maximum, decided, status; of a trained one its weights' root mean square
Json run_autocorrelation(const Json& inputs, const TrialContext& context);

/// Tells what one costs, relative to others: sweeps, by the model's weights.
double autocorrelation_cost(const Json& inputs);

/// A recipe as part of a trial's inputs.
Json recipe_inputs(const TrainedRbm& recipe);
/// Makes the inputs of run_autocorrelation: of a committed RBM, and of one to be trained.
Json autocorrelation_trial(const ModelSet& set, int model, const SamplingLength& length, int lags);
Json autocorrelation_trial(const TrainedRbm& recipe, int model, const SamplingLength& length,
                           int lags);

}  // namespace boltzmark::experiments

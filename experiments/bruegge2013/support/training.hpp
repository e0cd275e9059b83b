#pragma once

#include <string>
#include <vector>

#include "boltzmark/model/layered.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/statistics/interval.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// One setting of the learning experiments of Sec. 4.2.
struct TrainingSetting {
  std::string data;      ///< "bas", "artificial-modes-0.1", "artificial-modes-0.01", "mnist"
  std::string negative;  ///< "cd:5", "pcd:10", "pt:10:1" (10 temperatures, k = 1)
  double rate = 0.05;
  int repeats = 25;
  int updates = 20000;
};

inline constexpr int kRecordEvery = 100;  ///< updates between two log-likelihoods (Sec. 4.2)
inline constexpr double kRates[] = {0.01, 0.05, 0.1};

/// Lists two trials, G and T, for each repeat of a setting.
void add_training_trials(const TrainingSetting& setting, std::vector<Json>& trials);

/// Tells about how many seconds one takes.
double training_cost(const Json& inputs);

/// Trains one RBM and records its exact mean log-likelihood: a trial of add_training_trials.
///   16 hidden units (MNIST: 10), weights and biases ~ N(0, 0.01^2), minibatches of 100 (Bars and
///   Stripes: batch learning). Both operators of a repeat share initial weights and minibatches.
/// Outputs  log_likelihood [1 + updates / 100], nats per image; diverged_at if learning overflowed
Json run_training(const Json& inputs, const TrialContext& context);

/// How an RBM is trained whose chains are looked at afterwards (Sec. 4.3).
struct TrainedRbm {
  std::string data;                   ///< as TrainingSetting::data
  int hidden = 16;                    ///< units
  std::string negative = "pt:20:10";  ///< 20-PT10
  double rate = 0.05;                 ///< ours: the paper names none
  int updates = 20000;
};

/// Trains one inside a trial, by Gibbs sampling; start and minibatches as in run_training. A stopped
/// trial goes on where it was.
///   share: of the trial, as its progress shows it
/// Randomness  the experiment's key of the recipe and the index, whatever is done with the RBM
Layered train_rbm(const TrainedRbm& recipe, int index, const TrialContext& context, double share);

/// The log-likelihood curves of one setting, paired by repeat.
struct PairedCurves {
  std::vector<std::vector<double>> gibbs, flip;  ///< [pairs][checkpoints]
  std::size_t pairs() const { return gibbs.size(); }
};
PairedCurves collect_pairs(const Results& results, const std::string& data,
                           const std::string& negative, double rate);

/// How the operators compare in one setting: Wilcoxon's signed-rank test on maxima.
struct MaximumComparison {
  double gibbs = 0, flip = 0;  ///< medians over pairs of the maximum log-likelihood
  double p = 1;                ///< two-sided
  int sign = 0;  ///< 1: T significantly better, -1: worse: p < 0.05, and its median on that side
};
MaximumComparison compare_maxima(const PairedCurves& curves);

/// The mean over images of the log of the empirical law: no model's log-likelihood exceeds it.
double data_ceiling(const std::string& data);

/// Adds the measure of B27: by how much the highest log-likelihood of any run and checkpoint exceeds its own data's
/// ceiling; none where nothing was run.
void add_ceiling_measure(const Results& results, Summary& summary);

/// A table of settings: a row each, medians of maxima with a star where they differ.
struct SettingsGrid {
  std::vector<std::string> data;
  std::vector<std::string> negatives;
};
/// Adds the table, and returns the sign of each setting that was run.
std::vector<int> add_maxima_table(const Results& results, const SettingsGrid& grid,
                                  const std::string& name, const std::string& caption,
                                  Summary& summary);

/// Adds the measure "T significantly better in most settings": (better - worse) / settings of the
/// whole grid, between the values that it takes if every setting that was not run is worse, or
/// better.
void add_majority_measure(const std::string& claim, const std::vector<int>& signs,
                          std::size_t settings, Summary& summary);

/// Adds the measures of B26, over the pairs of the settings of a grid where learning with G diverges: the median
/// drop from a run's maximum to its end exceeds 0.1 nats. Counting pairs keeps the scales of the data sets apart; the
/// interval is that over pairs, or that over settings where it is the wider one.
///   where: appended to the names of the parts
void add_divergence_measures(const Results& results, const SettingsGrid& grid,
                             const std::string& where, Summary& summary);

/// Writes a negative phase as the paper does: "CD-5", "PCD-10", "10-PT1".
std::string negative_title(const std::string& negative);
/// Writes a data set as the paper does.
std::string data_title(const std::string& data);

}  // namespace boltzmark::experiments

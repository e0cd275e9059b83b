#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "boltzmark/model/layered.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

inline constexpr int kTaskSpins = 8;
inline constexpr int kTaskHidden = 4;  ///< of the generating RBM
inline constexpr int kLearningUpdates = 5000;
inline constexpr int kRecordUpdates = 100;

/// One learning task of the paper: a random binary RBM and cases drawn from it.
///   weights uniform within Xavier's bound, biases ~ N(0, 0.1^2)         [yokoyama2019, Sec. 2.2]
struct LearningTask {
  Eigen::VectorXd log_law;    ///< of the generating RBM, over spin_states(8)
  Eigen::VectorXd empirical;  ///< shares of the cases, likewise
  Eigen::MatrixXf data;       ///< [8 x cases]
};

/// Draws a task: the law's cases are exact draws. The first cases of a longer task are the same.
LearningTask draw_task(std::uint64_t seed, int repeat, int cases);

/// Draws the initial trained RBM, the same numbers for every s.
Layered initial_learner(std::uint64_t seed, int repeat, int hidden, int s);

/// Computes the Kullback-Leibler divergence of a law from the task's, over |V|.  Units  nats
/// [Eq. 16]
double divergence(const LearningTask& task, const Eigen::VectorXd& log_law);
/// Computes the mean log-likelihood of the task's cases, over |V|.  Units  nats       [Eq. 10]
double log_likelihood(const LearningTask& task, const Eigen::VectorXd& log_law);

/// Makes the inputs of a trial: RBMs with 4 + extra hidden units of each s, trained on one task.
Json learning_trial(int extra, int repeat, int cases, const std::vector<int>& steps);

/// Trains them by CD-1, full batch, Adam, recording every 100 of 5,000 updates.
/// Outputs  for each s: kld, log_likelihood
Json run_learning(const Json& inputs, const TrialContext& context);

/// The curves of one measure.  Shapes  [repeats][records]
std::vector<std::vector<double>> learning_curves(const Results& results, const Json& filter, int s,
                                                 const char* measure);

/// Draws a measure against the updates, a panel for each R, mean curves with 95 % bands.
Figure learning_figure(const Results& results, const char* measure, const std::string& label);

}  // namespace boltzmark::experiments

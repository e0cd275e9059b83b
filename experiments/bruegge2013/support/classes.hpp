#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "boltzmark/model/layered.hpp"
#include "boltzmark/transition/rule.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/statistics/class_changes.hpp"
#include "experiments/kit/statistics/interval.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// Follows the class (nearest mode) of one chain per column of `start` for at most `steps` sweeps.
/// The first hidden states are drawn by Gibbs sampling given the visible ones.
/// Shapes  start [visible x chains]; until_all_changed stops once every chain has changed class
std::vector<ClassChanges> follow_classes(const Layered& model, const Rule& rule,
                                         const Eigen::MatrixXf& start, int steps,
                                         bool until_all_changed, const TrialContext& context);

/// Subtracts pair by pair.  Throws  InvalidArgument if sizes differ
std::vector<double> subtract(const std::vector<double>& first, const std::vector<double>& second);

/// Why class changes may differ from the paper's.
inline constexpr const char* kTrainingReason =
    "the learning rate of the paper's training is not stated, and with it how far apart the RBMs "
    "keep the modes";

/// "gibbs" -> "G", "flip" -> "T".
std::string operator_title(const std::string& rule);

}  // namespace boltzmark::experiments

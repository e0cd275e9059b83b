#pragma once

#include <string>
#include <vector>

#include "boltzmark/target/layered_target.hpp"

namespace boltzmark::experiments {

/// The RBMs of carlson2016: "cd25" (784-500), "mnist-100", "mnist-200", "mnist-10", and those of
/// our own that can be enumerated, "mnist-20", "mnist-25" and "mnist-20-peaked". "cd25" is the
/// published one if BOLTZMARK_DATA holds it, and otherwise our own.
Layered load_carlson_model(const std::string& name);

/// Tells whether a trial of "cd25" would run on the published RBM. What has run is told by its
/// inputs, whatever folders there are now: see ran_on_published_cd25().
bool has_published_cd25();
inline constexpr const char* kPublishedCd25File = "mnistvh_CD25.mat";
/// Its log Z, read off Fig. 3 a.
inline constexpr double kPublishedCd25LogZ = 451.255;

/// Names the model's file as a trial's inputs do, so that the published RBM and our own never share
/// a trial: "mnistvh_CD25.mat" or "cd25-500.npz".
std::string carlson_model_file(const std::string& name);

/// Files that the experiments read, relative to datasets/.
std::vector<std::string> carlson_data(const std::vector<std::string>& names);

/// Makes the base: "uniform", or "rates", the smoothed rates of the 60,000 training images.
///   cd25: p_i = (n_i + 5 B) / (N + 5 B), B = 600 [Salakhutdinov and Murray 2008]; others
///   (n_i + 5 B) / (N + 10 B); "grey", the means of the grey levels (Fig. 1)
Base carlson_base(const std::string& model, const std::string& base);

/// Tells what a sweep of 100 chains costs, relative to other models: drawing the 784 visible units
/// takes as long as 60 hidden ones, as timed.
double sweep_cost(const std::string& model);

/// Returns a model with its base as samplers and estimators see it. Made once in a process: reading
/// the images for the rates takes longer than many a trial.
const LayeredTarget& carlson_target(const std::string& model, const std::string& base);

/// Computes log Z of a model that can be enumerated, once in a process.
double exact_carlson_log_z(const std::string& model);
/// Computes log Z_k of every rung, p1 normalised, by enumeration.  Shapes  [rungs]
Eigen::VectorXd exact_log_z_of_rungs(const LayeredTarget& target, const Ladder& ladder);

/// Makes the paper's first guess, Zhat_k = 1 for all k. Its p1 is not normalised; with ours
///   log Zhat_k - log Zhat_1 = b_k log Z_1                              [carlson2016, Sec. 2.4]
/// Shapes  [rungs]
Eigen::VectorXd unit_log_z_hat(const LayeredTarget& target, const Ladder& ladder);

}  // namespace boltzmark::experiments

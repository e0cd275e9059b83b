#pragma once

#include <Eigen/Core>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "boltzmark/model/layered.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// Tells the classes of visible states.  Shapes  [visible x samples] to [samples]
using Classify = std::function<std::vector<int>(const Eigen::Ref<const Eigen::MatrixXf>&)>;

/// How a model is sampled.
struct ImageSampling {
  std::string model;  ///< of datasets/models/salakhutdinov2010
  int chains, burn_in, steps, images;
  int temperatures;  ///< inverse ones, uniform from 1 to 0.9
  int factor = 10;   ///< of adaptive weights
};
/// The inputs of a trial that samples so.
Json inputs_of(const ImageSampling& sampling);

/// Samples a model by Gibbs sampling and by adaptive simulated tempering side by side, chain by
/// chain from the same uniformly random state.                  [salakhutdinov2010, Sec. 8, Fig. 4]
///   inputs   chains (of each), temperatures, lowest, factor, burn_in, steps between images, images
///   outputs  classes {gibbs, st} [chains][images], of adaptive tempering those of the last state at
///            b = 1; shown {gibbs, st} [kShownChains][images], visible states as texts of 0 and 1;
///            path, the levels of the first tempered chain after burn-in, 1 at b = 1; levels [chains]
///            that it visits in kPathSteps steps; trips and expected_trips [chains], round trips
///            after burn-in and those of a walk with the same acceptance; acceptance
///            [temperatures - 1], of neighbours, from the lowest b
Json sample_images(const Layered& model, const Json& inputs, const Classify& classify,
                   const TrialContext& context);

/// How many chains of either kind are drawn, and how many steps of the path.
inline constexpr int kShownChains = 3, kPathSteps = 1000;

/// Computes the class changes per pair of successive images of every chain, ties dropped; NaN where
/// fewer than two images have a class.
std::vector<double> change_shares(const Json& classes);

/// Tells how dark the pixels of a kept state are, from 0 to 1.  Shapes  result [rows * cols]
using Picture = std::function<std::vector<float>(const std::string& bits)>;
/// The picture of visible units that are pixels: black where they are on.
std::vector<float> black_where_on(const std::string& bits);

/// How the images that sample_images kept are drawn.
struct ImagePage {
  int rows, cols;  ///< of an image, in pixels
  Picture picture = black_where_on;
  int levels = 2;                                ///< of darkness that are told apart
  int images = std::numeric_limits<int>::max();  ///< of each chain, at most
};

/// Adds the images, a row a chain, as a figure.
void add_images(const Json& outputs, const ImagePage& page, const std::string& caption,
                Summary& summary);

/// Computes how often independent states would change class: 1 - sum_c p_c^2, of the shares p_c of the
/// classes in all images, ties dropped; NaN where no image has a class.
double independent_change_share(const Json& classes);

/// Adds two measures of the change shares, means over chains: "the difference", adaptive tempering less
/// Gibbs, and "Gibbs hardly mixes", those of Gibbs over the share of states as independent as the images of
/// adaptive tempering are in all.
void add_change_measures(const std::string& claim, const Json& outputs, Summary& summary);

}  // namespace boltzmark::experiments

#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "boltzmark/core/checkpoint.hpp"
#include "boltzmark/model/layered.hpp"

namespace boltzmark {

/// How a trainer turns a gradient into a step.
///   sgd     rate u,  u <- momentum u + g from 0
///   adam    rate m' / (sqrt(v') + epsilon)
///   adamax  rate m' / u,  u <- max(scale_decay u, |g|); 0 where no gradient was ever other than 0
///   rmsspectral  as start_rms_spectral says
/// with m <- mean_decay m + (1 - mean_decay) g, v <- scale_decay v + (1 - scale_decay) g*g from 0,
/// and m', v' corrected for that start, by 1 - decay^t              [Kingma & Ba 2015, Algs. 1, 2]
/// Update t, from 0, is made at rate rate_decay / (rate_decay + t)  [salakhutdinov2010, Sec. 2.2, 8]
struct Optimiser {
  enum class Kind { sgd, adam, adamax, rms_spectral };
  Kind kind = Kind::sgd;
  double mean_decay = 0.9;     ///< the paper's beta_1
  double scale_decay = 0.999;  ///< beta_2
  double epsilon = 1e-8;       ///< adam and rmsspectral only
  double momentum = 0;         ///< sgd only
  double rate_decay = 0;       ///< 0: the rate stays

  static Optimiser sgd() { return {}; }
  static Optimiser adam() { return {.kind = Kind::adam}; }
  static Optimiser adamax() { return {.kind = Kind::adamax}; }
  static Optimiser rms_spectral() { return {.kind = Kind::rms_spectral, .scale_decay = 0.99}; }

  /// Names it as the command line does: sgd, adam, adamax, rmsspectral.
  std::string_view name() const;
  /// Returns the factor of the rate at an update, from 0.
  double rate_factor(std::uint64_t update) const;
  /// Returns the rate used unless another is asked for: 0.05, or the authors' 0.001, 0.002
  /// and 1e-5.
  double default_rate() const;
  friend bool operator==(const Optimiser&, const Optimiser&) = default;
};

/// Writes an optimiser, its rate and its settings: what a checkpoint must agree on.
std::string describe(const Optimiser& optimiser, double rate);

/// Lists the optimisers, each with its authors' settings.
const std::vector<Optimiser>& optimisers();

/// Parses an optimiser's name.  Throws  InvalidArgument naming those there are
Optimiser parse_optimiser(std::string_view text);

/// What is added to the parameters: rate times a direction.
struct Step {
  const Parameters& direction;
  double rate = 1;
};

/// What an optimiser remembers of the gradients of an ascent.
class Steps {
 public:
  virtual ~Steps() = default;
  /// Turns a gradient into a step.
  /// Returns  valid until the next call or the gradient's end
  /// Throws   InvalidArgument if shapes differ
  virtual Step step(const Parameters& gradient) = 0;
  /// Writes and reads back all that later steps depend on.
  virtual void write(CheckpointWriter& out) const = 0;
  virtual void read(CheckpointReader& in) = 0;
};

/// Starts an optimiser on parameters of the shapes of `zero`.
/// Throws  InvalidArgument if the rate or a setting is outside its range
std::unique_ptr<Steps> start_steps(const Optimiser& optimiser, double rate, const Parameters& zero);

/// Computes the sharp operator of the spectral norm, by the eigenvectors of X X'.
///   X# = argmax_Y <X, Y> - ||Y||^2 / 2 = ||X||_* U V', with ||Y|| the largest singular value of Y
///   and ||X||_* the sum of those of X                     [Carlson et al. 2015, Sec. 3]
/// Directions whose singular values are zero to rounding are left out.
/// Accuracy  singular value s to n eps (s_1 / s)^2, n the smaller side; those below
///   10 sqrt(n eps) s_1 count as zero
/// Shapes  as X
Eigen::MatrixXd spectral_sharp(const Eigen::MatrixXd& x);

/// Starts RMSspectral: RMSprop for biases, its spectral-norm counterpart for weights.
///   m <- decay m + (1 - decay) g*g, from m = 0;  d = sqrt(sqrt(m) + epsilon), all elementwise
///   weights  rate (g / d)# / d;  biases  rate g / d^2,  with decay = scale_decay
///              [Carlson et al. 2015, "Preconditioned spectral descent for deep learning"]
/// Shapes  those of `zero`, whose values must be 0
/// Invariant  settings are as start_steps requires
std::unique_ptr<Steps> start_rms_spectral(const Optimiser& optimiser, double rate,
                                          const Parameters& zero);

}  // namespace boltzmark

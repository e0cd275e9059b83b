#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/target/step_sizes.hpp"

namespace boltzmark {
namespace {

const double kSearchSpread = std::log(3.0);  ///< of log steps about the guess, either way
const double kFitSpread = std::log(1.5);     ///< narrower: acceptance is only locally logistic
constexpr int kSearchMoves = 10;
constexpr int kMaxSearches = 30;

/// Chains that climb the ladder while steps are tried on them.
class Pilot {
 public:
  Pilot(const ContinuousDensity& density, const ContinuousKernel& kernel, int chains, StreamKey key)
      : density_(density), kernel_(kernel), key_(key), x_(density.dimension(), chains) {
    for (int c = 0; c < chains; ++c) {
      Stream stream(key, Purpose::step_size, static_cast<std::uint64_t>(c));
      density.draw_base(stream, x_.col(c));
    }
  }

  /// Moves every chain with log steps drawn about the centre, and fits their acceptance.
  AcceptanceCurve scan(double b, double centre, double spread, int moves) {
    const auto chains = static_cast<std::size_t>(x_.cols()), all = chains * moves;
    std::vector<double> log_steps(all), acceptance(all);
    parallel_for(chains, [&](std::size_t c) {
      for (int t = 0; t < moves; ++t) {
        const std::size_t i = c * moves + t;
        Stream stream(key_, Purpose::step_size, ((move_ + t) << 32) + c);
        log_steps[i] = stream.uniform(centre - spread, centre + spread);
        acceptance[i] = kernel_.move(density_, b, std::exp(log_steps[i]), stream,
                                     x_.col(static_cast<Eigen::Index>(c)));
      }
    });
    move_ += static_cast<std::uint64_t>(moves);
    return fit_acceptance(log_steps, acceptance);
  }

  /// Fits the acceptance curve where its step of target acceptance is.
  AcceptanceCurve tune(double b, double log_step, int moves) {
    for (int search = 0; search < kMaxSearches; ++search) {
      const AcceptanceCurve curve = scan(b, log_step, kSearchSpread, kSearchMoves);
      const double found = curve.slope > 0 ? curve.log_step(kernel_.target_acceptance()) : log_step;
      const double change = std::clamp(found - log_step, -kSearchSpread, kSearchSpread);
      log_step += change;
      if (std::abs(change) < 0.5 * kFitSpread) break;
    }
    return scan(b, log_step, kFitSpread, moves);
  }

 private:
  const ContinuousDensity& density_;
  const ContinuousKernel& kernel_;
  StreamKey key_;
  Eigen::MatrixXd x_;
  std::uint64_t move_ = 1;
};

void check(const TuningOptions& options) {
  if (options.chains < 2)
    throw InvalidArgument(fmt::format("chains = {} (must be at least 2)", options.chains));
  if (options.moves < 1)
    throw InvalidArgument(fmt::format("moves = {} (must be at least 1)", options.moves));
  if (!(options.first_step > 0))
    throw InvalidArgument(fmt::format("first_step = {} (must be positive)", options.first_step));
}

}  // namespace

TunedSteps tune_steps(const ContinuousDensity& density, const ContinuousKernel& kernel,
                      const Ladder& ladder, const TuningOptions& options, StreamKey key) {
  check(options);
  Pilot pilot(density, kernel, options.chains, key);
  std::vector<AcceptanceCurve> curves;
  Eigen::VectorXd log_steps(ladder.rungs());
  double guess = std::log(options.first_step);
  for (int k = 0; k < ladder.rungs(); ++k) {
    curves.push_back(pilot.tune(ladder[k], guess, options.moves));
    guess = log_steps[k] = curves.back().log_step(kernel.target_acceptance());
  }
  const auto [low, high] = std::minmax(log_steps[0], log_steps[ladder.rungs() - 1]);
  const Eigen::VectorXd monotone = antitonic(log_steps.cwiseMax(low).cwiseMin(high));
  return {.steps = StepSizes(ladder, monotone.array().exp()), .curves = std::move(curves)};
}

}  // namespace boltzmark

#include "boltzmark/target/continuous_target.hpp"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"
#include "boltzmark/core/parallel.hpp"

namespace boltzmark {
namespace {

constexpr double kPriorPrecision = 0.01;
constexpr double kPriorSlope = 4;
constexpr int kMaxIterations = 2000;

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
  if (!(options.first_step > 0 && std::isfinite(options.first_step)))
    throw InvalidArgument(
        fmt::format("first_step = {} (must be positive and finite)", options.first_step));
}

class ContinuousPopulation final : public Population {
 public:
  ContinuousPopulation(std::shared_ptr<const ContinuousDensity> density,
                       std::shared_ptr<const ContinuousKernel> kernel, StepSizes steps,
                       int first_chain, int chains, StreamKey key)
      : density_(std::move(density)),
        kernel_(std::move(kernel)),
        steps_(std::move(steps)),
        first_chain_(first_chain),
        key_(key),
        x_(Eigen::MatrixXd::Zero(density_->dimension(), chains)) {}

  int chains() const override { return static_cast<int>(x_.cols()); }

  void draw_base() override {
    for (int c = 0; c < chains(); ++c) {
      Stream draws = stream(Purpose::initial_state, c);
      density_->draw_base(draws, x_.col(c));
    }
  }

  void move(std::span<const float> inverse_temperatures) override {
    for (int c = 0; c < chains(); ++c) {
      const double b = inverse_temperatures[c];
      Stream draws = stream(Purpose::metropolis, c);
      kernel_->move(*density_, b, steps_(b), draws, x_.col(c));
    }
    ++sweep_;
  }

  void log_ratio(std::span<double> out) override {
    require_room(out, 1);
    for (int c = 0; c < chains(); ++c) out[c] = finite(density_->log_ratio(x_.col(c)), c);
  }

  void log_densities(const Ladder& ladder, std::span<double> out) override {
    require_room(out, ladder.rungs());
    for (int c = 0, i = 0; c < chains(); ++c) {
      const double log_f = density_->log_f(x_.col(c)), log_base = density_->log_base(x_.col(c));
      finite(log_f - log_base, c);
      for (int k = 0; k < ladder.rungs(); ++k)
        out[i++] = ladder[k] * log_f + (1 - ladder[k]) * log_base;
    }
  }

  void log_increment(float from, float to, std::span<double> out) override {
    log_ratio(out);
    for (double& value : out) value *= static_cast<double>(to) - static_cast<double>(from);
  }

  void copy_chain(int chain, const Population& from, int source) override {
    const Eigen::MatrixXd& x = dynamic_cast<const ContinuousPopulation&>(from).x_;
    if (x.rows() != x_.rows() || chain < 0 || chain >= x_.cols() || source < 0 ||
        source >= x.cols())
      throw InvalidArgument("chain, source (must be chains of the same density)");
    x_.col(chain) = x.col(source);
  }

 private:
  void require_room(std::span<double> out, int rungs) const {
    const auto needed = static_cast<std::size_t>(x_.cols()) * static_cast<std::size_t>(rungs);
    if (out.size() != needed)
      throw InvalidArgument(fmt::format("out = {} values (must be {})", out.size(), needed));
  }
  double finite(double log_ratio, int chain) const {
    if (!std::isfinite(log_ratio))
      throw InvalidArgument(
          fmt::format("log f - log p1 = {} at a state of chain {} (must be finite "
                      "wherever p1 has mass: a wall is a large negative number)",
                      log_ratio, first_chain_ + chain));
    return log_ratio;
  }
  Stream stream(Purpose purpose, int chain) const {
    return {key_, purpose, (sweep_ << 32) + static_cast<std::uint64_t>(first_chain_ + chain)};
  }

  std::shared_ptr<const ContinuousDensity> density_;
  std::shared_ptr<const ContinuousKernel> kernel_;
  StepSizes steps_;
  int first_chain_;
  StreamKey key_;
  Eigen::MatrixXd x_;  ///< [dimension x chains]
  std::uint64_t sweep_ = 0;
};

}  // namespace

StepSizes StepSizes::fixed(double step) {
  return {Ladder::linear(2), Eigen::VectorXd::Constant(2, step)};
}

StepSizes::StepSizes(const Ladder& ladder, const Eigen::VectorXd& steps) : ladder_(ladder) {
  if (steps.size() != ladder.rungs())
    throw InvalidArgument(
        fmt::format("steps = {} values (must be {}, one a rung)", steps.size(), ladder.rungs()));
  for (const double step : steps)
    if (!(step > 0) || !std::isfinite(step))
      throw InvalidArgument(fmt::format("step = {} (must be positive and finite)", step));
  log_steps_ = steps.array().log();
}

double StepSizes::operator()(double b) const {
  const std::vector<float>& rungs = ladder_.singles();
  const auto above = std::clamp(std::upper_bound(rungs.begin(), rungs.end(), b), rungs.begin() + 1,
                                rungs.end() - 1);
  const auto k = above - rungs.begin();
  const double low = ladder_[static_cast<int>(k) - 1], high = ladder_[static_cast<int>(k)];
  const double share = (b - low) / (high - low);
  return std::exp((1 - share) * log_steps_[k - 1] + share * log_steps_[k]);
}

double StepSizes::mean() const { return log_steps_.array().exp().mean(); }

Eigen::VectorXd antitonic(const Eigen::VectorXd& values) {
  struct Pool {
    double sum;
    Eigen::Index size;
    double mean() const { return sum / static_cast<double>(size); }
  };
  // Pool adjacent violators [Barlow et al. 1972].
  std::vector<Pool> pools;
  for (const double value : values) {
    pools.push_back({value, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() < pools.back().mean()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back() = {pools.back().sum + last.sum, pools.back().size + last.size};
    }
  }
  Eigen::VectorXd result(values.size());
  Eigen::Index at = 0;
  for (const Pool& pool : pools) {
    result.segment(at, pool.size).setConstant(pool.mean());
    at += pool.size;
  }
  return result;
}

double AcceptanceCurve::operator()(double step) const {
  return sigmoid(-slope * (std::log(step) - log_half));
}

double AcceptanceCurve::log_step(double acceptance) const {
  return log_half - std::log(acceptance / (1 - acceptance)) / slope;
}

AcceptanceCurve fit_acceptance(std::span<const double> log_steps,
                               std::span<const double> acceptance) {
  const auto n = static_cast<Eigen::Index>(log_steps.size());
  if (n == 0 || acceptance.size() != log_steps.size())
    throw InvalidArgument(
        fmt::format("acceptance = {} values (must be {}, and at least 1)", acceptance.size(), n));
  const Eigen::Map<const Eigen::ArrayXd> x(log_steps.data(), n), y(acceptance.data(), n);
  if (!x.allFinite() || !(y >= 0 && y <= 1).all())
    throw InvalidArgument("log_steps, acceptance (must be finite, and within [0, 1])");
  const double centre = x.mean();
  // logit = intercept - slope (x - centre). The Hessian of the log-likelihood is never below
  // -X'X / 4, so steps with that matrix climb to the maximum without a line search.
  Eigen::Matrix2d bound;
  bound << 0.25 * static_cast<double>(n), 0, 0, 0.25 * (x - centre).square().sum();
  bound.diagonal().array() += kPriorPrecision;
  Eigen::Vector2d at(0, kPriorSlope);
  for (int i = 0; i < kMaxIterations; ++i) {
    const Eigen::ArrayXd residual =
        y - (at[0] - at[1] * (x - centre)).unaryExpr([](double logit) { return sigmoid(logit); });
    const Eigen::Vector2d slope(
        residual.sum() - kPriorPrecision * at[0],
        -(residual * (x - centre)).sum() - kPriorPrecision * (at[1] - kPriorSlope));
    const Eigen::Vector2d step = slope.cwiseQuotient(bound.diagonal());
    at += step;
    if (step.cwiseAbs().maxCoeff() < 1e-10) break;
  }
  return {.log_half = centre + at[0] / at[1], .slope = at[1]};
}

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

ContinuousTarget::ContinuousTarget(std::shared_ptr<const ContinuousDensity> density,
                                   std::shared_ptr<const ContinuousKernel> kernel, StepSizes steps)
    : density_(std::move(density)), kernel_(std::move(kernel)), steps_(std::move(steps)) {
  if (!density_ || !kernel_) throw InvalidArgument("density, kernel (must not be null)");
}

std::unique_ptr<Population> ContinuousTarget::populate(int first_chain, int chains,
                                                       StreamKey key) const {
  return std::make_unique<ContinuousPopulation>(density_, kernel_, steps_, first_chain, chains,
                                                key);
}

}  // namespace boltzmark

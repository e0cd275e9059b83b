#include "boltzmark/target/continuous_target.hpp"

#include <fmt/format.h>

#include <utility>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

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
    for (int c = 0; c < chains(); ++c) out[c] = density_->log_ratio(x_.col(c));
  }

  void log_densities(const Ladder& ladder, std::span<double> out) override {
    require_room(out, ladder.rungs());
    for (int c = 0, i = 0; c < chains(); ++c) {
      const double log_f = density_->log_f(x_.col(c)), log_base = density_->log_base(x_.col(c));
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

ContinuousTarget::ContinuousTarget(std::shared_ptr<const ContinuousDensity> density,
                                   std::shared_ptr<const ContinuousKernel> kernel, StepSizes steps)
    : density_(std::move(density)), kernel_(std::move(kernel)), steps_(std::move(steps)) {}

std::unique_ptr<Population> ContinuousTarget::populate(int first_chain, int chains,
                                                       StreamKey key) const {
  return std::make_unique<ContinuousPopulation>(density_, kernel_, steps_, first_chain, chains,
                                                key);
}

}  // namespace boltzmark

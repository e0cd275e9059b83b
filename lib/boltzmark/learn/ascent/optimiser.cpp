#include "boltzmark/learn/ascent/optimiser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "boltzmark/core/eigenvalues.hpp"
#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"

namespace boltzmark {
namespace {

void check_decay(double decay) {
  if (!(decay >= 0 && decay < 1))
    throw InvalidArgument(fmt::format("decay = {} (must be in [0, 1))", decay));
}

// Of those that scale a gradient.
void check_scaling(const Optimiser& optimiser, double rate) {
  if (!(rate > 0 && std::isfinite(rate)))
    throw InvalidArgument(fmt::format("rate = {} (must be positive and finite)", rate));
  check_decay(optimiser.scale_decay);
  if (!(optimiser.epsilon > 0 && std::isfinite(optimiser.epsilon)))
    throw InvalidArgument(
        fmt::format("epsilon = {} (must be positive and finite)", optimiser.epsilon));
}

/// What the steps of one update share.
struct Update {
  const Optimiser& optimiser;
  double rate;              ///< divided by the mean's correction, 1 - mean_decay^t
  double scale_correction;  ///< 1 - scale_decay^t
};

template <class Array>
void step_array(const Update& update, const Array& gradient, Array& mean, Array& scale,
                Array& step) {
  const Optimiser& optimiser = update.optimiser;
  const double mean_decay = optimiser.mean_decay, scale_decay = optimiser.scale_decay;
  mean = mean_decay * mean + (1 - mean_decay) * gradient;
  if (optimiser.kind == Optimiser::Kind::adam) {
    scale = scale_decay * scale + (1 - scale_decay) * gradient.cwiseAbs2();
    step = update.rate * mean.array() /
           ((scale.array() / update.scale_correction).sqrt() + optimiser.epsilon);
  } else {
    // A parameter that has never had a gradient stays: 0 / tiny.
    constexpr double tiny = std::numeric_limits<double>::min();
    scale = (scale_decay * scale).cwiseMax(gradient.cwiseAbs());
    step = update.rate * mean.array() / scale.array().max(tiny);
  }
}

/// Gradient ascent as it stands: nothing to remember.
class PlainSteps final : public Steps {
 public:
  explicit PlainSteps(double rate) : rate_(rate) {}
  Step step(const Parameters& gradient) override { return {gradient, rate_}; }
  void write(CheckpointWriter&) const override {}
  void read(CheckpointReader&) override {}

 private:
  double rate_;
};

/// Gradient ascent with momentum.
class MomentumSteps final : public Steps {
 public:
  MomentumSteps(Parameters zero, double momentum, double rate)
      : velocity_(std::move(zero)), momentum_(momentum), rate_(rate) {}
  Step step(const Parameters& gradient) override {
    if (!same_shapes(gradient, velocity_))
      throw InvalidArgument("gradient (must have the model's layers and sizes)");
    combine(momentum_, velocity_, 1, gradient);
    return {velocity_, rate_};
  }
  void write(CheckpointWriter& out) const override { write_parameters(velocity_, out); }
  void read(CheckpointReader& in) override { read_parameters(velocity_, in); }

 private:
  Parameters velocity_;
  double momentum_;
  double rate_;
};

/// Adam and AdaMax.
class AdaptiveSteps final : public Steps {
 public:
  AdaptiveSteps(Parameters zero, const Optimiser& optimiser, double rate)
      : optimiser_(optimiser), rate_(rate), mean_(std::move(zero)) {
    check_decay(optimiser.mean_decay);
    set_zero(mean_);
    scale_ = step_ = mean_;
  }
  Step step(const Parameters& gradient) override {
    if (!same_shapes(gradient, mean_))
      throw InvalidArgument("gradient (must have the model's layers and sizes)");
    const auto t = static_cast<double>(++steps_);
    const Update update{optimiser_, rate_ / (1 - std::pow(optimiser_.mean_decay, t)),
                        1 - std::pow(optimiser_.scale_decay, t)};
    for (std::size_t l = 0; l < mean_.weights.size(); ++l)
      step_array(update, gradient.weights[l], mean_.weights[l], scale_.weights[l],
                 step_.weights[l]);
    for (std::size_t l = 0; l < mean_.biases.size(); ++l)
      step_array(update, gradient.biases[l], mean_.biases[l], scale_.biases[l], step_.biases[l]);
    return {step_};
  }
  void write(CheckpointWriter& out) const override {
    out.write(steps_);
    write_parameters(mean_, out);
    write_parameters(scale_, out);
  }
  void read(CheckpointReader& in) override {
    steps_ = in.read();
    read_parameters(mean_, in);
    read_parameters(scale_, in);
  }

 private:
  Optimiser optimiser_;
  double rate_;
  Parameters mean_;
  Parameters scale_;
  Parameters step_;
  std::uint64_t steps_ = 0;
};

using Start = std::unique_ptr<Steps> (*)(const Optimiser&, double rate, const Parameters& zero);

std::unique_ptr<Steps> start_gradient(const Optimiser& optimiser, double rate,
                                      const Parameters& zero) {
  if (optimiser.momentum == 0) return std::make_unique<PlainSteps>(rate);
  return std::make_unique<MomentumSteps>(zero, optimiser.momentum, rate);
}

std::unique_ptr<Steps> start_adaptive(const Optimiser& optimiser, double rate,
                                      const Parameters& zero) {
  return std::make_unique<AdaptiveSteps>(zero, optimiser, rate);
}

/// All that is known of a kind of optimiser.
struct Entry {
  Optimiser optimiser;
  std::string_view name;
  double default_rate;
  Start start;
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all{
      {Optimiser::sgd(), "sgd", 0.05, start_gradient},
      {Optimiser::adam(), "adam", 0.001, start_adaptive},
      {Optimiser::adamax(), "adamax", 0.002, start_adaptive},
      {Optimiser::rms_spectral(), "rmsspectral", 1e-5, start_rms_spectral},
  };
  return all;
}

const Entry& entry(Optimiser::Kind kind) {
  return *std::find_if(entries().begin(), entries().end(),
                       [&](const Entry& one) { return one.optimiser.kind == kind; });
}

}  // namespace

std::string_view Optimiser::name() const { return entry(kind).name; }

double Optimiser::default_rate() const { return entry(kind).default_rate; }

double Optimiser::rate_factor(std::uint64_t update) const {
  return rate_decay > 0 ? rate_decay / (rate_decay + static_cast<double>(update)) : 1;
}

std::string describe(const Optimiser& optimiser, double rate) {
  std::string text = fmt::format("{} {}", optimiser.name(), rate);
  if (optimiser.kind != Optimiser::Kind::sgd)
    text +=
        fmt::format(" {} {} {}", optimiser.mean_decay, optimiser.scale_decay, optimiser.epsilon);
  if (optimiser.momentum != 0) text += fmt::format(" momentum {}", optimiser.momentum);
  if (optimiser.rate_decay != 0) text += fmt::format(" rate decay {}", optimiser.rate_decay);
  return text;
}

const std::vector<Optimiser>& optimisers() {
  static const std::vector<Optimiser> all = [] {
    std::vector<Optimiser> list;
    for (const Entry& one : entries()) list.push_back(one.optimiser);
    return list;
  }();
  return all;
}

Optimiser parse_optimiser(std::string_view text) {
  std::vector<std::string_view> names;
  for (const Optimiser& optimiser : optimisers()) {
    if (optimiser.name() == text) return optimiser;
    names.push_back(optimiser.name());
  }
  throw InvalidArgument(
      fmt::format("optimiser = {} (must be one of {})", text, fmt::join(names, ", ")));
}

std::unique_ptr<Steps> start_steps(const Optimiser& optimiser, double rate,
                                   const Parameters& zero) {
  if (!(optimiser.momentum >= 0 && optimiser.momentum < 1))
    throw InvalidArgument(fmt::format("momentum = {} (must be in [0, 1))", optimiser.momentum));
  if (optimiser.momentum != 0 && optimiser.kind != Optimiser::Kind::sgd)
    throw InvalidArgument(fmt::format("momentum = {} (must be 0 but for sgd: {} has its own)",
                                      optimiser.momentum, optimiser.name()));
  if (!(optimiser.rate_decay >= 0 && std::isfinite(optimiser.rate_decay)))
    throw InvalidArgument(
        fmt::format("rate_decay = {} (must be finite and not negative)", optimiser.rate_decay));
  if (optimiser.kind != Optimiser::Kind::sgd) check_scaling(optimiser, rate);
  return entry(optimiser.kind).start(optimiser, rate, zero);
}

namespace {

/// Multiplies matrices column by column: Eigen's matrix-vector product has the same bits whatever
/// the caches, its blocked matrix product has not.
template <class Left>
Eigen::MatrixXd column_product(const Left& left, const Eigen::MatrixXd& right) {
  Eigen::MatrixXd product(left.rows(), right.cols());
  parallel_for(static_cast<std::size_t>(right.cols()), [&](std::size_t i) {
    const auto column = static_cast<Eigen::Index>(i);
    product.col(column).noalias() = left * right.col(column);
  });
  return product;
}

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// m <- decay m + (1 - decay) g*g, and returns d^2 = sqrt(m) + epsilon.
template <class Array>
Array update_scale(Array& mean_square, const Array& gradient, const Optimiser& optimiser) {
  const double decay = optimiser.scale_decay;
  mean_square = decay * mean_square + (1 - decay) * gradient.cwiseAbs2();
  return (mean_square.array().sqrt() + optimiser.epsilon).matrix();
}

// U V' = (X X')^(-1/2) X, by the eigenvectors of X X', whose eigenvalues are the squares.
Eigen::MatrixXd wide_sharp(const Eigen::MatrixXd& x) {
  const SymmetricEigenPairs eigen = symmetric_eigen_pairs(column_product(x, x.transpose()));
  if (!eigen.converged) throw Error("the gradient has no singular values");
  const Eigen::VectorXd& squares = eigen.values;
  const double rounding =
      squares[squares.size() - 1] * 100 * static_cast<double>(x.rows()) * kEpsilon;
  Eigen::VectorXd inverses = Eigen::VectorXd::Zero(squares.size());
  double sum = 0;
  for (Eigen::Index i = 0; i < squares.size(); ++i) {
    if (!(squares[i] > rounding)) continue;
    sum += std::sqrt(squares[i]);
    inverses[i] = 1 / std::sqrt(squares[i]);
  }
  const Eigen::MatrixXd& vectors = eigen.vectors;
  return sum *
         column_product(vectors * inverses.asDiagonal(), column_product(vectors.transpose(), x));
}

class RmsSpectral final : public Steps {
 public:
  RmsSpectral(const Parameters& zero, const Optimiser& optimiser, double rate)
      : optimiser_(optimiser), rate_(rate), mean_square_(zero), step_(zero) {}

  Step step(const Parameters& gradient) override {
    if (!same_shapes(gradient, step_))
      throw InvalidArgument("gradient (must have the model's layers and sizes)");
    for (std::size_t l = 0; l < gradient.weights.size(); ++l) {
      const Eigen::MatrixXd d =
          update_scale(mean_square_.weights[l], gradient.weights[l], optimiser_).cwiseSqrt();
      step_.weights[l] =
          rate_ * spectral_sharp(gradient.weights[l].cwiseQuotient(d)).cwiseQuotient(d);
    }
    for (std::size_t l = 0; l < gradient.biases.size(); ++l)
      step_.biases[l] = rate_ * gradient.biases[l].cwiseQuotient(update_scale(
                                    mean_square_.biases[l], gradient.biases[l], optimiser_));
    return {step_};
  }
  void write(CheckpointWriter& out) const override { write_parameters(mean_square_, out); }
  void read(CheckpointReader& in) override { read_parameters(mean_square_, in); }

 private:
  Optimiser optimiser_;
  double rate_;
  Parameters mean_square_;
  Parameters step_;
};

}  // namespace

Eigen::MatrixXd spectral_sharp(const Eigen::MatrixXd& x) {
  if (x.size() == 0) return x;
  return x.rows() <= x.cols() ? wide_sharp(x)
                              : Eigen::MatrixXd(wide_sharp(x.transpose()).transpose());
}

std::unique_ptr<Steps> start_rms_spectral(const Optimiser& optimiser, double rate,
                                          const Parameters& zero) {
  return std::make_unique<RmsSpectral>(zero, optimiser, rate);
}

}  // namespace boltzmark

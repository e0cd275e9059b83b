#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"
#include "verification/checks/known/known_model.hpp"
#include "verification/checks/known/transfer_sum.hpp"

namespace boltzmark {
namespace {

constexpr int kMostWindow = 16;
constexpr double kField = 0.3;     // standard deviation of the visible biases
constexpr double kPerWrong = 1.5;  // of a weight: one wrong member leaves no reward

/// What a hidden unit sees of the line.
struct Seen {
  double bias = 0;
  std::vector<std::pair<int, double>> weights = {};  // by place
  int first = 0, last = 0;                           // of the visible units

  double input(std::size_t bits) const {
    double input = bias;
    for (const auto& [place, weight] : weights)
      if ((bits >> place & 1) != 0) input += weight;
    return input;
  }
  /// Of the numbers that its input is a sum of.
  double size() const {
    double size = std::abs(bias);
    for (const auto& [place, weight] : weights) size += std::abs(weight);
    return size;
  }
};

// Each bit stands at the place that its number has in turn among those of a window.
Seen seen_by(const Layered& rbm, int j, int window) {
  Seen seen{.bias = rbm.bias(1)[j]};
  for (int i = 0; i < rbm.size(0); ++i) {
    const double weight = rbm.weights(0)(i, j);
    if (weight == 0) continue;
    if (seen.weights.empty()) seen.first = i;
    seen.last = i;
    seen.weights.emplace_back(i % window, weight);
  }
  return seen;
}

}  // namespace

KnownLogZ sum_along_line(const Layered& rbm, int window) {
  if (rbm.layers() != 2 || rbm.layer(0).unit != Unit::bernoulli() ||
      rbm.layer(1).unit != Unit::bernoulli())
    throw InvalidArgument("a model along a line must be an RBM of Bernoulli units");
  if (window < 1 || window > kMostWindow)
    throw InvalidArgument(fmt::format("window = {} (must be from 1 to {})", window, kMostWindow));
  std::vector<std::vector<Seen>> ending(static_cast<std::size_t>(rbm.size(0)));
  for (int j = 0; j < rbm.size(1); ++j) {
    Seen seen = seen_by(rbm, j, window);
    if (seen.last - seen.first >= window)
      throw InvalidArgument(fmt::format("hidden unit {} sees units {} to {} (must be at most {})",
                                        j, seen.first, seen.last, window));
    ending[static_cast<std::size_t>(seen.last)].push_back(std::move(seen));
  }
  TransferSum sum(window);
  CompensatedSum rounded;  // roundings, by the size of what is rounded
  for (int i = 0; i < rbm.size(0); ++i) {
    const std::vector<Seen>& ends = ending[static_cast<std::size_t>(i)];
    const int place = i % window;
    const double bias = rbm.bias(0)[i];
    double largest = sum.rescale() + 1 + std::abs(bias);  // a log weight after this step
    sum.replace(place, 0);
    sum.each([&](std::size_t bits, double& log_weight) {
      if ((bits >> place & 1) != 0) log_weight += bias;
      for (const Seen& seen : ends) log_weight += softplus(seen.input(bits));
    });
    for (const Seen& seen : ends) {
      largest += seen.size() + 1;
      rounded.add((static_cast<double>(seen.weights.size()) + 4) * (seen.size() + 1));
    }
    rounded.add((static_cast<double>(ends.size()) + 8) * largest);
  }
  // Before the line stood a window of bits that nothing held.
  const double log_z = sum.log_sum() - window * std::log(2.0);
  const double error = 0x1p-52 * (rounded.value() + std::abs(log_z) + window) +
                       std::ldexp(1, window - 53);  // of the last sum: a rounding a term
  return {.log_z = log_z, .error = error, .by = "a sum along the line"};
}

KnownModel make_conjunctions(const Conjunctions& conjunctions, Stream& draws) {
  const auto [visible, hidden, window, members, strength] = conjunctions;
  if (members < 1 || members > window || window > std::min(visible, kMostWindow))
    throw InvalidArgument(fmt::format(
        "visible, window, members = {}, {}, {} (must be 1 <= members <= window <= visible and at "
        "most {} wide)",
        visible, window, members, kMostWindow));
  if (hidden < 1 || !(strength >= 0))
    throw InvalidArgument(fmt::format(
        "hidden, strength = {}, {} (must be at least 1, and not negative)", hidden, strength));
  Eigen::VectorXd below = normal_parameters(visible, 1, kField, draws),
                  above = Eigen::VectorXd::Constant(hidden, strength);
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(visible, hidden);
  for (int j = 0; j < hidden; ++j) {
    const auto first =
        static_cast<int>(draws.below(static_cast<std::uint64_t>(visible - window + 1)));
    std::vector<bool> taken(static_cast<std::size_t>(window));
    for (int chosen = 0; chosen < members;) {
      const auto place = static_cast<std::size_t>(draws.below(taken.size()));
      if (taken[place]) continue;
      taken[place] = true;
      const bool on = draws.below(2) == 1;  // its value where the unit is rewarded
      const double weight = kPerWrong * strength;
      weights(first + static_cast<int>(place), j) = on ? weight : -weight;
      if (on) above[j] -= weight;
      ++chosen;
    }
  }
  Layered rbm = Layered::rbm(std::move(weights), std::move(below), std::move(above));
  const KnownLogZ known = sum_along_line(rbm, window);
  return {std::move(rbm), known};
}

}  // namespace boltzmark

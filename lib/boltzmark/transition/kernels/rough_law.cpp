#include "boltzmark/transition/kernels/rough_law.hpp"

#include <cmath>
#include <numbers>

namespace boltzmark {
namespace {

// Interpolates at the Chebyshev nodes of each interval, where the largest error of a parabola is
// h^3 / 768 times the third derivative's, h = 1/4: 2e-5 of e^-t. The last interval has the middle
// of all that its laws can be from there to infinity, at most 4.4e-4.
template <class Law>
RoughLaw fit(const Law& law) {
  RoughLaw rough;
  constexpr double h = 1 / static_cast<double>(RoughLaw::kPerUnit);
  const double off = h / 2 * std::numbers::sqrt3 / 2;
  constexpr int kLast = RoughLaw::kIntervals - 1;
  rough.constant[kLast] = static_cast<float>(law(kLast * h) / 2);
  for (int i = 0; i < kLast; ++i) {
    const double middle = (i + 0.5) * h;
    const double below = law(middle - off), at = law(middle), above = law(middle + off);
    const double slope = (above - below) / (2 * off);
    const double square = (above - 2 * at + below) / (2 * off * off);
    rough.constant[i] = static_cast<float>(at - middle * slope + middle * middle * square);
    rough.linear[i] = static_cast<float>(slope - 2 * middle * square);
    rough.square[i] = static_cast<float>(square);
  }
  return rough;
}

}  // namespace

const RoughLaw& rough_gibbs() {
  static const RoughLaw rough = fit([](double t) { return 1 / (1 + std::exp(t)); });
  return rough;
}

const RoughLaw& rough_flip() {
  static const RoughLaw rough = fit([](double t) { return std::exp(-t); });
  return rough;
}

}  // namespace boltzmark

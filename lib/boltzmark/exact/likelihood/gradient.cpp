#include "boltzmark/exact/likelihood/gradient.hpp"

#include <algorithm>
#include <vector>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/exact/enumeration/moments.hpp"

namespace boltzmark {
namespace {

/// Adds the moments of one case, clamped, and of the hidden units given it.
void add_case(const Layered& model, const Cases& cases, std::size_t k, Parameters& sum) {
  const double weight = cases.weight(k);
  const Bipartite sides = given_visible(model, cases.state(k));
  const Moments hidden = moments(sides);
  add_moments(sides, hidden, weight, sum);
  Eigen::VectorXd first_hidden(model.size(1));
  for (std::size_t i = 0; i < sides.places.size(); ++i) {
    const UnitPlace p = sides.places[i];
    if (p.layer == 1) first_hidden[p.unit] = hidden.enumerated[static_cast<Eigen::Index>(i)];
  }
  for (std::size_t j = 0; j < sides.other_places.size(); ++j) {
    const UnitPlace q = sides.other_places[j];
    if (q.layer == 1) first_hidden[q.unit] = hidden.other[static_cast<Eigen::Index>(j)];
  }
  const float* x = cases.values(k);
  for (const std::uint32_t* i = cases.begin(k); i != cases.end(k); ++i) {
    const double value = weight * (x ? static_cast<double>(*x++) : 1.0);
    sum.biases[0][*i] += value;
    sum.weights[0].row(*i) += value * first_hidden.transpose();
  }
}

Parameters data_moments(const Layered& model, const Cases& cases) {
  const std::size_t chunk = std::max<std::size_t>(16, (cases.distinct() + 63) / 64);
  const std::size_t chunks = (cases.distinct() + chunk - 1) / chunk;
  std::vector<Parameters> parts(chunks, model.zero_parameters());
  parallel_for(chunks, [&](std::size_t c) {
    const std::size_t end = std::min((c + 1) * chunk, cases.distinct());
    for (std::size_t k = c * chunk; k < end; ++k) add_case(model, cases, k, parts[c]);
  });
  for (std::size_t c = 1; c < chunks; ++c) combine(1, parts[0], 1, parts[c]);
  return parts[0];
}

}  // namespace

Parameters exact_gradient(const Layered& model, const Cases& cases) {
  check_cases(model, cases);
  const Bipartite sides = enumerate_smaller_side(model);
  Parameters gradient = data_moments(model, cases);
  add_moments(sides, moments(sides), -1, gradient);
  for (int l = 0; l < model.layers(); ++l) {
    if (model.layer(l).sigma0.size() == 0) continue;
    // d/da of -(x - a)^2 / (2 sigma^2); the a's of data and model cancel.
    gradient.biases[l].array() /= model.layer(l).sigma0.array().square();
  }
  return gradient;
}

}  // namespace boltzmark

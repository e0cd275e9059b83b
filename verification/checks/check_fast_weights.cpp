// Checks of fast weights, the production sampler of FPCD: what they are, and who sees them.
//                                                                      [Tieleman and Hinton 2009]

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <vector>

#include "boltzmark/sample/chains/persistent_chains.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/subjects.hpp"
#include "verification/checks/worst.hpp"

namespace boltzmark {
namespace {

constexpr int kFastChains = 20;

Parameters draw_direction(Stream& stream, const Layered& model) {
  Parameters direction = model.zero_parameters();
  for (Eigen::MatrixXd& weights : direction.weights)
    for (double& value : weights.reshaped()) value = stream.uniform(-1, 1);
  for (Eigen::VectorXd& biases : direction.biases)
    for (double& value : biases) value = stream.uniform(-1, 1);
  return direction;
}

/// A sampler some updates after its start, the model that moved meanwhile, and the gradients.
struct FastCase {
  Layered model;
  double rate, decay;
  std::shared_ptr<const Draws> draws;
  StreamKey key;
  std::vector<Parameters> gradients = {};

  SamplerSetup setup() const {
    return {.model = model, .packing = {.chains = kFastChains}, .key = key, .draws = draws};
  }
};

FastCase draw_fast_case(Stream& stream) {
  constexpr double kDecays[] = {0, 0.5, 0.95, 1};
  const StreamKey key = make_key(stream());
  FastCase c{.model = draw_generic_model(stream, 4, 2),
             .rate = stream.uniform(0.1, 2),
             .decay = kDecays[stream.below(4)],
             .draws = std::make_shared<PhiloxDraws>(key),
             .key = key};
  for (std::uint64_t updates = 1 + stream.below(5); updates > 0; --updates)
    c.gradients.push_back(draw_direction(stream, c.model));
  return c;
}

// sum_t rate decay^{n - t} g_t, t = 1..n, in closed form.
Parameters decayed_sum(const FastCase& c) {
  Parameters sum = c.model.zero_parameters();
  for (std::size_t t = 0; t < c.gradients.size(); ++t) {
    const double share =
        c.rate * std::pow(c.decay, static_cast<double>(c.gradients.size() - 1 - t));
    for (std::size_t l = 0; l < sum.weights.size(); ++l)
      sum.weights[l] += share * c.gradients[t].weights[l];
    for (std::size_t l = 0; l < sum.biases.size(); ++l)
      sum.biases[l] += share * c.gradients[t].biases[l];
  }
  return sum;
}

std::string describe_fast(const FastCase& c) {
  return fmt::format("{}, rate {:.3g}, decay {}", describe_case(c.model), c.rate, c.decay);
}

CaseOutcome follows_formula(Stream& stream) {
  const FastCase c = draw_fast_case(stream);
  FastWeights sampler(c.setup(), c.rate, c.decay);
  for (const Parameters& gradient : c.gradients) {
    sampler.set_model(c.model);
    sampler.advance(1);
    sampler.follow(gradient);
  }
  return {largest_difference(sampler.fast(), decayed_sum(c)), describe_fast(c)};
}

// The largest difference of inputs, of every layer, over any states.
double input_difference(Stream& stream, const Layered& model, const PackedModel& a,
                        const PackedModel& b) {
  Chains states(model, kFastChains);
  states.randomise(make_key(stream()));
  double worst = 0;
  std::vector<float> of_a, of_b;
  for (int l = 0; l < model.layers(); ++l) {
    fill_inputs(a, states, l, of_a);
    fill_inputs(b, states, l, of_b);
    for (std::size_t i = 0; i < of_a.size(); ++i)
      worst = worse(worst, static_cast<double>(std::abs(of_a[i] - of_b[i])));
  }
  return worst;
}

CaseOutcome positive_phase(Stream& stream, const PhaseOf& phase) {
  const FastCase c = draw_fast_case(stream);
  FastWeights sampler(c.setup(), c.rate, c.decay);
  for (const Parameters& gradient : c.gradients) sampler.follow(gradient);
  sampler.set_model(c.model);
  const PackedModel alone(c.model, c.setup().packing);
  return {input_difference(stream, c.model, phase(sampler), alone), describe_fast(c)};
}

constexpr int kFastSweeps = 2;  // of PCD, for every gradient

// The chains and the means of the negative phase, against PCD of the summed parameters.
CaseOutcome negative_phase(Stream& stream, int sweeps, const PhaseOf& phase) {
  const FastCase c = draw_fast_case(stream);
  FastWeights fast(c.setup(), c.rate, c.decay);
  PersistentChains plain(c.setup());
  Layered sum = c.model;
  Chains states(c.model, kFastChains), others = states;
  double worst = 0;
  for (const Parameters& gradient : c.gradients) {
    sum = c.model;
    sum.add(fast.fast(), 1);
    fast.set_model(c.model);
    plain.set_model(sum);
    fast.advance(sweeps);
    plain.advance(kFastSweeps);
    fast.copy_states(states);
    plain.copy_states(others);
    for (int l = 0; l < c.model.layers(); ++l)
      worst = worse(worst, largest_of(states.get_layer(l) - others.get_layer(l)));
    worst = worse(worst, input_difference(stream, c.model, phase(fast), plain.packed()));
    fast.follow(gradient);
  }
  return {worst, describe_fast(c)};
}

}  // namespace

Check positive_phase_check(const PhaseOf& phase) {
  return bounded_check("positive-phase", "fpcd",
                       "the positive phase's parameters are the model's, bit for bit", 0,
                       [phase](Stream& s) { return positive_phase(s, phase); });
}

Check negative_phase_check(int sweeps, const PhaseOf& phase) {
  return bounded_check(
      "negative-phase", "fpcd",
      "states and parameters of the negative phase are those of PCD with the fast weights added, "
      "bit for bit",
      0, [=](Stream& s) { return negative_phase(s, sweeps, phase); });
}

std::vector<Check> fast_weight_checks() {
  return {
      bounded_check(
          "fast-weights", "fpcd",
          "they are the sum of rate decay^age times every gradient so far: largest difference",
          1e-12, follows_formula),
      positive_phase_check(&FastWeights::packed),
      negative_phase_check(kFastSweeps, &FastWeights::negative_packed),
  };
}

}  // namespace boltzmark

#include "verification/checks/check_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"

namespace boltzmark {
namespace {

constexpr double kMostUnitStates = 1024;  // of draw_unit_model

enum class Sizes { zero, sparse, ternary, moderate, extreme, count };

// A multiple of 2^-8 in [-high, high].
double dyadic(Stream& stream, double high) {
  const auto steps = static_cast<std::int64_t>(high * 256);
  const auto draw =
      static_cast<std::int64_t>(stream.below(static_cast<std::uint64_t>(2 * steps + 1)));
  return static_cast<double>(draw - steps) / 256;
}

double draw_parameter(Stream& stream, Sizes sizes) {
  switch (sizes) {
    case Sizes::zero:
      return 0;
    case Sizes::sparse:
      return stream.below(2) == 0 ? 0 : dyadic(stream, 3);
    case Sizes::ternary:
      return static_cast<double>(stream.below(3)) - 1;
    case Sizes::moderate:
      return dyadic(stream, 4);
    default:
      break;
  }
  const std::uint64_t kind = stream.below(4);
  if (kind < 2) return kind == 0 ? 100 : -100;
  return kind == 2 ? 0 : dyadic(stream, 30);
}

Layered draw_layers(const std::vector<int>& sizes, const std::function<double()>& weight,
                    const std::function<double()>& bias) {
  std::vector<Layer> layers(sizes.size());
  std::vector<Eigen::MatrixXd> weights;
  for (std::size_t l = 0; l < sizes.size(); ++l) {
    layers[l].bias.resize(sizes[l]);
    for (double& b : layers[l].bias) b = bias();
    if (l + 1 == sizes.size()) break;
    Eigen::MatrixXd w(sizes[l], sizes[l + 1]);
    for (double& x : w.reshaped()) x = weight();
    weights.push_back(std::move(w));
  }

  return Layered(std::move(layers), std::move(weights));
}

std::vector<int> draw_rbm_sizes(Stream& stream, int max_side) {
  const int visible = draw_size(stream, max_side);
  return {visible, draw_size(stream, max_side)};
}

// Half of them deep, of three to five layers; each side has as many units as an RBM's, or one a
// layer.
std::vector<int> draw_sizes(Stream& stream, int max_side) {
  if (stream.below(2) == 0) return draw_rbm_sizes(stream, max_side);
  std::vector<int> sizes(3 + stream.below(3), 1);
  for (std::size_t parity = 0; parity < 2; ++parity) {
    const std::size_t layers = (sizes.size() + 1 - parity) / 2;
    for (int more = draw_size(stream, max_side) - static_cast<int>(layers); more > 0; --more)
      ++sizes[parity + 2 * stream.below(layers)];
  }
  return sizes;
}

using Reduce = CaseOutcome (*)(const std::vector<CaseOutcome>& outcomes);

CaseOutcome worst_case(const std::vector<CaseOutcome>& outcomes) {
  // A NaN is worse than any number.
  const auto worse = [](const CaseOutcome& a, const CaseOutcome& b) {
    return std::isnan(b.value) || (!std::isnan(a.value) && a.value < b.value);
  };
  return *std::max_element(outcomes.begin(), outcomes.end(), worse);
}

CaseOutcome mean_case(const std::vector<CaseOutcome>& outcomes) {
  double sum = 0;
  for (const CaseOutcome& outcome : outcomes) sum += outcome.value;
  const auto cases = static_cast<double>(outcomes.size());
  return {sum / cases, fmt::format("mean of {} cases", outcomes.size())};
}

// Cases run in parallel, each on its stream.
Check reduced_check(Check check, CaseStatistic statistic, Reduce reduce) {
  const std::string experiment = check.name + " " + check.subject;
  const double bound = check.bound;
  check.run = [experiment, bound, reduce, statistic = std::move(statistic)](int cases,
                                                                            std::uint64_t seed) {
    if (cases < 1) throw InvalidArgument(fmt::format("cases = {} (must be at least 1)", cases));
    std::vector<CaseOutcome> outcomes(static_cast<std::size_t>(cases));
    parallel_for(outcomes.size(), [&](std::size_t i) {
      Stream stream(make_key(seed, experiment), Purpose::test, i);
      outcomes[i] = statistic(stream);
    });
    const CaseOutcome all = reduce(outcomes);
    return CheckOutcome{all.value, bound, all.value <= bound, all.detail, cases};
  };
  return check;
}

}  // namespace

Check bounded_check(std::string name, std::string subject, std::string statement, double bound,
                    CaseStatistic statistic) {
  return reduced_check({std::move(name), std::move(subject), std::move(statement), bound},
                       std::move(statistic), worst_case);
}

Check mean_check(std::string name, std::string subject, std::string statement, double bound,
                 CaseStatistic statistic) {
  return reduced_check({std::move(name), std::move(subject), std::move(statement), bound},
                       std::move(statistic), mean_case);
}

Check exceeding_check(std::string name, std::string subject, std::string statement, double bound,
                      CaseStatistic statistic) {
  Check reduced = bounded_check(std::move(name), std::move(subject), std::move(statement), bound,
                                std::move(statistic));
  reduced.run = [run = std::move(reduced.run)](int cases, std::uint64_t seed) {
    CheckOutcome outcome = run(cases, seed);
    outcome.holds = outcome.value > outcome.bound;  // NaN exceeds nothing
    return outcome;
  };
  return reduced;
}

int draw_below(Stream& stream, Eigen::Index count) {
  return static_cast<int>(stream.below(static_cast<std::uint64_t>(count)));
}

int draw_size(Stream& stream, int most) { return 1 + draw_below(stream, most); }

Eigen::MatrixXd draw_matrix(Stream& stream, Eigen::Index rows, Eigen::Index cols, double scale) {
  Eigen::MatrixXd values(rows, cols);
  for (double& value : values.reshaped()) value = stream.uniform(-scale, scale);
  return values;
}

Layered draw_check_model(Stream& stream, int max_side) {
  const auto count = static_cast<std::uint64_t>(Sizes::count);
  const auto weight_sizes = static_cast<Sizes>(stream.below(count));
  const auto bias_sizes = static_cast<Sizes>(stream.below(count));
  return draw_layers(
      draw_sizes(stream, max_side), [&] { return draw_parameter(stream, weight_sizes); },
      [&] { return draw_parameter(stream, bias_sizes); });
}

Layered draw_binary_model(Stream& stream) { return draw_check_model(stream); }

Layered draw_unit_model(Stream& stream) {
  return draw_small_unit_model(stream, 3, kMostUnitStates);
}

Layered draw_small_unit_model(Stream& stream, int max_side, double most_states) {
  const Layered binary = draw_check_model(stream, max_side);
  std::vector<Layer> layers;
  double states = std::exp2(binary.units());
  for (int l = 0; l < binary.layers(); ++l) {
    layers.push_back(binary.layer(l));
    constexpr std::array codes = {0, 1, 2, 3, 4, 5, 8, 16, 64};
    const Unit unit = Unit::from_code(codes[stream.below(codes.size())]);
    const double more = states * std::pow(unit.values() / 2.0, binary.size(l));
    if (more > most_states) continue;
    states = more;
    layers.back().unit = unit;
  }
  return Layered(std::move(layers), binary.weights());
}

Layered draw_generic_model(Stream& stream, int max_side, double scale) {
  const auto draw = [&] { return stream.uniform(-scale, scale); };
  return draw_layers(draw_sizes(stream, max_side), draw, draw);
}

Layered draw_generic_rbm(Stream& stream, int max_side, double scale) {
  const auto draw = [&] { return stream.uniform(-scale, scale); };
  return draw_layers(draw_rbm_sizes(stream, max_side), draw, draw);
}

Layered draw_independent_model(Stream& stream, int max_side) {
  const std::vector<int> sizes = draw_sizes(stream, max_side);
  const bool all_tied = stream.below(4) == 0;
  return draw_layers(
      sizes, [] { return 0.0; },
      [&] { return all_tied || stream.below(4) == 0 ? 0.0 : stream.uniform(-3, 3); });
}

Eigen::MatrixXf draw_states(Stream& stream, Unit unit, int units, int cases) {
  Eigen::MatrixXf states(units, cases);
  for (float& value : states.reshaped())
    value = static_cast<float>(unit.value(draw_below(stream, unit.values())));
  return states;
}

Base draw_base(Stream& stream, const Layered& model) {
  Base base = Base::uniform(model);
  if (stream.below(2) == 0) return base;
  for (Eigen::VectorXd& logits : base.logits)
    for (double& logit : logits) logit = stream.uniform(-2, 2);
  return base;
}

std::string describe_case(const Layered& model) {
  std::string shape, kinds;
  double weight = 0, bias = 0;
  for (int l = 0; l < model.layers(); ++l) {
    shape += fmt::format("{}{}", l == 0 ? "" : "x", model.size(l));
    kinds += fmt::format("{}{}", l == 0 ? ", " : "-", model.layer(l).unit.name());
    bias = std::max(bias, model.bias(l).cwiseAbs().maxCoeff());
    if (l + 1 < model.layers()) weight = std::max(weight, model.weights(l).cwiseAbs().maxCoeff());
  }
  return fmt::format("{}{}, |w| <= {:.4g}, |b| <= {:.4g}", shape, model.is_binary() ? "" : kinds,
                     weight, bias);
}

std::vector<Rule> ergodic_rules() {
  std::vector<Rule> rules;
  for (const RuleInfo& info : registered_rules())
    if (info.ergodic) rules.push_back(parse_rule(info.name));
  return rules;
}

}  // namespace boltzmark

// Checks of what yokoyama2019 derives of discriminative RBMs.

#include <fmt/format.h>

#include <numeric>
#include <vector>

#include "boltzmark/learn/classes/discriminative.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/check_slopes.hpp"
#include "verification/checks/worst.hpp"

namespace boltzmark {
namespace {

DiscriminativeRbm draw_classifier(Stream& stream, Unit unit) {
  const int inputs = draw_size(stream, 4), hidden = draw_size(stream, 4);
  const int classes = 1 + draw_size(stream, 4);
  const double scale = stream.uniform(0.1, 2);
  return DiscriminativeRbm(
      unit, draw_matrix(stream, hidden, inputs, scale), draw_matrix(stream, hidden, classes, scale),
      draw_matrix(stream, hidden, 1, scale), draw_matrix(stream, classes, 1, scale));
}

LabelledCases draw_labelled(Stream& stream, const DiscriminativeRbm& model, int count) {
  std::vector<int> labels;
  for (int c = 0; c < count; ++c) labels.push_back(draw_below(stream, model.classes()));
  return {draw_matrix(stream, model.inputs(), count, 1).cast<float>(), labels, model.classes()};
}

std::string describe_classifier(const DiscriminativeRbm& model) {
  return fmt::format("{}-{}-{}, {}", model.inputs(), model.hidden(), model.classes(),
                     model.hidden_unit().name());
}

std::string describe_classifier(const DiscriminativeRbm& model, const LabelledCases& cases) {
  std::string text = describe_classifier(model) + ", labels";
  for (int c = 0; c < cases.count(); ++c) text += fmt::format(" {}", cases.label(c));
  return text;
}

// The same change of variables; what it adds to every class alike drops out.
CaseOutcome spin_classes(Stream& stream) {
  const DiscriminativeRbm spins = draw_classifier(stream, Unit::multivalued(1));
  const DiscriminativeRbm bits(
      Unit::bernoulli(), 2 * spins.input_weights(), 2 * spins.class_weights(),
      2 * spins.hidden_bias(),
      spins.class_bias() - spins.class_weights().colwise().sum().transpose());
  const LabelledCases cases = draw_labelled(stream, spins, 8);
  const Eigen::MatrixXd difference = log_class_probabilities(spins, cases).array().exp() -
                                     log_class_probabilities(bits, cases).array().exp();
  return {largest_of(difference), describe_classifier(spins)};
}

CaseOutcome class_slopes(Stream& stream) {
  const Unit unit = stream.below(7) == 0 ? Unit::bernoulli() : draw_unit(stream);
  const DiscriminativeRbm model = draw_classifier(stream, unit);
  const LabelledCases cases = draw_labelled(stream, model, 5);
  std::vector<int> all(5);
  std::iota(all.begin(), all.end(), 0);
  Parameters gradient = model.zero_parameters(), at = model.parameters();
  class_gradient(model, cases, all, gradient);
  const double worst = slope_error(at, gradient, [&] {
    return score_classes(
               DiscriminativeRbm(unit, at.weights[0], at.weights[1], at.biases[0], at.biases[1]),
               cases)
        .mean_log_likelihood;
  });
  return {worst, describe_classifier(model, cases)};
}

}  // namespace

std::vector<Check> classifier_checks() {
  return {
      bounded_check("spins-are-bits", "discriminative",
                    "s = 1 is the conventional discriminative RBM: class probabilities after "
                    "re-parametrisation",
                    1e-10, spin_classes),
      bounded_check("gradient-slope", "discriminative",
                    "gradients (25)-(28) against central differences", 1e-7, class_slopes),
  };
}

}  // namespace boltzmark

#include "boltzmark/model/base.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

void check_base(const Layered& model, const Base& base) {
  require_temperable(model);
  if (static_cast<int>(base.logits.size()) != model.layers()) {
    throw InvalidArgument(fmt::format("layers of the base = {} (must be {}, those of the model)",
                                      base.logits.size(), model.layers()));
  }
  for (int l = 0; l < model.layers(); ++l) {
    if (base.logits[l].size() != model.size(l)) {
      throw InvalidArgument(fmt::format("logits of layer {} of the base = {} values (must be {})",
                                        l, base.logits[l].size(), model.size(l)));
    }
    if (!base.logits[l].allFinite()) {
      throw InvalidArgument(
          fmt::format("logits of layer {} of the base = NaN or infinity (must be finite)", l));
    }
  }
}

void check_data(const Layered& model, const CaseValues& data, double count) {
  if (!model.layer(0).unit.is_bernoulli()) {
    throw InvalidArgument("visible units = " + model.layer(0).unit.name() +
                          " (must be Bernoulli for a base of data rates)");
  }
  if (data.rows() != model.size(0) || data.cols() == 0) {
    throw InvalidArgument(fmt::format("shape of data = {}x{} (must be {}xcases, a case or more)",
                                      data.rows(), data.cols(), model.size(0)));
  }
  if (!data.all([](float x) { return x >= 0 && x <= 1; })) {
    throw InvalidArgument("data = a value outside [0, 1] (must be within, for rates)");
  }
  if (!(count >= 0) || std::isinf(count)) {
    throw InvalidArgument(fmt::format("count = {} (must be finite and not negative)", count));
  }
}

}  // namespace

Base Base::uniform(const Layered& model) {
  require_temperable(model);
  Base base;
  for (int l = 0; l < model.layers(); ++l) {
    base.logits.push_back(Eigen::VectorXd::Zero(model.size(l)));
  }
  return base;
}

Base Base::from_data(const Layered& model, const CaseValues& data, double count) {
  check_data(model, data, count);
  Eigen::VectorXd sums = Eigen::VectorXd::Zero(data.rows());
  for (Eigen::Index c = 0; c < data.cols(); ++c) sums += data.col(c).cast<double>();
  const double cases = static_cast<double>(data.cols());
  Base base = uniform(model);
  for (int i = 0; i < model.size(0); ++i) {
    const double on = sums[i] + count, off = cases - sums[i] + count;
    if (!(on > 0 && off > 0)) {
      throw InvalidArgument(
          fmt::format("base rate of visible unit {} = {} (must be inside (0, 1); smooth with a "
                      "positive count)",
                      i, on / (cases + 2 * count)));
    }
    base.logits[0][i] = std::log(on / off);
  }
  return base;
}

namespace {

// Means rise with the logit: halves an interval.
double logit_of_mean(Unit unit, double mean) {
  if (!(mean > unit.lowest() && mean < unit.highest()))
    throw InvalidArgument(
        fmt::format("mean = {} (must be between {} and {}, the values of units {})", mean,
                    unit.lowest(), unit.highest(), unit.name()));
  if (mean == (unit.lowest() + unit.highest()) / 2) return 0;  // by symmetry, exactly
  double high = 40;
  while (mean_value(unit, high) < mean || mean_value(unit, -high) > mean) high *= 2;
  double low = -high;
  for (int step = 0; step < 64; ++step) {
    const double middle = (low + high) / 2;
    (mean_value(unit, middle) < mean ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

Base Base::of_means(const Layered& model, const std::vector<Eigen::VectorXd>& means) {
  Base base = uniform(model);
  if (std::ssize(means) != model.layers())
    throw InvalidArgument("means (must be one a unit of every layer)");
  for (int l = 0; l < model.layers(); ++l) {
    if (means[l].size() != model.size(l))
      throw InvalidArgument("means (must be one a unit of every layer)");
    for (Eigen::Index u = 0; u < means[l].size(); ++u)
      base.logits[l][u] = logit_of_mean(model.layer(l).unit, means[l][u]);
  }
  return base;
}

void require_temperable(const Layered& model) {
  for (int l = 0; l < model.layers(); ++l)
    if (model.layer(l).unit.has_scale())
      throw InvalidArgument(fmt::format(
          "units of layer {} = Gaussian (must be others where a model is tempered: a base of logits "
          "does not temper their precision)",
          l));
}

double log_normaliser(const Layered& model, const Base& base) {
  check_base(model, base);
  double sum = 0;
  for (int l = 0; l < model.layers(); ++l) {
    for (const double logit : base.logits[l]) sum += log_partition(model.layer(l).unit, logit);
  }
  return sum;
}

Layered tempered(const Layered& model, const Base& base, double inverse_temperature) {
  check_base(model, base);
  const double b = inverse_temperature;
  if (!(b >= 0 && b <= 1)) {
    throw InvalidArgument(fmt::format("inverse_temperature = {} (must be in [0, 1])", b));
  }
  std::vector<Layer> layers;
  std::vector<Eigen::MatrixXd> weights;
  for (int l = 0; l < model.layers(); ++l) {
    layers.push_back(model.layer(l));
    layers.back().bias = b * model.bias(l) + (1 - b) * base.logits[l];
    if (l + 1 < model.layers()) weights.push_back(b * model.weights(l));
  }
  return Layered(std::move(layers), std::move(weights));
}

}  // namespace boltzmark

#include "boltzmark/learn/cases/standardisation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"

namespace boltzmark {
namespace {

// A model of cases x that is given as one of (x - shift) / scale.
Layered rescaled(const Layered& model, const Eigen::VectorXd& shift, const Eigen::VectorXd& scale) {
  if (!model.layer(0).unit.has_scale() || model.size(0) != scale.size())
    throw InvalidArgument(fmt::format("model (must have {} Gaussian visible units)", scale.size()));
  std::vector<Layer> layers;
  for (int l = 0; l < model.layers(); ++l) layers.push_back(model.layer(l));
  std::vector<Eigen::MatrixXd> weights = model.weights();
  weights[0] = scale.cwiseInverse().asDiagonal() * weights[0];
  layers[0].bias = shift + scale.cwiseProduct(layers[0].bias);
  layers[0].sigma0 = scale.cwiseProduct(layers[0].sigma0);
  layers[1].bias -= weights[0].transpose() * shift;
  return Layered(std::move(layers), std::move(weights));
}

}  // namespace

Standardisation::Standardisation(const Eigen::Ref<const Eigen::MatrixXf>& cases) {
  if (cases.cols() == 0 || !cases.allFinite())
    throw InvalidArgument("cases (must be one or more, of finite values)");
  mean_.setZero(cases.rows());
  scale_.setZero(cases.rows());
  const auto count = static_cast<double>(cases.cols());
  constexpr Eigen::Index kRows = 64;  // of a case, read together
  parallel_for(static_cast<std::size_t>((cases.rows() + kRows - 1) / kRows), [&](std::size_t b) {
    const Eigen::Index first = static_cast<Eigen::Index>(b) * kRows;
    const auto rows = cases.middleRows(first, std::min(kRows, cases.rows() - first));
    auto mean = mean_.segment(first, rows.rows()), scale = scale_.segment(first, rows.rows());
    for (Eigen::Index c = 0; c < rows.cols(); ++c) mean += rows.col(c).cast<double>();
    mean /= count;
    for (Eigen::Index c = 0; c < rows.cols(); ++c)
      scale += (rows.col(c).cast<double>() - mean).cwiseAbs2();
    // Asked of the values: from their mean, which is rounded, equal ones may differ.
    scale = (rows.rowwise().minCoeff().array() < rows.rowwise().maxCoeff().array())
                .select((scale / count).cwiseSqrt(), 1);
  });
}

void Standardisation::apply(Eigen::Ref<Eigen::MatrixXf> cases) const {
  if (cases.rows() != scale_.size())
    throw InvalidArgument(
        fmt::format("cases = {} units (must be {})", cases.rows(), scale_.size()));
  parallel_for(static_cast<std::size_t>(cases.cols()), [&](std::size_t c) {
    auto values = cases.col(static_cast<Eigen::Index>(c));
    values = ((values.cast<double>() - mean_).array() / scale_.array()).cast<float>();
  });
}

Layered Standardisation::of_raw_cases(const Layered& model) const {
  return rescaled(model, mean_, scale_);
}

// x = s (y - (-m / s)).
Layered Standardisation::of_standard_cases(const Layered& model) const {
  return rescaled(model, -mean_.cwiseQuotient(scale_), scale_.cwiseInverse());
}

}  // namespace boltzmark

#include "boltzmark/learn/classes/labelled_cases.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <utility>

#include "boltzmark/core/checkpoint.hpp"
#include "boltzmark/core/error.hpp"

namespace boltzmark {

LabelledCases::LabelledCases(const CaseValues& inputs, std::vector<int> labels, int classes)
    : inputs_(static_cast<int>(inputs.rows())), classes_(classes), labels_(std::move(labels)) {
  if (inputs.rows() < 1 || inputs.cols() < 1)
    throw InvalidArgument(fmt::format("inputs = [{} x {}] (must have an input and a case or more)",
                                      inputs.rows(), inputs.cols()));
  if (inputs.cols() != static_cast<Eigen::Index>(labels_.size()))
    throw InvalidArgument(
        fmt::format("labels = {} (must be {}, one per case)", labels_.size(), inputs.cols()));
  for (std::size_t c = 0; c < labels_.size(); ++c)
    if (labels_[c] < 0 || labels_[c] >= classes)
      throw InvalidArgument(
          fmt::format("label of case {} = {} (must be 0..{})", c + 1, labels_[c], classes - 1));
  if (!inputs.all([](float x) { return std::isfinite(x); }))
    throw InvalidArgument("inputs = NaN or infinity (must be finite)");
  starts_.push_back(0);
  for (Eigen::Index c = 0; c < inputs.cols(); ++c) {
    const Eigen::VectorXf values = inputs.col(c);
    for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
      if (values[i] == 0) continue;
      places_.push_back(static_cast<std::uint32_t>(i));
      values_.push_back(values[i]);
    }
    starts_.push_back(places_.size());
  }
}

SparseValues LabelledCases::input(int c) const {
  const std::size_t first = starts_[c], count = starts_[c + 1] - first;
  return {{places_.data() + first, count}, {values_.data() + first, count}};
}

std::uint64_t LabelledCases::hash() const {
  const auto bytes = [](const auto& values) {
    return std::string_view(reinterpret_cast<const char*>(values.data()),
                            values.size() * sizeof values[0]);
  };
  const auto shape = static_cast<std::uint64_t>(inputs_) << 32 | static_cast<unsigned>(classes_);
  return hash_bytes(
      bytes(values_),
      hash_bytes(bytes(places_), hash_bytes(bytes(starts_), hash_bytes(bytes(labels_), shape))));
}

}  // namespace boltzmark

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boltzmark/model/case_values.hpp"

namespace boltzmark {

/// A sparse vector: values at places, ascending.
struct SparseValues {
  std::span<const std::uint32_t> places;
  std::span<const float> values;
};

/// Inputs with their classes, the inputs that are not zero listed case by case.
class LabelledCases {
 public:
  /// Shapes  inputs [inputs x cases], labels [cases], each in 0..classes - 1
  /// Throws  InvalidArgument if shapes disagree, there is no case, a value is not finite, or a
  /// label is outside its range
  LabelledCases(const CaseValues& inputs, std::vector<int> labels, int classes);

  int inputs() const { return inputs_; }
  int classes() const { return classes_; }
  int count() const { return static_cast<int>(labels_.size()); }
  int label(int c) const { return labels_[c]; }
  SparseValues input(int c) const;
  /// Mixes inputs and labels into a hash.
  std::uint64_t hash() const;

 private:
  int inputs_;
  int classes_;
  std::vector<int> labels_;
  std::vector<std::size_t> starts_;
  std::vector<std::uint32_t> places_;
  std::vector<float> values_;
};

}  // namespace boltzmark

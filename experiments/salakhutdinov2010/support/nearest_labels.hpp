#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace boltzmark::experiments {

/// Tells the class of an image by its nearest neighbour among labelled ones.
class NearestLabels {
 public:
  /// Shapes  images [pixels x images], 0 or 1; labels [images]
  /// Throws  InvalidArgument if there is no image or the numbers differ
  NearestLabels(const Eigen::Ref<const Eigen::MatrixXf>& images, std::vector<int> labels);

  /// Finds the label of the images at the smallest Hamming distance of each sample; `ambiguous`
  /// (class_changes.hpp) where these have different ones.
  /// Shapes  samples [pixels x samples], 0 or 1; result [samples]
  /// Throws  InvalidArgument if pixels differ
  std::vector<int> classes(const Eigen::Ref<const Eigen::MatrixXf>& samples) const;

 private:
  using Bits = Eigen::Matrix<std::uint64_t, Eigen::Dynamic, Eigen::Dynamic>;  ///< [words x images]
  static Bits pack(const Eigen::Ref<const Eigen::MatrixXf>& images);
  int nearest(const Eigen::Ref<const Bits>& sample) const;

  Eigen::Index pixels_;
  Bits images_;
  std::vector<int> labels_;
};

}  // namespace boltzmark::experiments

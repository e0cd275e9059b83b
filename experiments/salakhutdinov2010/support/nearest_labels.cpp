#include "experiments/salakhutdinov2010/support/nearest_labels.hpp"

#include <fmt/format.h>

#include <bit>
#include <limits>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "experiments/kit/statistics/class_changes.hpp"

namespace boltzmark::experiments {
namespace {

constexpr Eigen::Index kWordBits = 64;

}  // namespace

NearestLabels::NearestLabels(const Eigen::Ref<const Eigen::MatrixXf>& images,
                             std::vector<int> labels)
    : pixels_(images.rows()), images_(pack(images)), labels_(std::move(labels)) {
  if (labels_.empty() || images.cols() != static_cast<Eigen::Index>(labels_.size()))
    throw InvalidArgument(
        fmt::format("labels = {} (must be one for each of {} images, one or more)", labels_.size(),
                    images.cols()));
}

NearestLabels::Bits NearestLabels::pack(const Eigen::Ref<const Eigen::MatrixXf>& images) {
  Bits bits = Bits::Zero((images.rows() + kWordBits - 1) / kWordBits, images.cols());
  for (Eigen::Index c = 0; c < images.cols(); ++c)
    for (Eigen::Index i = 0; i < images.rows(); ++i)
      bits(i / kWordBits, c) |= static_cast<std::uint64_t>(images(i, c) != 0) << (i % kWordBits);
  return bits;
}

std::vector<int> NearestLabels::classes(const Eigen::Ref<const Eigen::MatrixXf>& samples) const {
  if (samples.rows() != pixels_)
    throw InvalidArgument(
        fmt::format("pixels = {} (must be {}, as of the images)", samples.rows(), pixels_));
  const Bits bits = pack(samples);
  std::vector<int> found(static_cast<std::size_t>(samples.cols()));
  parallel_for(found.size(),
               [&](std::size_t s) { found[s] = nearest(bits.col(static_cast<Eigen::Index>(s))); });
  return found;
}

int NearestLabels::nearest(const Eigen::Ref<const Bits>& sample) const {
  int least = std::numeric_limits<int>::max(), label = ambiguous;
  for (Eigen::Index c = 0; c < images_.cols(); ++c) {
    int distance = 0;
    for (Eigen::Index w = 0; w < images_.rows(); ++w)
      distance += std::popcount(images_(w, c) ^ sample(w, 0));
    const int own = labels_[static_cast<std::size_t>(c)];
    if (distance < least)
      label = own;
    else if (distance == least && own != label)
      label = ambiguous;
    least = std::min(least, distance);
  }
  return label;
}

}  // namespace boltzmark::experiments

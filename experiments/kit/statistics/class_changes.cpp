#include "experiments/kit/statistics/class_changes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

Eigen::Index distance(const Eigen::Ref<const Eigen::MatrixXf>& samples, Eigen::Index sample,
                      const Eigen::Ref<const Eigen::MatrixXf>& modes, Eigen::Index mode) {
  return (samples.col(sample).array() != modes.col(mode).array()).count();
}

}  // namespace

std::vector<int> nearest_modes(const Eigen::Ref<const Eigen::MatrixXf>& samples,
                               const Eigen::Ref<const Eigen::MatrixXf>& modes) {
  if (modes.cols() == 0) throw InvalidArgument("modes = none (must hold at least one)");
  if (samples.rows() != modes.rows())
    throw InvalidArgument(fmt::format("units of the samples = {} (must be {}, as in the modes)",
                                      samples.rows(), modes.rows()));
  std::vector<int> classes(samples.cols());
  for (Eigen::Index sample = 0; sample < samples.cols(); ++sample) {
    Eigen::Index nearest = distance(samples, sample, modes, 0);
    int found = 0;
    for (Eigen::Index mode = 1; mode < modes.cols(); ++mode) {
      const Eigen::Index d = distance(samples, sample, modes, mode);
      if (d == nearest) found = ambiguous;
      if (d < nearest) {
        nearest = d;
        found = static_cast<int>(mode);
      }
    }
    classes[sample] = found;
  }
  return classes;
}

Eigen::MatrixXf artificial_modes(Eigen::Index units) {
  if (units <= 0 || units % 2 != 0)
    throw InvalidArgument(fmt::format("units = {} (must be positive and even)", units));
  Eigen::MatrixXf modes = Eigen::MatrixXf::Zero(units, 4);
  modes.col(1).setOnes();
  modes.col(2).tail(units / 2).setOnes();
  modes.col(3).head(units / 2).setOnes();
  return modes;
}

ClassChanges count_class_changes(std::span<const int> classes) {
  ClassTracker tracker(1);
  for (const int& one : classes) tracker.observe({&one, 1});
  return tracker.changes().front();
}

ClassTracker::ClassTracker(std::size_t chains) : last_(chains, ambiguous), changes_(chains) {}

void ClassTracker::observe(std::span<const int> classes) {
  if (classes.size() != last_.size())
    throw InvalidArgument(fmt::format("number of classes = {} (must be {}, one a chain)",
                                      classes.size(), last_.size()));
  for (const int one : classes)
    if (one < ambiguous) throw InvalidArgument(fmt::format("class = {} (must be -1 or more)", one));
  for (std::size_t chain = 0; chain < classes.size(); ++chain) {
    ClassChanges& counts = changes_[chain];
    if (classes[chain] == ambiguous) {
      ++counts.discarded;
      continue;
    }
    if (last_[chain] != ambiguous && last_[chain] != classes[chain]) {
      ++counts.changes;
      if (!counts.first_change) counts.first_change = step_;
    }
    last_[chain] = classes[chain];
  }
  ++step_;
}

bool ClassTracker::all_changed() const {
  return std::all_of(changes_.begin(), changes_.end(),
                     [](const ClassChanges& counts) { return counts.changes > 0; });
}

}  // namespace boltzmark

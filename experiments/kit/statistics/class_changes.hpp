#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace boltzmark {

/// The class of a sample that is equally near to two modes; such samples are discarded.
inline constexpr int ambiguous = -1;

/// Finds for each sample the mode at the smallest Hamming distance; `ambiguous` on a tie.
///   (bruegge2013, section 4.4)
/// Shapes  samples [units x samples], modes [units x modes], entries 0 or 1; result [samples]
/// Throws  InvalidArgument if units differ or there is no mode
std::vector<int> nearest_modes(const Eigen::Ref<const Eigen::MatrixXf>& samples,
                               const Eigen::Ref<const Eigen::MatrixXf>& modes);

/// Returns the four modes of Artificial Modes as columns: all 0; all 1; first half 0, second half
/// 1; and its complement.
///
/// Throws  InvalidArgument if units is not a positive even number
Eigen::MatrixXf artificial_modes(Eigen::Index units);

/// The class changes of one sequence of samples.
struct ClassChanges {
  std::uint64_t changes = 0;    ///< between successive unambiguous samples
  std::uint64_t discarded = 0;  ///< ambiguous samples
  /// The step at which the class first differs from the first unambiguous one; the sequence's first
  /// entry is step 0. Empty when it never did (censored).
  std::optional<std::uint64_t> first_change;
};

/// Counts the class changes of one sequence of classes (`ambiguous` entries are skipped).
/// Throws  InvalidArgument if a class is below -1
ClassChanges count_class_changes(std::span<const int> classes);

/// Counts the class changes of many chains as they run, one step at a time.
class ClassTracker {
 public:
  explicit ClassTracker(std::size_t chains);
  /// Takes the classes of all chains at the next step; the first call is step 0.
  /// Throws  InvalidArgument if the number of classes is not that of chains, or one is below -1
  void observe(std::span<const int> classes);
  const std::vector<ClassChanges>& changes() const { return changes_; }
  /// Tells whether every chain has changed class at least once.
  bool all_changed() const;

 private:
  std::uint64_t step_ = 0;
  std::vector<int> last_;
  std::vector<ClassChanges> changes_;
};

}  // namespace boltzmark

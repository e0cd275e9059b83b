#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"
#include "verification/checks/known/known_model.hpp"

namespace boltzmark {
namespace {

using Triple = std::array<int, 3>;

Triple draw_triple(int units, Stream& draws) {
  Triple triple{};
  for (std::size_t k = 0; k < triple.size(); ++k) {
    bool taken = true;
    while (taken) {
      triple[k] = static_cast<int>(draws.below(static_cast<std::uint64_t>(units)));
      taken = false;
      for (std::size_t other = 0; other < k; ++other) taken = taken || triple[other] == triple[k];
    }
  }
  return triple;
}

/// Rows over GF(2) in echelon form.
class Echelon {
 public:
  explicit Echelon(int columns) : rows_(static_cast<std::size_t>(columns)) {}

  /// Adds the row of a triple; tells whether it was independent of those before.
  bool add(const Triple& triple) {
    std::vector<bool> row(rows_.size());
    for (const int unit : triple) row[static_cast<std::size_t>(unit)] = true;
    for (std::size_t column = 0; column < row.size(); ++column) {
      if (!row[column]) continue;
      if (rows_[column].empty()) {
        rows_[column] = std::move(row);
        return true;
      }
      for (std::size_t i = column; i < row.size(); ++i) row[i] = row[i] != rows_[column][i];
    }
    return false;
  }

 private:
  std::vector<std::vector<bool>> rows_;  // by their first column; empty: none
};

// log of what a constraint's hidden units sum to: three agreements with one of them and one with
// each other if it is met, else two with three of them and none with one.
double log_met(double strength) { return softplus(0.5 * strength) + 3 * softplus(-1.5 * strength); }
double log_broken(double strength) {
  return 3 * softplus(-0.5 * strength) + softplus(-2.5 * strength);
}

}  // namespace

ParityModel make_parities(const Parities& parities, Stream& draws) {
  const int n = parities.visible;
  const double strength = parities.strength;
  if (n < 4 || !(strength >= 0))
    throw InvalidArgument(fmt::format(
        "visible, strength = {}, {} (must be at least 4, and not negative)", n, strength));
  Eigen::VectorXd planted(n);
  for (double& x : planted) x = static_cast<double>(draws.below(2));
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(n, 4 * n);
  Eigen::VectorXd above(4 * n);
  Echelon echelon(n);
  for (int made = 0; made < n;) {
    const Triple triple = draw_triple(n, draws);
    if (!echelon.add(triple)) continue;
    // The even changes of the planted values meet the constraint, too.
    constexpr std::array<std::array<int, 3>, 4> kChanges = {
        {{0, 0, 0}, {0, 1, 1}, {1, 0, 1}, {1, 1, 0}}};
    for (int q = 0; q < 4; ++q) {
      const int j = 4 * made + q;
      int off = 0;
      for (std::size_t k = 0; k < triple.size(); ++k) {
        const bool on = (planted[triple[k]] != 0) != (kChanges[q][k] != 0);
        weights(triple[k], j) = on ? strength : -strength;
        off += on ? 0 : 1;
      }
      above[j] = strength * (off - 2.5);
    }
    ++made;
  }
  LogSum one;
  one.add(log_met(strength));
  one.add(log_broken(strength));
  const double log_z = n * one.log();
  return {{.model = Layered::rbm(std::move(weights), Eigen::VectorXd::Zero(n), std::move(above)),
           .known = {.log_z = log_z,
                     .error = 1e-14 * n * (1 + strength),
                     .by = "a product over independent parities"}},
          std::move(planted)};
}

}  // namespace boltzmark

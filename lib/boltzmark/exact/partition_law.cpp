#include "boltzmark/exact/partition_law.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

/// Less than this of a cell is dropped: most cells of a hundred updates are as good as never reached.
constexpr double kNegligible = 1e-20;

/// The laws of the state for every count of visits. A cell's number has the visits of all sets but
/// the last as digits: those of the last are what is left of t. So an update moves mass to cells of
/// the same number or a higher one, and cells may be emptied in place from the highest down.
class Lattice {
 public:
  Lattice(const Partition& partition, const WeightRule& rule, int updates)
      : partition_(partition), rule_(rule), digits_(static_cast<std::size_t>(updates) + 1) {
    std::size_t cells = 1;
    const double numbers =
        static_cast<double>(partition.space().states()) * std::pow(digits_, partition.sets() - 1);
    if (numbers > 0x1p24)
      throw InvalidArgument(
          fmt::format("updates = {} (must be fewer with {} sets)", updates, partition.sets()));
    for (int k = 0; k + 1 < partition.sets(); ++k, cells *= digits_) strides_.push_back(cells);
    strides_.push_back(0);
    visits_.resize(strides_.size());
    log_g_.resize(strides_.size());
    mass_ = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(partition.space().states()),
                                  static_cast<Eigen::Index>(cells));
  }

  void start(const Eigen::VectorXd& law) { mass_.col(0) = law; }

  /// Makes an update of all cells and returns the law of the state after it.
  Eigen::VectorXd update(const std::vector<int>& ends) {
    Eigen::VectorXd after = Eigen::VectorXd::Zero(mass_.rows());
    empty_cells(partition_.sets() - 2, updates_, 0, ends, after);
    ++updates_;
    return after;
  }

 private:
  // Empties, from the highest number down, the cells that share the visits of the sets after `set`;
  // the others have `left` visits.
  void empty_cells(int set, int left, std::size_t cell, const std::vector<int>& ends,
                   Eigen::VectorXd& after) {
    if (set < 0) {
      visits_.back() = left;
      empty(static_cast<Eigen::Index>(cell), ends, after);
      return;
    }
    const auto k = static_cast<std::size_t>(set);
    for (int visits = left; visits >= 0; --visits) {
      visits_[k] = visits;
      empty_cells(set - 1, left - visits, cell + static_cast<std::size_t>(visits) * strides_[k],
                  ends, after);
    }
  }

  // Moves the mass of a cell on.
  void empty(Eigen::Index cell, const std::vector<int>& ends, Eigen::VectorXd& after) {
    law_ = mass_.col(cell);
    mass_.col(cell).setZero();
    if (law_.sum() < kNegligible) return;
    for (std::size_t k = 0; k < log_g_.size(); ++k)
      log_g_[k] = rule_.log_weight(static_cast<int>(k), visits_[k], updates_);
    sweep();
    for (Eigen::Index x = 0; x < law_.size(); ++x) {
      const int set = partition_.set_of(static_cast<std::size_t>(x));
      if (std::find(ends.begin(), ends.end(), set) != ends.end()) continue;
      mass_(x, cell + index(strides_[static_cast<std::size_t>(set)])) += law_[x];
      after[x] += law_[x];
    }
  }

  void sweep() {
    const StateSpace& space = partition_.space();
    for (const int unit : partition_.sweep_order()) {
      unit_law_.resize(static_cast<std::size_t>(space.values(unit)));
      for (std::size_t x = 0; x < space.states(); ++x) {
        if (space.value_index(unit, x) != 0) continue;  // once for all values of the unit
        double sum = 0;
        for (int k = 0; k < space.values(unit); ++k) sum += law_[index(space.moved(unit, x, k))];
        partition_.unit_law(unit, x, log_g_, unit_law_);
        for (int k = 0; k < space.values(unit); ++k)
          law_[index(space.moved(unit, x, k))] = sum * unit_law_[static_cast<std::size_t>(k)];
      }
    }
  }

  static Eigen::Index index(std::size_t state) { return static_cast<Eigen::Index>(state); }

  const Partition& partition_;
  const WeightRule& rule_;
  std::size_t digits_;
  std::vector<std::size_t> strides_;  // what a visit adds to a cell's number
  Eigen::MatrixXd mass_;              // [states x cells]
  int updates_ = 0;
  std::vector<double> visits_, log_g_, unit_law_;  // of the cell at hand
  Eigen::VectorXd law_;
};

}  // namespace

Eigen::VectorXd point_law(const Partition& partition, std::size_t state) {
  partition.require_state(state);
  Eigen::VectorXd law =
      Eigen::VectorXd::Zero(static_cast<Eigen::Index>(partition.space().states()));
  law[static_cast<Eigen::Index>(state)] = 1;
  return law;
}

Eigen::MatrixXd partition_law(const Partition& partition, const WeightRule& rule,
                              const PartitionStart& start, int updates) {
  if (!rule.counts_suffice())
    throw InvalidArgument("rule = one whose steps change (must be of constant steps, no decay)");
  rule.require_sets(partition.sets());
  if (updates < 0)
    throw InvalidArgument(fmt::format("updates = {} (must not be negative)", updates));
  if (start.law.size() != static_cast<Eigen::Index>(partition.space().states()))
    throw InvalidArgument(fmt::format("law = {} numbers (must be {}, one a state)",
                                      start.law.size(), partition.space().states()));
  Lattice lattice(partition, rule, updates);
  lattice.start(start.law);
  Eigen::MatrixXd laws(start.law.size(), updates + 1);
  laws.col(0) = start.law;
  for (int t = 1; t <= updates; ++t) laws.col(t) = lattice.update(start.ends);
  return laws;
}

Eigen::VectorXd occupancies(const Partition& partition,
                            const Eigen::Ref<const Eigen::MatrixXd>& laws) {
  return partition.sums(laws.rightCols(laws.cols() - 1).rowwise().mean());
}

}  // namespace boltzmark

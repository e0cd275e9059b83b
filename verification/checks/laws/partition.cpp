#include "verification/checks/laws/partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "boltzmark/core/error.hpp"

namespace boltzmark {

namespace {

double positive_size(double value, const char* name) {
  if (!(value > 0) || !std::isfinite(value))
    throw InvalidArgument(fmt::format("{} = {} (must be above 0)", name, value));
  return value;
}

}  // namespace

Partition::Partition(const Layered& model, std::vector<int> set_of)
    : space_(model), set_of_(std::move(set_of)) {
  if (set_of_.size() != space_.states())
    throw InvalidArgument(fmt::format("set_of = {} numbers (must be {}, one a state)",
                                      set_of_.size(), space_.states()));
  sets_ = *std::max_element(set_of_.begin(), set_of_.end()) + 1;
  for (int k = 0; k < sets_; ++k)
    if (std::find(set_of_.begin(), set_of_.end(), k) == set_of_.end())
      throw InvalidArgument(fmt::format("set_of = none is {} (must number sets from 0 on)", k));
  if (*std::min_element(set_of_.begin(), set_of_.end()) < 0)
    throw InvalidArgument("set_of = a negative number (must be at least 0)");
  for (const int parity : {1, 0})
    order_.insert(order_.end(), space_.side(parity).begin(), space_.side(parity).end());
}

void Partition::require_state(std::size_t state) const {
  if (state >= space_.states())
    throw InvalidArgument(
        fmt::format("state = {} (must be below {}, the number of states)", state, space_.states()));
}

Eigen::VectorXd Partition::sums(const Eigen::Ref<const Eigen::VectorXd>& values) const {
  Eigen::VectorXd sums = Eigen::VectorXd::Zero(sets_);
  for (Eigen::Index x = 0; x < values.size(); ++x)
    sums[set_of_[static_cast<std::size_t>(x)]] += values[x];
  return sums;
}

void Partition::unit_law(int unit, std::size_t state, std::span<const double> log_g,
                         std::span<double> law) const {
  for (std::size_t k = 0; k < law.size(); ++k) {
    const std::size_t other = space_.moved(unit, state, static_cast<int>(k));
    law[k] = space_.log_p()[static_cast<Eigen::Index>(other)] -
             log_g[static_cast<std::size_t>(set_of_[other])];
  }
  const double top = *std::max_element(law.begin(), law.end());
  double sum = 0;
  for (double& value : law) sum += value = std::exp(value - top);
  for (double& value : law) value /= sum;
}

WeightRule WeightRule::constant(double factor) {
  return WeightRule(std::log1p(positive_size(factor, "factor")), false);
}

WeightRule WeightRule::vanishing(double factor) {
  return WeightRule(positive_size(factor, "factor"), true);
}

WeightRule WeightRule::fast_weights(double rate, int data_set, double keep) {
  if (data_set < 0)
    throw InvalidArgument(fmt::format("data_set = {} (must be at least 0)", data_set));
  if (!(keep > 0 && keep <= 1))
    throw InvalidArgument(fmt::format("keep = {} (must be above 0 and at most 1)", keep));
  WeightRule rule(positive_size(rate, "rate"), false);
  rule.data_set_ = data_set;
  rule.keep_ = keep;
  return rule;
}

void WeightRule::require_sets(int sets) const {
  if (data_set_ >= sets)
    throw InvalidArgument(
        fmt::format("data_set = {} (must be below {}, the number of sets)", data_set_, sets));
}

void WeightRule::apply(std::uint64_t t, int set, std::span<double> log_g) const {
  if (keep_ != 1)
    for (double& value : log_g) value *= keep_;
  if (set == data_set_) return;
  log_g[static_cast<std::size_t>(set)] +=
      vanishing_ ? std::log1p(size_ / static_cast<double>(t)) : size_;
  if (data_set_ >= 0) log_g[static_cast<std::size_t>(data_set_)] -= size_;
}

PartitionChain::PartitionChain(const Partition& partition, const WeightRule& rule,
                               std::size_t state)
    : partition_(&partition),
      rule_(rule),
      state_(state),
      log_g_(static_cast<std::size_t>(partition.sets())) {
  rule.require_sets(partition.sets());
  partition.require_state(state);
}

void PartitionChain::update(Stream& stream) {
  const StateSpace& space = partition_->space();
  for (const int unit : partition_->sweep_order()) {
    law_.resize(static_cast<std::size_t>(space.values(unit)));
    partition_->unit_law(unit, state_, log_g_, law_);
    double left = stream.uniform();
    int value = 0;
    while (value + 1 < space.values(unit) && left >= law_[static_cast<std::size_t>(value)])
      left -= law_[static_cast<std::size_t>(value++)];
    state_ = space.moved(unit, state_, value);
  }
  rule_.apply(++updates_, set(), log_g_);
}

namespace {

/// Less than this of a cell is dropped: most cells of a hundred updates are as good as never reached.
constexpr double kNegligible = 1e-20;

/// The laws of the state for every count of visits. A cell's number has the visits of all sets but
/// the last as digits: those of the last are what is left of t. So an update moves mass to cells of
/// the same number or a higher one, and cells may be emptied in place from the highest down.
class PartitionLattice {
 public:
  PartitionLattice(const Partition& partition, const WeightRule& rule, int updates)
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
  PartitionLattice lattice(partition, rule, updates);
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

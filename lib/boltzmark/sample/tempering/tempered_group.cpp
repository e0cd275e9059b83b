#include "boltzmark/sample/tempering/tempered_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boltzmark/core/error.hpp"

namespace boltzmark {

void require_rungs(const char* name, const Eigen::VectorXd& values, Eigen::Index rungs) {
  if (values.size() != rungs || !values.allFinite())
    throw InvalidArgument(fmt::format("{} = {} values (must be {} finite ones, one a rung)", name,
                                      values.size(), rungs));
}

Eigen::VectorXd normalised_log_prior(const Eigen::VectorXd& log_prior) {
  const double high = log_prior.maxCoeff();
  return log_prior.array() - high - std::log((log_prior.array() - high).exp().sum());
}

TemperedRecord::TemperedRecord(Eigen::Index rungs, Eigen::Index chains, Eigen::Index kept_sweeps,
                               int batches)
    : sweeps(kept_sweeps),
      sums{.weight = Eigen::MatrixXd::Zero(rungs, chains * batches), .batches = batches},
      end_squares(static_cast<std::size_t>(chains), Eigen::Vector3d::Zero()),
      trip_counters(static_cast<std::size_t>(chains), TripCounter(static_cast<int>(rungs) - 1)) {
  sums.samples = static_cast<double>(chains) * static_cast<double>(kept_sweeps);
}

RungSums TemperedRecord::finish() {
  for (const Eigen::Vector3d& squares : end_squares) sums.end_squares += squares;
  return std::move(sums);
}

TemperedGroup::TemperedGroup(Population& population, int first_chain,
                             const SimulatedTemperingOptions& options)
    : population_(&population),
      first_chain_(first_chain),
      options_(&options),
      rungs_(population.chains(), 0),
      inverse_temperatures_(population.chains()),
      log_ratios_(population.chains()),
      betas_(inverse_temperatures_of(options.ladder)),
      probabilities_(options.ladder.rungs()) {
  const auto cells = static_cast<std::size_t>(population.chains()) * options.ladder.rungs();
  if (options.states == States::collapsed) log_densities_.resize(cells);
  for (int c = 0; c < population.chains(); ++c) {
    const auto chain = static_cast<std::uint64_t>(first_chain + c);
    streams_.emplace_back(options.key, Purpose::rung, chain);
    choices_.emplace_back(options.key, Purpose::data, chain);
  }
}

void TemperedGroup::draw_uniform_rungs() {
  for (std::size_t c = 0; c < rungs_.size(); ++c)
    rungs_[c] = static_cast<int>(streams_[c].below(static_cast<std::uint64_t>(betas_.size())));
}

void TemperedGroup::hold(Eigen::Index sweeps) {
  for (Eigen::Index s = 0; s < sweeps; ++s) move();
}

void TemperedGroup::move() {
  for (std::size_t c = 0; c < rungs_.size(); ++c)
    inverse_temperatures_[c] = options_->ladder.single(rungs_[c]);
  population_->move(inverse_temperatures_);
}

void TemperedGroup::measure() {
  population_->log_ratio(log_ratios_);
  if (options_->states == States::collapsed)
    population_->log_densities(options_->ladder, log_densities_);
}

void TemperedGroup::run(const Eigen::VectorXd& log_weight, TemperedRecord& record,
                        Eigen::Index first, Eigen::Index last) {
  const Eigen::Index rungs = betas_.size();
  for (Eigen::Index sweep = first; sweep < last; ++sweep) {
    move();
    measure();
    for (int c = 0; c < population_->chains(); ++c) {
      if (options_->states == States::joint)
        probabilities_ = betas_ * log_ratios_[c];
      else
        std::copy_n(log_densities_.data() + c * rungs, rungs, probabilities_.data());
      rung_probabilities(probabilities_, log_weight, probabilities_);
      add_sample(c, sweep, record);
      if (record.top_states != nullptr && rungs_[c] + 1 == rungs)
        record.top_states->offer(*population_, first_chain_, c, choices_[c]);
      rungs_[c] = next_rung(c);
    }
  }
}

void TemperedGroup::add_sample(int chain, Eigen::Index sweep, TemperedRecord& record) {
  record.trip_counters[first_chain_ + chain].visit(rungs_[chain]);
  const Eigen::Index batches = record.sums.batches;
  const Eigen::Index group = (first_chain_ + chain) * batches + sweep * batches / record.sweeps;
  if (options_->occupancies == Assignment::hard && record.store == nullptr) {
    record.sums.weight(rungs_[chain], group) += 1;
    return add_ends(chain, rungs_[chain] == 0, rungs_[chain] + 1 == betas_.size(), record);
  }
  add_soft(chain, group, record);
  if (record.store != nullptr) keep(chain, sweep, *record.store);
}

void TemperedGroup::add_soft(int chain, Eigen::Index group, TemperedRecord& record) const {
  RungSums& sums = record.sums;
  sums.weight.col(group) += probabilities_;
  if (sums.first.size() > 0) {
    const double d = log_ratios_[chain];
    sums.first.col(group) += probabilities_ * d;
    sums.second.col(group) += probabilities_ * (d * d);
  }
  add_ends(chain, probabilities_[0], probabilities_[betas_.size() - 1], record);
}

void TemperedGroup::add_ends(int chain, double low, double high, TemperedRecord& record) const {
  record.end_squares[first_chain_ + chain] += Eigen::Vector3d(low * low, high * high, low * high);
}

void TemperedGroup::keep(int chain, Eigen::Index sweep, SampleStore& store) const {
  const Eigen::Index number = first_chain_ + chain;
  store.log_ratio(sweep, number) = log_ratios_[chain];
  store.rung(sweep, number) = rungs_[chain];
  if (store.log_f.empty()) return;
  const Eigen::Index at = (sweep * store.log_ratio.cols() + number) * betas_.size();
  std::copy_n(log_densities_.data() + chain * betas_.size(), betas_.size(),
              store.log_f.begin() + at);
}

int TemperedGroup::next_rung(int chain) {
  Stream& stream = streams_[chain];
  const int now = rungs_[chain];
  const int top = static_cast<int>(betas_.size()) - 1;
  const double draw = stream.uniform();
  if (options_->rung_move == RungMove::metropolis) {
    const int to = now + (draw < 0.5 ? -1 : 1);
    const double accept = stream.uniform();
    if (to < 0 || to > top) return now;
    return accept * probabilities_[now] < probabilities_[to] ? to : now;
  }
  double below = 0;
  for (int k = 0; k < top; ++k) {
    below += probabilities_[k];
    if (draw < below) return k;
  }
  return top;
}

}  // namespace boltzmark

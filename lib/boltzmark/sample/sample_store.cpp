#include "boltzmark/sample/sample_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/exponentials.hpp"
#include "boltzmark/core/parallel.hpp"

namespace boltzmark {
namespace {

constexpr Eigen::Index kGroups = 32;

// Sums one group: samples of one chain between two sweeps, by the law of their rungs or, without
// one, by the rungs that they have.
void sum_group(const SampleStore& store, const RungLaw* law, Eigen::Index chain, Eigen::Index first,
               Eigen::Index last, Eigen::Index group, RungSums& sums, Eigen::Vector3d& squares) {
  Eigen::VectorXd q(store.rungs());
  const Eigen::Index top = store.rungs() - 1;
  for (Eigen::Index s = first; s < last; ++s) {
    const double d = store.log_ratio(s, chain);
    if (law == nullptr) {
      const int k = store.rung(s, chain);
      sums.weight(k, group) += 1;
      sums.first(k, group) += d;
      sums.second(k, group) += d * d;
      squares[0] += k == 0 ? 1 : 0;
      squares[1] += k == top ? 1 : 0;
      continue;
    }
    (*law)(chain * store.sweeps() + s, q);
    sums.weight.col(group) += q;
    if (sums.first.size() > 0) {
      sums.first.col(group) += q * d;
      sums.second.col(group) += q * (d * d);
    }
    squares += Eigen::Vector3d(q[0] * q[0], q[top] * q[top], q[0] * q[top]);
  }
}

RungSums sum_all(const SampleStore& store, const RungLaw* law, bool has_ratio) {
  const int batches = batches_per_chain(store.chains() / store.bundle(), store.sweeps());
  const Eigen::Index groups = store.chains() * batches;
  RungSums sums{.weight = Eigen::MatrixXd::Zero(store.rungs(), groups)};
  if (has_ratio) sums.first = sums.second = sums.weight;
  sums.samples = store.samples();
  sums.batches = batches;
  std::vector<Eigen::Vector3d> squares(groups, Eigen::Vector3d::Zero());
  parallel_for(static_cast<std::size_t>(groups), [&](std::size_t g) {
    const auto group = static_cast<Eigen::Index>(g);
    const Eigen::Index batch = group % batches;
    const auto edge = [&](Eigen::Index b) { return (b * store.sweeps() + batches - 1) / batches; };
    sum_group(store, law, group / batches, edge(batch), edge(batch + 1), group, sums, squares[g]);
  });
  for (const Eigen::Vector3d& s : squares) sums.end_squares += s;
  return sums;
}

// Adds the groups of a bundle's chains to one a batch.
RungSums joined_in_bundles(RungSums sums, Eigen::Index bundle) {
  const auto join = [&](Eigen::MatrixXd& groups) {
    const Eigen::Index batches = sums.batches, bundles = groups.cols() / batches / bundle;
    Eigen::MatrixXd joined = Eigen::MatrixXd::Zero(groups.rows(), bundles * batches);
    for (Eigen::Index g = 0; g < groups.cols(); ++g)
      joined.col(g / batches / bundle * batches + g % batches) += groups.col(g);
    groups = std::move(joined);
  };
  for (Eigen::MatrixXd* groups : {&sums.weight, &sums.first, &sums.second})
    if (groups->size() > 0) join(*groups);
  return sums;
}

}  // namespace

void SampleStore::check() const {
  const auto k = static_cast<Eigen::Index>(rungs());
  if (log_prior.size() != k || log_z_hat.size() != k)
    throw InvalidArgument(
        fmt::format("log_prior, log_z_hat = {}, {} values (must be {}, one a rung)",
                    log_prior.size(), log_z_hat.size(), k));
  if (log_ratio.size() == 0 || rung.rows() != log_ratio.rows() || rung.cols() != log_ratio.cols())
    throw InvalidArgument(fmt::format("rung = {}x{} (must be the shape of D, {}x{}, not empty)",
                                      rung.rows(), rung.cols(), log_ratio.rows(),
                                      log_ratio.cols()));
  if (rung.minCoeff() < 0 || rung.maxCoeff() >= rungs())
    throw InvalidArgument(fmt::format("rung = {}..{} (must be within 0..{})", rung.minCoeff(),
                                      rung.maxCoeff(), k - 1));
  if (!log_ratio.allFinite() || !log_prior.allFinite() || !log_z_hat.allFinite() ||
      !std::all_of(log_f.begin(), log_f.end(), [](double x) { return std::isfinite(x); }))
    throw InvalidArgument("D, log_prior, log_z_hat, log_f (must be finite)");
  if (!log_f.empty() && log_f.size() != static_cast<std::size_t>(log_ratio.size() * k))
    throw InvalidArgument(fmt::format("log_f = {} values (must be {}, one a sample and rung)",
                                      log_f.size(), log_ratio.size() * k));
}

namespace {

/// Means of groups of samples, whose spread tells their error.
struct GroupMeans {
  Eigen::VectorXd sum, count;

  explicit GroupMeans(Eigen::Index groups)
      : sum(Eigen::VectorXd::Zero(groups)), count(Eigen::VectorXd::Zero(groups)) {}
  void add(Eigen::Index group, double value) {
    sum[group] += value;
    count[group] += 1;
  }
  double mean() const { return sum.sum() / count.sum(); }
  /// Returns by how much the mean of all is above 0, in excess of so many of its standard errors.
  double excess(double errors) const {
    const double middle = mean();
    const double groups = static_cast<double>((count.array() > 0).count());
    if (groups < 2) return 0;
    const double squares = (sum - middle * count).squaredNorm() * groups / (groups - 1);
    return middle - errors * std::sqrt(squares) / count.sum();
  }
};

// By how much a density is above the chord between its neighbours at most.
double rise_above_chords(const Ladder& ladder, const double* log_f) {
  double most = 0;
  for (int k = 1; k + 1 < ladder.rungs(); ++k) {
    const double share = (ladder[k] - ladder[k - 1]) / (ladder[k + 1] - ladder[k - 1]);
    most = std::max(most, log_f[k] - (1 - share) * log_f[k - 1] - share * log_f[k + 1]);
  }
  return most;
}

}  // namespace

constexpr int kFewestSlopes = 5;

void check_collapsed(const SampleStore& store) {
  store.check();
  if (store.log_f.empty()) return;
  const Ladder& ladder = store.ladder;
  const int rungs = store.rungs(), batches = batches_per_chain(store.chains(), store.sweeps());
  const auto chord = [&](const double* log_f, int k) {
    return (log_f[k + 1] - log_f[k]) / (ladder[k + 1] - ladder[k]);
  };
  const auto densities = [&](Eigen::Index s, Eigen::Index c) {
    return store.log_f.data() + (s * store.chains() + c) * rungs;
  };
  const auto each = [&](const auto& body) {
    for (Eigen::Index s = 0; s < store.sweeps(); ++s)
      for (Eigen::Index c = 0; c < store.chains(); ++c)
        body(densities(s, c), store.rung(s, c), store.log_ratio(s, c),
             c * batches + s * batches / store.sweeps());
  };
  const Eigen::Index groups = store.chains() * batches;
  // Of the lower half of the rungs and of the upper one.
  std::vector<GroupMeans> above(2, GroupMeans(groups)), below = above;
  // D and the slope, about between the chords, of each rung.
  std::vector<GroupMeans> ratios(static_cast<std::size_t>(rungs), GroupMeans(1)), slopes = ratios;
  const auto slope = [&](const double* log_f, int k) {
    return (chord(log_f, std::max(k - 1, 0)) + chord(log_f, std::min(k, rungs - 2))) / 2;
  };
  each([&](const double* log_f, int k, double d, Eigen::Index group) {
    const double largest = std::max(std::abs(log_f[0]), std::abs(log_f[rungs - 1]));
    if (rise_above_chords(ladder, log_f) > 1e-5 + 1e-9 * largest)
      throw InvalidArgument("log_f (must be convex over the rungs, as log f_b(v) is)");
    const int half = 2 * k < rungs ? 0 : 1;
    if (k + 1 < rungs) above[half].add(group, d - chord(log_f, k));
    if (k > 0) below[half].add(group, chord(log_f, k - 1) - d);
    ratios[k].add(0, d);
    slopes[k].add(0, slope(log_f, k));
  });
  const double size = store.log_ratio.norm() / std::sqrt(store.samples());
  for (const auto& sides : {above, below})
    for (const GroupMeans& half : sides)
      if (half.excess(10) > 0.1 * size + 1e-6)
        throw InvalidArgument(
            "log_f (must be log f_b(v) of the states whose D are stored: its slopes at the sampled "
            "rungs must be D in the mean)");
  // Within a rung D varies with the slope, by as much in the mean. A few wide steps have no slope:
  // their chords are not about that of any rung.
  if (rungs < kFewestSlopes) return;
  GroupMeans independent(groups);
  each([&](const double* log_f, int k, double d, Eigen::Index group) {
    const double s = slope(log_f, k) - slopes[k].mean();
    independent.add(group, 0.3 * s * s - s * (d - ratios[k].mean()));
  });
  if (independent.excess(5) > 1e-9 * size * size)
    throw InvalidArgument(
        "log_f (must be log f_b(v) of the states whose D are stored, in their order: its slopes at "
        "the sampled rungs must vary with D)");
}

void rung_probabilities(const Eigen::Ref<const Eigen::VectorXd>& log_f,
                        const Eigen::VectorXd& log_weight, Eigen::Ref<Eigen::VectorXd> out) {
  out = log_f + log_weight;
  exponentiate({out.data(), static_cast<std::size_t>(out.size())}, out.maxCoeff());
  out /= out.sum();
}

int batches_per_chain(Eigen::Index chains, Eigen::Index sweeps) {
  int batches = 1;
  while (batches * chains < kGroups && 2 * batches <= sweeps) batches *= 2;
  return batches;
}

namespace {

RungSums sum_joint(const SampleStore& store, const RungLaw* law) {
  RungSums sums = sum_all(store, law, true);
  return store.bundle() > 1 ? joined_in_bundles(std::move(sums), store.bundle()) : sums;
}

}  // namespace

RungSums sum_by_rung(const SampleStore& store, Assignment assignment) {
  store.check();
  std::optional<RungLaw> law;
  if (assignment == Assignment::soft) law.emplace(store, States::joint);
  return sum_joint(store, law ? &*law : nullptr);
}

RungSums sum_by_weights(const SampleStore& store, const Eigen::VectorXd& log_weights) {
  const RungLaw law(store, log_weights);
  return sum_joint(store, &law);
}

RungSums sum_collapsed(const SampleStore& store) {
  const RungLaw law(store, States::collapsed);
  return sum_all(store, &law, false);
}

std::vector<std::vector<Eigen::Index>> samples_by_rung(const SampleStore& store) {
  std::vector<std::vector<Eigen::Index>> samples(store.rungs());
  for (Eigen::Index n = 0; n < store.rung.size(); ++n) samples[store.rung.data()[n]].push_back(n);
  return samples;
}

void need_random_rungs(const SampleStore& store) {
  if (!store.random_rungs)
    throw InvalidArgument("store (must hold rungs drawn by simulated tempering)");
}

RungLaw::RungLaw(const SampleStore& store, Eigen::VectorXd log_weights)
    : store_(store),
      states_(States::joint),
      inverse_temperatures_(inverse_temperatures_of(store.ladder)),
      log_weight_(std::move(log_weights)) {
  store.check();
}

RungLaw::RungLaw(const SampleStore& store, States states) : RungLaw(store, Eigen::VectorXd()) {
  need_random_rungs(store);
  if (states == States::collapsed && store.log_f.empty())
    throw InvalidArgument("store (must hold log_f: collapsed states)");
  states_ = states;
  log_weight_ = store.log_prior - store.log_z_hat;
}

void RungLaw::operator()(Eigen::Index place, Eigen::VectorXd& out) const {
  if (states_ == States::joint) {
    out = inverse_temperatures_ * store_.log_ratio.data()[place];
  } else {
    const Eigen::Index sweep = place % store_.sweeps(), chain = place / store_.sweeps();
    const double* from = store_.log_f.data() + (sweep * store_.chains() + chain) * store_.rungs();
    out = Eigen::Map<const Eigen::VectorXd>(from, store_.rungs());
  }
  rung_probabilities(out, log_weight_, out);
}

namespace {

void check_sizes(const Eigen::VectorXd& occupancy, const Eigen::VectorXd& log_prior,
                 const Eigen::VectorXd& log_z_hat) {
  if (occupancy.size() < 2 || log_prior.size() != occupancy.size() ||
      log_z_hat.size() != occupancy.size())
    throw InvalidArgument(
        fmt::format("occupancy, log_prior, log_z_hat = {}, {}, {} values (must be one a rung, 2 "
                    "rungs or more)",
                    occupancy.size(), log_prior.size(), log_z_hat.size()));
  if (!occupancy.allFinite() || occupancy.minCoeff() < 0)
    throw InvalidArgument("occupancy (must be finite and not negative)");
}

}  // namespace

Eigen::VectorXd log_z_from_occupancies(const Eigen::VectorXd& occupancy,
                                       const Eigen::VectorXd& log_prior,
                                       const Eigen::VectorXd& log_z_hat) {
  check_sizes(occupancy, log_prior, log_z_hat);
  if (!(occupancy.maxCoeff() > 0))
    throw InvalidArgument("occupancy = 0 (must be positive of a rung)");
  return partial_rts_update(occupancy, log_prior, log_z_hat.array() - log_z_hat[0], 1);
}

Eigen::VectorXd sams_update(const Eigen::VectorXd& occupancy, const Eigen::VectorXd& log_prior,
                            const Eigen::VectorXd& log_z_hat, double step) {
  check_sizes(occupancy, log_prior, log_z_hat);
  if (!std::isfinite(step)) throw InvalidArgument(fmt::format("step = {} (must be finite)", step));
  const Eigen::ArrayXd ratio = occupancy.array() * (-log_prior.array()).exp();
  return log_z_hat.array() + step * (ratio - ratio[0]);
}

Eigen::VectorXd partial_rts_update(const Eigen::VectorXd& occupancy,
                                   const Eigen::VectorXd& log_prior,
                                   const Eigen::VectorXd& log_z_hat, double alpha) {
  check_sizes(occupancy, log_prior, log_z_hat);
  const Eigen::ArrayXd log_ratio = occupancy.array().log() - log_prior.array();
  return log_z_hat.array() + alpha * (log_ratio - log_ratio[0]);
}

}  // namespace boltzmark

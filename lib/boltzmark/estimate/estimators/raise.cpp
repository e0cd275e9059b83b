#include "boltzmark/estimate/estimators/raise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "boltzmark/core/error.hpp"
#include "boltzmark/estimate/estimators/rts.hpp"
#include "boltzmark/sample/tempering/mixing.hpp"

namespace boltzmark {
namespace {

// The weights of the chains that were at b = 1, by their visits there.
Estimate weigh(const Eigen::VectorXd& log_weights, const std::vector<double>& visits) {
  std::vector<double> logs, counts;
  for (std::size_t c = 0; c < visits.size(); ++c) {
    if (visits[c] == 0) continue;
    logs.push_back(log_weights[static_cast<Eigen::Index>(c)]);
    counts.push_back(visits[c]);
  }
  const auto n = static_cast<Eigen::Index>(logs.size());
  if (n < 2) {
    Estimate none;
    none.refuse(Status::not_converged,
                fmt::format("{} of {} chains were at b = 1 (fewer than 2): run more sweeps", n,
                            visits.size()));
    return none;
  }
  return estimate_from_weights(
      summarise(Eigen::VectorXd::Map(logs.data(), n), Eigen::VectorXd::Map(counts.data(), n)),
      Bound::upper);
}

// Reverse paths that would lower the estimate are rare, and none of the weights tells that they are
// missing: the run that the cases are from has an estimate of its own.
void hold_to_run(const TemperedRun& run, Estimate& estimate) {
  constexpr double kErrors = 3;
  const Estimate by_rts = rts(run.sums, run.store.log_prior, run.store.log_z_hat);
  const double off = std::abs(estimate.log_z - by_rts.log_z);
  if (off > kErrors * std::hypot(estimate.std_error, by_rts.std_error))
    estimate.refuse(Status::not_converged,
                    fmt::format("RTS by the run that the cases are from says {:.4f} +- {:.4f}: run "
                                "more sweeps",
                                by_rts.log_z, by_rts.std_error));
}

}  // namespace

Estimate raise_from_tempering(const Target& target, SimulatedTemperingOptions tempering,
                              const AnnealingOptions& annealing) {
  if (tempering.chains != annealing.chains)
    throw InvalidArgument(
        fmt::format("chains = {} and {} (must be equal)", tempering.chains, annealing.chains));
  require_marginal_moves(target);
  std::optional<TopStates> own;
  if (tempering.top_states == nullptr)
    tempering.top_states = &own.emplace(target, tempering.chains, tempering.key);
  TopStates& top = *tempering.top_states;
  const TemperedRun run = simulated_tempering(target, tempering);
  const AnnealingResult result =
      reverse_annealing(target, annealing, [&](Population& population, int first_chain) {
        for (int c = 0; c < population.chains(); ++c)
          top.states.copy_chain(first_chain + c, population, c);
      });
  Estimate estimate = weigh(result.log_weights, top.visits);
  judge_mixing(estimate, run.store);
  hold_to_run(run, estimate);
  estimate.warnings.emplace_back("cases are from a tempered run, no exact samples: no bound");
  return estimate;
}

}  // namespace boltzmark

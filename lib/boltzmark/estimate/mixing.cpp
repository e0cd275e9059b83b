#include "boltzmark/estimate/mixing.hpp"

#include <fmt/format.h>

#include "boltzmark/core/error.hpp"

namespace boltzmark {

void judge_mixing(Estimate& estimate, const SampleStore& store) {
  if (!store.random_rungs || round_trips(store) > 0) return;
  estimate.refuse(Status::not_converged,
                  "no chain went from the top rung to the bottom and back: run more sweeps, or use "
                  "a ladder on which chains move");
}

std::vector<std::vector<Eigen::Index>> samples_by_rung(const SampleStore& store) {
  std::vector<std::vector<Eigen::Index>> samples(store.rungs());
  for (Eigen::Index n = 0; n < store.rung.size(); ++n) samples[store.rung.data()[n]].push_back(n);
  return samples;
}

bool judge_visits(Estimate& estimate, const Eigen::VectorXd& counts) {
  const auto empty = (counts.array() <= 0).count();
  if (empty == 0) return true;
  estimate.refuse(Status::unvisited_rung,
                  fmt::format("{} of {} rungs have no samples: run more sweeps or use fewer rungs",
                              empty, counts.size()));
  return false;
}

void need_random_rungs(const SampleStore& store) {
  if (!store.random_rungs)
    throw InvalidArgument("store (must hold rungs drawn by simulated tempering)");
}

}  // namespace boltzmark

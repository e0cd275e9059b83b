#include "experiments/salakhutdinov2010/support/overlaps.hpp"

#include <fmt/format.h>

#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/diagnose/autocorrelation_time.hpp"

namespace boltzmark::experiments {

void Overlaps::see(const Sampler& sampler, const Layered& model) {
  if (seen_ == values_.rows()) return;
  if (!states_) states_.emplace(model, sampler.chains());
  sampler.copy_states(*states_);
  see(states_->get_layer(0));
}

void Overlaps::see(const Eigen::Ref<const Eigen::MatrixXf>& visible) {
  if (visible.cols() != values_.cols())
    throw InvalidArgument(
        fmt::format("chains = {} (must be {}, as first)", visible.cols(), values_.cols()));
  if (seen_ == values_.rows()) return;
  const Eigen::Index half = visible.rows() / 2;
  values_.row(seen_++) =
      (visible.topRows(half).colwise().sum() - visible.bottomRows(half).colwise().sum())
          .cast<double>();
}

Overlaps::Time Overlaps::time() const {
  const JudgedTime judged = judge_autocorrelation_time(values_.topRows(seen_));
  return {.tau = judged.status == TimeStatus::constant ? HUGE_VAL : judged.geyer.tau,
          .supported = judged.supported};
}

void Overlaps::save(CheckpointWriter& out) const {
  out.write(static_cast<std::uint64_t>(seen_));
  out.write(values_);
}

void Overlaps::restore(CheckpointReader& in) {
  seen_ = static_cast<Eigen::Index>(in.read());
  in.read(values_);
}

}  // namespace boltzmark::experiments

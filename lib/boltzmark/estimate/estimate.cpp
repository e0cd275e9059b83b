#include "boltzmark/estimate/estimate.hpp"

#include <fmt/format.h>

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <utility>

#include "boltzmark/core/error.hpp"

namespace boltzmark {

std::string_view name(Status status) {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::unvisited_rung:
      return "unvisited_rung";
    case Status::few_effective_samples:
      return "few_effective_samples";
    case Status::not_converged:
      return "not_converged";
  }
  throw InvalidArgument("status (must be one of the enumeration)");
}

void Estimate::refuse(Status reason, std::string warning) {
  if (reason > status) status = reason;
  warnings.push_back(std::move(warning));
}

void set_error(Estimate& estimate, const Eigen::VectorXd& group_sums, double samples,
               double mean_square) {
  const auto groups = static_cast<double>(group_sums.size());
  if (groups < 2) throw InvalidArgument("groups = 1 (must be at least 2)");
  const double variance = groups / (groups - 1) * group_sums.squaredNorm() / (samples * samples);
  estimate.std_error = std::sqrt(variance);
  const boost::math::students_t law(groups - 1);
  const double half = boost::math::quantile(law, 0.975) * estimate.std_error;
  estimate.lower = estimate.log_z - half;
  estimate.upper = estimate.log_z + half;
  estimate.effective_samples = variance > 0 ? mean_square / variance : samples;
  if (estimate.effective_samples < kFewEffectiveSamples)
    estimate.refuse(Status::few_effective_samples,
                    fmt::format("{:.0f} effective samples (fewer than {:.0f}): run more sweeps or "
                                "chains",
                                estimate.effective_samples, kFewEffectiveSamples));
}

}  // namespace boltzmark

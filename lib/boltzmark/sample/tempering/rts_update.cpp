#include "boltzmark/sample/tempering/rts_update.hpp"

#include <fmt/format.h>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
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
  return partial_rts_update(occupancy, log_prior, log_z_hat.array() - log_z_hat[0], 1);
}

Eigen::VectorXd sams_update(const Eigen::VectorXd& occupancy, const Eigen::VectorXd& log_prior,
                            const Eigen::VectorXd& log_z_hat, double step) {
  check_sizes(occupancy, log_prior, log_z_hat);
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

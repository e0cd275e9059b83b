#include "verification/checks/laws/tempered_chain.hpp"

#include <fmt/format.h>

#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/sample/sample_store.hpp"

namespace boltzmark {
namespace {

void need_rungs(const Eigen::VectorXd& values, int rungs, const char* name) {
  if (values.size() != rungs || !values.allFinite())
    throw InvalidArgument(
        fmt::format("{} = {} values (must be {}, finite, one a rung)", name, values.size(), rungs));
}

}  // namespace

TemperedChain::TemperedChain(const TemperedSpace& space, TemperedOptions options)
    : space_(space), options_(std::move(options)) {
  need_rungs(options_.log_prior, space.rungs(), "log_prior");
  need_rungs(options_.log_z_hat, space.rungs(), "log_z_hat");
  const Eigen::VectorXd log_weight = options_.log_prior - options_.log_z_hat;
  const Eigen::MatrixXd log_q = space.log_f().rowwise() + log_weight.transpose();
  stationary_ = over_pairs((log_q.array() - log_q.maxCoeff()).exp().matrix());
  stationary_ /= stationary_.sum();
  rung_given_state_.resize(space.states(), space.rungs());
  Eigen::VectorXd q(space.rungs());
  for (Eigen::Index x = 0; x < space.states(); ++x) {
    rung_probabilities(space.log_f().row(x).transpose(), log_weight, q);
    rung_given_state_.row(x) = q.transpose();
  }
}

Eigen::VectorXd TemperedChain::rung_law() const {
  return stationary_.reshaped(space_.states(), space_.rungs()).colwise().sum().transpose();
}

Eigen::MatrixXd TemperedChain::rung_move_from(int rung) const {
  if (options_.rung_move == RungMove::gibbs) return rung_given_state_;
  const Eigen::VectorXd log_weight = options_.log_prior - options_.log_z_hat;
  Eigen::MatrixXd move = Eigen::MatrixXd::Zero(space_.states(), space_.rungs());
  move.col(rung).setOnes();
  for (const int to : {rung - 1, rung + 1}) {
    if (to < 0 || to >= space_.rungs()) continue;
    const Eigen::VectorXd log_odds = space_.log_f().col(to) - space_.log_f().col(rung);
    move.col(to) = 0.5 * (log_odds.array() + log_weight[to] - log_weight[rung]).min(0).exp();
    move.col(rung) -= move.col(to);
  }
  return move;
}

Eigen::MatrixXd TemperedChain::matrix() const {
  if (static_cast<std::size_t>(size()) > kMaxDenseStates)
    throw InvalidArgument(
        fmt::format("states x rungs = {} (must be at most {})", size(), kMaxDenseStates));
  const Eigen::Index n = space_.states();
  Eigen::MatrixXd result(size(), size());
  const Eigen::MatrixXd p = space_.p();
  for (int to = 0; to < space_.rungs(); ++to) {
    Eigen::MatrixXd kernel = p.col(to).transpose().replicate(n, 1);
    if (options_.state_move == StateMove::sweep) kernel = space_.sweep(to, options_.rule);
    for (int from = 0; from < space_.rungs(); ++from)
      result.block(from * n, to * n, n, n) = rung_move_from(from).col(to).asDiagonal() * kernel;
  }
  return result;
}

Eigen::MatrixXd TemperedChain::rung_matrix() const {
  Eigen::MatrixXd result(space_.rungs(), space_.rungs());
  const Eigen::MatrixXd p = space_.p();
  for (int from = 0; from < space_.rungs(); ++from)
    result.row(from) = p.col(from).transpose() * rung_move_from(from);
  return result;
}

Eigen::VectorXd over_pairs(const Eigen::Ref<const Eigen::MatrixXd>& values) {
  return values.reshaped();
}

}  // namespace boltzmark

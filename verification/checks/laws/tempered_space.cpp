#include "verification/checks/laws/tempered_space.hpp"

#include <cmath>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"
#include "boltzmark/exact/spectrum/operator.hpp"

namespace boltzmark {
namespace {

// log p1 of every joint state, normalised.
Eigen::VectorXd base_log_p(const StateSpace& space, const Base& base) {
  Eigen::VectorXd result = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(space.states()));
  for (Eigen::Index x = 0; x < result.size(); ++x)
    for (int u = 0; u < space.units(); ++u) {
      const StateSpace::Place& place = space.place(u);
      result[x] +=
          base.logits[place.layer][place.unit] * space.value(u, static_cast<std::size_t>(x));
    }
  return result.array() - log_sum_exp(result);
}

// The even units' part of each joint state, as an index of its own.
std::vector<Eigen::Index> even_parts(const StateSpace& space) {
  std::vector<Eigen::Index> parts(space.states());
  for (std::size_t x = 0; x < space.states(); ++x)
    parts[x] = static_cast<Eigen::Index>(space.side_part(0, x));
  return parts;
}

Eigen::Index even_states(const StateSpace& space) {
  return static_cast<Eigen::Index>(space.side_states(0));
}

// Sums the even parts' columns of the rows whose odd units are lowest: any would do under Gibbs
// sampling, which draws the odd units anew.
Eigen::MatrixXd collapse_kernel(const StateSpace& space, const Eigen::MatrixXd& joint) {
  const std::vector<Eigen::Index> part = even_parts(space);
  Eigen::MatrixXd kernel = Eigen::MatrixXd::Zero(even_states(space), even_states(space));
  for (std::size_t x = 0; x < space.states(); ++x) {
    if (space.side_part(1, x) != 0) continue;
    for (std::size_t y = 0; y < space.states(); ++y)
      kernel(part[x], part[y]) += joint(static_cast<Eigen::Index>(x), static_cast<Eigen::Index>(y));
  }
  return kernel;
}

}  // namespace

TemperedSpace::TemperedSpace(const Layered& model, const Base& base, const Ladder& ladder,
                             States states)
    : model_(model), base_(base), ladder_(ladder), kind_(states) {
  tempered(model, base, 0);  // refuses a base of another model
  const StateSpace joint(model);
  const Eigen::VectorXd log_p1 = base_log_p(joint, base);
  const Eigen::VectorXd ratio = joint.log_p().array() + joint.log_z() - log_p1.array();
  log_f_.resize(ratio.size(), rungs());
  for (int k = 0; k < rungs(); ++k) log_f_.col(k) = log_p1 + ladder[k] * ratio;
  slopes_ = ratio.replicate(1, rungs());
  log_z_.resize(rungs());
  for (int k = 0; k < rungs(); ++k) log_z_[k] = log_sum_exp(log_f_.col(k));
  if (states == States::collapsed) collapse(joint);
}

// log f_b(v) = log sum_h f_b(v, h), whose slope is the mean of D under p_b(h | v).
void TemperedSpace::collapse(const StateSpace& joint) {
  const std::vector<Eigen::Index> part = even_parts(joint);
  const Eigen::Index parts = even_states(joint);
  const Eigen::MatrixXd log_joint = std::move(log_f_), ratio = std::move(slopes_);
  Eigen::MatrixXd largest = Eigen::MatrixXd::Constant(parts, rungs(), -INFINITY);
  for (Eigen::Index x = 0; x < log_joint.rows(); ++x)
    largest.row(part[x]) = largest.row(part[x]).cwiseMax(log_joint.row(x));
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(parts, rungs()), first = sum;
  for (Eigen::Index x = 0; x < log_joint.rows(); ++x) {
    const Eigen::RowVectorXd weight = (log_joint.row(x) - largest.row(part[x])).array().exp();
    sum.row(part[x]) += weight;
    first.row(part[x]) += weight.cwiseProduct(ratio.row(x));
  }
  log_f_ = largest.array() + sum.array().log();
  slopes_ = first.cwiseQuotient(sum);
}

Eigen::MatrixXd TemperedSpace::p() const {
  return (log_f_.rowwise() - log_z_.transpose()).array().exp();
}

Eigen::MatrixXd TemperedSpace::sweep(int rung, const Rule& rule) const {
  const StateSpace space(tempered(model_, base_, ladder_[rung]));
  if (kind_ == States::joint) return sweep_matrix(space, rule);
  if (!(rule == Rule::gibbs()))
    throw InvalidArgument("rule = " + rule.name() + " (must be gibbs for collapsed states)");
  return collapse_kernel(space, sweep_matrix(space, rule));
}

}  // namespace boltzmark

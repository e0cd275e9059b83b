#include "verification/checks/laws/cd_gradient.hpp"

#include <fmt/format.h>

#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"
#include "boltzmark/exact/spectrum/operator.hpp"

namespace boltzmark {
namespace {

constexpr int kMaxUnits = 20;

// A distribution over all (v, h) of an RBM; the hidden bits are the high ones.
struct Enumerated {
  explicit Enumerated(const Layered& model)
      : space(model),
        visible(model.size(0)),
        hidden(model.size(1)),
        hidden_inputs(space.inputs(1)) {}
  StateSpace space;
  int visible, hidden;
  Eigen::MatrixXd hidden_inputs;  // [visible states x hidden]
  Eigen::Index visible_states() const { return Eigen::Index{1} << visible; }
};

void check(const Layered& model, const Eigen::Ref<const Eigen::MatrixXf>& data) {
  if (!model.is_rbm() || !model.is_binary() || model.units() > kMaxUnits)
    throw InvalidArgument(
        fmt::format("model (must be a binary RBM of at most {} units)", kMaxUnits));
  if (data.rows() != model.size(0) || data.cols() < 1)
    throw InvalidArgument(fmt::format("data = {} x {} (must be {} visible units x 1 or more cases)",
                                      data.rows(), data.cols(), model.size(0)));
  if (!(data.array() == 0 || data.array() == 1).all())
    throw InvalidArgument("data (must hold zeros and ones)");
}

// The law of v in the data.  [visible states]
Eigen::VectorXd data_law(const Enumerated& all, const Eigen::Ref<const Eigen::MatrixXf>& data) {
  Eigen::VectorXd law = Eigen::VectorXd::Zero(all.visible_states());
  for (Eigen::Index n = 0; n < data.cols(); ++n) {
    Eigen::Index v = 0;
    for (int i = 0; i < all.visible; ++i)
      if (data(i, n) == 1) v |= Eigen::Index{1} << i;
    law[v] += 1;
  }
  return law / static_cast<double>(data.cols());
}

// E[v h'], E[v], E[h] when v follows a law and h its exact conditional.
Parameters moments(const Layered& model, const Enumerated& all, const Eigen::VectorXd& law) {
  Parameters sums = model.zero_parameters();
  for (Eigen::Index v = 0; v < law.size(); ++v) {
    if (law[v] == 0) continue;
    Eigen::VectorXd bits(all.visible), on(all.hidden);
    for (int i = 0; i < all.visible; ++i) bits[i] = static_cast<double>((v >> i) & 1);
    for (int j = 0; j < all.hidden; ++j) on[j] = sigmoid(all.hidden_inputs(v, j));
    sums.weights[0] += law[v] * bits * on.transpose();
    sums.biases[0] += law[v] * bits;
    sums.biases[1] += law[v] * on;
  }
  return sums;
}

Parameters difference(Parameters a, const Parameters& b) {
  a.weights[0] -= b.weights[0];
  for (int l = 0; l < 2; ++l) a.biases[l] -= b.biases[l];
  return a;
}

Eigen::VectorXd visible_marginal(const Enumerated& all, const Eigen::VectorXd& joint) {
  const Eigen::Map<const Eigen::MatrixXd> table(joint.data(), all.visible_states(),
                                                Eigen::Index{1} << all.hidden);
  return table.rowwise().sum();
}

}  // namespace

Parameters expected_cd_gradient(const Layered& model, const Eigen::Ref<const Eigen::MatrixXf>& data,
                                const Rule& rule, int k) {
  check(model, data);
  if (k < 1) throw InvalidArgument(fmt::format("k = {} (must be at least 1)", k));
  const Enumerated all(model);
  const Eigen::VectorXd start = data_law(all, data);
  // v0 from the data with h at 0, then the chain's own moves on the law of (v, h).
  StateBlock joint = StateBlock::Zero(static_cast<Eigen::Index>(all.space.states()), 1);
  joint.col(0).head(start.size()) = start;
  SweepOperator(all.space, Rule::gibbs()).push_half(joint, 1);
  const SweepOperator kernel(all.space, rule);
  kernel.push_half(joint, 0);
  for (int step = 1; step < k; ++step) kernel.push(joint);
  return difference(moments(model, all, start),
                    moments(model, all, visible_marginal(all, joint.col(0))));
}

Parameters enumerated_gradient(const Layered& model,
                               const Eigen::Ref<const Eigen::MatrixXf>& data) {
  check(model, data);
  const Enumerated all(model);
  return difference(moments(model, all, data_law(all, data)),
                    moments(model, all, visible_marginal(all, all.space.p())));
}

double cd_bias_norm(const Layered& model, const Eigen::Ref<const Eigen::MatrixXf>& data,
                    const Rule& rule, int k) {
  const Parameters bias =
      difference(expected_cd_gradient(model, data, rule, k), enumerated_gradient(model, data));
  double sum = bias.weights[0].squaredNorm();
  for (const Eigen::VectorXd& b : bias.biases) sum += b.squaredNorm();
  return std::sqrt(sum);
}

}  // namespace boltzmark

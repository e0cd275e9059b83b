// Checks of simulated tempering as a Markov chain of pairs (x, k): what it leaves unchanged, and
// what its rungs do.                                                    [carlson2016, Sec. 2, App.
// G]

#include <fmt/format.h>

#include <cmath>

#include "boltzmark/exact/log_z.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/check_tempered_cases.hpp"
#include "verification/checks/laws/tempered_moments.hpp"
#include "verification/checks/subjects.hpp"
#include "verification/checks/worst.hpp"

namespace boltzmark {
namespace {

// max |q M - q|
double change(const TemperedChain& chain) {
  const Eigen::VectorXd moved = chain.matrix().transpose() * chain.stationary();
  return largest_of(moved - chain.stationary());
}

// Half of the models are of multivalued units, small enough for a matrix of all pairs.
Layered draw_pair_model(Stream& stream) {
  return stream.below(2) == 0 ? draw_check_model(stream, 2) : draw_small_unit_model(stream, 2, 64);
}

CaseOutcome invariance_case(Stream& stream, States states, RungMove move, const Rule& rule,
                            const ChainChange& find_change) {
  const TemperedCase c = draw_tempered_case(stream, draw_pair_model(stream), 5);
  return {find_change(c.chain(states, {.rung_move = move, .rule = rule})), c.detail};
}

// Wang-Landau stands at weights that are far from the right ones for most of its run.
CaseOutcome wang_landau_case(Stream& stream) {
  TemperedCase c = draw_tempered_case(stream, draw_pair_model(stream), 5);
  for (double& value : c.log_z_hat) value = stream.uniform(-50, 50);
  return {change(c.chain(draw_states(stream))), c.detail};
}

// q(b_k) from Z_k, that of enumerating one side, against the mean of q(b_k | x) over states.
CaseOutcome rung_law_case(Stream& stream) {
  const TemperedCase c = draw_tempered_case(stream, draw_check_model(stream), 20);
  Eigen::VectorXd log_q = c.log_prior - c.log_z_hat;
  const double log_z_1 = log_normaliser(c.model, c.base);
  for (int k = 0; k < c.ladder.rungs(); ++k)
    log_q[k] +=
        exact_log_z(tempered(c.model, c.base, c.ladder[k])).log_z - (1 - c.ladder[k]) * log_z_1;
  const Eigen::VectorXd by_z = (log_q.array() - log_sum_exp(log_q)).exp();
  const Eigen::VectorXd by_states =
      exact_rung_sums(c.chain(draw_states(stream))).weight.rowwise().sum();
  return {largest_of(by_z - by_states), c.detail};
}

CaseOutcome rao_blackwell_case(Stream& stream, const RungMoments& find_moments) {
  const TemperedCase c = draw_tempered_case(stream, draw_generic_model(stream, 4, 3), 10);
  const TemperedChain chain = c.chain(draw_states(stream));
  const auto variances = [&](Assignment assignment) {
    return find_moments(chain, assignment, 1).covariance.diagonal().eval();
  };
  const Eigen::ArrayXd soft = variances(Assignment::soft), hard = variances(Assignment::hard);
  return {(soft / hard).maxCoeff<Eigen::PropagateNaN>(), c.detail};
}

// The law of the rungs (k_0, k_1, k_2, k_3) of one chain, by summing the states out, against
// q(k_0) P P P; and q P against q.
CaseOutcome markov_case(Stream& stream, StateMove state_move) {
  const TemperedCase c = draw_tempered_case(stream, draw_check_model(stream, 2), 4);
  const RungMove move = stream.below(2) == 0 ? RungMove::gibbs : RungMove::metropolis;
  const TemperedChain chain =
      c.chain(draw_states(stream), {.rung_move = move, .state_move = state_move});
  const Eigen::MatrixXd matrix = chain.matrix(), rungs = chain.rung_matrix();
  const Eigen::VectorXd law = chain.rung_law();
  const Eigen::Index n = chain.space().states(), paths = law.size();
  double worst = largest_of(rungs.transpose() * law - law);
  const auto follow = [&](const auto& self, const Eigen::VectorXd& mass, Eigen::Index at,
                          double predicted, int steps) -> void {
    worst = worse(worst, std::abs(mass.sum() - predicted));
    if (steps == 0) return;
    for (Eigen::Index to = 0; to < paths; ++to)
      self(self, matrix.block(at * n, to * n, n, n).transpose() * mass, to,
           predicted * rungs(at, to), steps - 1);
  };
  for (Eigen::Index k = 0; k < paths; ++k)
    follow(follow, chain.stationary().segment(k * n, n), k, law[k], 3);
  return {worst, c.detail};
}

Check pair_invariance(States states, RungMove move, const Rule& rule,
                      const ChainChange& find_change = change) {
  const bool joint = states == States::joint, gibbs = move == RungMove::gibbs;
  return bounded_check(
      fmt::format("pair-invariance ({} states, {} rungs, {})", joint ? "joint" : "collapsed",
                  gibbs ? "gibbs" : "metropolis", rule.name()),
      "simulated-tempering",
      "a new rung given the state, then a sweep at that rung, leave q(x, b) unchanged, of binary "
      "and of multivalued units: max |qM - q|",
      1e-12, [=](Stream& s) { return invariance_case(s, states, move, rule, find_change); });
}

}  // namespace

std::vector<Check> pair_invariance_checks(const ChainChange& find_change) {
  std::vector<Check> checks;
  for (const RungMove move : {RungMove::gibbs, RungMove::metropolis}) {
    for (const Rule& rule : ergodic_rules())
      checks.push_back(pair_invariance(States::joint, move, rule, find_change));
    checks.push_back(pair_invariance(States::collapsed, move, Rule::gibbs(), find_change));
  }
  return checks;
}

Check rao_blackwell_check(const RungMoments& find_moments) {
  return bounded_check(
      "rao-blackwell", "simulated-tempering",
      "q(b_k | x) varies no more than counts over independent samples: largest ratio of variances",
      1, [find_moments](Stream& s) { return rao_blackwell_case(s, find_moments); });
}

Check rung_chain_check(StateMove move) {
  return bounded_check(
      "rung-chain", "simulated-tempering",
      "with exact draws of x given b the rungs are a Markov chain with P_jk and law q(b): largest "
      "difference over paths of three steps",
      1e-12, [move](Stream& s) { return markov_case(s, move); });
}

std::vector<Check> tempered_chain_checks(const Rule& rule) {
  return {pair_invariance(States::joint, RungMove::gibbs, rule)};
}

std::vector<Check> tempered_chain_checks() {
  std::vector<Check> checks = pair_invariance_checks(change);
  checks.push_back(bounded_check(
      "pair-invariance", "wang-landau",
      "at any fixed weights, however wrong, its chain leaves q(x, b) unchanged: max |qM - q|",
      1e-12, wang_landau_case));
  checks.push_back(bounded_check(
      "rung-law", "simulated-tempering",
      "q(b_k) is r_k Z_k / Zhat_k normalised and the mean of q(b_k | x): largest difference", 1e-12,
      rung_law_case));
  checks.push_back(rao_blackwell_check(independent_rung_frequencies));
  checks.push_back(rung_chain_check(StateMove::exact));
  return checks;
}

}  // namespace boltzmark

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "boltzmark/model/base.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/transition/rule.hpp"
#include "verification/checks/verifier.hpp"

namespace boltzmark {

/// What one random case contributes to a check.
struct CaseOutcome {
  double value = 0;    ///< the statistic; the largest of all cases is compared with the bound
  std::string detail;  ///< the case in words
};

/// A statistic of one random model, drawn from the case's own stream.
using CaseStatistic = std::function<CaseOutcome(Stream& stream)>;

/// Makes a check that holds if the statistic is at most the bound in every case.
/// Cases run in parallel, each on its stream.
Check bounded_check(std::string name, std::string subject, std::string statement, double bound,
                    CaseStatistic statistic);

/// Makes a check that holds if the mean of the statistic over all cases is at most the bound.
Check mean_check(std::string name, std::string subject, std::string statement, double bound,
                 CaseStatistic statistic);

/// Makes a check that holds if the statistic exceeds the bound in some case: that something is not so.
Check exceeding_check(std::string name, std::string subject, std::string statement, double bound,
                      CaseStatistic statistic);

/// Draws 0..count - 1.
int draw_below(Stream& stream, Eigen::Index count);
/// Draws 1..most.
int draw_size(Stream& stream, int most);
/// Draws values uniform on (-scale, scale).
Eigen::MatrixXd draw_matrix(Stream& stream, Eigen::Index rows, Eigen::Index cols, double scale);

/// Draws a binary RBM or, half the time, a DBM of three to five layers, of 1..max_side units a side
/// (odd and even layers; one a layer where that is more), whose parameters are multiples of 2^-8, so that sums are exact and ties are ties: all zero, mostly
/// zero, in {-1, 0, 1}, moderate, or with entries of +-100.
Layered draw_check_model(Stream& stream, int max_side = 4);

/// Draws what a check is about: a binary model of draw_check_model, at most 4 units a side, or one
/// of discrete units, Bernoulli or X(s) with s = 1, 2, 3, 4, 5, 8, 16 or 64 layer by layer, of at
/// most 1,024 states. The continuous unit has no states to enumerate: its law, mean and slope are
/// checked in check_unit_functions.cpp, its updates against its distribution function in
/// verification/exact/transition/unit_updates_continuous.cpp, estimates with it in
/// verification/statistical/unit_estimates.cpp.
Layered draw_binary_model(Stream& stream);
Layered draw_unit_model(Stream& stream);
using DrawModel = Layered (*)(Stream& stream);

/// Draws a model of discrete units with 1..max_side units a side and about `most_states` at most,
/// where more would be too many for products of several tempered states.
Layered draw_small_unit_model(Stream& stream, int max_side, double most_states);

/// Draws a binary model of the sizes of draw_check_model with parameters uniform on (-scale, scale),
/// no ties; or an RBM, for what is of RBMs only.
Layered draw_generic_model(Stream& stream, int max_side, double scale);
Layered draw_generic_rbm(Stream& stream, int max_side, double scale);

/// Draws a model of the sizes of draw_check_model with zero weights and biases that are zero, of order 1, or a tie among others.
Layered draw_independent_model(Stream& stream, int max_side = 4);

/// Draws states of discrete units, each evenly from its values.  Shapes  [units x cases]
Eigen::MatrixXf draw_states(Stream& stream, Unit unit, int units, int cases);

/// Draws a base of tempering: uniform, or with logits uniform on (-2, 2).
Base draw_base(Stream& stream, const Layered& model);

/// Writes a model's shape and size of parameters: "3x2, |w| <= 100".
std::string describe_case(const Layered& model);

/// The rules that the suite checks, without the counter-example.
std::vector<Rule> ergodic_rules();

/// Lists of checks, one per file.
std::vector<Check> kernel_checks();
std::vector<Check> theorem_checks();
std::vector<Check> convergence_checks();
std::vector<Check> production_checks();
std::vector<Check> tempering_checks();
std::vector<Check> tempered_chain_checks();
std::vector<Check> tempered_estimator_checks();
std::vector<Check> integration_checks();
std::vector<Check> estimator_checks();
std::vector<Check> likelihood_checks();
std::vector<Check> annealing_checks();
std::vector<Check> unit_checks();
std::vector<Check> classifier_checks();
std::vector<Check> mean_field_checks();
std::vector<Check> adaptive_tempering_checks();
std::vector<Check> swap_bias_checks();
std::vector<Check> partition_checks();
std::vector<Check> transition_checks();
std::vector<Check> fast_weight_checks();
std::vector<Check> pretraining_checks();
std::vector<Check> gaussian_checks();
std::vector<Check> lower_bound_checks();

/// Lists of checks that any rule must pass which leaves p unchanged, one per file.
std::vector<Check> kernel_checks(const Rule& rule);
std::vector<Check> production_checks(const Rule& rule);
std::vector<Check> tempering_checks(const Rule& rule);
std::vector<Check> tempered_chain_checks(const Rule& rule);

}  // namespace boltzmark

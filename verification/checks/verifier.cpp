#include "verification/checks/verifier.hpp"

#include "verification/checks/check_cases.hpp"

namespace boltzmark {
namespace {

std::vector<Check> gather(std::initializer_list<std::vector<Check>> groups) {
  std::vector<Check> all;
  for (const std::vector<Check>& group : groups) all.insert(all.end(), group.begin(), group.end());
  return all;
}

}  // namespace

const std::vector<Check>& registered_checks() {
  static const std::vector<Check> checks =
      gather({kernel_checks(),      theorem_checks(),        convergence_checks(),
              production_checks(),  tempering_checks(),      estimator_checks(),
              likelihood_checks(),  tempered_chain_checks(), tempered_estimator_checks(),
              integration_checks(), annealing_checks(),      unit_checks(),
              classifier_checks(),  mean_field_checks(),     adaptive_tempering_checks(),
              partition_checks(),   transition_checks(),     fast_weight_checks(),
              swap_bias_checks(),   pretraining_checks(),    gaussian_checks(),
              lower_bound_checks()});
  return checks;
}

std::vector<Check> rule_checks(const Rule& rule) {
  return gather({kernel_checks(rule), production_checks(rule), tempering_checks(rule),
                 tempered_chain_checks(rule)});
}

}  // namespace boltzmark

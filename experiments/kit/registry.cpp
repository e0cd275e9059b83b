#include <vector>

#include "experiments/kit/experiment.hpp"

// Adding an experiment: write experiments/<paper>/<item>.cpp, then add its namespace here.
#define BOLTZMARK_EXPERIMENTS(X)      \
  X(bruegge2013_fig1)                 \
  X(bruegge2013_fig2)                 \
  X(bruegge2013_theory)               \
  X(bruegge2013_random_scan)          \
  X(bruegge2013_cost)                 \
  X(bruegge2013_cd_bias)              \
  X(bruegge2013_fig3_top)             \
  X(bruegge2013_fig3_bottom)          \
  X(bruegge2013_table1)               \
  X(bruegge2013_appendix)             \
  X(bruegge2013_table2)               \
  X(bruegge2013_fig4)                 \
  X(bruegge2013_table3)               \
  X(bruegge2013_table4)               \
  X(bruegge2013_blend)                \
  X(carlson2016_theory)               \
  X(carlson2016_fig1)                 \
  X(carlson2016_fig2)                 \
  X(carlson2016_fig3)                 \
  X(carlson2016_fig4)                 \
  X(carlson2016_fig5)                 \
  X(carlson2016_fig6)                 \
  X(carlson2016_fig7)                 \
  X(carlson2016_fig8)                 \
  X(carlson2016_variants)             \
  X(carlson2016_updates)              \
  X(carlson2016_cost)                 \
  X(carlson2016_tracking_cost)        \
  X(carlson2016_training_prior)       \
  X(carlson2016_acceptance)           \
  X(carlson2016_coverage)             \
  X(carlson2016_enumerable)           \
  X(salakhutdinov2010_fig1)           \
  X(salakhutdinov2010_theory)         \
  X(salakhutdinov2010_fig2)           \
  X(salakhutdinov2010_weights)        \
  X(salakhutdinov2010_fig3)           \
  X(salakhutdinov2010_learning_rates) \
  X(salakhutdinov2010_temperatures)   \
  X(salakhutdinov2010_spurious)       \
  X(salakhutdinov2010_coupling)       \
  X(salakhutdinov2010_update_cost)    \
  X(salakhutdinov2010_modes)          \
  X(salakhutdinov2010_cost)           \
  X(salakhutdinov2010_fig4)           \
  X(salakhutdinov2010_fig5)           \
  X(salakhutdinov2010_acceptance)     \
  X(salakhutdinov2010_tightness)      \
  X(salakhutdinov2010_mnist)          \
  X(yokoyama2019_fig1)                \
  X(yokoyama2019_theory)              \
  X(yokoyama2019_fig2)                \
  X(yokoyama2019_fig3)                \
  X(yokoyama2019_fig4)                \
  X(yokoyama2019_fig5)                \
  X(yokoyama2019_fig6)                \
  X(yokoyama2019_conjectures)         \
  X(yokoyama2019_cases)               \
  X(yokoyama2019_metropolised)        \
  X(calibration_estimators)           \
  X(calibration_bases)                \
  X(calibration_predictors)

namespace boltzmark::experiments {

#define BOLTZMARK_DECLARE(name) \
  namespace name {              \
  Experiment experiment();      \
  }
BOLTZMARK_EXPERIMENTS(BOLTZMARK_DECLARE)

const std::vector<Experiment>& experiments() {
#define BOLTZMARK_CALL(name) name::experiment(),
  static const std::vector<Experiment> all{BOLTZMARK_EXPERIMENTS(BOLTZMARK_CALL)};
  return all;
}

}  // namespace boltzmark::experiments

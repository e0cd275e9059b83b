#include "experiments/kit/evidence.hpp"

namespace boltzmark::experiments::carlson2016_theory {
namespace {

constexpr Evidence kEvidence[] = {
    {"C01", "", "rung-law", "simulated-tempering"},
    {"C02", "", "exact-occupancies", "rts"},
    {"C03", "", "likelihood-gradient", "rts"},
    {"C04", "independent samples", "rao-blackwell", "simulated-tempering", Spread::point},
    {"C10", "", "concave-likelihood", "rts-mixed"},
    {"C12", "", "bias-sign", "rts"},
    {"C13", "E[w]", "mean-weight", "ais"},
    {"C13", "E[log w]", "mean-log-weight", "ais"},
    {"C15", "", "mean-weight", "raise"},
    {"C17", "", "bridge-identity", "bar"},
    {"C18", "", "expected-counts", "mbar"},
    {"C22", "", "first-order", "sams"},
    {"C23", "", "continuous-temperatures", "ti-continuous"},
    {"C24", "", "discretisation", "ti"},
    {"C25", "", "variance-correction", "ti-corrected", Spread::share},
    {"C26", "", "continuous-limit", "ti-rb"},
    {"C28", "", "riemann-sum", "ais"},
    {"C59", "", "rung-chain", "simulated-tempering"},
};

}  // namespace

Experiment experiment() {
  return evidence_experiment(
      {
          .id = "carlson2016/theory",
          .item = "Secs. 2, 3 and Apps. A–D, G",
          .title = "What the paper derives, checked by enumeration",
          .paper_did =
              "Derives RTS from the law of the temperatures in simulated tempering, as a maximum "
              "of a likelihood, and its relation to AIS, RAISE, MBAR, thermodynamic integration "
              "and stochastic approximation.",
          .settings = {.smoke = "Every check on 10 random models.",
                       .quick =
                           "Every check on 200 random models: the estimators that the program "
                           "offers are fed exact moments, or any samples where the statement is "
                           "about samples.",
                       .paper = "Every check on 1,000 random models."},
          .seconds = {.smoke = 0.1, .quick = 1, .paper = 4},
      },
      {.all = kEvidence,
       .models = {.smoke = 10, .quick = 200, .paper = 1000},
       .caption =
           "Exact checks: the worst value (for the variance correction the share) over random RBMs "
           "of up to 4 units a side, bases, ladders, priors and Ẑ, and what it must not exceed."});
}

}  // namespace boltzmark::experiments::carlson2016_theory

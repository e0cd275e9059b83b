#include "experiments/kit/evidence.hpp"

namespace boltzmark::experiments::bruegge2013_theory {
namespace {

constexpr Evidence kEvidence[] = {
    {"B01", "", "detailed-balance", "flip"},
    {"B02", "double law", "invariance", "flip"},
    {"B02", "production sweep", "production-stationarity", "flip"},
    {"B03", "", "lemma-1", "flip"},
    {"B04", "", "irreducible", "flip"},
    {"B05", "", "modes-joined", "flip"},
    {"B06", "period", "aperiodic", "flip"},
    {"B06", "diagonal on M", "modes-stay", "flip"},
    {"B08", "", "independent-units", "gibbs"},
    {"B09", "", "independent-units", "flip"},
    {"B10", "", "changes-as-often", "flip"},
    {"B19", "G", "rate-of-convergence", "gibbs"},
    {"B19", "T", "rate-of-convergence", "flip"},
    {"B34", "G", "autocorrelation-time", "gibbs"},
    {"B34", "T", "autocorrelation-time", "flip"},
    {"B37", "tempered sweep", "tempered-invariance", "flip"},
    {"B37", "parallel tempering", "joint-invariance (flip)", "parallel-tempering"},
};

}  // namespace

Experiment experiment() {
  return evidence_experiment(
      {
          .id = "bruegge2013/theory",
          .item = "Secs. 3.1, 3.3, 4 and 5.1",
          .title = "What the paper proves, checked by enumeration",
          .paper_did =
              "Proves that T leaves p unchanged and is irreducible and aperiodic, and derives how "
              "it behaves on independent units.",
          .settings =
              {.smoke = "Every check on 10 random RBMs.",
               .quick =
                   "Every check on 200 random RBMs; the production sweep's law is recovered by "
                   "scripted draws.",
               .paper = "Every check on 1,000 random RBMs."},
          .seconds = {.smoke = 0.2, .quick = 2, .paper = 8},
      },
      {.all = kEvidence,
       .models = {.smoke = 10, .quick = 200, .paper = 1000},
       .caption = "Exact checks: the worst value over random RBMs (up to 4 units a side, zero "
                  "weights, ties and weights of 100 included) and what it must not exceed."});
}

}  // namespace boltzmark::experiments::bruegge2013_theory

#include "experiments/kit/evidence.hpp"

namespace boltzmark::experiments::salakhutdinov2010_theory {
namespace {

constexpr Evidence kEvidence[] = {
    {"S04", "", "still-at-the-data", "fpcd"},
    {"S05", "", "leaves-p", "fpcd"},
    {"S22", "", "bound-below", "mean-field"},
};

}  // namespace

Experiment experiment() {
  return evidence_experiment(
      {
          .id = "salakhutdinov2010/theory",
          .item = "Secs. 2.1 and 4.1",
          .title = "What the paper states of its algorithms, checked by enumeration",
          .paper_did = "Gives the variational bound of a deep Boltzmann machine's likelihood, and "
                       "shows how close FPCD is to the Wang-Landau algorithm, and where they part.",
          .settings = {.smoke = "Every check on 10 random models.",
                       .quick =
                           "Every check on 200 random models; the two spins of Fig. 2 are one.",
                       .paper = "Every check on 2,000 random models."},
          .seconds = {.smoke = 0.2, .quick = 1, .paper = 6},
          .deviations = {"FPCD's rate is not stated: 1, and no decay, in the example of two spins. "
                         "Without decay no law of state and fast weights is stationary, since that "
                         "of the data's set only falls: the law after 100 updates is compared."},
      },
      {.all = kEvidence,
       .models = {.smoke = 10, .quick = 200, .paper = 2000},
       .caption = "Exact checks: the worst value over random models of two to five layers, or over "
                  "random partitions of their states, and what it must not exceed; for S05 the "
                  "total variation that it must exceed."});
}

}  // namespace boltzmark::experiments::salakhutdinov2010_theory

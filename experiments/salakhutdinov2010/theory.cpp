#include "experiments/kit/evidence.hpp"

namespace boltzmark::experiments::salakhutdinov2010_theory {
namespace {

constexpr Evidence kEvidence[] = {
    {"S04", "", "still-at-the-data", "fpcd"},
    {"S05", "", "leaves-p", "fpcd"},
    {"S08", "double law", "pair-invariance", "adaptive-tempering"},
    {"S08", "production code", "production-pair-invariance", "adaptive-tempering"},
    {"S09", "", "kept-states", "adaptive-tempering"},
    {"S11", "", "growing-acceptance", "adaptive-tempering"},
    {"S12", "each", "joint-invariance", "cast each"},
    {"S12", "lag", "joint-invariance", "cast lag"},
    {"S12", "each, production code", "production-joint-invariance", "cast each"},
    {"S12", "lag, production code", "production-joint-invariance", "cast lag"},
    {"S22", "", "bound-below", "mean-field"},
    {"S33", "on arrival", "handed-over-distance", "cast entry"},
    {"S33", "last state", "handed-over-distance", "cast last"},
    {"S34", "", "constant-factor-distance", "adaptive-tempering"},
};

}  // namespace

Experiment experiment() {
  return evidence_experiment(
      {
          .id = "salakhutdinov2010/theory",
          .item = "Secs. 2.1 to 8",
          .title = "What the paper states of its algorithms, checked by enumeration",
          .paper_did =
              "Gives the variational bound of a deep Boltzmann machine's likelihood, shows how "
              "close FPCD is to the Wang-Landau algorithm, and states Algorithm 1 and the "
              "coupling with its swaps.",
          .settings = {.smoke = "Every check on 10 random models.",
                       .quick =
                           "Every check on 200 random models; the two spins of Fig. 2 are one.",
                       .paper = "Every check on 2,000 random models."},
          .seconds = {.smoke = 0.5, .quick = 6, .paper = 60},
          .deviations = {"FPCD's rate is not stated: 1, and no decay, in the example of two spins. "
                         "Without decay no law of state and fast weights is stationary, since that "
                         "of the data's set only falls: the law after 100 updates is compared."},
      },
      {.all = kEvidence,
       .models = {.smoke = 10, .quick = 200, .paper = 2000},
       .caption =
           "Exact checks: the worst value over random models of two to five layers, or over "
           "random partitions of their states, and what it must not exceed; for S05, S33 and "
           "S34 the total variation that it must exceed on some model."});
}

}  // namespace boltzmark::experiments::salakhutdinov2010_theory

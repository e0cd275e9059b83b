#include "experiments/kit/evidence.hpp"

namespace boltzmark::experiments::yokoyama2019_theory {
namespace {

constexpr Evidence kEvidence[] = {
    {"Y01", "", "spins-are-bits", "multivalued"},
    {"Y02", "closed form", "phi-closed-form", "multivalued"},
    {"Y02", "limit", "phi-limit", "multivalued"},
    {"Y03", "", "psi-slope", "multivalued"},
    {"Y04", "", "inverse-transform", "multivalued"},
    {"Y05", "", "gradient-slope", "multivalued"},
    {"Y06", "", "blocked-gibbs", "multivalued"},
    {"Y17", "", "two-spins", "multivalued"},
    {"Y18", "", "spins-are-bits", "discriminative"},
    {"Y19", "", "gradient-slope", "discriminative"},
};

}  // namespace

Experiment experiment() {
  return evidence_experiment(
      {
          .id = "yokoyama2019/theory",
          .item = "Secs. 2, 2.1, 2.3 and 3.1",
          .title = "What the paper derives, checked by enumeration",
          .paper_did =
              "Derives the marginal law, the conditional laws and the gradients of RBMs and "
              "discriminative RBMs with hidden units X(s), s up to infinity.",
          .settings = {.smoke = "Every check on 10 random models.",
                       .quick =
                           "Every check on 1,000 random models of up to 5 units a side, against "
                           "sums over all states and differences; s = 1, 2, 3, 4, 7 and infinity, "
                           "but of Y01 and Y18 s = 1, of Y02 s = 1 to 64 for the closed form and "
                           "65,535 for the limit, of Y04 infinity, of Y06 s = 1 to 4.",
                       .paper = "Every check on 10,000 random models."},
          .seconds = {.smoke = 0.1, .quick = 1, .paper = 8},
      },
      {.all = kEvidence,
       .models = {.smoke = 10, .quick = 1000, .paper = 10000},
       .caption = "Exact checks: the worst value over random models of multivalued and continuous "
                  "hidden units, and what it must not exceed."});
}

}  // namespace boltzmark::experiments::yokoyama2019_theory

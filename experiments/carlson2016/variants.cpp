#include <fmt/format.h>

#include "experiments/carlson2016/support/models.hpp"
#include "experiments/carlson2016/support/variant_moments.hpp"
#include "experiments/carlson2016/support/variant_runs.hpp"
#include "experiments/carlson2016/support/variant_summary.hpp"

namespace boltzmark::experiments::carlson2016_variants {
namespace {

constexpr PerProfile<int> kSweeps{.smoke = 50, .quick = 1000, .paper = 4000};
const PerProfile<std::vector<int>> kLengths{.smoke = {50, 100},
                                            .quick = {500, 1000, 2000, 4000},
                                            .paper = {1000, 3000, 10000, 30000, 100000}};
constexpr PerProfile<int> kRepeats{.smoke = 3, .quick = 10, .paper = 60};
constexpr PerProfile<int> kSimulations{.smoke = 50, .quick = 5000, .paper = 100000};
constexpr PerProfile<int> kSmallModels{.smoke = 3, .quick = 10, .paper = 40};

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  const int sweeps = kSweeps.at(profile);
  for (int r = 1; r <= kRepeats.at(profile); ++r) {
    for (const std::string& model : kVariantModels.at(profile)) {
      const Json common{{"model", model}, {"sweeps", sweeps}, {"repeat", r}};
      const auto add = [&](const char* study, const Json& more = Json::object()) {
        all.push_back(common);
        all.back()["study"] = study;
        all.back().update(more);
      };
      add("shared");
      for (const char* start : {"smc", "cold"}) add("wang-landau", {{"start", start}});
      add("continuous");
      add("late-changes");
      for (const double slope : kVariantSlopes) add("prior", {{"slope", slope}});
    }
    for (const int length : kLengths.at(profile))
      all.push_back({{"study", "prior"},
                     {"slope", 0},
                     {"model", kConsistencyModel},
                     {"sweeps", length},
                     {"repeat", r}});
  }
  for (int r = 1; r <= kSmallModels.at(profile); ++r) {
    for (const char* chains : {"independent", kManyIndependent, "parallel"})
      all.push_back({{"study", "moments"},
                     {"chains", chains},
                     {"repeats", kSimulations.at(profile)},
                     {"repeat", r}});
    all.push_back({{"study", "annealing"}, {"repeat", r}});
  }
  return all;
}

/// In the units of sweep_cost: a simulation, or an enumeration, as timed.
double cost(const Json& inputs) {
  if (inputs.contains("model")) return number(inputs.at("sweeps")) * sweep_cost(inputs.at("model"));
  if (inputs.at("study") == "annealing") return 3000;
  return number(inputs.at("repeats")) * (inputs.at("chains") == "independent" ? 3.3 : 13);
}

Json run(const Json& inputs, const TrialContext& context) {
  const std::string study = inputs.at("study");
  if (study == "shared") return run_shared(inputs, context);
  if (study == "wang-landau") return run_wang_landau(inputs, context);
  if (study == "continuous") return run_continuous(inputs, context);
  if (study == "late-changes") return run_late_changes(inputs, context);
  if (study == "prior") return run_prior(inputs, context);
  if (study == "moments") return run_moments(inputs, context);
  return run_annealing_slope(inputs, context);
}

void summarise(const Results& results, Summary& summary) {
  const std::vector<std::string>& models = kVariantModels.at(results.profile());
  Table table{.name = "comparisons",
              .caption = fmt::format(
                  "Ratios: geometric means over the enumerable RBMs {} of MNIST, 95 % by the "
                  "bootstrap over repeats; then simulated moments of log Z over their formulas.",
                  fmt::join(models, ", ")),
              .columns = {{"what", "what"}, {"repeats", "repeats"}, {"ratio", "ratio"}}};
  add_variant_ratios(results, table, summary);
  add_variant_priors(results, table, summary);
  add_moment_ratios(results, table, summary);
  if (!table.rows.empty()) summary.add(std::move(table));
  add_consistency(results, summary);
  add_annealing_slope(results, summary);
}

}  // namespace

Experiment experiment() {
  return {
      .id = "carlson2016/variants",
      .item = "Secs. 2, 3.1 and 5",
      .title =
          "Does what else was tried help, and is RTS what it claims, where log Z is enumerated?",
      .paper_did =
          "Stated without figures: that RTS is consistent, its bias and variance, what other "
          "priors, bias subtraction and control variates do, and how Wang-Landau compares.",
      .settings =
          {.smoke = "3 repeats of 50 sweeps.",
           .quick = "2 RBMs, 10 repeats of 1,000 sweeps of 100 chains; 500 to 4,000 sweeps on "
                    "one; 5,000 simulations on each of 10 random RBMs, of 100 independent "
                    "samples, of 400, and of 20 chains of 20.",
           .paper = "3 RBMs, 60 repeats of 4,000 sweeps; 1,000 to 100,000 sweeps on one; 100,000 "
                    "simulations on each of 40 random RBMs."},
      .seconds = {.smoke = 2, .quick = 26, .paper = 1400},
      .claims = {"C04", "C05", "C09", "C11", "C14", "C16", "C45", "C46", "C47", "C48", "C60"},
      .deviations =
          {"Our own RBMs, small enough to enumerate; 100 equally spaced rungs, base rates as p1.",
           "Joint states, and sweeps include the start, which is an annealed pass; consistency is "
           "judged against the samples that are kept, as Eq. 12 counts them.",
           "Runs have 1,000 sweeps in quick and 4,000 in paper; no lengths are given. Quick leaves "
           "out "
           "mnist-10, for time: a ratio that is the largest over RBMs (C45) is over fewer.",
           "Wang-Landau starts from the log Ẑ of the SMC pass that RTS starts with, whose sweeps "
           "count, and from fresh states; from log Ẑ = 0 it is a row of its own, not judged.",
           "Continuous b: C46 judges RTS by the Rao-Blackwellised density of b at both ends, from "
           "q(b | x) drawn exactly; thermodynamic integration over b stands beside. Half of the "
           "sweeps find log Ẑ at 100 knots, and RTS on rungs is given as many samples as are left.",
           "Priors: exp(s b) with s = -2, 1, 2 and 4; the paper does not list its proposals.",
           "Control variates: f(b_n) − E[f(b) | x_n] for b, b² and both ends, with coefficients by "
           "regression over chains; those that the paper tried are not listed.",
           "Expectations at b = 1: of D, the energy against p1."},
      .data = carlson_data(kVariantModels.paper),
      .trials = trials,
      .cost = cost,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::carlson2016_variants

#include "boltzmark/estimate/estimators/rts.hpp"
#include "boltzmark/sample/tempering/mixing.hpp"
#include "boltzmark/sample/tempering/simulated_tempering.hpp"
#include "experiments/carlson2016/support/models.hpp"
#include "experiments/carlson2016/support/rung_pools.hpp"
#include "experiments/carlson2016/support/rung_summary.hpp"

namespace boltzmark::experiments::carlson2016_fig4 {
namespace {

constexpr int kChains = 100;
constexpr PerProfile<int> kExactSamples{.smoke = 2000, .quick = 200000, .paper = 3000000};
constexpr int kSweeps = 30000;
constexpr int kRuns = 10;
constexpr PerProfile<int> kEstimates{.smoke = 4, .quick = 100, .paper = 200};
constexpr PerProfile<int> kMbarEstimates{.smoke = 2, .quick = 10, .paper = 20};
constexpr PerProfile<int> kMbarRungs{.smoke = 11, .quick = 126, .paper = 1001};
const PerProfile<std::vector<int>> kRungs{
    .smoke = {6, 11}, .quick = {6, 26, 126, 1001}, .paper = kPaperRungs};

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  const auto add = [&](int rungs, const Json& pool) {
    all.push_back(
        {{"rungs", rungs},
         {"estimates", kEstimates.at(profile)},
         {"mbar_estimates", rungs <= kMbarRungs.at(profile) ? kMbarEstimates.at(profile) : 0}});
    all.back().update(pool);
  };
  for (const int rungs : kRungs.at(profile))
    add(rungs, {{"model", kExactPools.model}, {"samples", kExactSamples.at(profile)}});
  if (profile != Profile::paper || !has_published_cd25()) return all;
  for (int run = 1; run <= kRuns; ++run)
    for (const int rungs : kRungs.at(profile))
      add(rungs, {{"model", kChainPools.model}, {"run", run}, {"sweeps", kSweeps}});
  return all;
}

/// Seconds of one core, about: sweeps or exact draws and their tables, then estimates.
double cost(const Json& inputs) {
  const double rungs = inputs.at("rungs"), chains = inputs.value("sweeps", 0.0);
  const double pool =
      chains > 0 ? 2.5e-3 * chains : 8e-3 * rungs + 1.5e-5 * number(inputs.at("samples"));
  return pool + rungs * (5e-5 * number(inputs.at("estimates")) +
                         1.5e-3 * number(inputs.at("mbar_estimates")));
}

/// A pool, what RTS makes of all of it, and whether the chains mixed.
struct Pool {
  SampleStore store;
  double log_z = 0;
  Json notes = Json::object();
};

Pool sample(const Json& inputs, const TrialContext& context) {
  const LayeredTarget& target = carlson_target(inputs.at("model"), "rates");
  const Ladder ladder = Ladder::linear(inputs.at("rungs"));
  if (inputs.contains("samples")) {
    Pool pool{.store = exact_pool(target, ladder, inputs.at("samples"), context)};
    pool.log_z = rts(pool.store, States::joint).log_z;
    return pool;
  }
  TemperedRun run =
      simulated_tempering(target, {.chains = kChains,
                                   .sweeps = inputs.at("sweeps"),
                                   .ladder = ladder,
                                   .key = context.key,
                                   .progress = [&](double share) { context.progress(share); }});
  Estimate whole = rts(run.sums, run.store.log_prior, run.store.log_z_hat);
  judge_mixing(whole, run.store);
  return {.store = std::move(run.store),
          .log_z = whole.log_z,
          .notes = {{"mixed", whole.status != Status::not_converged}, {"round_trips", run.trips}}};
}

Json run(const Json& inputs, const TrialContext& context) {
  TrialContext half = context;
  half.on_progress = [&](double share) { context.progress(share / 2); };
  const Pool pool = sample(inputs, half);
  half.on_progress = [&](double share) { context.progress(0.5 + share / 2); };
  Json outputs = {{"log_z", estimate_from_pool(pool.store, inputs.at("estimates"),
                                               inputs.at("mbar_estimates"), half)},
                  {"pool_log_z", pool.log_z}};
  outputs["truth"] = inputs.at("model") == kChainPools.model
                         ? kPublishedCd25LogZ
                         : exact_carlson_log_z(inputs.at("model"));
  outputs.update(pool.notes);
  return outputs;
}

void summarise(const Results& results, Summary& summary) {
  if (results.empty()) return;
  add_rung_figure(results, summary);
  add_rung_tables(results, summary);
  add_rung_claims(results, summary);
}

}  // namespace

Experiment experiment() {
  return {
      .id = "carlson2016/fig4",
      .item = "Fig. 4",
      .title = "How does the error of log Z depend on the number of inverse temperatures?",
      .paper_did =
          "Drew 3,000,000 samples of the 784-500 RBM (CD-25) by simulated tempering at each of "
          "eight numbers of inverse temperatures; RMSE over 200 estimates (MBAR 20), each from "
          "10,000 bootstrapped samples. TS adds 0.1 to every bin; TI interpolates empty bins.",
      .settings = {.smoke = "784-10, 6 and 11 inverse temperatures, 4 estimates.",
                   .quick = "784-10, whose log Z is enumerated: 200,000 samples at K = 6, 26, 126 "
                            "and 1,001; 100 estimates, MBAR 10 and up to K = 126.",
                   .paper = "784-10 with 3,000,000 samples; and, with the published RBM, 784-500: "
                            "10 runs of 30,000 sweeps of 100 chains at every K."},
      .seconds = {.smoke = 1, .quick = 14, .paper = 8000},
      .claims = {"C20", "C27", "C36", "C37", "C38", "C39"},
      .deviations =
          {"quick: 784-10 instead of 784-500, because errors need a truth that no estimator made, "
           "and a pool whose own error, common to all estimates, is small beside theirs; on "
           "784-500 that takes hours.",
           "Samples of 784-10 are drawn from the tempered law itself with Ẑ = Z, as a run without "
           "end would: hidden states by enumeration. Its error is √(10,000 / N) of an estimate's, N "
           "samples in the pool: 0.22 at quick, 0.058 at paper.",
           "Chains of 784-500: claims are judged at every K that they name. Where the status of "
           "a run refuses its mixing, by round trips, by long tours or by how few chains made the "
           "visits of b = 1, that is said, and C20 and C39 stand without such K beside. Their start, "
           "an annealed pass, counts as sweeps and is not drawn.",
           "784-500: several runs at each K, since estimates from one run share its error; the "
           "paper has one.",
           "Quick makes 4 of the 8 K: C36 and C39, which are spreads over K, are left to paper.",
           "Linear ladders; the paper's are not given. TI is the trapezoid, as TI-RB.",
           "Joint states, of which all five estimators can be made."},
      .data = carlson_data({kExactPools.model, kChainPools.model}),
      .trials = trials,
      .cost = cost,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::carlson2016_fig4

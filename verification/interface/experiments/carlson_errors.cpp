// What the experiments of carlson2016 compute themselves from errors and transitions.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <string>

#include "boltzmark/core/error.hpp"
#include "boltzmark/estimate/estimators/rts.hpp"
#include "boltzmark/exact/spectrum/operator.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/carlson2016/support/crossing.hpp"
#include "experiments/carlson2016/support/initial_rounds.hpp"
#include "experiments/carlson2016/support/models.hpp"
#include "experiments/carlson2016/support/rung_errors.hpp"
#include "experiments/carlson2016/support/rung_flux.hpp"
#include "experiments/carlson2016/support/rung_pools.hpp"
#include "experiments/carlson2016/support/rung_summary.hpp"
#include "experiments/carlson2016/support/variant_moments.hpp"
#include "experiments/kit/progress.hpp"
#include "experiments/kit/published.hpp"
#include "verification/interface/experiments/made_trials.hpp"

namespace boltzmark::experiments {
namespace {

constexpr double kTruth = 10;

/// Twelve repeats whose errors are bias + size and bias - size in turn: without bias their RMSE is size.
void add_point(const std::string& method, int sweeps, double size, std::vector<Trial>& trials,
               double bias = 0) {
  for (int repeat = 1; repeat <= kEnoughRepeats; ++repeat)
    trials.push_back({.inputs = {{"model", "m"},
                                 {"base", "rates"},
                                 {"method", method},
                                 {"sweeps", sweeps},
                                 {"repeat", repeat}},
                      .outputs = {{"log_z", kTruth + bias + (repeat % 2 == 0 ? size : -size)},
                                  {"status", "ok"}}});
}

Measure crossing_of(double rts, double ais, double ais_at_longest, const Truth& truth,
                    double ais_bias = 0) {
  std::vector<Trial> trials;
  add_point("rts", 1000, rts, trials);
  add_point("ais", 1000, ais, trials, ais_bias);
  add_point("ais", 10000, ais_at_longest, trials, ais_bias);
  Summary summary;
  add_crossing(Results(Profile::quick, {}, trials),
               {.model = "m",
                .title = "m",
                .sweeps = {1000, 10000},
                .repeats = 12,
                .truth = truth,
                .published = "3b_rmse_500"},
               summary);
  return summary.measures().at(0);
}

ErrorCell cell_of(double mean, double spread) {
  std::vector<Outcome> outcomes;
  for (int repeat = 0; repeat < kEnoughRepeats; ++repeat)
    outcomes.push_back({.estimate = mean + (repeat % 2 == 0 ? spread : -spread)});
  return sum_up_errors(outcomes);
}

/// A pool of chains: ten estimates by every method, each `size` off, of the last half by method
/// RTS `late`.
Trial pool_of(int rungs, int run, double size, double late, bool mixed = true) {
  Json log_z = Json::object();
  for (const char* method : {"RTS", "TS", "MBAR", "TI", "TI-RB"}) {
    std::vector<double> all(10, kTruth + size);
    if (std::string(method) == "RTS") std::fill(all.begin() + 5, all.end(), kTruth + late);
    log_z[method] = all;
  }
  return {.inputs = {{"model", "cd25"},
                     {"rungs", rungs},
                     {"run", run},
                     {"sweeps", 30000},
                     {"mbar_estimates", 10}},
          .outputs = {{"log_z", log_z},
                      {"truth", kTruth},
                      {"pool_log_z", kTruth},
                      {"round_trips", 30},
                      {"mixed", mixed}}};
}

/// Four runs at every K of the paper, five at K = 1001. RTS errs by 0.1, at 1001 in the second
/// half of each pool by 0.3, at 11, where chains did not mix, by 1; the others by 0.1 and by 1.
std::vector<Trial> pools_at_every_rungs() {
  std::vector<Trial> trials;
  for (const int rungs : kPaperRungs)
    for (int run = 1; run <= (rungs == 1001 ? 5 : 4); ++run)
      trials.push_back(rungs == 1001 ? pool_of(rungs, run, 0.1, 0.3)
                       : rungs == 11 ? pool_of(rungs, run, 1, 1, false)
                                     : pool_of(rungs, run, 0.1, 0.1));
  return trials;
}

std::map<std::string, Measure> rung_claims(const std::vector<Trial>& trials) {
  Summary summary;
  add_rung_claims(made::results_of(trials), summary);
  return made::claims_of(summary);
}

/// The figure of four methods with errors so far off, in panels of the mean, of what is far and of the RMSE.
Figure error_figure(double paper_start, const std::string& published) {
  std::vector<Trial> trials;
  for (const auto& [method, bias] :
       {std::pair{"rts-settled", paper_start}, {"rts", 0.5}, {"ais", -0.4}, {"raise", 0.3}})
    for (const int sweeps : {1000, 2000}) add_point(method, sweeps, 0.1, trials, bias);
  Summary summary;
  add_error_panel(Results(Profile::quick, {}, trials),
                  {.model = "m",
                   .title = "m",
                   .base = "rates",
                   .sweeps = {1000, 2000},
                   .methods = {"rts-settled", "rts", "ais", "raise"},
                   .truth = {.log_z = kTruth},
                   .published_file = "carlson2016_fig6_fig7_fig8",
                   .published_mean = published,
                   .published_rmse = ""},
                  "errors", summary);
  return std::get<Figure>(summary.items().back());
}

/// The curves of panels by their labels, with their colours.
std::map<std::string, int> colours_of(std::span<const Panel> panels) {
  std::map<std::string, int> colours;
  for (const Panel& panel : panels)
    for (const Series& series : panel.series) colours[series.label] = series.colour;
  return colours;
}

}  // namespace

TEST_CASE(
    "the published RTS has the colour of ours with the paper's start, which is not annealed") {
  const Figure figure = error_figure(-0.6, "7a_mean_uniform");
  const auto colours = colours_of(std::span(figure.panels).first(2));  // of means, near and far
  CHECK(colours.at("published RTS") == colours.at("RTS, Sec. 2.4"));
  CHECK(colours.at("published RTS") != colours.at("RTS"));
  CHECK(colours.at("published AIS") == colours.at("AIS"));
}

TEST_CASE("a curve has a panel apart if it is RAISE's or ten times as far off as the median one") {
  // 0.5, 0.4 and 4.9, or 5.1, nats off: the median is 0.5.
  const auto labels = [](const Panel& panel) {
    std::set<std::string> all;
    for (const auto& [label, colour] : colours_of({&panel, 1})) all.insert(label);
    return all;
  };
  const Figure near = error_figure(-4.9, ""), far = error_figure(-5.1, "");
  REQUIRE(near.panels.size() == 3);
  CHECK(labels(near.panels[0]) == std::set<std::string>{"AIS", "RTS", "RTS, Sec. 2.4"});
  CHECK(labels(near.panels[1]) == std::set<std::string>{"RAISE"});
  CHECK(labels(far.panels[0]) == std::set<std::string>{"AIS", "RTS"});
  CHECK(labels(far.panels[1]) == std::set<std::string>{"RAISE", "RTS, Sec. 2.4"});
}

TEST_CASE(
    "every estimate of every pool counts in Fig. 4, also where pools are more than elsewhere") {
  const auto found = rung_claims(pools_at_every_rungs());
  // At K = 1001 the mean square is (0.01 + 0.09) / 2, elsewhere 0.01.
  CHECK(found.at("C36").estimate == Approx(std::sqrt(5.0)).epsilon(1e-9));
  CHECK(found.at("C36").n == 4);
}

TEST_CASE(
    "a claim of Fig. 4 that another key of the bootstrap would turn is undecided, beside its note") {
  const auto claim_of = [](double scale) {
    std::vector<Trial> trials = pools_at_every_rungs();
    for (Trial& trial : trials)
      if (trial.inputs.at("rungs") == 1001)
        trial.outputs["log_z"]["TI-RB"] =
            std::vector<double>(10, kTruth + scale * 0.1 * trial.inputs.at("run").get<int>());
    return rung_claims(trials).at("C27");
  };
  const Measure clear = claim_of(0.01);
  CHECK(clear.decidable);
  const Measure close = claim_of(0.01 / clear.upper);
  CHECK(close.upper == Approx(1));
  CHECK_FALSE(close.decidable);
  CHECK_THAT(close.note, Catch::StartsWith("784-500, K = 26") && Catch::Contains("other keys"));
}

TEST_CASE("Fig. 4's claims are judged at every K they name, mixed or not, and the mixed beside") {
  const auto found = rung_claims(pools_at_every_rungs());
  // K = 11 .. 1001: MBAR over RTS is 1 but at 1001, 1 / sqrt 5.
  CHECK(found.at("C20 K ≥ 11").estimate == Approx(std::pow(5, -1.0 / 14)).epsilon(1e-9));
  CHECK(found.at("C20 where every run mixed").estimate ==
        Approx(std::pow(5, -1.0 / 12)).epsilon(1e-9));
  CHECK(found.at("C39 K ≥ 11").estimate == Approx(1.0).epsilon(1e-9));
  CHECK(found.at("C39 where every run mixed").estimate == Approx(std::sqrt(5.0)).epsilon(1e-9));
  CHECK_THAT(found.at("C39 K ≥ 11").note,
             Catch::Contains("4 of 4 runs refused at K = 11, where chains made 30 to "
                             "30 round trips"));
}

TEST_CASE("intervals of Fig. 4 are over pools: estimates of one pool share its error") {
  std::vector<Trial> trials;
  for (int run = 1; run <= 4; ++run) trials.push_back(pool_of(26, run, 0.1 * run, 0.1 * run));
  const Results results = made::results_of(trials);
  const WithInterval found = RungErrors(results, "cd25", "TS", {26}).estimates()[0];
  // Squares .01 .04 .09 .16, three drawn: of the 64 means the logarithm's root has a standard
  // deviation of 0.26879; Student's quantile is 3.1824.
  CHECK(found.value == Approx(std::sqrt(0.075)).epsilon(1e-9));
  CHECK(found.lower == Approx(0.11642).epsilon(0.05));
  CHECK(found.upper == Approx(0.64421).epsilon(0.05));
}

TEST_CASE("pools of unequal numbers of estimates are refused") {
  std::vector<Trial> trials = {pool_of(26, 1, 0.1, 0.1), pool_of(26, 2, 0.1, 0.1)};
  trials[1].outputs["log_z"]["TS"].erase(0);
  const Results results = made::results_of(trials);
  CHECK_NOTHROW(RungErrors(results, "cd25", "RTS", {26}));
  CHECK_THROWS_AS(RungErrors(results, "cd25", "TS", {26}), InvalidArgument);
  CHECK_THROWS_AS(RungErrors(results, "cd25", "RTS", {51}), InvalidArgument);
}

TEST_CASE("Fig. 4 rings the points of which runs were refused, and no other") {
  Summary summary;
  add_rung_figure(made::results_of(pools_at_every_rungs()), summary);
  const auto& figure = std::get<Figure>(summary.items().at(0));
  const std::vector<Series>& series = figure.panels.at(0).series;  // five curves, rings, published
  const Series& rings = series.at(5);
  CHECK(rings.mark == Mark::rings);
  CHECK(rings.x == std::vector<double>(5, 11));
  // The published curves are in the same axes.
  CHECK(figure.panels.size() == 1);
  REQUIRE(series.size() == 11);
  for (std::size_t i = 6; i < series.size(); ++i) CHECK(series[i].mark == Mark::dotted);
}

TEST_CASE("a pool of chains is mixed only where they made two round trips each") {
  // One trip takes tens of sweeps: steps in b are about 1 / sd(D) = 1/8.
  const auto pool = [](int sweeps) {
    const Json inputs = {{"model", "mnist-10"}, {"rungs", 26},    {"run", 1},
                         {"sweeps", sweeps},    {"estimates", 0}, {"mbar_estimates", 0}};
    return made::run_trial("carlson2016/fig4", inputs).outputs;
  };
  const Json few = pool(40), many = pool(3000);
  CHECK(number(few.at("round_trips")) < 200);
  CHECK_FALSE(few.at("mixed").get<bool>());
  CHECK(number(many.at("round_trips")) > 200);
  CHECK(many.at("mixed").get<bool>());
}

TEST_CASE("no sample of an exact pool is drawn twice") {
  // Of 784 pixels no two draws are alike; at either rung they fill more than one block.
  TrialContext context;
  context.key = make_key(1, "pool");
  const SampleStore pool =
      exact_pool(carlson_target("mnist-10", "rates"), Ladder::linear(2), 10000, context);
  REQUIRE(pool.log_ratio.size() == 10000);
  const std::set<double> distinct(pool.log_ratio.data(),
                                  pool.log_ratio.data() + pool.log_ratio.size());
  CHECK(distinct.size() > 9900);  // a few ratios may be alike by rounding
  CHECK(pool.log_prior.isApprox(Eigen::VectorXd::Constant(2, -std::log(2))));
}

TEST_CASE("Fig. 4 tells what the runs that are missing would take, by those that are there") {
  std::vector<Trial> trials = pools_at_every_rungs();
  std::vector<Json> planned;
  for (Trial& trial : trials) trial.seconds = 3600;
  for (const int rungs : kPaperRungs)
    for (int run = 1; run <= 10; ++run) planned.push_back(pool_of(rungs, run, 0, 0).inputs);
  Summary summary;
  add_rung_tables(Results(Profile::paper, planned, trials), summary);
  const auto& note = std::get<std::string>(summary.items().at(2));
  // Six of ten at seven K, five at the eighth.
  CHECK_THAT(note,
             Catch::Contains("4 runs at K = 6, 11, 26, 51, 126, 251, 501; 5 runs at K = 1001, "
                             "of 10 planned at each. The others would take about " +
                             duration_text(47 * 3600.0)));
}

TEST_CASE("a crossing that the longest run does not reach lies beyond it, with no upper limit") {
  const Measure measure = crossing_of(0.1, 2, 1, {.log_z = kTruth});
  CHECK(measure.estimate > 10000);
  CHECK(measure.lower > 10000);
  CHECK(std::isinf(measure.upper));
  CHECK(measure.decidable);
}

TEST_CASE("a crossing is interpolated on logarithmic scales") {
  // From 2 to 0.02 over a decade, 0.2 is half-way.
  const Measure measure = crossing_of(0.2, 2, 0.02, {.log_z = kTruth});
  CHECK(measure.estimate == Approx(std::sqrt(1e7)).epsilon(1e-9));
  CHECK(measure.lower < measure.estimate);
  CHECK(measure.upper > measure.estimate);
  CHECK(measure.upper < 10000);
}

TEST_CASE("the power of a crossing is that of the plan, whatever was found") {
  const double reached = crossing_of(0.2, 2, 0.02, {.log_z = kTruth}).power;
  CHECK(reached == crossing_of(0.1, 2, 1, {.log_z = kTruth}).power);
  CHECK(reached > 0);
  CHECK(reached < 1);
}

TEST_CASE("a crossing is open while its truth is not known, to either side of it") {
  const auto crossing = [](const Truth& truth, double bias = 0) {
    return crossing_of(0.2, 2, 0.02, truth, bias);
  };
  const Measure exact = crossing({.log_z = kTruth});
  CHECK(exact.decidable);
  // A truth that lies as far to the other side of a bias changes nothing.
  const Truth known{.log_z = kTruth, .std_error = 0.05, .half_width = 0.1};
  const Measure above = crossing(known, 0.1), below = crossing(known, -0.1);
  CHECK(above.decidable);
  CHECK(above.lower == Approx(below.lower).epsilon(1e-9));
  CHECK(above.upper == Approx(below.upper).epsilon(1e-9));
  CHECK(above.lower < crossing({.log_z = kTruth}, 0.1).lower);
  CHECK_FALSE(crossing({.log_z = kTruth, .std_error = 0.1, .half_width = 0.2}).decidable);
  CHECK_FALSE(crossing({.log_z = kTruth, .std_error = 0.01, .refused = 1}).decidable);
  // Published at 1,000 sweeps, of RTS and of AIS.
  const auto published = [](const char* curve) {
    return find_published("carlson2016_fig3_fig4", "3b_rmse_500", curve).y.front();
  };
  CHECK_THAT(exact.note,
             Catch::Contains(fmt::format("RTS 0.20, published {:.2f}; AIS 2.00, published {:.2f}",
                                         published("RTS"), published("AIS"))));
}

TEST_CASE("the truth's error widens what is compared, and too large a one decides nothing") {
  const ErrorCell a = cell_of(0.1, 0.3), b = cell_of(-0.2, 0.3);
  const Measure exact = bias_difference("C", "", a, b, {});
  const Measure widened = bias_difference("C", "", a, b, {.std_error = 0.05, .half_width = 0.1});
  // Means of opposite signs: a truth that lies 0.1 higher adds 0.2 to one side's difference.
  const double half = exact.upper - exact.estimate;
  CHECK(widened.upper - widened.estimate == Approx(std::hypot(half, 0.2)).epsilon(1e-9));
  CHECK(widened.decidable);
  CHECK(widened.power < exact.power);
  CHECK_FALSE(rmse_ratio("C", "", a, b, {.std_error = 0.2, .half_width = 0.4}).decidable);
  CHECK_FALSE(
      rmse_ratio("C", "", a, b, {.std_error = 0.01, .half_width = 0.02, .refused = 1}).decidable);
}

TEST_CASE("an RMSE ratio of fewer than twelve repeats decides nothing") {
  std::vector<Outcome> few(11);
  for (Outcome& outcome : few) outcome.estimate = 0.1;
  CHECK_FALSE(rmse_ratio("C", "", sum_up_errors(few), cell_of(0.2, 0.3), {}).decidable);
  CHECK(rmse_ratio("C", "", cell_of(0, 0.1), cell_of(0.2, 0.3), {}).decidable);
}

TEST_CASE("an iteration's error is its distance from log Z, to either side") {
  // Of log Z = 10 the two that follow tell 8 and 12; the second is the first to balance.
  TemperedRun run{.store = {.ladder = Ladder::linear(2)}};
  for (const double imbalance : {1.5, 0.5}) {
    InitialRound round{.log_z_hat = Eigen::Vector2d(3, 11)};
    round.imbalance = imbalance;
    run.rounds.push_back(round);
  }
  run.store.log_z_hat = Eigen::Vector2d(1, 13);
  const Json told = describe_iterations(run, 10);
  CHECK(numbers(told.at("log_z")) == std::vector<double>{8, 12});
  CHECK(numbers(told.at("error")) == std::vector<double>{2, 2});
  CHECK(numbers(told.at("imbalance")) == std::vector<double>{1.5, 0.5});
  CHECK(told.at("iterations") == 2);
}

TEST_CASE("an update has arrived once it is within a nat of every log Z, and there its run ends") {
  const Json outputs =
      made::run_trial("carlson2016/updates", {{"repeat", 1}, {"most", 15}}).outputs;
  const std::vector<double> rts = numbers(outputs.at("rts_errors")),
                            sams = numbers(outputs.at("sams_errors"));
  CHECK(outputs.at("rts_arrived").get<bool>());
  CHECK(outputs.at("rts").get<std::size_t>() == rts.size());
  for (std::size_t i = 0; i < rts.size(); ++i) CHECK((rts[i] < 1) == (i + 1 == rts.size()));
  CHECK_FALSE(outputs.at("sams_arrived").get<bool>());
  CHECK(sams.size() == 15);
  for (const double error : sams) CHECK(error >= 1);
}

TEST_CASE("the truth of Fig. 8 is of runs from base rates, with the hidden units summed out") {
  const Json inputs = {{"model", "mnist-10"}, {"kind", "truth"}, {"sweeps", 100}, {"repeat", 1}};
  const TemperedRun run = simulated_tempering(
      carlson_target("mnist-10", "rates"), {.chains = 100,
                                            .sweeps = 100,
                                            .ladder = Ladder::linear(100),
                                            .states = States::collapsed,
                                            .key = make_key(1, "carlson2016/fig8", inputs.dump())});
  CHECK(number(made::run_trial("carlson2016/fig8", inputs).outputs.at("RTS")) ==
        Approx(rts(run.sums, run.store.log_prior, run.store.log_z_hat).log_z).epsilon(1e-12));
}

TEST_CASE("Fig. 1's runs on the published RBM start from base rates and err from its log Z") {
  const Json inputs = {{"occupancies", "soft"},  {"x", "last"}, {"b", "fresh"},   {"model", "cd25"},
                       {"file", "cd25-500.npz"}, {"repeat", 1}, {"iterations", 1}};
  const Json outputs = made::run_trial("carlson2016/fig1", inputs).outputs;
  TrialContext context;
  context.experiment = "carlson2016/fig1";
  context.key = context.shared_key("repeat 1");
  const TemperedRun run =
      run_initial_iterations(carlson_target("cd25", "rates"), {.iterations = 1}, context);
  const Eigen::VectorXd& found = log_z_hat_after(run, 0);
  const double log_z = numbers(outputs.at("log_z")).at(0);
  CHECK(log_z == Approx(found[99] - found[0]).epsilon(1e-12));
  CHECK(numbers(outputs.at("error")).at(0) == Approx(std::abs(log_z - 451.255)).epsilon(1e-9));
}

TEST_CASE(
    "the variance that is simulated on a random RBM is that of its enumerated tempered chain") {
  TrialContext context;
  context.key = make_key(1, "moments");
  Stream stream(context.key, Purpose::initial_weights);  // as the study draws its RBM
  Eigen::MatrixXd weights(4, 4);
  Eigen::VectorXd visible(4), hidden(4);
  for (double& value : weights.reshaped()) value = 2 * stream.normal();
  for (double& value : visible) value = stream.normal();
  for (double& value : hidden) value = stream.normal();
  constexpr int rungs = 8, length = 20;
  Eigen::MatrixXd laws(256, rungs);
  std::vector<Eigen::MatrixXd> sweeps;
  for (int k = 0; k < rungs; ++k) {
    const double b = k / 7.0;
    const StateSpace space(Layered::rbm(b * weights, b * visible, b * hidden));
    laws.col(k) = space.p();
    sweeps.push_back(sweep_matrix(space, Rule::gibbs()));
  }
  // The state alone is a Markov chain, whose rung is drawn from q(b | x) at each sweep.
  const Eigen::VectorXd mixture = laws.rowwise().mean();
  const Eigen::MatrixXd q = (rungs * mixture).cwiseInverse().asDiagonal() * laws;
  Eigen::MatrixXd chain = Eigen::MatrixXd::Zero(256, 256);
  for (int k = 0; k < rungs; ++k) chain += q.col(k).asDiagonal() * sweeps[k];
  const Eigen::VectorXd influence = rungs * (q.col(rungs - 1) - q.col(0));
  const auto covariance = [&](const Eigen::VectorXd& later) {
    return (mixture.array() * influence.array() * later.array()).sum();
  };
  const double one = covariance(influence);
  double sum = length * one;
  Eigen::VectorXd later = influence;
  for (int lag = 1; lag < length; ++lag) {
    later = chain * later;
    sum += 2 * (length - lag) * covariance(later);
  }
  // Of 1,000 simulations a variance has an error of 4.5 %; the next order is 5/2 of v in v.
  for (const auto& [chains, v] :
       {std::pair{"independent", one / 100}, {"parallel", sum / (20 * length * length)}}) {
    INFO(chains);
    const Json found = run_moments({{"chains", chains}, {"repeats", 1000}}, context);
    CHECK(number(found.at("variance")) == Approx(v * (1 + 2.5 * v)).epsilon(0.2));
  }
}

TEST_CASE("rungs drawn independently pass every cut with a relative flux of 1") {
  Eigen::VectorXd law(4);
  law << 0.1, 0.4, 0.2, 0.3;
  for (const double flux : relative_flux(1000 * law * law.transpose()))
    CHECK(flux == Approx(1.0).epsilon(1e-12));
}

}  // namespace boltzmark::experiments

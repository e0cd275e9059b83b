#include "experiments/carlson2016/support/starts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boltzmark/sample/tempering/simulated_tempering.hpp"
#include "experiments/carlson2016/support/error_curves.hpp"
#include "experiments/carlson2016/support/initial_rounds.hpp"
#include "experiments/carlson2016/support/models.hpp"
#include "experiments/kit/errors.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/published.hpp"

namespace boltzmark::experiments {
namespace {

constexpr const char* kMethod = "start";
constexpr int kRungs = 100;
constexpr int kPilotShare = 3;  // of the sweeps, beside them, for the ladder of even steps
constexpr const char* kStates[] = {"collapsed", "joint"};
constexpr const char* kLadders[] = {"linear", "geometric", "salakhutdinov-murray", "even steps"};
constexpr const char* kStarts[] = {"ten rounds", "rounds until they settle", "annealed"};

Json setting(const char* states, const char* ladder, const char* start) {
  return {{"method", kMethod}, {"states", states}, {"ladder", ladder}, {"start", start}};
}

/// The published mean error of RTS with a uniform p1, in nats, at the digitised point nearest to so many sweeps.
double published_error(double sweeps) {
  const char* const file = "carlson2016_fig6_fig7_fig8";
  const PublishedCurve curve = find_published(file, "7a_mean_uniform", "RTS");
  std::size_t nearest = 0;
  for (std::size_t i = 0; i < curve.x.size(); ++i)
    if (std::abs(curve.x[i] - sweeps) < std::abs(curve.x[nearest] - sweeps)) nearest = i;
  return curve.y[nearest] - find_published(file, "7a_mean_uniform", "truth").y.front();
}

Ladder ladder_of(const std::string& name, const LayeredTarget& target, int sweeps,
                 const StreamKey& key) {
  if (name != "even steps") return Ladder::named(name, kRungs);
  return adaptive_ladder(target, {.rungs = kRungs,
                                  .sweeps = std::max(sweeps / kPilotShare, 20),
                                  .key = derive_key(key, "ladder")});
}

}  // namespace

std::vector<Json> start_trials(int sweeps, int repeats) {
  std::vector<Json> all;
  for (const char* states : kStates)
    for (const char* ladder : kLadders)
      for (const char* start : kStarts)
        for (Json& trial : error_trials({"cd25", "uniform", kMethod, sweeps}, repeats)) {
          trial.update(setting(states, ladder, start));
          all.push_back(std::move(trial));
        }
  return all;
}

Json run_start_trial(const Json& inputs, const TrialContext& context) {
  const LayeredTarget& target = carlson_target(inputs.at("model"), inputs.at("base"));
  const int sweeps = inputs.at("sweeps");
  const std::string start = inputs.at("start");
  const bool ten = start == "ten rounds";
  const Ladder ladder = ladder_of(inputs.at("ladder"), target, sweeps, context.key);
  SimulatedTemperingOptions options =
      paper_start(target, ladder, sweeps, ten ? kPaperIterations : iterations_in(sweeps), context);
  options.stop_early = !ten;
  if (start == "annealed")
    options = {.chains = options.chains,
               .sweeps = sweeps,
               .ladder = ladder,
               .key = options.key,
               .progress = options.progress};
  options.states = inputs.at("states") == "joint" ? States::joint : States::collapsed;
  const TemperedRun run = simulated_tempering(target, options);
  Json outputs = describe_estimate(judged_rts(run));
  outputs["imbalance"] = run.rounds.empty() ? 0.0 : run.rounds.back().imbalance;
  outputs["round_trips"] = run.trips;
  return outputs;
}

void add_starts(const Results& results, const Truth& truth, Summary& summary) {
  Table table{
      .name = "starts",
      .caption = fmt::format(
          "RTS with a uniform p1 under what the paper leaves open, K = {}, 100 chains. The published "
          "mean error at 5,000 sweeps is {:+.2f} nats.",
          kRungs, published_error(5000)),
      .columns = {{"rungs drawn with", "states"},
                  {"ladder", "ladder"},
                  {"start", "start"},
                  {"sweeps", "sweeps"},
                  {"runs", "runs"},
                  {"with a number", "numbers"},
                  {"mean error / nats", "mean_error", 2},
                  {"RMSE / nats", "rmse", 2},
                  {"max |log(c/r)| at the start's end", "imbalance", 2},
                  {"round trips", "trips", 0},
                  {"refused", "refused"}}};
  for (const char* states : kStates)
    for (const char* ladder : kLadders)
      for (const char* start : kStarts) {
        const auto found = results.where(setting(states, ladder, start));
        if (found.size() < 2) continue;
        std::vector<double> errors, imbalances, trips;
        double squares = 0;
        std::int64_t refused = 0;
        for (const Trial* trial : found) {
          refused += trial->outputs.at("status") != "ok";
          const double error = number(trial->outputs.at("log_z")) - truth.log_z;
          if (!std::isfinite(error)) continue;  // some rung was never met
          errors.push_back(error);
          squares += error * error;
          imbalances.push_back(number(trial->outputs.at("imbalance")));
          trips.push_back(number(trial->outputs.at("round_trips")));
        }
        const auto numbers = static_cast<std::int64_t>(errors.size());
        table.rows.push_back(
            {std::string(states), std::string(ladder), std::string(start),
             found.front()->inputs.at("sweeps").get<std::int64_t>(),
             static_cast<std::int64_t>(found.size()), numbers, mean_cell(errors),
             numbers > 0 ? Cell(std::sqrt(squares / static_cast<double>(numbers))) : NotRun{},
             mean_cell(imbalances), mean_cell(trips), refused});
      }
  if (!table.rows.empty()) summary.add(std::move(table));
}

}  // namespace boltzmark::experiments

#include <fmt/format.h>

#include <memory>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/learn/initial.hpp"
#include "boltzmark/learn/phases/negative.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/statistics/interval.hpp"
#include "experiments/salakhutdinov2010/support/processor_time.hpp"

namespace boltzmark::experiments::salakhutdinov2010_cost {
namespace {

/// A machine, and how often its sampling is timed.
struct CostSize {
  std::vector<int> sizes;
  int states;  ///< that an update takes
  int timed;
};
const PerProfile<CostSize> kSize{.smoke = {{20, 10, 8}, 4, 2},
                                 .quick = {{784, 500, 1000}, 100, 10},
                                 .paper = {{784, 500, 1000}, 100, 100}};
constexpr int kLadder = 50;        // inverse temperatures of PT, as the paper quotes
constexpr int kReferenceRuns = 5;  // of SAP's short sweep, whose mean is one time

std::string reference_text(int states) { return fmt::format("pcd:1 --chains {}", states); }
std::string ladder_text(int states) {
  return fmt::format("pt:{}:1 --chains {}", kLadder, kLadder * states);
}

std::vector<Json> trials(Profile profile) {
  const CostSize& size = kSize.at(profile);
  return {{{"sizes", size.sizes}, {"states", size.states}, {"timed", size.timed}}};
}

std::size_t bytes_of(const Sampler& sampler) {
  CheckpointWriter out;
  sampler.save(out);
  return out.finish().size();
}

/// Outputs  milliseconds of the sampling of an update by SAP, by PT and by plain chains, as many as
/// PT's, in turn; ratios to SAP's; bytes that SAP and PT keep
Json run(const Json& inputs, const TrialContext& context) {
  const ThreadLimit one(1);
  const std::vector<int> sizes = inputs.at("sizes");
  const int states = inputs.at("states"), timed = inputs.at("timed");
  const Layered model = initial_network(sizes, 0.01, context.key);
  const SamplerSetup setup{.model = model,
                           .packing = {.chains = states},
                           .key = context.key,
                           .draws = std::make_shared<PhiloxDraws>(context.key)};
  const auto reference = make_sampler(parse_negative_description(reference_text(states)), setup),
             ladders = make_sampler(parse_negative_description(ladder_text(states)), setup),
             plain =
                 make_sampler(parse_negative_description(reference_text(kLadder * states)), setup);
  Json outputs = {{"reference_bytes", bytes_of(*reference)}, {"ladder_bytes", bytes_of(*ladders)}};
  const auto sweep_seconds = [](int runs, Sampler& sampler) {
    return seconds_of_one(runs, [&](int all) { sampler.advance(all); });
  };
  for (int i = -1; i < timed; ++i) {
    const double short_sweep = sweep_seconds(kReferenceRuns, *reference),
                 long_sweep = sweep_seconds(1, *ladders), plain_sweep = sweep_seconds(1, *plain);
    if (i < 0) continue;  // warm-up
    outputs["reference_milliseconds"].push_back(1e3 * short_sweep);
    outputs["ladder_milliseconds"].push_back(1e3 * long_sweep);
    outputs["plain_milliseconds"].push_back(1e3 * plain_sweep);
    outputs["ratios"].push_back(long_sweep / short_sweep);
    outputs["plain_ratios"].push_back(plain_sweep / short_sweep);
    context.progress(static_cast<double>(i + 1) / timed);
  }
  return outputs;
}

void add_times(const Json& outputs, Summary& summary) {
  const auto cell = [&](const char* key) {
    return Cell(with_interval(median_interval(numbers(outputs.at(key)))));
  };
  summary.add(Table{
      .name = "sampling",
      .caption =
          fmt::format("Sampling of one update: processor time of a sweep of every chain, "
                      "swaps included, one thread; medians with exact 95 % intervals. Bytes "
                      "are those of the sampler's checkpoint, which holds all states. PT has "
                      "{} inverse temperatures for each of SAP's chains.",
                      kLadder),
      .columns = {{"negative phase", "phase"},
                  {"time / ms", "milliseconds", 2},
                  {"over SAP's", "ratio", 1},
                  {"bytes", "bytes"}},
      .rows = {{"SAP", cell("reference_milliseconds"), 1.0,
                std::int64_t{outputs.at("reference_bytes")}},
               {fmt::format("PT, {} rungs", kLadder), cell("ladder_milliseconds"), cell("ratios"),
                std::int64_t{outputs.at("ladder_bytes")}},
               {"as many plain chains", cell("plain_milliseconds"), cell("plain_ratios"), "–"}},
      .timing = true});
}

void add_ratio_measures(const Interval& ratio, std::size_t n, const std::string& part,
                        Summary& summary) {
  for (const char* side : {"at least 40", "at most 60"}) {
    Measure measure = interval_measure(
        {.claim = "S24",
         .part = fmt::format("{}, {}", part, side),
         .likely_reason =
             "this engine sweeps many chains at less cost a chain than few, and PT's swaps read "
             "their energies off the inputs of its sweeps: the sweeps alone are in the table"},
        ratio, n);
    measure.power = interval_power(ratio, 10);
    measure.power_against = "a ratio of 50";
    measure.post_hoc = true;
    summary.add(std::move(measure));
  }
}

void summarise(const Results& results, Summary& summary) {
  if (results.empty()) return;
  const Json& outputs = results.trials().front().outputs;
  add_times(outputs, summary);
  if (results.profile() == Profile::smoke) return;
  const std::vector<double> ratios = numbers(outputs.at("ratios"));
  add_ratio_measures(median_interval(ratios), ratios.size(), "time", summary);
  const double memory = number(outputs.at("ladder_bytes")) / number(outputs.at("reference_bytes"));
  add_ratio_measures({memory, memory, memory}, 1, "memory", summary);
}

}  // namespace

Experiment experiment() {
  return {
      .id = "salakhutdinov2010/cost",
      .item = "Sec. 7",
      .title = "What does sampling by parallel tempering cost?",
      .paper_did =
          "States that parallel tempering with 50 chains is 50 times slower than plain "
          "stochastic approximation, and needs memory for every coupled chain.",
      .settings = {.smoke = "2 updates of a 20-10-8 machine, 4 states.",
                   .quick = "10 updates of a 784-500-1000 machine, 100 states each: 100 chains "
                            "against 100 ladders of 50; one thread.",
                   .paper = "100 such updates."},
      .seconds = {.smoke = 0.1, .quick = 4, .paper = 35},
      .claims = {"S24"},
      .deviations = {"Weights are those of a start, N(0, 0.01²): what they are does not change how "
                     "long a sweep takes.",
                     "The sampling alone is timed: an update's positive phase and its statistics "
                     "are the same for both. Whole updates are with those of the other negative "
                     "phases, in update-cost."},
      .alone = true,
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::salakhutdinov2010_cost

#include <ctime>
#include <string>

#include "boltzmark/core/checkpoint.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/results.hpp"

namespace boltzmark::experiments::salakhutdinov2010_update_cost {
namespace {

struct Size {
  std::vector<int> layers;
  int rounds;
};
const PerProfile<Size> kSize{
    .smoke = {{16, 8, 8}, 2}, .quick = {{784, 100, 200}, 6}, .paper = {{784, 500, 1000}, 20}};
constexpr int kBatch = 100;

// Updates of a round: so many that every run of ST and every swap of CAST has its share. Of parallel
// tempering, whose updates are all alike, a few do.
constexpr int kRound = 50, kShortRound = 5;

/// A negative phase as it is timed.
struct Contender {
  const char* label;
  const char* negative;
  int round = kRound;
};
/// Those of a trial; the first is SAP, which the others are held against.
using Contenders = std::vector<Contender>;
const Contenders kPlain = {
    {"SAP, 100 chains", "pcd:1"},
    {"FPCD, 100 chains", "fpcd:1"},
    {"Trans-SAP, 100 chains, 20 levels", "tt:20:0.9"},
    {"ST, 100 chains, 20 levels", "st:20:0.9"},
    {"CAST, 50 + 50 chains, 20 levels", "cast:20:0.9"},
    {"CAST, 100 + 100 chains, 20 levels", "cast:20:0.9 --chains 200"},
};
const Contenders kOthers = {
    {"SAP, 100 chains", "pcd:1"},
    {"ST, 50 chains, 20 levels", "st:20:0.9 --chains 50"},
    {"PT, 100 chains: ten ladders of ten", "pt:10:1 --chains 100", kShortRound},
    {"PT, 100 ladders of 50", "pt:50:1 --chains 5000", kShortRound},
};
constexpr std::size_t kSap = 0, kAdaptive = 3, kCastEqual = 5;  // of kPlain

/// The phases that a trial times.
const Contenders& contenders_of(const Json& inputs) {
  return inputs.value("phases", std::string("plain")) == "plain" ? kPlain : kOthers;
}

std::vector<Json> trials(Profile profile) {
  const Size& size = kSize.at(profile);
  const Json plain = {{"layers", size.layers}, {"rounds", size.rounds}};
  Json others = plain;
  others["phases"] = "other";
  return {plain, others};
}

/// Processor time. Unlike the wall's, it does not count what else the machine does.
template <class Work>
double seconds(const Work& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

Eigen::MatrixXf draw_cases(int units, StreamKey key) {
  Stream stream(key, Purpose::data);
  Eigen::MatrixXf cases(units, 10 * kBatch);
  for (float& value : cases.reshaped()) value = stream.bernoulli(0.2) ? 1.0F : 0.0F;
  return cases;
}

double state_bytes(const Sampler& sampler) {
  CheckpointWriter out;
  sampler.save(out);
  return static_cast<double>(out.finish().size());
}

/// Times sampling and whole updates apart, in turns, so that a busy moment strikes all alike.
Json run(const Json& inputs, const TrialContext& context) {
  const ThreadLimit one(1);
  const std::vector<int> layers = inputs.at("layers");
  const int rounds = inputs.at("rounds");
  const Contenders& contenders = contenders_of(inputs);
  const Eigen::MatrixXf cases = draw_cases(layers.front(), context.key);
  const Layered start = initial_network(layers, 0.01, context.key);
  std::vector<std::unique_ptr<Trainer>> trainers;
  for (const Contender& contender : contenders)
    trainers.push_back(std::make_unique<Trainer>(
        start, cases,
        TrainOptions{.negative = parse_negative_description(contender.negative),
                     .learning_rate = 0.005,
                     .batch = kBatch},
        context.key));
  std::vector<std::vector<double>> sampling(contenders.size()), updates = sampling;
  for (int round = -1; round < rounds; ++round)
    for (std::size_t i = 0; i < trainers.size(); ++i) {
      Trainer& trainer = *trainers[i];
      const int made = round < 0 ? 1 : contenders[i].round;
      double sample = 0, rest = 0;
      for (int n = 0; n < made; ++n) {
        sample += seconds([&] { trainer.sample(); });
        rest += seconds([&] { trainer.step(); });
      }
      if (round < 0) continue;  // warm-up
      sampling[i].push_back(sample / made);
      updates[i].push_back((sample + rest) / made);
      context.progress((round + static_cast<double>(i + 1) / trainers.size()) / rounds);
    }
  std::vector<double> bytes;
  for (const auto& trainer : trainers) bytes.push_back(state_bytes(trainer->sampler()));
  return {{"sampling", sampling}, {"updates", updates}, {"bytes", bytes}};
}

/// Each round's time of a contender over that of SAP.
std::vector<double> ratios(const Json& times, std::size_t contender) {
  std::vector<double> all = numbers(times.at(contender));
  const std::vector<double> sap = numbers(times.at(kSap));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] /= sap[i];
  return all;
}

Measure cost_measure(const About& about, const Json& times, std::size_t contender) {
  const std::vector<double> values = ratios(times, contender);
  Measure measure = interval_measure(about, median_interval(values), values.size());
  measure.power = interval_power({0, measure.lower, measure.upper}, 0.5);
  measure.power_against = "a ratio of 1.5";
  measure.post_hoc = true;
  return measure;
}

/// Adds the rows of a trial; SAP's stand once.
void add_rows(const Trial& trial, Table& table) {
  const Contenders& contenders = contenders_of(trial.inputs);
  const Json &sampling = trial.outputs.at("sampling"), &updates = trial.outputs.at("updates");
  const std::vector<double> bytes = numbers(trial.outputs.at("bytes"));
  for (std::size_t i = table.rows.empty() ? kSap : kSap + 1; i < contenders.size(); ++i)
    table.rows.push_back(
        {std::string(contenders[i].label), 1e3 * median(numbers(sampling.at(i))),
         with_interval(median_interval(ratios(sampling, i))), 1e3 * median(numbers(updates.at(i))),
         with_interval(median_interval(ratios(updates, i))), bytes[i] / bytes[kSap]});
}

Table table_of(const Results& results) {
  Table table{
      .name = "cost",
      .caption =
          "Processor time of one thread per update, and of its negative samples alone (packing the "
          "changed weights, sweeps, rungs, swaps), over those of SAP in the same rounds: medians of rounds of 50 updates, of PT 5, "
          "with exact 95 % intervals. CAST stands at SAP's number of chains in all, 50 + 50, and at "
          "its number of slow ones; ST with 50 chains makes as many sweeps of a chain as SAP. Bytes: "
          "states, weights and rungs that the sampler keeps.",
      .columns = {{"negative phase", "negative"},
                  {"sampling / ms", "sampling_ms", 2},
                  {"sampling / SAP's", "sampling_ratio", 2},
                  {"update / ms", "update_ms", 2},
                  {"update / SAP's", "update_ratio", 2},
                  {"bytes / SAP's", "bytes_ratio", 2}},
      .timing = true};
  for (const Trial& trial : results.trials()) add_rows(trial, table);
  return table;
}

void summarise(const Results& results, Summary& summary) {
  if (results.empty()) return;
  summary.add(table_of(results));
  const Trial& trial = results.trials().front();
  if (results.profile() == Profile::smoke || &contenders_of(trial.inputs) != &kPlain) return;
  const char* noise = "a shared machine: the interval is that of its noise";
  const Json& updates = trial.outputs.at("updates");
  summary.add(cost_measure({.claim = "S23",
                            .part = "CAST",
                            .note = "as many slow chains as SAP has, so twice the chains in all; "
                                    "50 + 50 against 100 stands in the table",
                            .likely_reason = noise},
                           updates, kCastEqual));
  summary.add(cost_measure({.claim = "S23",
                            .part = "adaptive ST",
                            .note = "a run of 50 sweeps every 50 updates",
                            .likely_reason = noise},
                           updates, kAdaptive));
}

}  // namespace

Experiment experiment() {
  return {
      .id = "salakhutdinov2010/update-cost",
      .item = "Abstract, Sec. 6",
      .title = "What does an update cost with each negative phase?",
      .paper_did =
          "States that adaptive tempering and CAST cost at most twice as much as SAP, and "
          "parallel tempering with 50 chains fifty times as much, in time and in memory. "
          "It shows no times.",
      .settings = {.smoke = "Two rounds on 16-8-8.",
                   .quick = "Six rounds of 50 updates (of parallel tempering 5) of 784-100-200, "
                            "batches of 100, five updates of mean field, one thread.",
                   .paper = "Twenty rounds at the paper's 784-500-1000."},
      .seconds = {.smoke = 0.2, .quick = 8, .paper = 350},
      .claims = {"S23"},
      .deviations =
          {"The cases are random bits and the weights those of the start: neither changes what "
           "an update does.",
           "Quick times a smaller model."},
      .alone = true,
      .trials = trials,
      .cost = [](const Json& inputs) { return &contenders_of(inputs) == &kPlain ? 3.0 : 1.0; },
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::salakhutdinov2010_update_cost

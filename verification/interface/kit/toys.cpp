#include "verification/interface/kit/toys.hpp"

#include <cmath>
#include <cstdlib>

#include "boltzmark/random/stream.hpp"
#include "experiments/kit/datasets/data_folders.hpp"
#include "experiments/kit/report/report.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {
namespace {

std::vector<Json> toy_trials(Profile) {
  std::vector<Json> all;
  for (const char* size : {"small", "large"})
    for (int repeat = 0; repeat < 6; ++repeat)
      all.push_back({{"size", size}, {"repeat", repeat}, {"rate", 0.1}});
  return all;
}

Json toy_run(const Json& inputs, const TrialContext& context) {
  ++toy_runs;
  const int draws = inputs.at("size") == "small" ? 10 : 1000;
  Stream own(context.key, Purpose::test), shared(context.shared_key("pair"), Purpose::test);
  double sum = 0;
  for (int i = 0; i < draws; ++i) sum += own.uniform();
  context.progress(1);
  return {{"mean", sum / draws}, {"shared", shared.uniform()}, {"log", std::log(0.0)}};
}

void toy_summarise(const Results& results, Summary& summary) {
  Table table{.name = "means",
              .caption = "Means & <tags>",
              .columns = {{"size", "size"}, {"repeat", "repeat"}, {"mean", "mean"}}};
  Series series{.label = "means"};
  for (const Json& inputs : toy_trials(results.profile())) {
    const auto found = results.where(inputs);
    Cell cell = NotRun{};
    if (!found.empty()) {
      const double mean = number(found.front()->outputs.at("mean"));
      cell = WithInterval{.value = mean, .lower = mean - 0.1, .upper = mean + 0.1};
      series.x.push_back(static_cast<double>(series.x.size()));
      series.y.push_back(mean);
    }
    table.rows.push_back(
        {inputs.at("size").get<std::string>(), inputs.at("repeat").get<std::int64_t>(), cell});
  }
  summary.add(table);
  Figure figure{.name = "curve", .caption = "Means"};
  figure.panels.push_back({.x = {.label = "trial"}, .y = {.label = "mean"}, .series = {series}});
  summary.add(figure);
  summary.add(Measure{.claim = "T01", .estimate = 0.0});
  for (const char* size : {"small", "large"})
    for (const double mean : results.values({{"size", size}, {"repeat", 0}}, "mean"))
      summary.add(Measure{.claim = "T02",
                          .part = size,
                          .estimate = mean,
                          .lower = mean - 0.4,
                          .upper = mean + 0.4,
                          .n = 1});
}

}  // namespace

std::string text_between(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + from.size();
  return text.substr(begin, text.find(to, begin) - begin);
}

bool lacks_model(const Trial& trial) {
  const std::string file = trial.inputs.value("file", "");
  return file.ends_with(".mat") && !find_data_file("", file);
}

std::atomic<int> toy_runs{0};

std::vector<Experiment> toy_experiments() {
  return {{.id = "toy/one",
           .item = "Fig. <1>",
           .title = "A & B",
           .paper_did = "Nothing",
           .settings = {.smoke = "12 trials", .quick = "12 trials", .paper = "12 trials"},
           .seconds = {.smoke = 0.01, .quick = 0.01, .paper = 0.01},
           .claims = {"T01", "T02"},
           .deviations = {"a \"quoted\" <deviation>"},
           .trials = toy_trials,
           .run = toy_run,
           .summarise = toy_summarise}};
}

ClaimFile toy_claims() {
  return {.paper = "toy",
          .title = "Toy",
          .reference = "none",
          .claims = {{.id = "T01",
                      .kind = 'E',
                      .statement = "0 < 1 & <b>",
                      .statistic = "zero",
                      .parts = {{.name = "", .test = Test::at_most, .threshold = 0.5}},
                      .where = "",
                      .experiments = {"toy/one"}},
                     {.id = "T02",
                      .kind = 'D',
                      .statement = "means are positive",
                      .statistic = "mean",
                      .parts = {{.name = "small", .test = Test::greater, .threshold = 0},
                                {.name = "large", .test = Test::greater, .threshold = 0}},
                      .where = "",
                      .experiments = {"toy/one"}}}};
}

ReproduceResult run_part(const std::string& out, Shard shard, const std::string& only,
                         std::uint64_t seed) {
  return reproduce(
      {.jobs = 1, .seed = seed, .out = out, .only = only, .shard = shard, .quiet = true},
      toy_experiments(), {toy_claims()});
}

std::string toy_folder(const TemporaryFolder& out) { return out.path() + "/quick/toy/one"; }

}  // namespace boltzmark::experiments

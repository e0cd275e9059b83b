#include <fmt/format.h>

#include <memory>

#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "boltzmark/sample/chains/persistent_chains.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/paired.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/statistics/class_changes.hpp"
#include "experiments/salakhutdinov2010/support/committed_rbms.hpp"

namespace boltzmark::experiments::salakhutdinov2010_learning_rates {
namespace {

constexpr double kRates[] = {0.05, 0.005, 0.0005, 0};
constexpr int kChains = 100, kBatch = 100;
constexpr int kBurnIn = 1000;  // sweeps before learning goes on
constexpr PerProfile<int> kModels{.smoke = 1, .quick = kCommittedRbms, .paper = kCommittedRbms};
constexpr PerProfile<int> kUpdates{.smoke = 50, .quick = 2000, .paper = 2000};

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  for (int model = 0; model < kModels.at(profile); ++model)
    for (const double rate : kRates)
      all.push_back({{"model", model}, {"rate", rate}, {"updates", kUpdates.at(profile)}});
  return all;
}

const CaseValues& training_cases() {
  static const CaseValues cases = load_dataset("artificial-modes-0.01").values;
  return cases;
}

/// Follows the classes of chains that a sampler moves, without learning or while it goes on.
class Follower {
 public:
  explicit Follower(int units) : modes_(artificial_modes(units)), tracker_(kChains) {}
  void see(const Chains& chains) { tracker_.observe(nearest_modes(chains.get_layer(0), modes_)); }
  double changes_per_chain() const {
    double sum = 0;
    for (const ClassChanges& one : tracker_.changes()) sum += static_cast<double>(one.changes);
    return sum / kChains;
  }

 private:
  Eigen::MatrixXf modes_;
  ClassTracker tracker_;
};

// Chains of a model as it is, where the rate is 0.
void follow_still(Sampler& sampler, const Layered& model, int updates, Follower& follower) {
  Chains chains(model, kChains);
  for (int update = 0; update < updates; ++update) {
    sampler.advance(1);
    sampler.copy_states(chains);
    follower.see(chains);
  }
}

/// Outputs  changes of class per chain; log_likelihood before and after
Json run(const Json& inputs, const TrialContext& context) {
  const int updates = inputs.at("updates");
  const double rate = number(inputs.at("rate"));
  const Layered model = committed_rbm(inputs.at("model"));
  const StreamKey key = context.shared_key(fmt::format("model {}", inputs.at("model").get<int>()));
  auto sampler =
      std::make_unique<PersistentChains>(SamplerSetup{.model = model,
                                                      .packing = {.chains = kChains},
                                                      .key = key,
                                                      .draws = std::make_shared<PhiloxDraws>(key)});
  sampler->advance(kBurnIn);
  const Cases cases(training_cases());
  Follower follower(model.size(0));
  Json outputs = {{"before", exact_mean_log_likelihood(model, cases)}};
  if (rate == 0) {
    follow_still(*sampler, model, updates, follower);
    outputs["after"] = outputs["before"];
  } else {
    Trainer trainer(model, training_cases(),
                    {.negative = Negative::pcd(1), .learning_rate = rate, .batch = kBatch}, key,
                    std::move(sampler));
    for (int update = 0; update < updates; ++update) {
      trainer.step();
      follower.see(trainer.negative());
      if (update % 256 == 0) context.progress(static_cast<double>(update) / updates);
    }
    outputs["after"] = exact_mean_log_likelihood(trainer.model(), cases);
  }
  outputs["changes"] = follower.changes_per_chain();
  return outputs;
}

std::string rate_text(double rate) { return fmt::format("{}", rate); }

void add_changes(const Results& results, Summary& summary) {
  Table table{.name = "changes",
              .caption =
                  "Class changes per chain while PCD goes on from each of the committed RBMs, "
                  "and the exact mean log-likelihood of the training cases before and after: "
                  "means over RBMs with 95 % intervals. Rate 0: the chains of the model as "
                  "it is.",
              .columns = {{"rate", "rate"},
                          {"class changes per chain", "changes"},
                          {"log-likelihood before / nats", "before"},
                          {"after / nats", "after"}}};
  for (const double rate : kRates) {
    const Json filter{{"rate", rate}};
    table.rows.push_back({rate_text(rate), mean_cell(results.values(filter, "changes")),
                          mean_cell(results.values(filter, "before")),
                          mean_cell(results.values(filter, "after"))});
  }
  summary.add(std::move(table));
}

void add_points(const Results& results, Summary& summary) {
  Figure figure{.name = "changes-of-models",
                .caption =
                    "The same, RBM by RBM: class changes per chain at a rate against those "
                    "of the model as it is.",
                .panels = {Panel{.x = {.label = "class changes per chain without learning"},
                                 .y = {.label = "class changes per chain", .low = 0, .high = 8},
                                 .legend = "top left"}}};
  const std::vector<double> still = results.values({{"rate", 0.0}}, "changes");
  for (const double rate : kRates) {
    const std::vector<double> learning = results.values({{"rate", rate}}, "changes");
    if (rate == 0 || learning.size() != still.size()) continue;
    figure.panels[0].series.push_back(
        {.label = "rate " + rate_text(rate), .x = still, .y = learning, .mark = Mark::points});
  }
  summary.add(std::move(figure));
}

void summarise(const Results& results, Summary& summary) {
  if (results.empty()) return;
  add_changes(results, summary);
  add_points(results, summary);
  if (results.profile() == Profile::smoke || results.trials().size() < results.planned()) return;
  for (int step = 0; step < 2; ++step) {
    const auto changes = [&](double rate) { return results.values({{"rate", rate}}, "changes"); };
    summary.add(paired_measure(
        "S27", fmt::format("{} > {}", rate_text(kRates[step]), rate_text(kRates[step + 1])),
        changes(kRates[step]), changes(kRates[step + 1]), true, "class changes per chain"));
  }
}

}  // namespace

Experiment experiment() {
  return {
      .id = "salakhutdinov2010/learning-rates",
      .item = "Sec. 3",
      .title = "Do persistent chains mix worse when the learning rate is small?",
      .paper_did =
          "Reports that learning raises the energy where the sample particles are, so that "
          "they move on, and that smaller learning rates cause them to mix poorly.",
      .settings = {.smoke = "1 RBM, 50 updates at each rate.",
                   .quick = "The 25 committed RBMs 16-16 of Artificial Modes, p_mut = 0.01; 100 "
                            "persistent chains after 1,000 sweeps of the model as it is; 2,000 "
                            "updates of PCD-1 with batches of 100 at each rate.",
                   .paper = "As quick."},
      .seconds = {.smoke = 0.1, .quick = 2, .paper = 2},
      .claims = {"S27"},
      .deviations =
          {"The paper tells no experiment. The rates 0.05, 0.005 and 0.0005 and the models "
           "are ours: RBMs that parallel tempering has trained, which persistent chains "
           "mix badly, and whose modes are known.",
           "A class is the nearest mode in Hamming distance, as in bruegge2013; ties are "
           "dropped."},
      .data = committed_rbm_files(),
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::salakhutdinov2010_learning_rates

#include <fmt/format.h>

#include <algorithm>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/held/case_likelihood.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "boltzmark/learn/phases/mean_field.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/salakhutdinov2010/support/committed_models.hpp"

namespace boltzmark::experiments::salakhutdinov2010_tightness {
namespace {

constexpr int kCases = 100, kSmokeCases = 20, kClasses = 10, kChains = 100, kSweeps = 2000;

/// A model whose cases' log f(v) are found.
struct Subject {
  const char* model;
  const char* how;    ///< in the trials' inputs and the claim's parts
  const char* title;  ///< in tables
};
constexpr Subject kExact = {"mnist-20-30", "exact", "784-20-30, enumerated"};
constexpr Subject kByAis = {"mnist-500-1000-cast", "AIS", "784-500-1000, AIS given v"};

/// One trial enumerates all cases, one anneals those of a class.
std::vector<Json> trials(Profile profile) {
  std::vector<Json> all = {{{"model", kExact.model},
                            {"how", kExact.how},
                            {"cases", profile == Profile::smoke ? kSmokeCases : kCases}}};
  if (profile != Profile::paper || !has_model(deep_model_file(kByAis.model))) return all;
  for (int label = 0; label < kClasses; ++label)
    all.push_back({{"model", kByAis.model},
                   {"how", kByAis.how},
                   {"class", label},
                   {"cases", kCases},
                   {"chains", kChains},
                   {"sweeps", kSweeps}});
  return all;
}

/// Test cases, as many of each class, of a class or all.
Eigen::MatrixXf test_cases(const Json& inputs) {
  const Dataset data = load_dataset("mnist:test", parse_binarise("sample:1"));
  std::vector<int> chosen;
  for (const int c : spread_cases(data, inputs.at("cases")))
    if (!inputs.contains("class") ||
        data.labels[static_cast<std::size_t>(c)] == inputs.at("class").get<int>())
      chosen.push_back(c);
  return data.values.select(chosen);
}

std::vector<double> enumerated(const Layered& model, const Eigen::MatrixXf& cases) {
  std::vector<double> log_f(static_cast<std::size_t>(cases.cols()));
  parallel_for(log_f.size(), [&](std::size_t c) {
    log_f[c] = log_unnormalised(model, cases.col(static_cast<Eigen::Index>(c)).cast<double>());
  });
  return log_f;
}

/// Outputs  log_f of the cases, or estimates of them, with their std_error; bound, mean field's
Json run(const Json& inputs, const TrialContext& context) {
  const Layered model = committed_model(deep_model_file(inputs.at("model").get<std::string>()));
  const Eigen::MatrixXf cases = test_cases(inputs);
  const VariationalBounds bounds = variational_bounds(model, cases);
  Json outputs = {{"bound", bounds.log_f}, {"not_converged", bounds.not_converged}};
  if (inputs.at("how") == kExact.how) {
    outputs["log_f"] = enumerated(model, cases);
    outputs["std_error"] = std::vector<double>(bounds.log_f.size(), 0);
    return outputs;
  }
  for (Eigen::Index c = 0; c < cases.cols(); ++c) {
    const auto share = [&](double of_case) {
      context.progress((static_cast<double>(c) + of_case) / static_cast<double>(cases.cols()));
    };
    const Eigen::VectorXd visible = cases.col(c).cast<double>();
    const Layered hidden = hidden_layers_given(model, visible);
    // As the paper has it, held to nothing else: its status is not read.
    const Estimate estimate =
        estimate_log_z("ais", LayeredTarget(hidden, Base::uniform(hidden)),
                       {.chains = inputs.at("chains"),
                        .sweeps = inputs.at("sweeps"),
                        .key = derive_key(context.key, "case", fmt::format("{}", c)),
                        .progress = share});
    outputs["log_f"].push_back(model.bias(0).dot(visible) + estimate.log_z);
    outputs["std_error"].push_back(estimate.std_error);
  }
  return outputs;
}

/// How far log p(v) is above its bound, of every case of a subject; log Z cancels.
std::vector<double> gaps(const Results& results, const Subject& subject) {
  std::vector<double> all;
  for (const Trial* trial : results.where({{"how", subject.how}})) {
    const std::vector<double> log_f = numbers(trial->outputs.at("log_f")),
                              bound = numbers(trial->outputs.at("bound"));
    for (std::size_t c = 0; c < log_f.size(); ++c) all.push_back(log_f[c] - bound[c]);
  }
  return all;
}

void summarise(const Results& results, Summary& summary) {
  Table table{.name = "gaps",
              .caption =
                  "log p(v) less mean field's bound of it, on test images, as many of each "
                  "class: mean with its 95 % interval, nats per case. log Z cancels. The "
                  "last rows are published: the paper's, and that of other work on 784-500-1000.",
              .columns = {{"model", "model"},
                          {"cases", "cases"},
                          {"true less bound", "gap"},
                          {"largest", "largest"}}};
  for (const Subject* subject : {&kExact, &kByAis}) {
    const std::vector<double> all = gaps(results, *subject);
    const bool whole = all.size() == static_cast<std::size_t>(kCases);
    table.rows.push_back(
        {subject->title, static_cast<std::int64_t>(all.size()), mean_cell(all),
         all.empty() ? Cell(NotRun{}) : *std::max_element(all.begin(), all.end())});
    if (results.profile() == Profile::smoke || !whole) continue;
    for (const char* side : {"at least 0", "at most 1"})
      summary.add(
          mean_measure({.claim = "S21", .part = fmt::format("{}, {}", subject->how, side)}, all));
  }
  table.rows.push_back({"published: Salakhutdinov 2010", std::int64_t{kCases}, 0.48, "–"});
  table.rows.push_back(
      {"published: Salakhutdinov and Hinton 2009", std::int64_t{kCases}, 0.49, "–"});
  summary.add(std::move(table));
  if (results.profile() == Profile::paper && !has_model(deep_model_file(kByAis.model)))
    note_absent_model(deep_model_file(kByAis.model), summary);
}

}  // namespace

Experiment experiment() {
  return {
      .id = "salakhutdinov2010/tightness",
      .item = "Sec. 8.1",
      .title = "How tight is the variational bound?",
      .paper_did =
          "Estimates the true log-probability of 100 test images, ten of each class, by "
          "AIS for each: -84.28 on average, where the bound is -84.76.",
      .settings =
          {.smoke = "As quick, of 20 test images.",
           .quick = "A committed 784-20-30 DBM of MNIST, whose likelihood is enumerated, and "
                    "100 test images, ten of each class.",
           .paper =
               "Also a 784-500-1000 DBM that CAST has trained, where it is there: AIS with 100 "
               "chains and 2,000 sweeps over the hidden layers of each image."},
      .seconds = {.smoke = 0.3, .quick = 1, .paper = 200},
      .claims = {"S21"},
      .deviations = {"The images are binarised by sampling once, and evenly spread over those of "
                     "their class.",
                     "Mean field goes on until no mean moves by more than 1e-6."},
      .data = {deep_model_file(kExact.model), deep_model_file(kByAis.model),
               "mnist/t10k-images-idx3-ubyte.gz", "mnist/t10k-labels-idx1-ubyte.gz"},
      .trials = trials,
      .cost = [](const Json& inputs) { return inputs.at("how") == kExact.how ? 1.0 : 90.0; },
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::salakhutdinov2010_tightness

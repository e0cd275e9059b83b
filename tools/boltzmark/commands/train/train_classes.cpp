#include "tools/boltzmark/commands/train/train_classes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "boltzmark/core/checkpoint.hpp"
#include "boltzmark/core/memory.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/io/model_file.hpp"
#include "boltzmark/learn/initial.hpp"
#include "tools/boltzmark/input.hpp"
#include "tools/boltzmark/output.hpp"

namespace boltzmark::cli {
namespace {

LabelledCases labelled_cases(const Dataset& data) {
  const int classes = std::max(2, 1 + *std::max_element(data.labels.begin(), data.labels.end()));
  return about_file(data.name, [&] { return LabelledCases(data.values, data.labels, classes); });
}

/// Tells which classes no case has: labels from 1, or with a gap, would add classes that nothing is
/// learnt about.
std::vector<std::string> empty_class_warnings(const LabelledCases& cases) {
  std::vector<bool> seen(static_cast<std::size_t>(cases.classes()));
  for (int c = 0; c < cases.count(); ++c) seen[static_cast<std::size_t>(cases.label(c))] = true;
  const auto empty = std::count(seen.begin(), seen.end(), false);
  if (empty == 0) return {};
  const auto first = std::find(seen.begin(), seen.end(), false) - seen.begin();
  return {fmt::format("{} of the {} classes {} no cases, class {}{} (labels count classes from 0)",
                      empty, cases.classes(), empty == 1 ? "has" : "have", first,
                      empty == 1 ? "" : " the first")};
}

}  // namespace

ClassTrainRun::ClassTrainRun(const TrainArguments& arguments, const Session& session)
    : arguments_(arguments),
      session_(session),
      data_(
          load_labelled(arguments.dataset, arguments.labels, arguments.class_binarise(), "train")),
      cases_(labelled_cases(data_)),
      warnings_(empty_class_warnings(cases_)),
      trainer_(make_trainer()) {
  if (!arguments.binarise.empty()) require_grey_levels(data_, arguments.binarise);
}

DiscriminativeTrainer ClassTrainRun::make_trainer() const {
  require_memory(fmt::format("a model of {} inputs and {} hidden units", cases_.inputs(),
                             grouped(arguments_.hidden.front())),
                 48.0 * (1 + cases_.inputs() + cases_.classes()) * arguments_.hidden.front(),
                 kLessTraining);
  const StreamKey key = make_key(arguments_.seed, "train");
  const DiscriminativeOptions options{.optimiser = parse_optimiser(arguments_.optimiser),
                                      .learning_rate = learning_rate(arguments_),
                                      .batch = batch_of(arguments_, cases_.count(), data_.name),
                                      .updates = static_cast<std::uint64_t>(arguments_.updates)};
  return DiscriminativeTrainer(
      xavier_discriminative(Unit::parse(arguments_.hidden_units), cases_.inputs(),
                            arguments_.hidden.front(), cases_.classes(), key),
      cases_, options, key);
}

void ClassTrainRun::state_cost() const {
  // A core multiplies and adds 5 values a nanosecond; a unit's ln phi and psi take 3 of them.
  const double products = static_cast<double>(model().input_weights().size());
  const double terms = static_cast<double>(model().class_weights().size());
  const double case_seconds = (2 * products * 2e-10 + terms * 3e-9) / thread_count();
  const double update = trainer_.options().batch * case_seconds + 2e-9 * products;
  state_plan(
      session_,
      fmt::format("{} updates of a discriminative {}-{}-{} RBM", grouped(arguments_.updates),
                  model().inputs(), model().hidden(), model().classes()),
      update * arguments_.updates + evaluation_count(arguments_) * cases_.count() * case_seconds,
      data_.values.bytes() + 8.0 * static_cast<double>(data_.values.size()) + 48 * products,
      kLessTraining);
}

std::string ClassTrainRun::record() const {
  if (arguments_.evaluate == 0) return "";
  CheckpointWriter out;
  out.write(static_cast<std::uint64_t>(arguments_.evaluate));
  out.write(static_cast<std::uint64_t>(evaluations_.size()));
  for (const auto& [update, score] : evaluations_) {
    out.write(update);
    out.write(std::vector<int>{score.cases, score.errors});
    out.write(Eigen::Vector2d(score.mean_log_likelihood, score.std_error_cases));
  }
  return out.finish();
}

// Without the evaluation that ended a shorter run, if a longer one has none there.
bool ClassTrainRun::take_record(std::string_view record) {
  CheckpointReader in(record);
  const auto every = static_cast<std::uint64_t>(arguments_.evaluate);
  if (every == 0 || in.read() != every) return false;
  std::vector<int> counts(2);
  Eigen::VectorXd numbers(2);
  for (std::uint64_t left = in.read(); left > 0; --left) {
    const std::uint64_t update = in.read();
    in.read(counts);
    in.read(numbers);
    if (update % every == 0)
      evaluations_.push_back({update, {counts[0], counts[1], numbers[0], numbers[1]}});
  }
  in.finish();
  return true;
}

void ClassTrainRun::evaluate() {
  if (!evaluations_.empty() && evaluations_.back().update == trainer_.updates()) return;
  evaluations_.push_back({trainer_.updates(), score_classes(model(), cases_)});
  if (session_.json) return;
  const ClassScore& score = evaluations_.back().score;
  if (!printed_) print("    update  error rate  mean log-likelihood / nats\n");
  printed_ = true;
  print(fmt::format("{:>10}  {:>10.6f}  {:.6f}\n", trainer_.updates(), score.error_rate(),
                    score.mean_log_likelihood));
  finish_output();
}

// A threshold that no input went through is none that others should.
std::optional<BinariseOptions> ClassTrainRun::binarised() const {
  return data_.grey_levels ? std::optional(arguments_.class_binarise()) : std::nullopt;
}

void ClassTrainRun::save_model() const {
  about_file(arguments_.out, [&] { write_discriminative(model(), arguments_.out, binarised()); });
}

void ClassTrainRun::print_result(std::uint64_t resumed_at) const {
  const DiscriminativeOptions& options = trainer_.options();
  if (session_.json) {
    std::vector<JsonObject> evaluations;
    for (const ClassEvaluation& evaluation : evaluations_)
      evaluations.push_back(JsonObject()
                                .set("update", evaluation.update)
                                .set("error_rate", evaluation.score.error_rate())
                                .set("mean_log_likelihood", evaluation.score.mean_log_likelihood));
    print(JsonObject()
              .set("out", arguments_.out)
              .set("inputs", model().inputs())
              .set("hidden", model().hidden())
              .set("classes", model().classes())
              .set("hidden_units", model().hidden_unit().name())
              .set("binarise", text_of(binarised()))
              .set("optimiser", std::string(options.optimiser.name()))
              .set("learning_rate", options.learning_rate)
              .set("batch", options.batch)
              .set("updates", trainer_.updates())
              .set("resumed_at", resumed_at)
              .set("seed", arguments_.seed)
              .set("evaluations", evaluations)
              .set("seconds", watch_.seconds())
              .set("warnings", warnings_));
    return;
  }
  FactList facts;
  facts.add("wrote", arguments_.out);
  facts.add("model",
            fmt::format("discriminative {}-{}-{} RBM, {} hidden units", model().inputs(),
                        model().hidden(), model().classes(), model().hidden_unit().name()));
  facts.add("training",
            fmt::format("{} updates of {} cases, {}, rate {}", grouped(trainer_.updates()),
                        options.batch, options.optimiser.name(), options.learning_rate));
  facts.add("inputs", inputs_text(binarised()));
  facts.add("time", human_seconds(watch_.seconds()));
  for (const std::string& warning : warnings_) facts.add("warning", warning);
  if (printed_) print("\n");
  print(facts.text());
}

}  // namespace boltzmark::cli

#include "train_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/io/atomic_file.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/interrupt.hpp"
#include "input.hpp"
#include "output.hpp"

namespace boltzmark::cli {

TrainRun::TrainRun(const TrainArguments& arguments, const Session& session)
    : arguments_(arguments),
      session_(session),
      data_(load_dataset(arguments.dataset, parse_binarise(arguments.binarise))),
      trainer_(make_trainer()) {
  if (arguments_.evaluate > 0) cases_.emplace(data_.values);
}

Trainer TrainRun::make_trainer() const {
  const StreamKey key = make_key(arguments_.seed, "train");
  const auto cases = static_cast<int>(data_.values.cols());
  TrainOptions options{.negative = parse_negative(arguments_.negative),
                       .rule = parse_rule(arguments_.rule),
                       .learning_rate = arguments_.learning_rate,
                       .batch = arguments_.batch > 0 ? arguments_.batch : std::min(100, cases),
                       .updates = static_cast<std::uint64_t>(arguments_.updates)};
  if (options.batch > cases)
    throw InvalidArgument(fmt::format("--batch = {} (must be at most the {} cases of {})",
                                      options.batch, cases, data_.name));
  return about_file(data_.name, [&] {
    Layered start = initial_rbm(static_cast<int>(data_.values.rows()), arguments_.hidden.front(),
                                arguments_.initial_sd, key);
    const EnumerationPlan plan = plan_enumeration(start);
    if (arguments_.evaluate > 0 && !plan.possible)
      throw InvalidArgument(fmt::format(
          "--evaluate would enumerate {} units (must be at most 40; leave --evaluate out)",
          plan.units));
    return Trainer(std::move(start), data_.values, options, key);
  });
}

void TrainRun::state_cost() const {
  const Negative negative = trainer_.options().negative;
  const double chains = static_cast<double>(trainer_.options().batch) * negative.temperatures;
  const double units = model().units();
  const double products = static_cast<double>(model().weights(0).size());
  // A product costs 0.05 ns a core and side, a draw and decision 1 ns (4 sides' worth for the
  // statistics of both phases).
  const double update = chains * negative.sweeps * (2 * products * 5e-11 + units * 1e-9) +
                        4 * trainer_.options().batch * products * 5e-11;
  const double evaluations =
      arguments_.evaluate > 0 ? 2.0 + arguments_.updates / arguments_.evaluate : 0.0;
  state_plan(session_,
             fmt::format("{} updates of a {}-{} RBM by {}", grouped(arguments_.updates),
                         model().size(0), model().size(1), negative.name()),
             update * arguments_.updates / thread_count() +
                 evaluations * plan_enumeration(model()).seconds,
             4.0 * static_cast<double>(data_.values.size()) + 4 * chains * units + 48 * products);
}

void TrainRun::resume() {
  std::error_code error;
  if (arguments_.checkpoint.empty() || !std::filesystem::exists(arguments_.checkpoint, error))
    return;
  const std::string bytes = experiments::read_text(arguments_.checkpoint);
  const std::string heading = checkpoint_heading();
  const std::string& file = arguments_.checkpoint;
  if (!bytes.starts_with(heading))
    throw DataError(file + ": is no checkpoint of this run (must come from the same --initial-sd)");
  try {
    trainer_.restore(std::string_view(bytes).substr(heading.size()));
  } catch (const DataError& refusal) {
    throw DataError(fmt::format("{}: {}", file, refusal.what()));
  }
  if (trainer_.updates() > trainer_.options().updates)
    throw DataError(fmt::format("{}: has made {} updates (must be at most --updates, {})", file,
                                trainer_.updates(), trainer_.options().updates));
  resumed_at_ = trainer_.updates();
  if (!session_.quiet)
    fmt::print(stderr, "boltzmark: going on from update {} of {}\n", resumed_at_,
               arguments_.checkpoint);
}

// What a resumed run must agree on and the trainer does not know.
std::string TrainRun::checkpoint_heading() const {
  return fmt::format("boltzmark train 1, initial sd {}\n", arguments_.initial_sd);
}

void TrainRun::save() const {
  if (arguments_.checkpoint.empty()) return;
  AtomicFile file(arguments_.checkpoint);
  file.write(checkpoint_heading());
  file.write(trainer_.checkpoint());
  file.commit();
}

void TrainRun::stop() const {
  save();
  throw experiments::Interrupted();
}

void TrainRun::evaluate() {
  const double value = exact_mean_log_likelihood(model(), *cases_);
  evaluations_.push_back({trainer_.updates(), value});
  if (session_.json) return;
  if (evaluations_.size() == 1) print("    update  mean log-likelihood / nats\n");
  print(fmt::format("{:>10}  {:.6f}\n", trainer_.updates(), value));
  finish_output();
}

void TrainRun::train() {
  const experiments::InterruptGuard guard;
  constexpr double save_seconds = 30;
  double saved = watch_.seconds();
  const auto updates = static_cast<std::uint64_t>(arguments_.updates);
  const auto every = static_cast<std::uint64_t>(arguments_.evaluate);
  Progress progress(session_, "train", static_cast<double>(updates), "updates");
  while (true) {
    const std::uint64_t now = trainer_.updates();
    if (every > 0 && (now % every == 0 || now >= updates)) evaluate();
    if (now >= updates) break;
    trainer_.step();
    progress.show(static_cast<double>(trainer_.updates()));
    if (experiments::interrupt_requested()) stop();
    if (watch_.seconds() - saved > save_seconds) {
      save();
      saved = watch_.seconds();
    }
  }
  save();
}

void TrainRun::print_result() const {
  const TrainOptions& options = trainer_.options();
  if (session_.json) {
    std::vector<JsonObject> evaluations;
    for (const Evaluation& evaluation : evaluations_)
      evaluations.push_back(JsonObject()
                                .set("update", evaluation.update)
                                .set("mean_log_likelihood", evaluation.mean_log_likelihood));
    print(JsonObject()
              .set("out", arguments_.out)
              .set("visible", model().size(0))
              .set("hidden", model().size(1))
              .set("negative", options.negative.name())
              .set("rule", options.rule.name())
              .set("learning_rate", options.learning_rate)
              .set("batch", options.batch)
              .set("updates", trainer_.updates())
              .set("resumed_at", resumed_at_)
              .set("seed", arguments_.seed)
              .set("evaluations", evaluations)
              .set("seconds", watch_.seconds()));
    return;
  }
  FactList facts;
  facts.add("wrote", arguments_.out);
  facts.add("model", fmt::format("{}-{} RBM", model().size(0), model().size(1)));
  facts.add("training",
            fmt::format("{} updates of {} cases, {}, {}, rate {}", grouped(trainer_.updates()),
                        options.batch, options.negative.name(), options.rule.name(),
                        options.learning_rate));
  facts.add("time", human_seconds(watch_.seconds()));
  if (!evaluations_.empty()) print("\n");
  print(facts.text());
}

}  // namespace boltzmark::cli

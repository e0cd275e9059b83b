#include <fmt/format.h>

#include <memory>

#include "boltzmark/core/error.hpp"
#include "input.hpp"
#include "program.hpp"
#include "train_run.hpp"

namespace boltzmark::cli {
namespace {

int run(const TrainArguments& arguments, const Session& session) {
  parse_rule(arguments.rule);
  parse_negative(arguments.negative);
  if (arguments.hidden.size() > 1)
    throw InvalidArgument(fmt::format(
        "--hidden is given {} times (must be given once: this version trains RBMs, not deeper "
        "models)",
        arguments.hidden.size()));
  check_model_name(arguments.out);
  check_output(arguments.out, arguments.force);
  if (arguments.checkpoint == arguments.out)
    throw DataError(arguments.out + ": is both --out and --checkpoint (must be two files)");
  if (!arguments.checkpoint.empty()) check_output(arguments.checkpoint, true);
  TrainRun training(arguments, session);
  training.resume();
  training.state_cost();
  training.train();
  save_model(training.model(), arguments.out);
  training.print_result();
  return 0;
}

constexpr const char* kNotes =
    "Ctrl-C leaves no model; with --checkpoint it saves the run, and the same command goes on "
    "from\n"
    "there and writes the same bytes as a run that was never stopped. The same seed gives the "
    "same\n"
    "model for any number of threads.\n"
    "JSON keys: out, visible, hidden, negative, rule, learning_rate, batch, updates, resumed_at,\n"
    "seed, evaluations [update, mean_log_likelihood], seconds.";

}  // namespace

void add_train(Program& program) {
  const auto arguments = std::make_shared<TrainArguments>();
  Command& command = program.command({
      .name = "train",
      .summary = "train an RBM by CD, PCD or parallel tempering",
      .about = "Trains a binary RBM by stochastic gradient ascent on the log-likelihood and writes "
               "it as a model file. A data set's name means its training cases.",
      .notes = kNotes,
      .examples = {"boltzmark train bas --hidden 16 --negative pt:10:1 --rule flip --evaluate 1000 "
                   "--out bas.npz",
                   "boltzmark train mnist:fit --hidden 500 --negative cd:25 --updates 100000 "
                   "--checkpoint mnist.part --out mnist.npz"},
  });
  command.positional(&arguments->dataset, "DATASET",
                     "A data set's NAME[:train|valid|test|fit] (default: train), or a file.");
  command.integers(&arguments->hidden, "--hidden N", 1, "Hidden units.");
  command.required_text(&arguments->out, "--out MODEL", "The model file to write (.npz or .mat).");
  command.text(&arguments->negative, "--negative M",
               "Negative phase: cd:K, pcd:K (K sweeps) or pt:T:K (T temperatures, K sweeps) "
               "(default: cd:1).");
  command.text(&arguments->rule, "--rule R",
               "Update rule of the negative phase: gibbs, flip or blend:SHARE (default: gibbs).");
  command.real(&arguments->learning_rate, "--learning-rate X", {.low = 0, .above_low = true},
               "Learning rate (default: 0.05).");
  command.integer(&arguments->batch, "--batch B", 1,
                  "Cases per update (default: 100, or all if there are fewer).");
  command.integer(&arguments->updates, "--updates N", 0, "Updates in all (default: 10000).");
  command.real(&arguments->initial_sd, "--initial-sd X", {.low = 0},
               "Standard deviation of the initial weights and biases (default: 0.01).");
  command.integer(&arguments->evaluate, "--evaluate EVERY", 1,
                  "Print the exact mean log-likelihood of the cases before the first update, after "
                  "every EVERY updates and at the end (at most 40 enumerated units).");
  command.text(&arguments->binarise, "--binarise B",
               "How grey levels become values: threshold:LEVEL, sample:SEED or grey (default: "
               "threshold:127).");
  command.text(&arguments->checkpoint, "--checkpoint FILE",
               "Save the run to FILE every 30 s, on Ctrl-C and at the end; go on from it if it "
               "exists.");
  command.integer(&arguments->seed, "--seed S", "Seed of every draw (default: 1).");
  command.flag(&arguments->force, "--force", "Replace MODEL if it exists.");
  command.action([arguments](const Session& session) { return run(*arguments, session); });
}

}  // namespace boltzmark::cli

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "tools/boltzmark/commands/train/pretrain_run.hpp"
#include "tools/boltzmark/commands/train/train_classes.hpp"
#include "tools/boltzmark/commands/train/train_loop.hpp"
#include "tools/boltzmark/commands/train/train_run.hpp"
#include "tools/boltzmark/input.hpp"
#include "tools/boltzmark/output.hpp"
#include "tools/boltzmark/program.hpp"

namespace boltzmark::cli {
namespace {

constexpr int kMostHidden = 1 << 20;  // units of a layer
constexpr int kMostDepth = 9;         // hidden layers

// What makes no sense together is refused; then what was not given gets its default.
TrainArguments complete(TrainArguments arguments) {
  const auto refuse = [](const char* option, const char* must) {
    throw InvalidArgument(fmt::format("{} is given (must {})", option, must));
  };
  if (arguments.discriminative) {
    const char* must = "not be, with --discriminative: its gradient is exact";
    if (!arguments.negative.empty()) refuse("--negative", must);
    for (const auto& [name, value] : arguments.negative_options)
      if (!value.empty()) refuse(name.c_str(), must);
    if (!arguments.rule.empty()) refuse("--rule", must);
    if (!arguments.visible_units.empty())
      refuse("--visible-units", "not be, with --discriminative: inputs are no units");
    const std::pair<bool, const char*> of_others[] = {
        {arguments.hidden.size() > 1, "--hidden more than once"},
        {arguments.mean_field > 0, "--mean-field"},
        {!arguments.start.empty(), "--start"},
        {!arguments.pretrain.empty(), "--pretrain"},
        {arguments.draws_cases(), "--binarise fresh"},
        {arguments.momentum > 0, "--momentum"},
        {arguments.weight_decay > 0, "--weight-decay"},
        {arguments.rate_decay > 0, "--rate-decay"},
        {!arguments.validate.empty(), "--validate"},
        {!arguments.curves.empty(), "--curves"},
        {arguments.evaluate_sweeps > 0, "--evaluate-sweeps"}};
    for (const auto& [given, option] : of_others)
      if (given) refuse(option, "not be, with --discriminative");
  }
  const auto fill = [](std::string& value, const char* otherwise) {
    if (value.empty()) value = otherwise;
  };
  const bool deep = arguments.hidden.size() > 1;
  if (!deep && arguments.mean_field > 0)
    refuse("--mean-field", "come with two --hidden or more: an RBM's means are exact");
  if (arguments.mean_field == 0) arguments.mean_field = MeanFieldStop().updates;
  if (!arguments.start.empty() && !arguments.initial.empty())
    refuse("--initial", "not be, with --start");
  if (!arguments.start.empty() && arguments.initial_sd >= 0)
    refuse("--initial-sd", "not be, with --start");
  if (!arguments.pretrain.empty()) {
    if (!deep) refuse("--pretrain", "come with two --hidden or more");
    const char* must = "not be, with --pretrain, which makes the start";
    if (!arguments.start.empty()) refuse("--start", must);
    if (!arguments.initial.empty()) refuse("--initial", must);
    if (arguments.initial_sd >= 0) refuse("--initial-sd", must);
  }
  fill(arguments.negative, deep ? "pcd:1" : "cd:1");
  fill(arguments.rule, "gibbs");
  fill(arguments.visible_units, "bernoulli");
  fill(arguments.hidden_units, "bernoulli");
  fill(arguments.optimiser, arguments.discriminative ? "adamax" : "sgd");
  fill(arguments.initial, arguments.discriminative ? "xavier" : "normal");
  if (arguments.discriminative && arguments.initial != "xavier")
    refuse("--initial normal", "not be, with --discriminative: it starts by xavier");
  if (arguments.initial == "xavier" && arguments.initial_sd >= 0)
    refuse("--initial-sd",
           "not be, with --discriminative or --initial xavier: weights start "
           "uniform within a bound of their own");
  if (arguments.initial_sd < 0) arguments.initial_sd = 0.01;
  return arguments;
}

void check(const TrainArguments& arguments) {
  parse_rule(arguments.rule);
  if (arguments.rule == "metropolis")
    throw InvalidArgument(
        "--rule metropolis (must be gibbs, flip or blend:SHARE: block Metropolis is not ergodic)");
  const bool deep = arguments.hidden.size() > 1;
  if (negative_of(arguments).kind == "cd" && deep)
    throw InvalidArgument(fmt::format(
        "--negative = {} (must be of another kind for more than one --hidden: given its cases, a "
        "deep model's hidden units cannot be drawn)",
        arguments.negative));
  const Optimiser optimiser = parse_optimiser(arguments.optimiser);
  if (arguments.momentum > 0 && optimiser.kind != Optimiser::Kind::sgd)
    throw InvalidArgument(fmt::format("--momentum is given (must come with sgd: {} has its own)",
                                      arguments.optimiser));
  if (parse_units("visible", arguments.visible_units).has_scale()) {
    const auto refuse = [](const std::string& option, const char* must) {
      throw InvalidArgument(
          fmt::format("{} (must {}, with --visible-units gaussian)", option, must));
    };
    if (deep) refuse("--hidden more than once", "not be: mean field takes no Gaussian layer");
    if (negative_of(arguments).has_ladder())
      refuse("--negative = " + arguments.negative,
             "be of a kind without a ladder: a Gaussian layer is not tempered");
    if (arguments.draws_cases()) refuse("--binarise fresh", "not be: values are no means");
  }
  const bool bits = parse_units("visible", arguments.visible_units).is_bernoulli() &&
                    parse_units("hidden", arguments.hidden_units).is_bernoulli();
  if (arguments.hidden.size() > kMostDepth)
    throw InvalidArgument(fmt::format("--hidden is given {} times (must be at most {})",
                                      arguments.hidden.size(), kMostDepth));
  if (!arguments.pretrain.empty()) parse_epochs(arguments.pretrain, arguments.hidden.size());
  check_model_name(arguments.out);
  const char* unheld = arguments.discriminative ? "a discriminative RBM"
                       : deep                   ? "a deep model"
                       : !bits                  ? "units that are not Bernoulli"
                                                : nullptr;
  if (unheld != nullptr && !arguments.out.ends_with(".npz"))
    throw DataError(fmt::format("{}: cannot hold {} (must end in .npz)", arguments.out, unheld));
  check_output(arguments.out, arguments.force);
  if (!arguments.checkpoint.empty()) check_output(arguments.checkpoint, true);
}

template <class Training>
int train(const TrainArguments& arguments, const Session& session) {
  Training training(arguments, session);
  LoopOptions loop{.checkpoint = arguments.checkpoint,
                   .heading = training.heading(),
                   .updates = static_cast<std::uint64_t>(arguments.updates),
                   .evaluate = static_cast<std::uint64_t>(arguments.evaluate)};
  bool whole = true;  // the evaluations from the start are known
  bool told = false;  // what the run takes
  loop.record = [&] { return training.record(); };
  loop.take_record = [&](std::string_view record) {
    whole = !record.empty() && training.take_record(record);
  };
  if constexpr (std::is_same_v<Training, TrainRun>) {
    std::error_code error;
    if (!std::filesystem::exists(arguments.checkpoint, error)) training.check_curves(false);
    if (!arguments.pretrain.empty()) told = pretrain(training, arguments, loop, session);
  }
  // What was pretrained just now may not have been saved.
  const std::uint64_t resumed_at = told ? 0 : resume(training.trainer(), loop);
  if constexpr (std::is_same_v<Training, TrainRun>) training.check_curves(whole && resumed_at > 0);
  say_resumed(resumed_at, loop, session);
  if (!whole && resumed_at > 0 && arguments.evaluate > 0 && !session.quiet)
    complain(fmt::format("evaluations begin at update {}: {} has none before that were made as now",
                         resumed_at, arguments.checkpoint));
  if (!told) training.state_cost();
  make_updates(
      training.trainer(), loop, session, [&] { training.evaluate(); },
      [&] { training.save_model(); });
  training.print_result(resumed_at);
  return 0;
}

int run(const TrainArguments& given, const Session& session) {
  const TrainArguments arguments = complete(given);
  check(arguments);
  return arguments.discriminative ? train<ClassTrainRun>(arguments, session)
                                  : train<TrainRun>(arguments, session);
}

// The negative phases that read an option: "pcd, pt".
std::string readers(const NegativeOption& option) {
  std::vector<std::string_view> names;
  for (const NegativePhase& phase : negative_phases())
    if (phase.reads(option)) names.push_back(phase.name());
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::string> optimiser_names() {
  std::vector<std::string> names;
  for (const Optimiser& optimiser : optimisers()) names.emplace_back(optimiser.name());
  return names;
}

constexpr const char* kTrainNotes =
    "Ctrl-C leaves no model; with --checkpoint it saves the run, and the same command goes on\n"
    "from there and writes the same bytes as a run that was never stopped. The same seed gives\n"
    "the same model for any number of threads.\n"
    "JSON keys: out, visible, visible_units, hidden (of the first hidden layer), layers (all sizes),\n"
    "hidden_units, negative, rule, optimiser,\n"
    "learning_rate, batch, updates, resumed_at, seed, evaluations [update, mean_log_likelihood, with\n"
    "--validate validation_mean_log_likelihood, and with a tracked log Z also log_z, log_z_std_error,\n"
    "status, round_trips; of a deep model mean_log_likelihood_bound and\n"
    "validation_mean_log_likelihood_bound instead], seconds, warnings; with --discriminative:\n"
    "out, inputs, hidden, classes, hidden_units, binarise (null: no grey levels), optimiser,\n"
    "learning_rate, batch,\n"
    "updates, resumed_at, seed, evaluations [update, error_rate, mean_log_likelihood], seconds,\n"
    "warnings.";

}  // namespace

void add_train(Program& program) {
  const auto arguments = std::make_shared<TrainArguments>();
  Command& command = program.command({
      .name = "train",
      .summary = "train an RBM, a deep Boltzmann machine or a discriminative RBM",
      .about =
          "Trains an RBM by stochastic gradient ascent on the log-likelihood and writes it "
          "as a model file; a deep Boltzmann machine, with --hidden given for each of its "
          "layers, on mean field's bound of it; with --discriminative an RBM that gives the classes of its "
          "inputs, by the exact gradient, whose error rate `score` tells. A data set's name "
          "means its training cases.",
      .notes = kTrainNotes,
      .examples =
          {"boltzmark train bas --hidden 16 --negative pt:10:1 --rule flip --evaluate 1000 "
           "--out bas.npz",
           "boltzmark train mnist:fit --hidden 16 --evaluate 500 --validate mnist:valid "
           "--curves curves --out small.npz",
           "boltzmark train mnist:fit --hidden 500 --negative cd:25 --updates 100000 "
           "--checkpoint mnist.part --out mnist.npz",
           "boltzmark train bas --hidden 16 --visible-units 1 --hidden-units 4 --out x4.npz",
           "boltzmark train norb-toy:fit --hidden 500 --visible-units gaussian --out toy.npz",
           "boltzmark train mnist:fit --binarise fresh --hidden 500 --hidden 1000 --pretrain 100,200 "
           "--learning-rate 0.005 "
           "--rate-decay 2000 --updates 200000 --checkpoint dbm.part --out dbm.npz",
           "boltzmark train mnist --discriminative --hidden 200 --hidden-units continuous "
           "--updates 6000 --out digits.npz"},
  });
  command.positional(
      &arguments->dataset, "DATASET",
      "A data set's NAME[:train|valid|test|fit] (default: train, which holds fit and valid), or "
      "a file.");
  command.integers(&arguments->hidden, "--hidden N", 1, kMostHidden,
                   "Hidden units; given again for the layer above (at most 9 layers).");
  command.required_text(&arguments->out, "--out MODEL", "The model file to write (.npz or .mat).");
  command.text(&arguments->negative, "--negative M",
               "Negative phase: " + describe_negative_phases() +
                   " (default: cd:1; pcd:1 for a deep model, "
                   "which has no cd).");
  for (const NegativeOption& option : negative_options())
    command.text(&arguments->negative_options[std::string(option.name())], std::string(option.form),
                 fmt::format("Of {}: {}.", readers(option), option.meaning));
  command.text(&arguments->rule, "--rule R",
               "Update rule of the negative phase: gibbs, flip or blend:SHARE (default: gibbs).");
  command.flag(
      &arguments->discriminative, "--discriminative",
      "Train the classes of the data set's labels given its inputs, by exact gradients from a fresh "
      "start: of optimisers without --momentum, --rate-decay and --weight-decay.");
  command.text(&arguments->hidden_units, "--hidden-units U",
               "Hidden units: bernoulli, continuous, or the s of multivalued units X(s) (default: "
               "bernoulli).");
  command.text(
      &arguments->visible_units, "--visible-units U",
      "The same for visible units, or gaussian; values x in [0, 1] become 2x - 1 for "
      "continuous and multivalued ones. Gaussian ones are trained on cases brought to mean "
      "0 and variance 1, and written with the data's means and scales (default: "
      "bernoulli).");
  command.text(&arguments->labels, "--labels FILE",
               "With --discriminative: the cases' classes, from 0, for a data set without labels "
               "(IDX, .npy or text).");
  command.choice(&arguments->optimiser, "--optimiser O", optimiser_names(),
                 fmt::format("{} (default: sgd; with --discriminative adamax).",
                             fmt::join(optimiser_names(), ", ")));
  command.real(
      &arguments->learning_rate, "--learning-rate X", {.low = 0, .above_low = true},
      "Learning rate (default: sgd 0.05, or 0.005 for units other than bernoulli; adam 0.001, "
      "adamax 0.002, rmsspectral 0.00001).");
  command.real(&arguments->rate_decay, "--rate-decay T0", {.low = 0, .above_low = true},
               "Let the rate fall as T0 / (T0 + updates made) (default: it stays).");
  command.real(&arguments->momentum, "--momentum X", {.low = 0, .high = 1, .below_high = true},
               "Momentum of sgd (default: 0).");
  command.real(&arguments->weight_decay, "--weight-decay X", {.low = 0},
               "Take X times the weights from their gradient (default: 0).");
  command.integer(&arguments->mean_field, "--mean-field N", 1,
                  "Updates of the means of a deep model's hidden units (default: 5).");
  command.integer(&arguments->batch, "--batch B", 1,
                  "Cases per update (default: 100, or all if there are fewer).");
  command.integer(&arguments->updates, "--updates N", 0, "Updates in all (default: 10000).");
  command.choice(&arguments->initial, "--initial I", {"normal", "xavier"},
                 "normal: weights and biases by --initial-sd; xavier: uniform weights of Glorot "
                 "and Bengio, biases 0 (default: normal; with --discriminative xavier).");
  command.real(&arguments->initial_sd, "--initial-sd X", {.low = 0, .high = 1e6},
               "Standard deviation of the initial weights and biases (default: 0.01).");
  command.text(&arguments->pretrain, "--pretrain E1,E2,..",
               "Start a deep model from so many epochs of each RBM of its stack, trained by "
               "contrastive divergence, each on states drawn from the one below; persistent chains "
               "start at cases.");
  command.text(
      &arguments->start, "--start MODEL",
      "Start from a model of the same layers and units, persistent chains 50 sweeps from cases.");
  command.integer(
      &arguments->evaluate, "--evaluate EVERY", 1,
      "Print the mean log-likelihood of the cases before the first update, after every EVERY updates "
      "and at the end: exact where at most 40 units would be enumerated, else with a tracked log Z "
      "(--evaluate-sweeps); with --discriminative the error rate too. The model's bytes are the same "
      "with and without.");
  command.integer(
      &arguments->evaluate_sweeps, "--evaluate-sweeps N", 2,
      "Track log Z by RTS [carlson2016]: at each evaluation 32 chains of its own, on 100 rungs from "
      "the rates of the cases, go on for N sweeps from where they were, under the parameters of now, "
      "or, if these have changed too much, start anew for up to N more; most of the sweeps give log "
      "Z, its standard error and a status, not_converged where the chains made too few round trips "
      "between the ends of the ladder. As by `estimate` it is held to modes, phases and states that "
      "other searches find, whatever N. Of a deep model the bound of the mean log-likelihood by "
      "--mean-field is told (default: 5000 where more than 40 units would be enumerated; given, also "
      "where fewer would be).");
  command.text(&arguments->validate, "--validate DATASET",
               "At each evaluation also tell the mean log-likelihood of these cases (default of a "
               "name: valid; train on NAME:fit then).");
  command.text(
      &arguments->curves, "--curves DIR",
      "Write update, learning rate, norm of the weights, log-likelihoods, log Z with its error and "
      "status, and round trips of the tracker's and the negative phase's ladders of every evaluation "
      "to DIR/curves.csv, and draw them in DIR/curves.svg, those not to be trusted as rings. A run "
      "that goes on from a checkpoint goes on with them.");
  command.text(
      &arguments->binarise, "--binarise B",
      "How grey levels, bytes or shares in [0, 1], become values: threshold:LEVEL, sample:SEED, grey "
      "or fresh, drawn anew for each minibatch (default: threshold:127 for images, grey of gaussian "
      "units, nothing for other numbers).");
  command.text(&arguments->checkpoint, "--checkpoint FILE",
               "Save the run to FILE every 30 s, on Ctrl-C and at the end; go on from it if it "
               "exists, along the SIMD path that it began on (BOLTZMARK_SIMD).");
  command.integer(&arguments->seed, "--seed S", "Seed of every draw (default: 1).");
  command.flag(&arguments->force, "--force", "Replace MODEL and curves that exist.");
  command.comes_with("--labels", {"--discriminative"});
  for (const char* option : {"--validate", "--curves", "--evaluate-sweeps"})
    command.comes_with(option, {"--evaluate"});
  command.writes({"--out", "--checkpoint"});
  command.writes_into("--curves", {"curves.csv", "curves.svg"});
  command.reads_models("--start");
  command.action([arguments](const Session& session) { return run(*arguments, session); });
}

}  // namespace boltzmark::cli

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/memory.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/io/dataset.hpp"
#include "boltzmark/io/formats/npz.hpp"
#include "boltzmark/learn/phases/negative.hpp"
#include "experiments/kit/run/interrupt.hpp"
#include "tools/boltzmark/commands/sample/sample_given.hpp"
#include "tools/boltzmark/image.hpp"
#include "tools/boltzmark/input.hpp"
#include "tools/boltzmark/output.hpp"
#include "tools/boltzmark/program.hpp"
#include "tools/boltzmark/progress.hpp"

namespace boltzmark::cli {
namespace {

struct SampleArguments : GivenArguments {
  std::string sampler = "gibbs";
  std::string factor;  ///< of st; empty: it vanishes
  std::string rule = "gibbs";
  std::string start = "random";
  ImageRequest image;
  int chains = 100;
  int sweeps = 1000;
  int every = 0;
};

/// One layer's kept states, [kept][chain][unit].
struct KeptLayer {
  std::vector<std::uint8_t> bits;  ///< of Bernoulli units
  std::vector<float> values;       ///< of others
};

/// The states that are kept, as the file has them.
struct Kept {
  std::vector<KeptLayer> layers;
  std::vector<double> energies;      ///< [kept][chain]
  std::vector<std::int64_t> sweeps;  ///< [kept], counted from 1
  std::vector<std::int32_t> rungs;   ///< [kept][chain], of a sampler with a ladder
  std::vector<double> log_weights;   ///< [kept][chain][rung], of one with adaptive weights
};

// Throws  InvalidArgument naming the option
Negative moves_of(const SampleArguments& arguments) {
  Negative moves = parse_sampler(arguments.sampler);
  if (arguments.factor.empty()) return moves;
  if (moves.kind != "st")
    throw InvalidArgument("--factor is given (must come with --sampler st:T:LOW)");
  set_negative_option(moves, "--factor", arguments.factor);
  return moves;
}

Chains make_start(const Layered& model, const SampleArguments& arguments, StreamKey key) {
  Chains chains(model, arguments.chains);
  chains.randomise(key);
  if (arguments.start == "random") return chains;
  const Dataset data = load_states(model, arguments.start, arguments.binarise);
  Eigen::MatrixXf visible(model.size(0), arguments.chains);
  for (int chain = 0; chain < arguments.chains; ++chain)
    visible.col(chain) = data.values.col(chain % data.values.cols());
  chains.set_layer(0, visible);
  return chains;
}

// Of a state that is kept.
double bytes_of_state(const Layered& model) {
  double bytes = 0;
  for (int l = 0; l < model.layers(); ++l)
    bytes += model.size(l) * (model.layer(l).unit.is_bernoulli() ? 1.0 : sizeof(float));
  return bytes;
}

void keep(const Layered& model, const Sampler& sampler, int sweep, Chains& chains, Kept& kept) {
  sampler.copy_states(chains);
  for (int l = 0; l < model.layers(); ++l) {
    const bool bits = model.layer(l).unit.is_bernoulli();
    for (int chain = 0; chain < chains.chains(); ++chain)
      for (int unit = 0; unit < model.size(l); ++unit) {
        const float value = chains.get(l, unit, chain);
        if (bits)
          kept.layers[l].bits.push_back(value != 0 ? 1 : 0);
        else
          kept.layers[l].values.push_back(value);
      }
  }
  const std::size_t first = kept.energies.size();
  kept.energies.resize(first + chains.chains());
  parallel_for(chains.chains(), [&](std::size_t chain) {
    kept.energies[first + chain] = energy(model, chains.get_chain(static_cast<int>(chain)));
  });
  kept.sweeps.push_back(sweep);
  const std::vector<int> rungs = sampler.rungs();
  kept.rungs.insert(kept.rungs.end(), rungs.begin(), rungs.end());
  const std::vector<double> log_weights = sampler.log_weights();
  kept.log_weights.insert(kept.log_weights.end(), log_weights.begin(), log_weights.end());
}

std::unique_ptr<Sampler> make_chains(const Layered& model, const SampleArguments& arguments) {
  const StreamKey key = make_key(arguments.seed, "sample");
  const Chains start = make_start(model, arguments, key);
  return make_sampler(moves_of(arguments),
                      {.model = model,
                       .packing = {.chains = arguments.chains,
                                   .sweeps = static_cast<std::uint64_t>(arguments.sweeps)},
                       .rule = parse_rule(arguments.rule),
                       .key = key,
                       .start = &start,
                       .draws = std::make_shared<PhiloxDraws>(key)});
}

Kept draw(const Layered& model, Sampler& sampler, const SampleArguments& arguments,
          const Session& session) {
  Chains chains(model, sampler.chains());
  const int every = arguments.every > 0 ? arguments.every : arguments.sweeps;
  Kept kept;
  kept.layers.resize(model.layers());
  for (int l = 0; l < model.layers(); ++l) {
    const std::size_t values =
        static_cast<std::size_t>(arguments.sweeps / every) * chains.chains() * model.size(l);
    if (model.layer(l).unit.is_bernoulli())
      kept.layers[l].bits.reserve(values);
    else
      kept.layers[l].values.reserve(values);
  }
  const experiments::InterruptGuard guard;
  Progress progress(session, "sample", arguments.sweeps, "sweeps");
  // Steps of about 0.1 s, so that Ctrl-C is heard; whole ones of the sampler's own.
  const int whole = moves_of(arguments).sweeps;
  const double work = 1.0 + sampler.chain_sweeps(whole) * model.units();
  const int most = arguments.sweeps / whole;
  const int step = static_cast<int>(std::clamp(2e7 / work, 1.0, std::min(1e6, 1.0 * most))) * whole;
  for (int done = 0; done < arguments.sweeps;) {
    const int next = done + std::min({step, arguments.sweeps - done, every - done % every});
    sampler.advance(next - done);
    done = next;
    if (done % every == 0) keep(model, sampler, done, chains, kept);
    progress.show(done);
    if (experiments::interrupt_requested()) throw experiments::Interrupted();
  }
  return kept;
}

void write(const Layered& model, const SampleArguments& arguments, const Kept& kept) {
  const std::uint64_t n = kept.sweeps.size();
  const auto chains = static_cast<std::uint64_t>(arguments.chains);
  NpzWriter file(arguments.out);
  for (int l = 0; l < model.layers(); ++l) {
    const std::string name = layer_name(model, l);
    const std::vector<std::uint64_t> shape = {n, chains, static_cast<std::uint64_t>(model.size(l))};
    if (model.layer(l).unit.is_bernoulli())
      file.add(name, kept.layers[l].bits, shape);
    else
      file.add(name, kept.layers[l].values, shape);
  }
  file.add("energy", kept.energies, {n, chains});
  file.add("sweep", kept.sweeps, {n});
  if (!kept.rungs.empty()) file.add("rung", kept.rungs, {n, chains});
  if (!kept.log_weights.empty())
    file.add("log_weights", kept.log_weights,
             {n, chains, std::uint64_t{kept.log_weights.size()} / (n * chains)});
  const std::vector<std::int64_t> seed = {static_cast<std::int64_t>(arguments.seed)};
  file.add("seed", seed, {});
  file.commit();
}

// The visible layer of the chains: of one kept sweep the first hundred, of more a row for each of the
// first ten, ten kept sweeps of it from the first to the last.
void draw_image(const Layered& model, const SampleArguments& arguments, const Kept& kept) {
  constexpr int kAcross = kImagesAcross;
  const auto times = static_cast<int>(kept.sweeps.size()), across = std::min(times, kAcross);
  const int chains = std::min(arguments.chains, times == 1 ? kMostImages : kMostImages / kAcross);
  const int units = model.size(0);
  Eigen::MatrixXf values(units, chains * across);
  for (int image = 0; image < values.cols(); ++image) {
    const int step = image % across;
    const std::size_t time = across == 1 ? 0 : std::size_t(step) * (times - 1) / (across - 1);
    const std::size_t first = (time * arguments.chains + image / across) * units;
    const KeptLayer& layer = kept.layers[0];
    for (int u = 0; u < units; ++u)
      values(u, image) = layer.bits.empty() ? layer.values[first + u] : layer.bits[first + u];
  }
  write_images(arguments.image.file, grey_values(std::move(values), model.layer(0).unit),
               image_shape(arguments.image, units), times == 1 ? kImagesAcross : across);
}

// Over the states that follow the model: of st those whose run ended at b = 1. None if there is none.
std::optional<double> mean_energy(const Kept& kept, const Negative& sampler) {
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < kept.energies.size(); ++i) {
    if (sampler.kind == "st" && kept.rungs[i] != sampler.temperatures - 1) continue;
    sum += kept.energies[i];
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

// `estimate` refuses a model of such parameters.
std::vector<std::string> warnings_of(const Layered& model, const Negative& moves) {
  std::vector<std::string> warnings;
  if (moves.kind == "st" && !moves.factor.vanishing)
    warnings.push_back(
        "the factor is constant: weights never settle, and states that end on the last rung follow the "
        "model no more than roughly");
  const double rounding = input_rounding(model);
  if (rounding <= kMostRounding) return warnings;
  warnings.push_back(fmt::format(
      "parameters are so large that single precision, in which chains move, rounds what a unit is "
      "drawn by by up to {:.2g} {} (more than {}): the states may follow another law",
      rounding, model.has_scales() ? "nats or standard deviations" : "nats", kMostRounding));
  return warnings;
}

void print_result(const SampleArguments& arguments, const Kept& kept,
                  const std::vector<std::string>& warnings, double seconds,
                  const Session& session) {
  const std::optional<double> mean = mean_energy(kept, moves_of(arguments));
  if (session.json) {
    print(JsonObject()
              .set("out", arguments.out)
              .set("sampler", arguments.factor.empty()
                                  ? arguments.sampler
                                  : arguments.sampler + " --factor " + arguments.factor)
              .set("rule", parse_rule(arguments.rule).name())
              .set("chains", arguments.chains)
              .set("sweeps", arguments.sweeps)
              .set("kept", std::uint64_t{kept.sweeps.size()})
              .set("mean_energy", mean)
              .set("seed", arguments.seed)
              .set("seconds", seconds)
              .set("warnings", warnings));
    return;
  }
  FactList facts;
  facts.add("wrote", arguments.out);
  facts.add("states", fmt::format("{} kept of {} sweeps, {} chains", kept.sweeps.size(),
                                  arguments.sweeps, arguments.chains));
  facts.add("mean energy", mean ? fmt::format("{:.8g} nats", *mean) : "no state at b = 1");
  for (const std::string& warning : warnings) facts.add("warning", warning);
  facts.add("time", human_seconds(seconds));
  print(facts.text());
}

void check(const SampleArguments& arguments) {
  parse_rule(arguments.rule);
  if (arguments.start == "random" && !arguments.binarise.empty())
    throw InvalidArgument("--binarise (must go with --start DATASET)");
  if (arguments.every > arguments.sweeps)
    throw InvalidArgument(fmt::format("--every = {} (must be at most --sweeps, {})",
                                      arguments.every, arguments.sweeps));
  const int whole = moves_of(arguments).sweeps;
  for (const auto& [option, sweeps] :
       {std::pair("--sweeps", arguments.sweeps), std::pair("--every", arguments.every)})
    if (sweeps % whole != 0)
      throw InvalidArgument(
          fmt::format("{} = {} (must be a multiple of {}, the sweeps of a step "
                      "of {})",
                      option, sweeps, whole, arguments.sampler));
}

// What is kept besides the states, each time.
double ladder_bytes(const Sampler& sampler) {
  return 4.0 * static_cast<double>(sampler.rungs().size()) +
         8.0 * static_cast<double>(sampler.log_weights().size());
}

// What moves chains is of no use to cases, whose hidden units are drawn once.
int run_given(const SampleArguments& arguments, const Command& command, const Session& session) {
  command.refuse_given({"--sampler", "--factor", "--rule", "--chains", "--sweeps", "--every",
                        "--start", "--image", "--image-shape"},
                       "is given (must not be, with --given)");
  return sample_given(arguments, session);
}

int run(const SampleArguments& arguments, const Command& command, const Session& session) {
  if (!arguments.given.empty()) return run_given(arguments, command, session);
  check(arguments);
  const Layered model = load_model(arguments.model);
  if (!arguments.out.ends_with(".npz"))
    throw DataError(arguments.out + ": its name does not say the format (must end in .npz)");
  check_output(arguments.out, arguments.force);
  if (!arguments.image.file.empty()) image_shape(arguments.image, model.size(0));
  arguments.image.check(arguments.force);
  const double kept = arguments.every > 0 ? arguments.sweeps / arguments.every : 1;
  const double state_bytes =
      kept * arguments.chains * (bytes_of_state(model) + 8) +
      8.0 * arguments.chains * moves_of(arguments).temperatures * model.units();
  constexpr const char* kFewerSamples = "lower --chains or --sweeps, or raise --every";
  require_memory(fmt::format("{} chains kept {} times", grouped(arguments.chains),
                             grouped(static_cast<std::uint64_t>(kept))),
                 state_bytes, kFewerSamples);
  const std::unique_ptr<Sampler> sampler =
      about_file(arguments.model, [&] { return make_chains(model, arguments); });
  state_plan(
      session,
      fmt::format("{} sweeps of {} chains", grouped(arguments.sweeps), grouped(arguments.chains)),
      sweep_seconds(model, sampler->chain_sweeps(arguments.sweeps)),
      state_bytes + kept * ladder_bytes(*sampler) + weight_bytes(model), kFewerSamples);
  if (const Negative moves = moves_of(arguments); moves.every > arguments.sweeps && !session.quiet)
    complain(fmt::format("{}: does not run its ladder in {} sweeps (the first time after {})",
                         arguments.sampler, arguments.sweeps, moves.every));
  const Stopwatch watch;
  const Kept states =
      about_file(arguments.model, [&] { return draw(model, *sampler, arguments, session); });
  write(model, arguments, states);
  if (!arguments.image.file.empty()) draw_image(model, arguments, states);
  print_result(arguments, states, warnings_of(model, moves_of(arguments)), watch.seconds(),
               session);
  return 0;
}

constexpr const char* kSampleNotes =
    "FILE.npz holds, for K kept sweeps: visible and hidden (deeper models: hidden1, hidden2, ..)\n"
    "[K, chains, units], uint8 of Bernoulli units and float32 of others, energy float64\n"
    "[K, chains] in nats, sweep int64 [K] (the sweep after which the states were kept, from 1)\n"
    "and seed int64. A sweep updates the hidden units first. With a ladder of T inverse\n"
    "temperatures also rung int32 [K, chains], 0 the lowest, T - 1 that of b = 1: of st the one on\n"
    "which the chain's last run, one every 50 sweeps, ended before it went back to its last state at\n"
    "b = 1: those that end on T - 1 follow the model, but roughly, for its weights adapt by a\n"
    "factor that falls as 1 / t, and not in the first thousands of sweeps, nor ever with a factor\n"
    "that is constant; others lean to states\n"
    "that b = 1 is seldom left from; of pt the one from which the chain that is at b = 1 now set\n"
    "out, which tells the chains of a ladder apart; of tt always T - 1. Of st also log_weights\n"
    "float64 [K, chains, T]: logarithms of the chain's adaptive weights, relative to that of b = 1.\n"
    "`describe` and `score` take FILE.npz as a data set, every kept visible state a case.\n"
    "JSON keys: out, sampler, rule, chains, sweeps, kept, mean_energy (of st over the states that end\n"
    "on rung T - 1, null if none does), seed, seconds, warnings; with\n"
    "--given: out, data, cases, units, seed, seconds.";

}  // namespace

void add_sample(Program& program) {
  const auto arguments = std::make_shared<SampleArguments>();
  Command& command = program.command({
      .name = "sample",
      .summary = "draw states of a model by sweeps of an update rule",
      .about = "Runs independent chains of a model at inverse temperature 1 and writes their "
               "states. Ctrl-C leaves no file.",
      .notes = kSampleNotes,
      .examples = {"boltzmark sample rbm.npz --rule flip --sweeps 10000 --out states.npz",
                   "boltzmark sample rbm.npz --chains 10 --sweeps 500 --every 5 --out trace.npz",
                   "boltzmark sample dbm.npz --sampler tt:20:0.9 --every 10 --out mixed.npz",
                   "boltzmark sample rbm.npz --start mnist:test --sweeps 1 --out one.npz",
                   "boltzmark sample rbm.npz --start mnist --every 100 --out s.npz --image s.png",
                   "boltzmark sample rbm.npz --given mnist:fit --out hidden.npy"},
  });
  command.positional(&arguments->model, "MODEL", "The model file (.npz or .mat).");
  command.required_text(&arguments->out, "--out FILE",
                        "The file to write (.npz; .npy with --given).");
  command.text(&arguments->sampler, "--sampler S",
               "What moves the chains, whose states at inverse temperature 1 are kept: " +
                   describe_samplers() + " (default: gibbs, sweeps of the rule).");
  command.text(&arguments->factor, "--factor F",
               "Of st: Wang-Landau factor, constant:X, or vanishing:X for X / t (default: "
               "vanishing:10; training and the paper have constant:10).");
  command.text(&arguments->rule, "--rule R",
               "The update rule: gibbs, flip, blend:SHARE or metropolis (default: gibbs).");
  command.integer(&arguments->chains, "--chains C", 1, "Independent chains (default: 100).");
  command.integer(&arguments->sweeps, "--sweeps N", 1, "Sweeps of each chain (default: 1000).");
  command.integer(&arguments->every, "--every K", 1,
                  "Keep the states after every K sweeps (default: only after the last).");
  command.text(&arguments->start, "--start S",
               "random, or a data set whose cases are the first visible states, case after case "
               "(default: random).");
  command.text(&arguments->given, "--given DATASET",
               "Draw the hidden units of an RBM once given each case, instead of chains, and write "
               "them to FILE (.npy) as a data set, [cases, units]; uint8 of Bernoulli units.");
  command.text(&arguments->binarise, "--binarise B", kBinariseHelp);
  arguments->image.add_to(
      command, "the visible layer of 100 chains, or of 10, a row each, at 10 kept sweeps,");
  command.integer(&arguments->seed, "--seed S", "Seed of every draw (default: 1).");
  command.flag(&arguments->force, "--force", "Replace files that exist.");
  command.comes_with("--binarise", {"--start", "--given"});
  command.writes({"--out", "--image"});
  command.reads_models("MODEL");
  command.action(
      [arguments, &command](const Session& session) { return run(*arguments, command, session); });
}

}  // namespace boltzmark::cli

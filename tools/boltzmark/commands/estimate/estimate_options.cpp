#include "tools/boltzmark/commands/estimate/estimate_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/memory.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/held/held_estimate.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/io/dataset.hpp"
#include "boltzmark/io/sha256.hpp"
#include "boltzmark/model/sides.hpp"
#include "boltzmark/sample/tempering/simulated_tempering.hpp"
#include "tools/boltzmark/bounds.hpp"
#include "tools/boltzmark/input.hpp"
#include "tools/boltzmark/on_ranks.hpp"
#include "tools/boltzmark/output.hpp"
#include "tools/boltzmark/progress.hpp"

namespace boltzmark::cli {
namespace {

constexpr int kRungs = 100;
constexpr double kPilotShare = 0.2;
constexpr double kLadderBytes = 24;  // of a rung, while a ladder is made

std::vector<double> read_numbers(const std::string& path) {
  std::ifstream file(path);
  if (!file && errno != ENOENT)
    throw DataError(fmt::format("{}: cannot be read: {} (must be a file of inverse temperatures)",
                                path, std::strerror(errno)));
  std::vector<double> numbers;
  const auto refuse = [&] {
    throw DataError(path +
                    ": not a ladder (must be linear, geometric, salakhutdinov-murray, "
                    "adaptive, or a text file of inverse temperatures from 0 to 1)");
  };
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    for (std::string word; words >> word;) {
      if (word.ends_with(',')) word.pop_back();
      std::istringstream fields(word + ',');
      for (std::string field; std::getline(fields, field, ',');) {
        const std::optional<double> number = parse_real(field);
        if (!number) refuse();
        numbers.push_back(*number);
      }
    }
  }
  if (numbers.empty()) refuse();
  return numbers;
}

std::optional<Ladder> make_ladder(const EstimateArguments& arguments) {
  const std::string& name = arguments.ladder;
  const int rungs = arguments.temperatures > 0 ? arguments.temperatures : kRungs;
  require_memory(fmt::format("{} temperatures", grouped(rungs)), kLadderBytes * rungs,
                 "lower --temperatures");
  if (name == "linear" && arguments.temperatures == 0) return std::nullopt;
  if (name == "adaptive" || name == "linear" || name == "geometric" ||
      name == "salakhutdinov-murray") {
    try {
      return name == "adaptive" ? Ladder::linear(rungs) : Ladder::named(name, rungs);
    } catch (const InvalidArgument& error) {  // single precision holds no more
      throw InvalidArgument(
          fmt::format("--temperatures = {} (must make a ladder, but {})", rungs, error.what()));
    }
  }
  const std::vector<double> numbers = read_numbers(name);
  if (arguments.temperatures != 0 && numbers.size() != static_cast<std::size_t>(rungs))
    throw DataError(
        fmt::format("{}: has {} inverse temperatures (must be the {} of "
                    "--temperatures)",
                    name, numbers.size(), rungs));
  return about_file(name, [&] { return Ladder(numbers); });
}

// r_k is proportional to e^{strength b_k}.
Eigen::VectorXd make_prior(const std::string& prior, const Ladder& ladder) {
  if (prior == "uniform") return {};
  const std::optional<double> strength =
      prior.starts_with("exp:") ? parse_real(prior.substr(4)) : std::nullopt;
  if (!strength || !(std::abs(*strength) <= 100))
    throw InvalidArgument(fmt::format(
        "--prior = {} (must be uniform or exp:STRENGTH, at most 100 in magnitude)", prior));
  Eigen::VectorXd log_prior(ladder.rungs());
  for (int k = 0; k < ladder.rungs(); ++k) log_prior[k] = *strength * ladder[k];
  return log_prior;
}

// Whether a method reads samples of parallel tempering.
bool by_replicas(const Method& method, const EstimateArguments& arguments) {
  if (!method.any_tempering) return false;
  return arguments.sampler.empty() ? method.source == Source::parallel
                                   : arguments.sampler == "parallel";
}

// Annealed chains are weighed, and rungs drawn of collapsed states, by the density of one side.
bool weighs_by_marginal(const std::string& method, const EstimateArguments& arguments) {
  const Method& found = find_method(method);
  return found.source == Source::annealed ||
         (found.reads.states && arguments.states != "joint" && !by_replicas(found, arguments));
}

bool has_data_base(const EstimateArguments& arguments) {
  return arguments.base != "auto" && arguments.base != "uniform";
}

/// What b = 0 stands for, and how it is named.
struct NamedBase {
  ChosenBase chosen;
  std::string name;
};

NamedBase make_base(const Layered& model, const std::string& path,
                    const EstimateArguments& arguments, const CaseValues& cases) {
  if (arguments.base == "auto") {
    ChosenBase chosen = about_file(path, [&] {
      return choose_auto_base(model, mode_search(model, arguments.seed, cases), arguments.seed,
                              summed_side(model, arguments));
    });
    const char* name = chosen.of_modes ? "modes" : "uniform";
    return {.chosen = std::move(chosen), .name = name};
  }
  if (!has_data_base(arguments))
    return {.chosen = {.base = Base::uniform(model)}, .name = arguments.base};
  const Dataset rates = load_cases_of(model, arguments.base, arguments.binarise);
  const auto count = static_cast<double>(rates.values.cols());
  const double smoothing =
      arguments.base_smoothing >= 0 ? arguments.base_smoothing : 5 * std::ceil(count / 100);
  return {.chosen = {.base = about_file(
                         arguments.base,
                         [&] { return Base::from_data(model, rates.values, smoothing); })},
          .name = arguments.base};
}

// Lists the methods that do not need rungs that were drawn.
std::string readers_of_any_tempering() {
  std::vector<std::string_view> names;
  for (const Method& method : registered_methods())
    if (method.any_tempering) names.push_back(method.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

void refuse_fixed_rungs(const std::vector<std::string>& methods,
                        const EstimateArguments& arguments) {
  if (arguments.sampler != "parallel") return;
  for (const std::string& name : methods) {
    if (is_exact(name)) continue;
    const Method& method = find_method(name);
    if (method.source == Source::tempered && !method.any_tempering)
      throw InvalidArgument(fmt::format(
          "--sampler = parallel (must be tempering with {}, which needs rungs that were "
          "drawn; {} read both)",
          name, readers_of_any_tempering()));
  }
}

}  // namespace

States parse_states(const std::string& text) {
  return text == "joint" ? States::joint : States::collapsed;
}

std::vector<std::string> given_options(const EstimateArguments& arguments) {
  const EstimateArguments none;
  std::vector<std::string> names;
  const auto compare = [&](const char* name, const auto& value, const auto& normal) {
    if (value != normal) names.emplace_back(name);
  };
  compare("--chains", arguments.chains, none.chains);
  compare("--sweeps", arguments.sweeps, none.sweeps);
  compare("--temperatures", arguments.temperatures, none.temperatures);
  compare("--ladder", arguments.ladder, none.ladder);
  compare("--base", arguments.base, none.base);
  compare("--base-smoothing", arguments.base_smoothing, none.base_smoothing);
  compare("--prior", arguments.prior, none.prior);
  compare("--states", arguments.states, none.states);
  compare("--sampler", arguments.sampler, none.sampler);
  compare("--bundles", arguments.bundles, none.bundles);
  compare("--burn-in", arguments.burn_in, none.burn_in);
  compare("--summed", arguments.summed, none.summed);
  compare("--data", arguments.data, none.data);
  compare("--binarise", arguments.binarise, none.binarise);
  compare("--seed", arguments.seed, none.seed);
  return names;
}

std::string parity_name(int parity) { return parity == 1 ? "odd" : "even"; }

int summed_side(const Layered& model, const EstimateArguments& arguments) {
  if (arguments.summed == "larger") return larger_side(model);
  return arguments.summed == "even" ? 0 : 1;
}

std::optional<std::string> sampler_of(const std::string& method,
                                      const EstimateArguments& arguments) {
  const Method& found = find_method(method);
  if (by_replicas(found, arguments)) return "parallel";
  return found.any_tempering || found.source == Source::tempered ? std::optional("tempering")
                                                                 : std::nullopt;
}

std::optional<std::string> summed_layers(const std::string& method, const Layered& model,
                                         const EstimateArguments& arguments) {
  if (is_exact(method) || !weighs_by_marginal(method, arguments)) return std::nullopt;
  const int side = summed_side(model, arguments);
  const bool observed = find_method(method).reads.cases && !arguments.data.empty();
  if (observed && !model.is_rbm())
    throw InvalidArgument(fmt::format(
        "--data with {} (must be cases of an RBM: given a case the deeper layers cannot be drawn; "
        "without --data {} finds states by itself)",
        method, method));
  if (side == 0 && observed)
    throw InvalidArgument(fmt::format(
        "--summed = {} (must be odd with {} and --data: it observes visible units, which are "
        "among the even layers)",
        arguments.summed, method));
  return parity_name(side);
}

namespace {

/// A given option that a method does not read, and which other one makes it so; empty: none does.
struct IdleOption {
  std::string name;
  std::string because = {};
};

std::vector<IdleOption> idle_options(const std::string& method,
                                     const EstimateArguments& arguments) {
  std::vector<IdleOption> idle;
  if (is_exact(method)) {
    for (std::string& name : given_options(arguments)) idle.push_back({std::move(name)});
    return idle;
  }
  const Method& found = find_method(method);
  const Reads& reads = found.reads;
  const bool cases = reads.cases && !arguments.data.empty(),
             replicas = by_replicas(found, arguments);
  const std::string sampler = arguments.sampler == "parallel" ? "--sampler parallel" : "",
                    untempered = cases      ? "--data"
                                 : replicas ? sampler
                                            : "";
  if (!arguments.sampler.empty() && !found.any_tempering && found.source != Source::tempered)
    idle.push_back({"--sampler"});
  if (arguments.bundles > 0 && !replicas) idle.push_back({"--bundles"});
  if (arguments.burn_in >= 0 && !replicas) idle.push_back({"--burn-in"});
  if (!arguments.states.empty() && (!reads.states || cases || replicas))
    idle.push_back({"--states", reads.states ? untempered : ""});
  if (arguments.prior != "uniform" && (!reads.log_prior || cases || replicas))
    idle.push_back({"--prior", reads.log_prior ? untempered : ""});
  if (!arguments.summed.empty() && !weighs_by_marginal(method, arguments))
    idle.push_back({"--summed", !reads.states ? "" : replicas ? sampler : "--states joint"});
  return idle;
}

}  // namespace

void refuse_idle_options(const std::vector<std::string>& methods,
                         const EstimateArguments& arguments) {
  refuse_fixed_rungs(methods, arguments);
  for (const IdleOption& option : idle_options(methods.front(), arguments))
    if (std::all_of(methods.begin(), methods.end(), [&](const std::string& method) {
          const std::vector<IdleOption> idle = idle_options(method, arguments);
          return std::any_of(idle.begin(), idle.end(),
                             [&](const IdleOption& other) { return other.name == option.name; });
        }))
      throw InvalidArgument(fmt::format("{} (must be left out: nothing reads it with {}{}{})",
                                        option.name, fmt::join(methods, ", "),
                                        option.because.empty() ? "" : " and ", option.because));
  if (has_data_base(arguments)) return;
  if (arguments.base_smoothing >= 0)
    throw InvalidArgument("--base-smoothing (must go with --base DATASET)");
  if (!arguments.binarise.empty() && arguments.data.empty())
    throw InvalidArgument("--binarise (must go with --data or --base DATASET)");
}

void add_estimate_options(Command& command, EstimateArguments& arguments, bool with_sweeps) {
  command.integer(&arguments.chains, "--chains C", 2, "Chains (default: 100).");
  if (with_sweeps)
    command.integer(&arguments.sweeps, "--sweeps N", 2,
                    "Sweeps per chain in all, the initial stage included (default: 10000).");
  command.integer(&arguments.temperatures, "--temperatures K", 2,
                  "Rungs of the ladder, b = 0 and 1 included (default: 100; ais and smc: one "
                  "more than sweeps, raise too where --data gives its cases, else half of that; "
                  "ti-continuous puts more between rungs 1/99 apart).");
  command.text(
      &arguments.ladder, "--ladder L",
      "linear, geometric, salakhutdinov-murray, adaptive (equal thermodynamic length, "
      "from a pilot run), or a text FILE of inverse temperatures, # before comments (default: "
      "linear).");
  command.text(
      &arguments.base, "--base B",
      "What b = 0 stands for: uniform, a DATASET whose smoothed rates the Bernoulli visible units "
      "have, or auto, the best of uniform and of rates near the model's modes by a short "
      "pilot (default: auto).");
  command.real(
      &arguments.base_smoothing, "--base-smoothing COUNT", {.low = 0},
      "Added to the ons and the offs of every rate (default: 5 for every 100 cases begun).");
  command.text(&arguments.prior, "--prior P",
               "Share of sweeps on each rung: uniform, or exp:S for r_k ~ e^(S b_k) (default: "
               "uniform).");
  command.choice(&arguments.states, "--states S", {"joint", "collapsed"},
                 "Whether rungs are drawn given (v, h) or given v alone (default: collapsed).");
  command.choice(
      &arguments.sampler, "--sampler S", {"tempering", "parallel"},
      "What samples the rungs: simulated tempering, or parallel tempering, which " +
          readers_of_any_tempering() +
          " can read too (default: tempering, of ss parallel). Others need rungs that are "
          "drawn: over fixed shares RTS's equations, solved, are those of mbar.");
  command.integer(
      &arguments.bundles, "--bundles B", 5,
      "Independent ladders of parallel tempering, of one chain a rung each, at least 5; --sweeps of "
      "--chains are shared among them (default: as many as --chains give, or one).");
  command.integer(
      &arguments.burn_in, "--burn-in N", 0,
      "Sweeps of each chain of parallel tempering before any is kept; in half of them b "
      "rises to its rung's (default: a fifth of them).");
  command.choice(&arguments.summed, "--summed S", {"odd", "even", "larger"},
                 "Which layers are summed out where ais, smc and raise weigh a state, and of "
                 "collapsed ones: odd (an RBM's hidden units), even, or those with more units "
                 "(default: odd).");
  command.text(
      &arguments.data, "--data DATASET",
      "Cases that raise starts from, one a chain, where the model is an RBM (default: samples of a "
      "tempered run). The search for a lower bound climbs from them too; that of `score` climbs from "
      "the cases that are scored.");
  command.text(&arguments.binarise, "--binarise B", kBinariseHelp);
  command.integer(&arguments.seed, "--seed S", "Seed of every draw (default: 1).");
}

void add_strict(Command& command, bool& strict) {
  command.flag(&strict, "--strict", "End with exit code 4 unless the status is ok.");
}

int exit_code(const Estimate& estimate, bool strict) {
  constexpr int kExitRefused = 4;
  return strict && estimate.status != Status::ok ? kExitRefused : 0;
}

PreparedTarget make_target(const Layered& model, const std::string& path,
                           const EstimateArguments& arguments, const CaseValues& cases) {
  require_tempered(model, path);
  NamedBase base = make_base(model, path, arguments, cases);
  const Packing packing{.chains = arguments.chains,
                        .sweeps = static_cast<std::uint64_t>(std::max(arguments.sweeps, 0))};
  const int summed = summed_side(model, arguments);
  return {.target = about_file(
              path, [&] { return LayeredTarget(model, base.chosen.base, packing, summed); }),
          .base = std::move(base.name),
          .chosen = std::move(base.chosen)};
}

void set_sampler(const EstimateArguments& arguments, MethodSettings& settings) {
  if (!arguments.states.empty()) settings.states = parse_states(arguments.states);
  if (!arguments.sampler.empty())
    settings.tempering =
        arguments.sampler == "parallel" ? Tempering::parallel : Tempering::simulated;
}

MethodSettings make_settings(const Layered& model, const EstimateArguments& arguments) {
  MethodSettings settings{.chains = arguments.chains,
                          .sweeps = arguments.sweeps,
                          .ladder = make_ladder(arguments),
                          .key = attempt_key(arguments.seed)};
  settings.log_prior =
      make_prior(arguments.prior, settings.ladder.value_or(Ladder::linear(kRungs)));
  set_sampler(arguments, settings);
  settings.bundles = arguments.bundles;
  settings.burn_in = arguments.burn_in;
  settings.annealed_start = true;
  if (!arguments.data.empty())
    settings.cases = load_states(model, arguments.data, arguments.binarise).values;
  return settings;
}

std::string hash_of_files(const Layered& model, const EstimateArguments& arguments,
                          const CaseValues& cases) {
  std::string bytes = std::to_string(cases.hash(0));
  if (has_data_base(arguments))
    bytes +=
        fmt::format(" {}", load_cases_of(model, arguments.base, arguments.binarise).values.hash(0));
  if (const std::optional<Ladder> ladder = make_ladder(arguments))
    bytes.append(reinterpret_cast<const char*>(ladder->singles().data()),
                 sizeof(float) * ladder->singles().size());
  return sha256(bytes.data(), bytes.size()).substr(0, 16);
}

double estimator_seconds(const std::string& method, const MethodSettings& settings) {
  const MethodWork work = method_work(method, settings);
  const double cells = double{1} * work.chains * work.sweeps * work.temperatures;
  const Method& used = find_method(method);
  return cells * (used.cell_seconds + used.pair_seconds * work.temperatures) / thread_count();
}

namespace {

constexpr const char* kFewer = "lower --chains, --sweeps or --temperatures";

std::string describe_work(const std::string& method, const Layered& model,
                          const EstimateArguments& arguments, const MethodSettings& settings) {
  const std::optional<std::string> summed = summed_layers(method, model, arguments);
  return fmt::format("{} sweeps of {} chains by {}{}", grouped(settings.sweeps),
                     grouped(settings.chains), method,
                     summed ? fmt::format(", {} layers summed out", *summed) : "");
}

}  // namespace

void require_memory_of(const std::string& method, const Layered& model,
                       const EstimateArguments& arguments, const MethodSettings& settings,
                       int ranks) {
  require_memory(describe_work(method, model, arguments, settings),
                 ranks * (method_bytes(method, settings, model) + weight_bytes(model)), kFewer);
}

void state_estimate(const Session& session, const std::string& method, const Layered& model,
                    const EstimateArguments& arguments, const MethodSettings& settings,
                    const std::string& base) {
  state_plan(
      session, fmt::format("{}, base {}", describe_work(method, model, arguments, settings), base),
      sweep_seconds(model, double{1} * settings.sweeps * settings.chains) +
          estimator_seconds(method, settings),
      ranks_here(session) * (method_bytes(method, settings, model) + weight_bytes(model)), kFewer);
}

void adapt_ladder(const LayeredTarget& target, const EstimateArguments& arguments,
                  MethodSettings& settings) {
  if (arguments.ladder != "adaptive") return;
  const int pilot = std::max(1, static_cast<int>(kPilotShare * settings.sweeps));
  settings.ladder = adaptive_ladder(target, {.rungs = settings.ladder->rungs(),
                                             .chains = settings.chains,
                                             .sweeps = pilot,
                                             .key = make_key(arguments.seed, "pilot")});
  settings.sweeps -= pilot;
  settings.log_prior = make_prior(arguments.prior, *settings.ladder);
}

}  // namespace boltzmark::cli

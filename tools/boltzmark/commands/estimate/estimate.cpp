#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "tools/boltzmark/bounds.hpp"
#include "tools/boltzmark/commands/estimate/estimate_run.hpp"
#include "tools/boltzmark/input.hpp"
#include "tools/boltzmark/on_ranks.hpp"
#include "tools/boltzmark/output.hpp"
#include "tools/boltzmark/program.hpp"
#include "tools/boltzmark/store_file.hpp"

namespace boltzmark::cli {
namespace {

std::uint64_t total_sweeps(const std::vector<Attempt>& attempts) {
  std::uint64_t sum = 0;
  for (const Attempt& attempt : attempts) sum += static_cast<std::uint64_t>(attempt.sweeps);
  return sum;
}

std::vector<JsonObject> attempt_objects(const std::vector<Attempt>& attempts) {
  std::vector<JsonObject> objects;
  for (const Attempt& attempt : attempts)
    objects.push_back(JsonObject()
                          .set("sweeps", attempt.sweeps)
                          .set("status", std::string(name(attempt.status))));
  return objects;
}

std::string describe_attempts(const std::vector<Attempt>& attempts) {
  std::vector<std::string> texts;
  for (const Attempt& attempt : attempts)
    texts.push_back(fmt::format("{} sweeps {}", grouped(attempt.sweeps), name(attempt.status)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

JsonObject estimate_object(const Estimate& estimate) {
  return JsonObject()
      .set("log_z", finite(estimate.log_z))
      .set("std_error", finite(estimate.std_error))
      .set("status", std::string(name(estimate.status)));
}

JsonObject both_ways_object(const BothWays& ways) {
  return JsonObject()
      .set("forward", estimate_object(ways.forward))
      .set("reverse", estimate_object(ways.reverse))
      .set("gap", finite(ways.gap()))
      .set("gap_error", finite(ways.gap_error()));
}

void print_json(const EstimateRequest& arguments, const EstimateOutcome& outcome,
                const Layered* model) {
  const Estimate& estimate = outcome.estimate;
  JsonObject object;
  object.set("method", arguments.method)
      .set("log_z", finite(estimate.log_z))
      .set("std_error", finite(estimate.std_error))
      .set("lower", finite(estimate.lower))
      .set("upper", finite(estimate.upper))
      .set("chains", outcome.chains)
      .set("sweeps", outcome.sweeps)
      .set("total_sweeps", total_sweeps(outcome.attempts))
      .set("attempts", attempt_objects(outcome.attempts))
      .set("temperatures", outcome.temperatures)
      .set("sampler", outcome.sampler)
      .set("summed", outcome.summed)
      .set("effective_samples", finite(estimate.effective_samples))
      .set("seconds", outcome.seconds);
  if (arguments.from.empty())
    object.set("seed", arguments.shared.seed);
  else
    object.set_null("seed");  // the samples' own is not stored
  object.set("base", not_empty(outcome.base));
  set_lower_bound(model, outcome.bound, object);
  if (outcome.both_ways) object.set("both_ways", both_ways_object(*outcome.both_ways));
  object.set("known_log_z", outcome.known ? finite(outcome.known->log_z) : std::nullopt);
  print(
      object.set("status", std::string(name(estimate.status))).set("warnings", estimate.warnings));
}

// Puts what the model's file says beside the estimate.
void set_known(const std::optional<KnownLogZ>& known, EstimateOutcome& outcome) {
  outcome.known = known;
  if (!known) return;
  const double slack = told_slack(*known);
  const LowerBound& bound = outcome.bound;
  if (known->log_z < bound.lowest() - slack)
    outcome.estimate.warnings.emplace_back(
        "the log Z that the model's file says is lower than log Z certainly is");
  else if (bound.all_states && known->log_z > bound.log_z + bound.error_bound + slack)
    outcome.estimate.warnings.emplace_back(
        "the log Z that the model's file says is higher than log Z, which enumeration knows");
}

// What the status does not say itself: more sweeps cannot tell more than a list of all states does.
std::string remark(const EstimateRequest& arguments, const EstimateOutcome& outcome) {
  const bool ok = outcome.estimate.status == Status::ok;
  if (is_exact(arguments.method)) return {};
  if (outcome.bound.all_states)
    return ok ? "" : " (log Z itself is listed: `boltzmark exact` gives it)";
  return ok ? " (no sampler can exclude a mode that nothing leads to)" : "";
}

void print_outcome(const EstimateRequest& arguments, const EstimateOutcome& outcome,
                   const Layered* model, const Session& session) {
  const Estimate& estimate = outcome.estimate;
  if (session.json) return print_json(arguments, outcome, model);
  FactList facts;
  if (std::isfinite(estimate.log_z))
    facts.add("log Z", fmt::format("{:.4f} nats by {}", estimate.log_z, arguments.method));
  else
    facts.add("log Z", "no estimate: " + estimate.warnings.front());
  if (std::isfinite(estimate.std_error)) {
    facts.add("standard error", short_number(estimate.std_error) + " nats");
    facts.add("95 % interval", fmt::format("{:.4f} .. {:.4f}", estimate.lower, estimate.upper));
  }
  if (const std::string bound = describe_lower_bound(model, outcome.bound); !bound.empty())
    facts.add("log Z at least", bound);
  if (outcome.known && std::isfinite(estimate.log_z))
    facts.add("known log Z",
              fmt::format("{}; the estimate is off by {:+.4f}", known_text(*outcome.known),
                          estimate.log_z - outcome.known->log_z));
  if (outcome.both_ways) {
    const BothWays& ways = *outcome.both_ways;
    facts.add(
        "both ways",
        fmt::format(
            "{:.4f} +- {} from the base ({}), {:.4f} +- {} from b = 1 ({}), gap {:+.4f} +- {}",
            ways.forward.log_z, short_number(ways.forward.std_error), name(ways.forward.status),
            ways.reverse.log_z, short_number(ways.reverse.std_error), name(ways.reverse.status),
            ways.gap(), short_number(ways.gap_error())));
  }
  facts.add("status", std::string(name(estimate.status)) + remark(arguments, outcome));
  if (outcome.attempts.size() > 1) facts.add("attempts", describe_attempts(outcome.attempts));
  facts.add("effective samples", fmt::format("{:.0f}", estimate.effective_samples));
  facts.add("work",
            fmt::format("{} sweeps of {} chains, {} rungs, {}", grouped(outcome.sweeps),
                        outcome.chains, outcome.temperatures, human_seconds(outcome.seconds)));
  if (outcome.sampler == "parallel") facts.add("sampler", "parallel tempering");
  if (outcome.summed) facts.add("summed out", *outcome.summed + " layers");
  if (!outcome.base.empty()) facts.add("base", outcome.base);
  for (const std::string& warning : estimate.warnings) facts.add("warning", warning);
  print(facts.text());
}

// What a store was made with cannot be changed.
void check_from(const EstimateRequest& arguments, const Command& command) {
  if (arguments.model.size() + arguments.dump.size() > 0)
    throw InvalidArgument("--from (must go without MODEL and --dump)");
  std::vector<std::string> idle = given_options(arguments.shared);
  if (find_method(arguments.method).reads_log_f)
    idle.erase(std::remove(idle.begin(), idle.end(), "--states"), idle.end());
  for (const char* option :
       {"--sweeps", "--target-error", "--auto", "--max-seconds", "--force", "--both-ways"})
    if (command.given(option)) idle.emplace_back(option);
  if (!idle.empty())
    throw InvalidArgument(
        fmt::format("--from (must go without {}, which would change nothing)", idle.front()));
}

// Sweeps that are named are run once.
bool tries_again(const EstimateRequest& arguments, const Command& command) {
  return arguments.try_again || (!command.given("--sweeps") && arguments.target_error <= 0);
}

void check_both_ways(const EstimateRequest& arguments) {
  constexpr int kLeast = 10;
  std::vector<std::string_view> ended;
  for (const Method& method : registered_methods())
    if (method.other_way) ended.push_back(method.name);
  if (std::find(ended.begin(), ended.end(), arguments.method) == ended.end())
    throw InvalidArgument(fmt::format("--method = {} (must be {} for --both-ways)",
                                      arguments.method, fmt::join(ended, ", ")));
  // What the one run adapts, the other needs.
  if (arguments.shared.sampler == "tempering" &&
      find_method(arguments.method).source == Source::parallel)
    throw InvalidArgument(fmt::format(
        "--sampler = tempering (must be parallel for --both-ways of {})", arguments.method));
  if (arguments.shared.sweeps < kLeast)
    throw InvalidArgument(fmt::format("--sweeps = {} (must be at least {} for --both-ways)",
                                      arguments.shared.sweeps, kLeast));
}

void check(const EstimateRequest& arguments, const Command& command) {
  const bool exact = is_exact(arguments.method);
  const bool tempered = !exact && find_method(arguments.method).source == Source::tempered;
  if (arguments.both_ways) check_both_ways(arguments);
  if (arguments.from.empty() && arguments.model.empty())
    throw InvalidArgument("MODEL is missing (must be given, or --from FILE)");
  if ((!arguments.dump.empty() || !arguments.from.empty()) && !tempered)
    throw InvalidArgument(fmt::format(
        "--method = {} (must be one that reads samples for --dump and --from)", arguments.method));
  if (!arguments.from.empty()) return check_from(arguments, command);
  refuse_idle_options({arguments.method}, arguments.shared);
  if (exact)
    command.refuse_given({"--sweeps", "--target-error", "--auto", "--max-seconds"},
                         "(must be left out: nothing reads it with exact)");
  if (arguments.target_error > 0 && arguments.try_again)
    throw InvalidArgument("--auto (must go without --target-error, which finds the sweeps itself)");
  if (command.given("--max-seconds") && !tries_again(arguments, command) &&
      arguments.target_error <= 0)
    throw InvalidArgument(
        "--max-seconds (must come with --auto or --target-error: one run has its sweeps)");
  if (!arguments.dump.empty()) {
    if (!arguments.dump.ends_with(".npz"))
      throw DataError(arguments.dump + ": not a name of a sample store (must end with .npz)");
    check_output(arguments.dump, arguments.force);
  }
}

// Chains of other methods learn from each other as they go.
void check_method_on_ranks(const std::string& method) {
  const bool exact = is_exact(method);
  if (exact || !find_method(method).shares_chains)
    throw InvalidArgument(fmt::format("--method = {} (must be run without mpirun, or by `{}`)",
                                      method, exact ? kExact : "compare"));
}

EstimateOutcome make_and_print(const EstimateRequest& arguments, const Session& session) {
  // Enumeration tempers nothing, and may sum a Gaussian layer out.
  const Layered model = is_exact(arguments.method) ? load_model(arguments.model)
                                                   : load_tempered_model(arguments.model);
  const std::optional<KnownLogZ> known = load_known_log_z(arguments.model, model);
  EstimateOutcome outcome = run_estimate(arguments, model, session);
  set_known(known, outcome);
  print_outcome(arguments, outcome, &model, session);
  return outcome;
}

// All ranks make the estimate, and share the chains that anneal. Rank 0 tells it.
int run_on_ranks(const EstimateRequest& arguments, bool strict, const Session& session) {
  experiments::RankLink& link = *session.ranks;
  agree_on_file(session, arguments.model);
  const ThreadLimit limit(one_job(session).threads);
  const EstimateOutcome outcome = make_and_print(arguments, session);
  finish_output();
  link.gather({});  // the slowest may be long behind
  const int code = exit_code(outcome.estimate, strict);
  link.finish(code, true);
  return link.rank() == 0 ? code : 0;
}

int run(EstimateRequest arguments, bool strict, const Command& command, const Session& session) {
  if (session.ranks) check_method_on_ranks(arguments.method);
  check(arguments, command);
  arguments.try_again = tries_again(arguments, command);
  if (arguments.target_error > 0 && !command.given("--max-seconds"))
    arguments.max_seconds = std::numeric_limits<double>::infinity();
  if (session.ranks)
    return in_step(session, [&] { return run_on_ranks(arguments, strict, session); });
  if (!arguments.from.empty()) {
    const EstimateOutcome stored = estimate_stored(arguments);
    print_outcome(arguments, stored, nullptr, session);
    return exit_code(stored.estimate, strict);
  }
  const EstimateOutcome outcome = make_and_print(arguments, session);
  if (outcome.store) {  // a full disk takes the samples, not the estimate
    finish_output();
    const bool resolved = !std::isnan(outcome.bound.log_z);
    save_store({*outcome.store, outcome.bound, resolved, outcome.phases, outcome.switches,
                outcome.both_ways ? std::optional(outcome.both_ways->reverse) : std::nullopt},
               arguments.dump);
  }
  return exit_code(outcome.estimate, strict);
}

constexpr const char* kEstimateNotes =
    "std_error is one standard deviation of log Z, sampling and discretisation together; lower "
    "and\n"
    "upper are 95 % limits; of thermodynamic integration (but ti-continuous) they bracket what the\n"
    "rungs leave unknown of the integral, which the standard error does not have. What short\n"
    "annealing finds near modes that the run hardly met is in the standard error and in upper, and so\n"
    "is what longer tours than the longest may hold by the tail of their lengths.\n"
    "status is ok, unvisited_rung, few_effective_samples, not_converged or\n"
    "below_bound: with any but ok the number is not to be trusted. `boltzmark list estimators` "
    "names\n"
    "the methods. Without --sweeps a refused estimate is tried again with 20 000, 40 000 and 80 000\n"
    "sweeps: the number printed is the last attempt's. Name the sweeps to have them run just once.\n"
    "lower_bound is a number that log Z is certainly not below, rounding of lower_bound_error "
    "apart:\n"
    "the sum of f over a list of states of the smaller side, the other summed out, or mean field's\n"
    "bound if that is higher; of continuous units it is summed over orthants, one sign of each unit.\n"
    "An estimate whose upper limit is below it, or that is five standard errors and half a nat below\n"
    "it, is refused as below_bound; and one whose samples at b = 1 were too seldom in those states,\n"
    "or more often than its Z allows, or whose lower limit is above a bound that is log Z itself, by\n"
    "all states, as not_converged. Methods whose run does not itself temper collapsed states from\n"
    "the uniform base are held to what a short tempered run from there finds besides.\n"
    "With --both-ways log Z is still the method's own. A gap may refuse an estimate that is right:\n"
    "chains from modes are no exact samples, and what they all lack is in no error. forward and\n"
    "reverse are each by its own samples, before anything else is held against it.\n"
    "JSON keys: method, log_z, std_error, lower, upper, chains, sweeps (of the last attempt),\n"
    "total_sweeps, attempts (of each sweeps and status), temperatures, sampler (tempering or\n"
    "parallel; null without samples of the rungs), summed (odd or even; null without marginal\n"
    "weights), effective_samples, seconds, seed (null with --from), base (uniform, modes or the data\n"
    "set), lower_bound, lower_bound_error, lower_bound_of (side, states, all_states, modes, listed,\n"
    "mean_field), both_ways (with --both-ways: forward and reverse of log_z, std_error and status;\n"
    "gap, gap_error), known_log_z (what the model's file says, see `make`), status, warnings; null\n"
    "where there is none.";

}  // namespace

void add_estimate(Program& program) {
  const auto arguments = std::make_shared<EstimateRequest>();
  const auto strict = std::make_shared<bool>(false);
  Command& command = program.command({
      .name = "estimate",
      .summary = "log Z of a model by sampling, with its error",
      .about =
          "Estimates log Z by a chosen method and says whether the number can be trusted. "
          "Methods compare at equal --sweeps, the initial stage included. On the ranks of mpirun "
          "chains of ais and raise are shared out, 16 at a time: the bytes of one process.",
      .notes = kEstimateNotes,
      .examples = {"boltzmark estimate rbm.npz",
                   "boltzmark estimate rbm.npz --base mnist --method ais --sweeps 100000",
                   "boltzmark estimate rbm.npz --dump run.npz && boltzmark estimate --from run.npz "
                   "--method mbar",
                   "boltzmark estimate rbm.npz --base mnist --target-error 0.05",
                   "mpirun -n 16 boltzmark estimate rbm.npz --method ais --chains 1024"},
  });
  command.uses_ranks();
  command.text(&arguments->model, "MODEL", "The model file (.npz or .mat); none with --from.");
  std::vector<std::string> methods;
  for (const Method& method : registered_methods()) methods.push_back(method.name);
  methods.emplace_back(kExact);
  command.choice(&arguments->method, "--method M", methods, "How log Z is found (default: rts).");
  add_estimate_options(command, arguments->shared, true);
  command.real(&arguments->target_error, "--target-error E", {.low = 0, .above_low = true},
               "Find the sweeps that make the standard error at most E nats, then run once more "
               "with as many: that run's error did not end the search, so it is as true as any.");
  command.flag(&arguments->try_again, "--auto",
               "Try a refused estimate again with twice the sweeps and draws of its own, at most "
               "four times in all (the default without --sweeps and --target-error).");
  command.real(&arguments->max_seconds, "--max-seconds S", {.low = 0, .above_low = true},
               "Start no further attempt if it is foretold to end more than S seconds after the "
               "start on two cores, whatever this machine has (default: 60; of --target-error "
               "none).");
  command.flag(
      &arguments->both_ways, "--both-ways",
      "Half of the sweeps begin at the other end of the ladder, in modes at b = 1 (of raise in the base, by "
      "AIS). Both are told, and a gap refuses that is more than three of its errors and more than half a nat.");
  add_strict(command, *strict);
  command.text(
      &arguments->dump, "--dump FILE",
      "Write the samples kept as .npz, for others to check: D and rung (sweeps x chains), beta, "
      "log_prior, log_z_hat, random_rungs, exchanged_rungs of parallel tempering, lower_bound, "
      "lower_bound_error, input_rounding, log_f_rounding, unresolved, visited, "
      "phase_log_masses, phase_log_least, phase_errors, phase_shares, phase_visits, place_ likewise, reverse and "
      "reverse_status of --both-ways, and log_f of collapsed states: 8 bytes for each sweep, chain and rung, "
      "0.7 GB of a default run.");
  command.text(&arguments->from, "--from FILE", "Read samples that --dump wrote; no sampling.");
  command.flag(&arguments->force, "--force", "Replace the dump if it exists.");
  command.comes_with("--force", {"--dump"});
  command.writes({"--dump"});
  command.reads_models("MODEL");
  command.action([arguments, strict, &command](const Session& session) {
    return run(*arguments, *strict, command, session);
  });
}

}  // namespace boltzmark::cli

#include "boltzmark/exact/spectrum/spectrum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "boltzmark/core/memory.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/exact/state_space.hpp"
#include "experiments/kit/ranks/equal_ranks.hpp"
#include "experiments/kit/ranks/mpi_ranks.hpp"
#include "tools/boltzmark/input.hpp"
#include "tools/boltzmark/on_ranks.hpp"
#include "tools/boltzmark/outcomes.hpp"
#include "tools/boltzmark/output.hpp"
#include "tools/boltzmark/program.hpp"
#include "tools/boltzmark/progress.hpp"

namespace boltzmark::cli {
namespace {

struct SpectrumArguments {
  std::string model;
  std::string rule;
  std::string scan = "periodic";
};

std::string relaxation_text(const Spectrum& result) {
  if (result.relaxation_time) return fmt::format("{:.6g} steps", *result.relaxation_time);
  if (!result.irreducible || !result.aperiodic) return "infinite: the SLEM is 1";
  return fmt::format("more than {:.0e} steps: 1 - SLEM is at the limit of rounding",
                     1 / kResolvedGap);
}

void print_result(const Spectrum& result, const Rule& rule, const Session& session) {
  if (session.json) {
    print(JsonObject()
              .set("rule", rule.name())
              .set("states", std::uint64_t{result.states})
              .set("slem", result.slem)
              .set("second_eigenvalue", result.second_eigenvalue)
              .set("relaxation_time", result.relaxation_time)
              .set("stationarity_error", result.stationarity_error)
              .set("irreducible", result.irreducible)
              .set("aperiodic", result.aperiodic));
    return;
  }
  FactList facts;
  facts.add("rule", rule.name());
  facts.add("states", grouped(result.states));
  facts.add("SLEM", fmt::format("{:.10g}", result.slem));
  facts.add("second eigenvalue", fmt::format("{:.10g}", result.second_eigenvalue));
  facts.add("relaxation time", relaxation_text(result));
  facts.add("stationarity error", short_number(result.stationarity_error));
  facts.add("irreducible", result.irreducible ? "yes" : "no");
  facts.add("aperiodic", result.aperiodic ? "yes" : "no");
  facts.add(
      "method",
      result.method + (result.residual > 0 ? ", residual " + short_number(result.residual) : ""));
  print(facts.text());
}

// Counts the states of the even layers and of the odd ones.
std::array<double, 2> count_side_states(const Layered& model) {
  std::array<double, 2> states = {1, 1};
  for (int l = 0; l < model.layers(); ++l)
    if (model.layer(l).unit.is_discrete())
      states[l % 2] *= std::pow(model.layer(l).unit.values(), model.size(l));
  return states;
}

struct SpectrumPlan {
  double states = 1;
  double seconds = 0;
  double bytes = 0;  // of the ranks on one host
};

// The solver keeps some 30 vectors over the states, of which a few are turned: a rank has whole
// states of either side then. A product costs about 3 ns a unit and state.
SpectrumPlan plan_spectrum(const Layered& model, bool one_side, int ranks, int on_host) {
  const auto [even, odd] = count_side_states(model);
  SpectrumPlan plan{.states = even * odd};
  plan.seconds = 400 * 3e-9 * model.units() * plan.states / ranks;
  const double turned = std::max(std::ceil(even / ranks) * odd, std::ceil(odd / ranks) * even);
  plan.bytes = on_host * 8 * (25 * plan.states / ranks + 5 * turned);
  // The chain of one side, which the first rank computes alone.
  if (one_side && plan.states <= static_cast<double>(kMaxStates))
    plan.bytes = std::max(plan.bytes, 4 * 8 * plan.states);
  return plan;
}

// Refuses at all ranks what does not fit into one host's memory.
void state_spectrum_plan(const Session& session, const Layered& model, bool one_side) {
  experiments::RankLink* const link = session.ranks.get();
  const int ranks = link == nullptr ? 1 : link->ranks();
  const SpectrumPlan plan =
      plan_spectrum(model, one_side, ranks, link == nullptr ? 1 : link->ranks_on_host());
  if (plan.states > static_cast<double>(ranks > 1 ? kMaxSharedStates : kMaxStates)) return;
  std::string work = fmt::format("spectrum of {} states", grouped(std::uint64_t(plan.states)));
  std::string remedy = "take a model of fewer units";
  if (ranks > 1) {
    work += fmt::format(" on {} ranks", ranks);
    remedy += ", or more hosts";
    agree_on(*link, "memory", [&] {
      require_memory(work, plan.bytes, remedy);
      return std::string();
    });
    return announce_plan(session, work, plan.seconds, plan.bytes);
  }
  state_plan(session, work, plan.seconds, plan.bytes, remedy);
}

Spectrum compute(const Layered& model, const Rule& rule, Scan scan, const Session& session) {
  return session.ranks ? spectrum(model, rule, scan, {}, *experiments::mpi_ranks())
                       : spectrum(model, rule, scan);
}

int run(const SpectrumArguments& arguments, const Session& session) {
  const Rule rule = parse_rule(arguments.rule);
  agree_on_file(session, arguments.model);
  const ThreadLimit limit(one_job(session).threads);
  const Layered model = load_model(arguments.model);
  const Scan scan = arguments.scan == "random" ? Scan::random : Scan::periodic;
  state_spectrum_plan(session, model, scan == Scan::periodic && rule.kind == Rule::Kind::gibbs);
  const Spectrum result =
      about_file(arguments.model, [&] { return compute(model, rule, scan, session); });
  require_converged(result, arguments.model);
  if (session.ranks && session.ranks->rank() > 0) return 0;
  print_result(result, rule, session);
  if (!session.ranks) return 0;
  finish_output();
  session.ranks->finish(0, true);
  return 0;
}

}  // namespace

void add_spectrum(Program& program) {
  const auto arguments = std::make_shared<SpectrumArguments>();
  Command& command = program.command({
      .name = "spectrum",
      .summary = "eigenvalues of an update rule's sweep on a model",
      .about =
          "Computes what the transition matrix of one sweep (hidden units first, then visible "
          "ones; the double-precision law) says about convergence: the second largest "
          "eigenvalue modulus (SLEM), the relaxation time, and whether the chain is "
          "irreducible and aperiodic. At most 2^24 states, of units with any number of values; "
          "on the ranks of mpirun, which share the states, 2^32 if they have the memory (240 "
          "bytes a state), with the bits of one process.",
      .notes =
          "JSON keys: rule, states, slem, second_eigenvalue (largest real part of those that are left\n"
          "without one eigenvalue 1: 1 again where the chain is reducible),\n"
          "relaxation_time (1 / (1 - slem) steps, null if slem is 1 within 1e-12), stationarity_error (L1\n"
          "norm of pT - p), irreducible, aperiodic.",
      .examples = {"boltzmark spectrum rbm.npz --rule flip",
                   "boltzmark spectrum rbm.npz --rule gibbs --scan random",
                   "boltzmark spectrum rbm.npz --rule blend:0.5 --json",
                   "mpirun -n 16 boltzmark spectrum rbm.npz --rule flip   # the same bits"},
  });
  command.positional(&arguments->model, "MODEL", "The model file (.npz or .mat).");
  command.required_text(&arguments->rule, "--rule R",
                        "The update rule: gibbs, flip, blend:SHARE or metropolis.");
  command.choice(&arguments->scan, "--scan S", {"periodic", "random"},
                 "periodic: a step is a sweep over all units; random: a step updates one unit, "
                 "picked uniformly (default: periodic).");
  command.uses_ranks();
  command.reads_models("MODEL");
  command.action([arguments](const Session& session) {
    return in_step(session, [&] { return run(*arguments, session); });
  });
}

}  // namespace boltzmark::cli

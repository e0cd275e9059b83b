#include "boltzmark/exact/spectrum/spectrum.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "boltzmark/core/error.hpp"
#include "input.hpp"
#include "output.hpp"
#include "program.hpp"
#include "progress.hpp"

namespace boltzmark::cli {
namespace {

struct SpectrumArguments {
  std::string model;
  std::string rule;
  std::string scan = "periodic";
};

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
  facts.add("relaxation time", result.relaxation_time
                                   ? fmt::format("{:.6g} steps", *result.relaxation_time)
                                   : "infinite: the SLEM is 1");
  facts.add("stationarity error", short_number(result.stationarity_error));
  facts.add("irreducible", result.irreducible ? "yes" : "no");
  facts.add("aperiodic", result.aperiodic ? "yes" : "no");
  facts.add(
      "method",
      result.method + (result.residual > 0 ? ", residual " + short_number(result.residual) : ""));
  print(facts.text());
}

double count_states(const Layered& model) {
  double states = 1;
  for (int l = 0; l < model.layers(); ++l)
    if (model.layer(l).unit.is_discrete())
      states *= std::pow(model.layer(l).unit.values(), model.size(l));
  return states;
}

int run(const SpectrumArguments& arguments, const Session& session) {
  const Rule rule = parse_rule(arguments.rule);
  const Layered model = load_model(arguments.model);
  const Scan scan = arguments.scan == "random" ? Scan::random : Scan::periodic;
  // The solver keeps some 30 vectors over the states; a product costs about 3 ns a unit and state.
  const double states = count_states(model);
  if (states <= static_cast<double>(kMaxStates))
    state_plan(session, fmt::format("spectrum of {} states", grouped(std::uint64_t(states))),
               400 * 3e-9 * model.units() * states, 30 * 8 * states, "take a model of fewer units");
  const Spectrum result = about_file(arguments.model, [&] { return spectrum(model, rule, scan); });
  if (!result.converged)
    throw Error(fmt::format("{}: the eigenvalue solver did not converge (residual {})",
                            arguments.model, short_number(result.residual)));
  print_result(result, rule, session);
  return 0;
}

}  // namespace

void add_spectrum(Program& program) {
  const auto arguments = std::make_shared<SpectrumArguments>();
  Command& command = program.command({
      .name = "spectrum",
      .summary = "eigenvalues of an update rule's sweep on a model",
      .about = "Computes what the transition matrix of one sweep (hidden units first, then visible "
               "ones; the double-precision law) says about convergence: the second largest "
               "eigenvalue modulus (SLEM), the relaxation time, and whether the chain is "
               "irreducible and aperiodic. At most 2^24 states, of "
               "units with any number of values.",
      .notes = "JSON keys: rule, states, slem, second_eigenvalue (largest real part below 1),\n"
               "relaxation_time (1 / (1 - slem) steps, null if slem is 1), stationarity_error (L1\n"
               "norm of pT - p), irreducible, aperiodic.",
      .examples = {"boltzmark spectrum rbm.npz --rule flip",
                   "boltzmark spectrum rbm.npz --rule gibbs --scan random",
                   "boltzmark spectrum rbm.npz --rule blend:0.5 --json"},
  });
  command.positional(&arguments->model, "MODEL", "The model file (.npz or .mat).");
  command.required_text(&arguments->rule, "--rule R",
                        "The update rule: gibbs, flip, blend:SHARE or metropolis.");
  command.choice(&arguments->scan, "--scan S", {"periodic", "random"},
                 "periodic: a step is a sweep over all units; random: a step updates one unit, "
                 "picked uniformly (default: periodic).");
  command.action([arguments](const Session& session) { return run(*arguments, session); });
}

}  // namespace boltzmark::cli

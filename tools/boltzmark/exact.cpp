#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "boltzmark/exact/log_z.hpp"
#include "input.hpp"
#include "output.hpp"
#include "program.hpp"
#include "progress.hpp"

namespace boltzmark::cli {
namespace {

struct ExactArguments {
  std::string model;
  std::string precision = "double";
  std::string checkpoint;
};

void print_result(const ExactLogZ& result, const Session& session) {
  if (session.json) {
    print(JsonObject()
              .set("log_z", result.log_z)
              .set("error_bound", result.error_bound)
              .set("states", result.states)
              .set("enumerated_units", result.enumerated_units)
              .set("seconds", result.seconds));
    return;
  }
  FactList facts;
  facts.add("log Z", fmt::format("{:.12g} nats", result.log_z));
  facts.add("error bound", short_number(result.error_bound) + " nats (rounding)");
  facts.add("enumerated",
            fmt::format("{} units, {} states", result.enumerated_units, grouped(result.states)));
  facts.add("time", human_seconds(result.seconds));
  print(facts.text());
}

int run(const ExactArguments& arguments, const Session& session) {
  const Layered model = load_model(arguments.model);
  const EnumerationPlan plan = plan_enumeration(model);
  if (!plan.possible && !plan.side.empty())
    throw DataError(
        fmt::format("{}: enumerated_units = {} of its smaller side, {} (must be at most {}, of at "
                    "most 2^62 states{})",
                    arguments.model, plan.units, plan.side, kMostEnumeratedUnits,
                    model.has_scales() ? "" : "; `boltzmark estimate` has no limit"));
  ExactOptions options;
  if (arguments.precision == "float") options.precision = Precision::float_precision;
  options.checkpoint = arguments.checkpoint;
  if (plan.possible)
    state_plan(session, fmt::format("exact log Z over {} states", grouped(plan.states)),
               plan.seconds, plan.bytes, "lower --threads");
  ExactLogZ result;
  {
    const auto states = static_cast<double>(plan.states);
    Progress progress(session, "exact", states, "states");
    options.progress = [&](double fraction) { progress.show(fraction * states); };
    result = about_file(arguments.model, [&] { return exact_log_z(model, options); });
  }
  print_result(result, session);
  return 0;
}

}  // namespace

void add_exact(Program& program) {
  const auto arguments = std::make_shared<ExactArguments>();
  Command& command = program.command({
      .name = "exact",
      .summary = "log Z of a model by enumeration",
      .about = "Computes log Z by enumerating the states of the model's smaller side in log space; "
               "the other side is summed in closed form. At most 40 units are enumerated. The "
               "error bound covers rounding, the only error there is.",
      .notes = "JSON keys: log_z, error_bound (nats), states, enumerated_units, seconds.",
      .examples =
          {"boltzmark exact rbm.npz",
           "boltzmark exact rbm25.npz --checkpoint rbm25.partial   # resumes when run again",
           "boltzmark exact rbm.npz --json | jq .log_z"},
  });
  command.positional(&arguments->model, "MODEL", "The model file (.npz or .mat).");
  command.choice(&arguments->precision, "--precision P", {"double", "float"},
                 "Arithmetic of the inner products, whatever the file's type (default: double).");
  command.text(&arguments->checkpoint, "--checkpoint FILE",
               "Save partial sums to FILE as the work goes on, and resume from it.");
  command.writes({"--checkpoint"});
  command.action([arguments](const Session& session) { return run(*arguments, session); });
}

}  // namespace boltzmark::cli

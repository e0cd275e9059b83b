#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "experiments/kit/ranks/chunk_ranks.hpp"
#include "experiments/kit/run/interrupt.hpp"
#include "tools/boltzmark/input.hpp"
#include "tools/boltzmark/on_ranks.hpp"
#include "tools/boltzmark/output.hpp"
#include "tools/boltzmark/program.hpp"
#include "tools/boltzmark/progress.hpp"

namespace boltzmark::cli {
namespace {

struct ExactArguments {
  std::string model;
  std::string precision = "double";
  std::string checkpoint;
  int max_units = kMostEnumeratedUnits;
  double lease = 60;
};

std::string interrupted_text(const std::string& checkpoint) {
  return checkpoint.empty() ? "interrupted: the sums are lost (--checkpoint FILE keeps them)"
                            : fmt::format(
                                  "interrupted: the sums are saved in {}, and the same "
                                  "command goes on from there",
                                  checkpoint);
}

// Of log Z: to the first of its error bound, at most the 15 digits that a double holds.
int decimals_of(const ExactLogZ& result) {
  constexpr double kDigits = 15;
  const double before = std::ceil(std::log10(std::max(1.0, std::abs(result.log_z)))),
               most = std::max(kDigits - before, 0.0);
  if (!(result.error_bound > 0 && std::isfinite(result.error_bound))) return static_cast<int>(most);
  return static_cast<int>(std::clamp(-std::floor(std::log10(result.error_bound)), 0.0, most));
}

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
  facts.add("log Z", fmt::format("{:.{}f} nats", result.log_z, decimals_of(result)));
  facts.add("error bound", short_number(result.error_bound) + " nats (rounding)");
  facts.add("enumerated",
            fmt::format("{} units, {} states", result.enumerated_units, grouped(result.states)));
  facts.add("time", human_seconds(result.seconds));
  print(facts.text());
}

void compare_with_file(const std::string& path, const Layered& model, const ExactLogZ& result) {
  const std::optional<KnownLogZ> known = load_known_log_z(path, model);
  if (known && std::abs(known->log_z - result.log_z) > result.error_bound + told_slack(*known))
    complain(
        fmt::format("{}: says that its log Z is {:.10g}, which it is not", path, known->log_z));
}

using experiments::Parallelism;

/// Counts the threads of all ranks, at rank 0; all must call it.
int count_threads(experiments::RankLink& link, int own) {
  int all = 0;
  for (const std::string& threads : link.gather(std::to_string(own))) all += std::stoi(threads);
  return std::max(all, 1);
}

/// Refuses a model with too many units, and says which option would take it.
/// share  of all ranks' threads that this one has
/// Throws  DataError
void check_units(const ExactArguments& arguments, const Layered& model, double share) {
  const EnumerationPlan plan = plan_enumeration(model, arguments.max_units);
  if (plan.possible || plan.side.empty()) return;
  std::string remedies;
  if (const auto more = plan_enumeration(model, kMostUnitsOfAll); more.possible)
    remedies += fmt::format("; --max-units {} would take about {}", more.units,
                            human_seconds(more.seconds * share));
  if (!model.has_scales()) remedies += "; `boltzmark estimate` has no limit";
  if (plan.units <= arguments.max_units)
    throw DataError(fmt::format("{}: has {} of its smaller side, {} (must have at most {}{})",
                                arguments.model, plan.excess, plan.side, plan.most, remedies));
  throw DataError(
      fmt::format("{}: enumerated_units = {} of its smaller side, {} (must be at most {}{})",
                  arguments.model, plan.units, plan.side, arguments.max_units, remedies));
}

int run(const ExactArguments& arguments, const Session& session) {
  experiments::RankLink* const link = session.ranks.get();
  // Before hours of sums that no checkpoint would keep.
  if (!arguments.checkpoint.empty() && (link == nullptr || link->rank() == 0))
    check_output(arguments.checkpoint, true);
  agree_on_file(session, arguments.model);
  const Parallelism use = one_job(session);
  const ThreadLimit limit(use.threads);
  const int threads = link != nullptr ? count_threads(*link, use.threads) : use.threads;
  const Layered model = load_model(arguments.model);
  const double share = static_cast<double>(use.threads) / threads;
  check_units(arguments, model, share);
  const EnumerationPlan plan = plan_enumeration(model, arguments.max_units);
  ExactOptions options;
  options.max_enumerated_units = arguments.max_units;
  if (arguments.precision == "float") options.precision = Precision::float_precision;
  options.checkpoint = arguments.checkpoint;
  options.on_unsaved = complain;
  const double alone = plan.seconds;  // on the threads of this rank
  if (plan.possible)
    state_plan(session, fmt::format("exact log Z over {} states", grouped(plan.states)),
               alone * share, plan.bytes, "lower --threads");
  int lost = 0;
  if (link != nullptr) {
    options.driver = experiments::rank_driver(
        *link, {.use = use, .seconds = alone, .lease_seconds = arguments.lease}, lost);
    if (link->rank() > 0) options.checkpoint.clear();
    options.checkpoint_seconds = 1;  // mpirun leaves a rank 3 ms between SIGTERM and SIGKILL
  }
  ExactLogZ result;
  {
    const auto states = static_cast<double>(plan.states);
    Progress progress(session, "exact", states, "states");
    std::optional<experiments::InterruptGuard> guard;
    if (link == nullptr || link->rank() == 0) guard.emplace();
    options.progress = [&, begins = true](double fraction) mutable {
      if (std::exchange(begins, false) && fraction > 0 && fraction < 1 && !session.quiet)
        complain(fmt::format("going on from {:.1f} % in {}", 100 * fraction, options.checkpoint));
      progress.show(fraction * states);
      if (guard && experiments::interrupt_requested())
        throw experiments::Interrupted(interrupted_text(options.checkpoint));
    };
    result = about_file(arguments.model, [&] { return exact_log_z(model, options); });
  }
  if (link != nullptr && link->rank() > 0) return 0;
  compare_with_file(arguments.model, model, result);
  print_result(result, session);
  leave_ranks(session, result.unsaved ? 1 : 0, lost == 0);
  if (result.unsaved) {  // of a full disk, say: log Z is not lost with it
    finish_output();
    std::rethrow_exception(result.unsaved);
  }
  return 0;
}

}  // namespace

void add_exact(Program& program) {
  const auto arguments = std::make_shared<ExactArguments>();
  Command& command = program.command({
      .name = "exact",
      .summary = "log Z of a model by enumeration",
      .about =
          "Computes log Z by enumerating the states of the model's smaller side in log space; "
          "the other side is summed in closed form. At most 40 units are enumerated, or as many as "
          "--max-units says. The error bound covers rounding, the only error there is. On the ranks of mpirun chunks "
          "are summed by all and added in order: the bits of one process.",
      .notes = "JSON keys: log_z, error_bound (nats), states, enumerated_units, seconds.",
      .examples =
          {"boltzmark exact rbm.npz",
           "boltzmark exact rbm25.npz --checkpoint rbm25.partial   # resumes when run again",
           "mpirun -n 16 boltzmark exact rbm25.npz --checkpoint rbm25.partial   # the same bits",
           "srun --mpi=pmix -N 16 boltzmark exact rbm.npz --max-units 48 --checkpoint rbm.partial",
           "boltzmark exact rbm.npz --json | jq .log_z"},
  });
  command.positional(&arguments->model, "MODEL", "The model file (.npz or .mat).");
  command.choice(
      &arguments->precision, "--precision P", {"double", "float"},
      "Arithmetic of the inner products, whatever the file's type; double where float would "
      "bound nothing (default: double).");
  command.text(&arguments->checkpoint, "--checkpoint FILE",
               "Save partial sums to FILE as the work goes on, and resume from it.");
  command.writes({"--checkpoint"});
  command.integer(&arguments->max_units, "--max-units N", 1, kMostUnitsOfAll,
                  "Enumerate up to N units, at most 56 (default: 40). A unit more doubles the "
                  "time, which is told first.");
  command.real(
      &arguments->lease, "--lease S", {.low = 0, .above_low = true},
      "Under mpirun: what a rank has that is silent this long is given to others (default: 60).");
  command.uses_ranks();
  command.reads_models("MODEL");
  command.action([arguments](const Session& session) { return run(*arguments, session); });
}

}  // namespace boltzmark::cli

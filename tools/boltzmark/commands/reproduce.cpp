#include "experiments/kit/run/reproduce.hpp"

#include <fmt/format.h>

#include <memory>

#include "boltzmark/core/error.hpp"
#include "tools/boltzmark/on_ranks.hpp"
#include "tools/boltzmark/output.hpp"
#include "tools/boltzmark/program.hpp"
#include "tools/boltzmark/progress.hpp"

namespace boltzmark::cli {
namespace {

using experiments::ReproduceOptions;
using experiments::ReproduceResult;

struct ReproduceArguments {
  ReproduceOptions options;
  std::string profile = "quick";
  std::string shard = {};
};

int print_result(const ReproduceResult& result, const std::string& shard, bool fresh,
                 double seconds, const Session& session) {
  if (session.json) {
    print(JsonObject()
              .set("planned", std::uint64_t{result.planned})
              .set("ran", std::uint64_t{result.ran})
              .set("reused", std::uint64_t{result.reused})
              .set("failures", result.failures)
              .set("exact_failed", result.exact_failed)
              .set("interrupted", result.interrupted)
              .set("out_of_time", result.out_of_time)
              .set("ranks", result.ranks)
              .set("hosts", result.hosts)
              .set("lost_ranks", result.lost_ranks)
              .set("reissued", std::uint64_t{result.reissued})
              .set("shard", shard.empty() ? std::nullopt : std::optional(shard))
              .set("report", result.report)
              .set("seconds", seconds));
    return result.exit_code();
  }
  FactList facts;
  const bool stopped = result.interrupted || result.out_of_time;
  if (result.planned > 0)
    facts.add("trials", fmt::format("{} planned, {} run now, {} from the store{}", result.planned,
                                    result.ran, result.reused,
                                    stopped ? fmt::format("; stopped early, run again{} to go on",
                                                          fresh ? " without --fresh" : "")
                                            : ""));
  for (const std::string& failure : result.failures) facts.add("failed", failure);
  for (const std::string& claim : result.exact_failed) facts.add("does not hold", claim);
  if (!result.report.empty()) facts.add("report", result.report);
  facts.add("time", human_seconds(seconds));
  print(facts.text());
  return result.exit_code();
}

int run_reproduce(ReproduceArguments arguments, const Session& session) {
  const Stopwatch watch;
  arguments.options.profile = experiments::parse_profile(arguments.profile);
  if (arguments.options.keep && arguments.options.profile != experiments::Profile::paper)
    throw InvalidArgument(fmt::format(
        "--keep (must go with --profile paper, not {}: its trials are kept)", arguments.profile));
  arguments.options.threads = session.threads;
  arguments.options.quiet = session.quiet;
  if (!arguments.shard.empty()) arguments.options.shard = experiments::parse_shard(arguments.shard);
  const ReproduceResult result = experiments::reproduce(arguments.options, session.ranks.get());
  if (session.ranks && session.ranks->rank() > 0) return 0;
  const int code =
      print_result(result, arguments.shard, arguments.options.fresh, watch.seconds(), session);
  leave_ranks(session, code, result.lost_ranks == 0);
  return code;
}

int run_report(const experiments::ReportOptions& given, const std::string& profile,
               const Session& session) {
  const Stopwatch watch;
  experiments::ReportOptions options = given;
  options.profile = experiments::parse_profile(profile);
  const ReproduceResult result = experiments::report(options);
  return print_result(result, {}, false, watch.seconds(), session);
}

constexpr const char* kReproduceNotes =
    "Files: DIR/PROFILE/PAPER/ITEM/{trials.jsonl,*.csv,*.svg}, DIR/PROFILE/report/index.html,\n"
    "PAPER.html and report.md, DIR/PROFILE/manifest.json; trials.K-of-N.jsonl of a shard, and\n"
    "conflicts.jsonl if a trial that was computed twice differed (exit code 1). Exit code 3 if an\n"
    "exact claim (kind E) does not hold; claims of other kinds do not change it. DIR/.lock names who\n"
    "holds DIR, with a sign of life every 10 s: a run that finds another's name there stops (1).\n"
    "JSON keys: planned, ran, reused, failures, exact_failed, interrupted, out_of_time, ranks,\n"
    "hosts, lost_ranks, reissued (trials given to more than one rank), shard (null: none), report,\n"
    "seconds.";

}  // namespace

void add_reproduce(Program& program) {
  const auto arguments = std::make_shared<ReproduceArguments>();
  Command& command = program.command({
      .name = "reproduce",
      .summary = "regenerate the tables and figures of the papers, and the report",
      .about = "Runs experiments trial by trial and writes the report. Finished trials are kept: "
               "Ctrl-C, or even kill -9, loses at most those in flight, and the next run goes on. "
               "Same seed, same bytes in every CSV file, whatever --jobs and --threads, and "
               "whichever shards (--shard) ran the trials.",
      .notes = kReproduceNotes,
      .examples = {"boltzmark reproduce --profile smoke",
                   "boltzmark reproduce bruegge2013/fig3-top --out results",
                   "mpirun -n 64 boltzmark reproduce --profile paper",
                   "boltzmark reproduce bruegge2013 --profile paper --only size=3 "
                   "--max-seconds 3600"},
  });
  ReproduceOptions& options = arguments->options;
  command.positionals(&options.ids, "ID",
                      "An experiment or a paper of 'boltzmark list experiments' (default: all).");
  command.choice(
      &arguments->profile, "--profile P", {"smoke", "quick", "paper"},
      "smoke: toy size, under a minute; quick: minutes; paper: the paper's own settings, "
      "hours (default: quick).");
  command.integer(&options.jobs, "--jobs N", 1,
                  "Trials that run at once and share the threads (default: as many as threads); of "
                  "several ranks each.");
  command.uses_ranks();
  command.integer(&options.seed, "--seed S", "Seed of every random stream (default: 1).");
  command.text(&options.out, "--out DIR", "Folder of the results (default: out).");
  command.text(&options.only, "--only CELL",
               "Run only trials whose inputs match key=value,... such as size=3,c=10.");
  command.text(
      &arguments->shard, "--shard K/N",
      "Run the K-th of N parts of the trials, without a report; any number may run at once "
      "in one folder.");
  command.real(&options.lease_seconds, "--lease S", {.low = 0, .above_low = true},
               "Under mpirun: a rank that is silent this long is lost, and its trials are given to "
               "others (default: 60).");
  command.real(
      &options.max_seconds, "--max-seconds S", {.low = 0, .above_low = true},
      "Stop after this long, between trials or where a long one keeps its state; run again to go on.");
  command.flag(&options.take_over, "--take-over",
               "Go on in a folder that another run holds but has given no sign of life in for ten "
               "minutes; should that run wake, it stops.");
  command.flag(&options.fresh, "--fresh", "Ignore the trials that are stored.");
  command.flag(
      &options.keep, "--keep",
      "Merge finished trials into reports/reference of the source tree, which must have no changes.");
  command.action(
      [arguments](const Session& session) { return run_reproduce(*arguments, session); });
}

void add_report(Program& program) {
  const auto arguments = std::make_shared<ReproduceArguments>();
  Command& command = program.command({
      .name = "report",
      .summary = "write the report again from the stored trials",
      .about =
          "Writes index.html and a page a paper (self-contained), report.md and claims.json from the trials that "
          "'boltzmark reproduce' stored, without running anything.",
      .notes = kReproduceNotes,
      .examples = {"boltzmark report --out results", "boltzmark report --profile smoke"},
  });
  const auto options = std::make_shared<experiments::ReportOptions>();
  command.text(&options->out, "--out DIR", "Folder of the results (default: out).");
  command.choice(&arguments->profile, "--profile P", {"smoke", "quick", "paper"},
                 "Which profile's trials (default: quick).");
  command.action([arguments, options](const Session& session) {
    return run_report(*options, arguments->profile, session);
  });
}

}  // namespace boltzmark::cli

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/memory.hpp"
#include "boltzmark/core/number.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/io/sha256.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/run/interrupt.hpp"
#include "experiments/kit/run/study.hpp"
#include "experiments/kit/sources.hpp"
#include "tools/boltzmark/bounds.hpp"
#include "tools/boltzmark/commands/compare/comparison.hpp"
#include "tools/boltzmark/commands/compare/comparison_output.hpp"
#include "tools/boltzmark/commands/compare/comparison_runs.hpp"
#include "tools/boltzmark/input.hpp"
#include "tools/boltzmark/on_ranks.hpp"
#include "tools/boltzmark/output.hpp"
#include "tools/boltzmark/program.hpp"
#include "tools/boltzmark/progress.hpp"

namespace boltzmark::cli {
namespace {

struct CompareRequest {
  std::vector<std::string> models;
  std::string methods = "rts,ais,mbar,ti";
  std::string sweeps = "100,1000";
  std::string truth;  ///< empty: what the model file says, or else exact
  std::string out = "out/compare";
  int repeats = 10;
  bool fresh = false;
  bool take_over = false;
  double lease = 60;
  EstimateArguments shared;
};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t to = 0; to != std::string::npos; from = to + 1) {
    to = list.find(',', from);
    parts.push_back(list.substr(from, to == std::string::npos ? to : to - from));
  }
  return parts;
}

template <class Value>
void add_once(std::vector<Value>& all, const Value& value, const char* option,
              const std::string& list) {
  if (std::find(all.begin(), all.end(), value) != all.end())
    throw InvalidArgument(fmt::format("{} = {} (must name {} once)", option, list, value));
  all.push_back(value);
}

std::vector<std::string> parse_methods(const std::string& list) {
  std::vector<std::string> methods;
  for (const std::string& name : split(list)) {
    find_method(name);
    add_once(methods, name, "--methods", list);
  }
  return methods;
}

std::vector<int> parse_sweeps(const std::string& list) {
  std::vector<int> sweeps;
  for (const std::string& text : split(list)) {
    const int number = parse_number<int>(text).value_or(0);
    if (number < 2)
      throw InvalidArgument(
          fmt::format("--sweeps = {} (must be numbers of 2 or more, with commas)", list));
    add_once(sweeps, number, "--sweeps", list);
  }
  return sweeps;
}

// The log Z that --truth says; none: it is the file's or to be enumerated.
std::optional<double> given_truth(const CompareRequest& arguments) {
  if (arguments.truth.empty() || arguments.truth == "exact") return std::nullopt;
  const std::optional<double> number = parse_real(arguments.truth);
  if (!number)
    throw InvalidArgument(
        fmt::format("--truth = {} (must be exact, or log Z as a number)", arguments.truth));
  if (arguments.models.size() > 1)
    throw InvalidArgument(
        fmt::format("--truth = {} (must be left out, or exact: there are {} models)",
                    arguments.truth, arguments.models.size()));
  return number;
}

// A file's name, or its path where another model has the same name.
std::string name_of(const std::string& path, const std::vector<std::string>& paths) {
  const auto last = [](const std::string& p) {
    return std::filesystem::path(p).filename().string();
  };
  const auto same = std::count_if(paths.begin(), paths.end(), [&](const std::string& other) {
    return last(other) == last(path);
  });
  return same > 1 ? path : last(path);
}

// Reads all models and what is known of them, before anything is written or summed.
std::vector<Subject> load_subjects(const CompareRequest& arguments) {
  const std::optional<double> given = given_truth(arguments);
  std::vector<Subject> subjects;
  for (const std::string& path : arguments.models) {
    const auto is_it = [&](const std::string& other) {
      return std::filesystem::weakly_canonical(other) == std::filesystem::weakly_canonical(path);
    };
    if (std::count_if(arguments.models.begin(), arguments.models.end(), is_it) > 1)
      throw InvalidArgument(fmt::format("MODEL = {} (must be named once)", path));
    const std::string bytes = experiments::read_text(path);
    Subject subject{.path = path,
                    .name = name_of(path, arguments.models),
                    .sha256 = sha256(bytes.data(), bytes.size()),
                    .model = load_tempered_model(path)};
    subject.truth = given;
    subject.truth_given = given.has_value();
    if (arguments.truth.empty())
      if (const auto known = load_known_log_z(path, subject.model)) {
        subject.truth = known->log_z;
        subject.truth_slack = told_slack(*known);
      }
    if (!subject.truth && !plan_enumeration(subject.model).possible)
      throw DataError(
          path +
          ": cannot be enumerated (must have a side of at most 40 units and 2^62 states, or be compared "
          "alone with a number for --truth, such as a long estimate's log Z)");
    subject.cases =
        about_file(path, [&] { return make_settings(subject.model, arguments.shared); }).cases;
    subjects.push_back(std::move(subject));
  }
  return subjects;
}

void state_comparison(const ComparisonPlan& plan, const std::vector<Subject>& subjects,
                      const Session& session) {
  EstimateArguments longest = plan.shared;
  longest.sweeps = *std::max_element(plan.sweeps.begin(), plan.sweeps.end());
  const double sweeps = planned_sweeps(plan);
  double bytes = 0, weights = 0, seconds = 0;
  for (const Subject& subject : subjects) {
    const MethodSettings settings = make_settings(subject.model, longest);
    weights += weight_bytes(subject.model);
    seconds += sweep_seconds(subject.model, sweeps * longest.chains);
    for (const std::string& method : plan.methods) {
      bytes = std::max(bytes, method_bytes(method, settings, subject.model));
      seconds += plan.repeats * estimator_seconds(method, settings);
    }
  }
  constexpr double kRunBytes = 8192;  // as it is planned, stored and summed up
  const double runs = static_cast<double>(subjects.size() * plan.sweeps.size()) * plan.repeats *
                      static_cast<double>(plan.methods.size());
  require_memory(fmt::format("{} runs", grouped(static_cast<std::uint64_t>(runs))),
                 runs * kRunBytes, "lower --repeats");
  const double all = sweeps * static_cast<double>(subjects.size());
  state_plan(session,
             fmt::format("{} sweeps of {} chains", grouped(static_cast<std::uint64_t>(all)),
                         longest.chains),
             seconds, ranks_here(session) * (bytes + weights),
             "lower --chains, --sweeps or --temperatures");
}

// The layers that are summed out by any of the methods that weigh by a marginal.
std::optional<std::string> summed_by_any(const ComparisonPlan& plan, const Layered& model) {
  std::optional<std::string> any;
  for (const std::string& method : plan.methods)
    if (auto layers = summed_layers(method, model, plan.shared)) any = layers;
  return any;
}

// Says what is stored, and prepares what is not yet: bad options end the command before any run.
void begin(ComparisonRuns& runs, const experiments::PlannedExperiment& plan,
           const Session& session) {
  const std::size_t stored = plan.trials.size() - plan.count_to_run();
  if (stored > 0 && !session.quiet)
    complain(fmt::format("{} of {} runs are in the store of {}", stored, plan.trials.size(),
                         plan.folder));
  // A truth is held to a model's bounds also where all of its runs are stored.
  for (const experiments::PlannedTrial& trial : plan.trials)
    if (trial.to_run() || runs.has_truth(trial.key.inputs)) runs.prepare(trial.key.inputs);
}

experiments::StudyOutcome run_all(const CompareRequest& arguments, ComparisonRuns& runs,
                                  const Session& session) {
  const experiments::ReproduceOptions options{.jobs = 1,  // its threads are one run's
                                              .threads = session.threads,
                                              .seed = arguments.shared.seed,
                                              .out = arguments.out,
                                              .lease_seconds = arguments.lease,
                                              .take_over = arguments.take_over,
                                              .fresh = arguments.fresh,
                                              .quiet = session.quiet};
  return experiments::run_study(
      runs.experiment(),
      experiments::hash_sources({"lib/", "experiments/kit/datasets/", "tools/boltzmark/"}), options,
      [&](const experiments::PlannedExperiment& plan) { begin(runs, plan, session); },
      session.ranks.get());
}

void require_whole(const experiments::StudyOutcome& outcome, const std::string& folder,
                   bool fresh) {
  if (!outcome.run.failures.empty()) throw Error(outcome.run.failures.front());
  if (outcome.run.interrupted)
    throw experiments::Interrupted(fmt::format(
        "interrupted: {} of {} runs are stored in {}, and the same command{} goes on from "
        "there",
        outcome.results.trials().size(), outcome.run.planned, folder,
        fresh ? " without --fresh" : ""));
}

void print_all(const CompareRequest& arguments, const ComparisonPlan& plan,
               const ComparisonRuns& runs, const experiments::Results& results,
               const Session& session) {
  std::vector<Comparison> comparisons;
  for (const Subject& subject : runs.subjects()) {
    const double truth =
        subject.truth ? *subject.truth : enumerate_log_z(subject.model, session).log_z;
    comparisons.push_back(runs.sum_up(results, subject, truth));
    comparisons.back().summed = summed_by_any(plan, subject.model);
  }
  const std::vector<std::string> written = write_results(plan, comparisons, arguments.out);
  if (session.json)
    print_json(comparisons, written);
  else
    print_comparisons(plan, comparisons, arguments.out, written);
}

int run(const CompareRequest& arguments, const Session& session) {
  const ComparisonPlan plan{.methods = parse_methods(arguments.methods),
                            .sweeps = parse_sweeps(arguments.sweeps),
                            .repeats = arguments.repeats,
                            .shared = arguments.shared};
  refuse_idle_options(plan.methods, arguments.shared);
  for (const std::string& model : arguments.models) agree_on_file(session, model);
  std::optional<ComparisonRuns> made;
  together(session, "models, data and memory", [&] {
    made.emplace(plan, load_subjects(arguments));
    state_comparison(plan, made->subjects(), session);
    return std::string();
  });
  ComparisonRuns& runs = *made;
  const experiments::StudyOutcome outcome = run_all(arguments, runs, session);
  if (session.ranks && session.ranks->rank() > 0) return 0;
  require_whole(outcome, arguments.out, arguments.fresh);
  print_all(arguments, plan, runs, outcome.results, session);
  for (const std::string& conflict : outcome.conflicts) complain(conflict);
  const int code = outcome.conflicts.empty() ? 0 : 1;
  leave_ranks(session, code, outcome.run.lost_ranks == 0);
  return code;
}

}  // namespace

void add_compare(Program& program) {
  const auto arguments = std::make_shared<CompareRequest>();
  Command& command = program.command({
      .name = "compare",
      .summary = "bias, RMSE and coverage of estimators of log Z on a model",
      .about =
          "Runs each method several times at equal cost and holds the estimates against the "
          "true log Z: a table, two CSV files and two figures, with a panel a model; of several "
          "models a figure of all too. Methods that read samples share each run, as they would "
          "in use. Finished runs are kept in DIR/trials.jsonl: after Ctrl-C, or even kill -9, the same "
          "command goes on, and with further --sweeps, --repeats or models only the new runs are made. "
          "On the ranks of mpirun runs are shared out: the same bytes, seconds aside.",
      .notes =
          "JSON keys: truth, summed (layers, as of estimate; both null of several models), models [model,\n"
          "truth, summed], cells [model, method, sweeps, repeats, refused, covered (how many; in\n"
          "compare.csv the share of those that are ok), mean, bias, std_dev, rmse, rmse_lower, rmse_upper,\n"
          "mean_std_error (null if none has one), rank (null if refused), unit_updates, seconds], files.\n"
          "The first repeat has the seed of --seed, the others those that follow: for runs that share none,\n"
          "take seeds that are --repeats apart.\n"
          "Runs that were made twice and differ are kept in DIR/conflicts.jsonl (exit code 1).",
      .examples = {"boltzmark compare rbm.npz",
                   "boltzmark compare rbm.npz --methods rts,ais,smc --sweeps 1000,10000 --repeats "
                   "20 --base mnist",
                   "boltzmark compare one.npz two.npz --methods rts,ais --out out/both",
                   "boltzmark compare big.npz --truth 451.255 --out out/big",
                   "mpirun -n 16 boltzmark compare rbm.npz --repeats 200"},
  });
  command.positionals(&arguments->models, "MODEL",
                      "The model files (.npz or .mat), one or several.", true);
  command.text(&arguments->methods, "--methods A,B,C",
               "Methods, as `list estimators` names them (default: rts,ais,mbar,ti).");
  command.text(&arguments->sweeps, "--sweeps N,M",
               "Sweeps per chain, one or several numbers (default: 100,1000).");
  command.integer(&arguments->repeats, "--repeats R", 2, "Repeats of each (default: 10).");
  command.text(
      &arguments->truth, "--truth T",
      "exact (by enumeration, at most 40 units) or, of one model, a number (default: what the "
      "model's file says, see `make`, or else exact).");
  command.text(&arguments->out, "--out DIR", "Folder of the results (default: out/compare).");
  command.flag(&arguments->fresh, "--fresh", "Ignore the runs that are stored.");
  command.flag(&arguments->take_over, "--take-over",
               "Go on in a folder that another run holds but has given no sign of life in for ten "
               "minutes; should that run wake, it stops.");
  command.real(&arguments->lease, "--lease S", {.low = 0, .above_low = true},
               "Under mpirun: a rank that is silent this long is lost, and its runs are given to "
               "others (default: 60).");
  command.uses_ranks();
  add_estimate_options(command, arguments->shared, false);
  command.writes_folder("--out");
  command.reads_models("MODEL");
  command.action([arguments](const Session& session) { return run(*arguments, session); });
}

}  // namespace boltzmark::cli

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "boltzmark/core/error.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/io/sha256.hpp"
#include "bounds.hpp"
#include "comparison.hpp"
#include "comparison_runs.hpp"
#include "experiments/kit/csv.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/report/plot.hpp"
#include "experiments/kit/run/interrupt.hpp"
#include "experiments/kit/run/study.hpp"
#include "experiments/kit/sources.hpp"
#include "input.hpp"
#include "on_ranks.hpp"
#include "output.hpp"
#include "program.hpp"
#include "progress.hpp"

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

std::vector<std::string> parse_methods(const std::string& list) {
  std::vector<std::string> methods;
  for (const std::string& name : split(list)) {
    find_method(name);
    if (std::find(methods.begin(), methods.end(), name) != methods.end())
      throw InvalidArgument(fmt::format("--methods = {} (must name {} once)", list, name));
    methods.push_back(name);
  }
  return methods;
}

std::vector<int> parse_sweeps(const std::string& list) {
  std::vector<int> sweeps;
  for (const std::string& text : split(list)) {
    std::size_t read = 0;
    int number = 0;
    try {
      number = std::stoi(text, &read);
    } catch (const std::exception&) {
      read = 0;
    }
    if (read == 0 || read != text.size() || number < 2)
      throw InvalidArgument(
          fmt::format("--sweeps = {} (must be numbers of 2 or more, with commas)", list));
    if (std::find(sweeps.begin(), sweeps.end(), number) != sweeps.end())
      throw InvalidArgument(fmt::format("--sweeps = {} (must name {} once)", list, number));
    sweeps.push_back(number);
  }
  return sweeps;
}

// The log Z that --truth says; none: it is the file's or to be enumerated.
std::optional<double> given_truth(const CompareRequest& arguments) {
  if (arguments.truth.empty() || arguments.truth == "exact") return std::nullopt;
  std::size_t read = 0;
  double number = NAN;
  try {
    number = std::stod(arguments.truth, &read);
  } catch (const std::exception&) {
    read = 0;
  }
  if (read != arguments.truth.size() || !std::isfinite(number))
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
    if (std::count(arguments.models.begin(), arguments.models.end(), path) > 1)
      throw InvalidArgument(fmt::format("MODEL = {} (must be named once)", path));
    const std::string bytes = experiments::read_text(path);
    Subject subject{.path = path,
                    .name = name_of(path, arguments.models),
                    .sha256 = sha256(bytes.data(), bytes.size()),
                    .model = load_model(path)};
    subject.truth = given;
    if (arguments.truth.empty())
      if (const auto known = load_known_log_z(path, subject.model)) subject.truth = known->log_z;
    if (!subject.truth && !plan_enumeration(subject.model).possible)
      throw DataError(
          path +
          ": cannot be enumerated (must have a side of at most 40 units, or be compared "
          "alone with a number for --truth, such as a long estimate's log Z)");
    subject.cases =
        about_file(path, [&] { return make_settings(subject.model, arguments.shared); }).cases;
    subjects.push_back(std::move(subject));
  }
  return subjects;
}

std::string cell_text(const experiments::ErrorCell& errors, double value) {
  return errors.errors.empty() ? "-" : fmt::format("{:.4g}", value);
}

void print_comparison(const ComparisonPlan& plan, const Comparison& comparison, bool named) {
  TextTable table({"method", ">sweeps", ">bias", ">std dev", ">RMSE", ">std error", ">covered",
                   ">refused", ">rank", ">seconds"});
  for (const ComparisonCell& c : comparison.cells) {
    const experiments::ErrorCell& e = c.errors;
    table.add({c.method, fmt::format("{}", c.sweeps), cell_text(e, e.mean), cell_text(e, e.std_dev),
               cell_text(e, e.rmse), cell_text(e, e.mean_std_error),
               fmt::format("{}/{}", e.covered, e.ok()),
               fmt::format("{}{}", e.refused, c.refused() ? "*" : ""),
               c.rank > 0 ? fmt::format("{}", c.rank) : "-", fmt::format("{:.3g}", c.seconds)});
  }
  print(fmt::format("\n{}True log Z {:.6f} nats; {} repeats of {} chains. Errors in nats.\n{}\n",
                    named ? comparison.model + ": " : "", comparison.truth, plan.repeats,
                    plan.shared.chains,
                    comparison.summed ? fmt::format("Marginal weights sum out the {} layers.\n",
                                                    *comparison.summed)
                                      : "") +
        table.text());
}

void print_comparisons(const ComparisonPlan& plan, const std::vector<Comparison>& comparisons,
                       const std::string& folder, const std::vector<std::string>& written) {
  print(
      "covered: 95 % intervals of the repeats with status ok that hold the truth\n"
      "rank: by RMSE at that number of sweeps; * at least half of the repeats have "
      "another status: no rank, and a ring in the figures\n");
  for (const Comparison& comparison : comparisons)
    print_comparison(plan, comparison, comparisons.size() > 1);
  print(fmt::format("\nWritten: {}/{}\n", folder, fmt::join(written, ", ")));
}

std::vector<JsonObject> cell_objects(const Comparison& comparison) {
  std::vector<JsonObject> entries;
  for (const ComparisonCell& c : comparison.cells) {
    const experiments::ErrorCell& e = c.errors;
    const auto number = [&](double x) {
      return e.errors.empty() ? std::nullopt : std::optional(x);
    };
    entries.push_back(JsonObject()
                          .set("model", comparison.model)
                          .set("method", c.method)
                          .set("sweeps", c.sweeps)
                          .set("repeats", e.estimates)
                          .set("refused", e.refused)
                          .set("covered", e.covered)
                          .set("mean", number(comparison.truth + e.mean))
                          .set("bias", number(e.mean))
                          .set("std_dev", number(e.std_dev))
                          .set("rmse", number(e.rmse))
                          .set("rmse_lower", number(e.lower))
                          .set("rmse_upper", number(e.upper))
                          .set("mean_std_error", number(e.mean_std_error))
                          .set("rank", c.rank > 0 ? std::optional<double>(c.rank) : std::nullopt)
                          .set("unit_updates", c.unit_updates)
                          .set("seconds", c.seconds));
  }
  return entries;
}

void print_json(const std::vector<Comparison>& comparisons,
                const std::vector<std::string>& written) {
  std::vector<JsonObject> models, cells;
  for (const Comparison& comparison : comparisons) {
    models.push_back(JsonObject()
                         .set("model", comparison.model)
                         .set("truth", comparison.truth)
                         .set("summed", comparison.summed));
    for (JsonObject& cell : cell_objects(comparison)) cells.push_back(std::move(cell));
  }
  const Comparison& first = comparisons.front();
  const bool one = comparisons.size() == 1;
  print(JsonObject()
            .set("truth", one ? std::optional(first.truth) : std::nullopt)
            .set("summed", one ? first.summed : std::nullopt)
            .set("models", models)
            .set("cells", cells)
            .set("files", written));
}

// The table is there without its figures: one that cannot be drawn is named on stderr.
// Returns  the names of the files
std::vector<std::string> write_results(const ComparisonPlan& plan,
                                       const std::vector<Comparison>& comparisons,
                                       const std::string& folder) {
  std::vector<std::string> written;
  for (const experiments::Table& table :
       {comparison_table(comparisons), trials_table(comparisons)}) {
    written.push_back(table.name + ".csv");
    experiments::write_text(folder + "/" + written.back(), experiments::table_csv(table));
  }
  for (const experiments::Figure& figure : comparison_figures(plan, comparisons)) {
    try {
      const auto pictures = experiments::draw_figure(figure, folder);
      for (std::size_t p = 1; p <= pictures.size(); ++p)
        written.push_back(pictures.size() > 1 ? fmt::format("{}-{}.svg", figure.name, p)
                                              : figure.name + ".svg");
    } catch (const std::exception& error) {
      complain(fmt::format("figure {} is missing: {}", figure.name, error.what()));
    }
  }
  return written;
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

/// Thrown where Ctrl-C stopped a comparison: what is finished is stored.
class ComparisonInterrupted : public experiments::Interrupted {
 public:
  ComparisonInterrupted(std::size_t stored, std::size_t planned, const std::string& folder)
      : text_(
            fmt::format("interrupted: {} of {} runs are stored in {}, and the same command goes on "
                        "from there",
                        stored, planned, folder)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

// Says what is stored, and prepares what is not yet: bad options end the command before any run.
void begin(ComparisonRuns& runs, const experiments::PlannedExperiment& plan,
           const Session& session) {
  const std::size_t stored = plan.trials.size() - plan.count_to_run();
  if (stored > 0 && !session.quiet)
    fmt::print(stderr, "boltzmark: {} of {} runs are in the store of {}\n", stored,
               plan.trials.size(), plan.folder);
  for (const experiments::PlannedTrial& trial : plan.trials)
    if (trial.to_run()) runs.prepare(trial.key.inputs);
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
      runs.experiment(), experiments::hash_sources({"lib/", "tools/boltzmark/"}), options,
      [&](const experiments::PlannedExperiment& plan) { begin(runs, plan, session); },
      session.ranks.get());
}

void require_whole(const experiments::StudyOutcome& outcome, const std::string& folder) {
  if (!outcome.run.failures.empty()) throw Error(outcome.run.failures.front());
  if (outcome.run.interrupted)
    throw ComparisonInterrupted(outcome.results.trials().size(), outcome.run.planned, folder);
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
  require_whole(outcome, arguments.out);
  print_all(arguments, plan, runs, outcome.results, session);
  if (session.ranks) leave_ranks(session, 0, outcome.run.lost_ranks == 0);
  return 0;
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
          "truth, summed], cells [model, method, sweeps, repeats, refused, covered, mean, bias, std_dev,\n"
          "rmse, rmse_lower, rmse_upper, mean_std_error, rank (null if refused), unit_updates, seconds],\n"
          "files.",
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
  command.writes({"--out"});
  command.action([arguments](const Session& session) { return run(*arguments, session); });
}

}  // namespace boltzmark::cli

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "boltzmark/core/atomic_file.hpp"
#include "boltzmark/core/error.hpp"
#include "boltzmark/estimate/held.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "bounds.hpp"
#include "comparison.hpp"
#include "experiments/kit/csv.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/plot.hpp"
#include "input.hpp"
#include "output.hpp"
#include "program.hpp"
#include "progress.hpp"

namespace boltzmark::cli {
namespace {

struct CompareRequest {
  std::string model;
  std::string methods = "rts,ais,mbar,ti";
  std::string sweeps = "100,1000";
  std::string truth;  ///< empty: what the model file says, or else exact
  std::string out = "out/compare";
  int repeats = 10;
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
    sweeps.push_back(number);
  }
  return sweeps;
}

// The log Z that the options or the model's file say, before anything is written or summed.
std::optional<double> given_truth(const CompareRequest& arguments, const Layered& model) {
  if (arguments.truth.empty()) {
    const auto known = load_known_log_z(arguments.model, model);
    return known ? std::optional(known->log_z) : std::nullopt;
  }
  if (arguments.truth == "exact") return std::nullopt;
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
  return number;
}

double enumerated_truth(const CompareRequest& arguments, const Layered& model,
                        const Session& session) {
  if (!plan_enumeration(model).possible)
    throw DataError(arguments.model +
                    ": cannot be enumerated (must have a side of at most 40 units, or --truth "
                    "must be a number, such as a long estimate's log Z)");
  return enumerate_log_z(model, session).log_z;
}

std::string cell_text(const experiments::ErrorCell& errors, double value) {
  return errors.errors.empty() ? "-" : fmt::format("{:.4g}", value);
}

void print_cells(const ComparisonPlan& plan, const std::optional<std::string>& summed,
                 const std::vector<ComparisonCell>& cells, const std::string& folder,
                 const std::vector<std::string>& written) {
  TextTable table({"method", ">sweeps", ">bias", ">std dev", ">RMSE", ">std error", ">covered",
                   ">refused", ">rank", ">seconds"});
  for (const ComparisonCell& c : cells) {
    const experiments::ErrorCell& e = c.errors;
    table.add({c.method, fmt::format("{}", c.sweeps), cell_text(e, e.mean), cell_text(e, e.std_dev),
               cell_text(e, e.rmse), cell_text(e, e.mean_std_error),
               fmt::format("{}/{}", e.covered, e.ok()),
               fmt::format("{}{}", e.refused, c.refused() ? "*" : ""),
               c.rank > 0 ? fmt::format("{}", c.rank) : "-", fmt::format("{:.3g}", c.seconds)});
  }
  print(
      fmt::format("True log Z {:.6f} nats; {} repeats of {} chains. Errors in nats.\n"
                  "covered: 95 % intervals of the repeats with status ok that hold the truth\n"
                  "rank: by RMSE at that number of sweeps; * at least half of the repeats have "
                  "another status: no rank, and a ring in the figures\n"
                  "{}\n",
                  plan.truth, plan.repeats, plan.shared.chains,
                  summed ? fmt::format("Marginal weights sum out the {} layers.\n", *summed) : "") +
      table.text() + fmt::format("\nWritten: {}/{}\n", folder, fmt::join(written, ", ")));
}

void print_json(const ComparisonPlan& plan, const std::optional<std::string>& summed,
                const std::vector<ComparisonCell>& cells, const std::vector<std::string>& written) {
  std::vector<JsonObject> entries;
  for (const ComparisonCell& c : cells) {
    const experiments::ErrorCell& e = c.errors;
    const auto number = [&](double x) {
      return e.errors.empty() ? std::nullopt : std::optional(x);
    };
    entries.push_back(JsonObject()
                          .set("method", c.method)
                          .set("sweeps", c.sweeps)
                          .set("repeats", e.estimates)
                          .set("refused", e.refused)
                          .set("covered", e.covered)
                          .set("mean", number(plan.truth + e.mean))
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
  print(JsonObject()
            .set("truth", plan.truth)
            .set("summed", summed)
            .set("cells", entries)
            .set("files", written));
}

// The table is there without its figures: one that cannot be drawn is named on stderr.
// Returns  the names of the files
std::vector<std::string> write_results(const ComparisonPlan& plan, const std::string& model,
                                       const std::vector<ComparisonTrial>& trials,
                                       const std::vector<ComparisonCell>& cells,
                                       const std::string& folder) {
  std::vector<std::string> written;
  for (const experiments::Table& table : {comparison_table(plan, cells), trials_table(trials)}) {
    written.push_back(table.name + ".csv");
    experiments::write_text(folder + "/" + written.back(), experiments::table_csv(table));
  }
  for (const experiments::Figure& figure : comparison_figures(plan, model, cells)) {
    try {
      experiments::draw_figure(figure, folder);
      written.push_back(figure.name + ".svg");
    } catch (const std::exception& error) {
      complain(fmt::format("figure {} is missing: {}", figure.name, error.what()));
    }
  }
  return written;
}

void state_comparison(const ComparisonPlan& plan, const Layered& model, const Session& session) {
  EstimateArguments longest = plan.shared;
  longest.sweeps = *std::max_element(plan.sweeps.begin(), plan.sweeps.end());
  const MethodSettings settings = make_settings(model, longest);
  double bytes = 0, estimates = 0;
  for (const std::string& method : plan.methods) {
    bytes = std::max(bytes, method_bytes(method, settings, model));
    estimates += plan.repeats * estimator_seconds(method, settings);
  }
  const double sweeps = planned_sweeps(plan);
  state_plan(session,
             fmt::format("{} sweeps of {} chains", grouped(static_cast<std::uint64_t>(sweeps)),
                         longest.chains),
             sweep_seconds(model, sweeps * longest.chains) + estimates, bytes + weight_bytes(model),
             "lower --chains, --sweeps or --temperatures");
}

// The layers that are summed out by any of the methods that weigh by a marginal.
std::optional<std::string> summed_by_any(const ComparisonPlan& plan, const Layered& model) {
  std::optional<std::string> any;
  for (const std::string& method : plan.methods)
    if (auto layers = summed_layers(method, model, plan.shared)) any = layers;
  return any;
}

int run(const CompareRequest& arguments, const Session& session) {
  ComparisonPlan plan{.methods = parse_methods(arguments.methods),
                      .sweeps = parse_sweeps(arguments.sweeps),
                      .repeats = arguments.repeats,
                      .shared = arguments.shared};
  refuse_idle_options(plan.methods, arguments.shared);
  const Layered model = load_model(arguments.model);
  const std::optional<double> given = given_truth(arguments, model);
  const CaseValues cases = make_settings(model, arguments.shared).cases;
  state_comparison(plan, model, session);
  const PreparedTarget prepared = make_target(model, arguments.model, arguments.shared, cases);
  const LayeredTarget& target = prepared.target;
  experiments::make_folder(arguments.out);
  plan.truth = given ? *given : enumerated_truth(arguments, model, session);
  const LowerBound bound = find_lower_bound(
      target, mode_search(model, arguments.shared.seed, cases), {}, prepared.modes);
  // A bound that is log Z itself would refuse by the truth what is to be held against it.
  if (!bound.all_states) plan.lowest = bound.lowest();
  std::vector<ComparisonTrial> trials;
  {
    Progress progress(session, "compare", planned_sweeps(plan), "sweeps");
    trials = run_comparison(plan, model, target, [&](double done) { progress.show(done); });
  }
  const std::vector<ComparisonCell> cells = sum_up(plan, model, trials);
  const std::optional<std::string> summed = summed_by_any(plan, model);
  const std::vector<std::string> written =
      write_results(plan, std::filesystem::path(arguments.model).filename().string(), trials, cells,
                    arguments.out);
  if (session.json)
    print_json(plan, summed, cells, written);
  else
    print_cells(plan, summed, cells, arguments.out, written);
  return 0;
}

}  // namespace

void add_compare(Program& program) {
  const auto arguments = std::make_shared<CompareRequest>();
  Command& command = program.command({
      .name = "compare",
      .summary = "bias, RMSE and coverage of estimators of log Z on a model",
      .about = "Runs each method several times at equal cost and holds the estimates against the "
               "true log Z: a table, two CSV files and two figures. Methods that read samples "
               "share each run, as they would in use.",
      .notes =
          "JSON keys: truth, summed (layers, as of estimate), cells [method, sweeps, repeats, refused,\n"
          "covered, mean, bias, std_dev, rmse, rmse_lower, rmse_upper, mean_std_error, rank (null if\n"
          "refused), unit_updates, seconds], files.",
      .examples = {"boltzmark compare rbm.npz",
                   "boltzmark compare rbm.npz --methods rts,ais,smc --sweeps 1000,10000 --repeats "
                   "20 --base mnist",
                   "boltzmark compare big.npz --truth 451.255 --out out/big"},
  });
  command.positional(&arguments->model, "MODEL", "The model file (.npz or .mat).");
  command.text(&arguments->methods, "--methods A,B,C",
               "Methods, as `list estimators` names them (default: rts,ais,mbar,ti).");
  command.text(&arguments->sweeps, "--sweeps N,M",
               "Sweeps per chain, one or several numbers (default: 100,1000).");
  command.integer(&arguments->repeats, "--repeats R", 2, "Repeats of each (default: 10).");
  command.text(
      &arguments->truth, "--truth T",
      "exact (by enumeration, at most 40 units) or a number (default: what the model's file "
      "says, see `make`, or else exact).");
  command.text(&arguments->out, "--out DIR", "Folder of the results (default: out/compare).");
  add_estimate_options(command, arguments->shared, false);
  command.writes({"--out"});
  command.action([arguments](const Session& session) { return run(*arguments, session); });
}

}  // namespace boltzmark::cli

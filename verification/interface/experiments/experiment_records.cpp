// That experiments plan, run and draw what was recorded of them: their code has no truth to be held
// to but itself. Verdicts have digests of their own (claim_digests.cpp).
// Where a difference is meant: build/verification/interface_tests "renew the records"
#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "boltzmark/core/simd.hpp"
#include "boltzmark/io/sha256.hpp"
#include "experiments/kit/csv.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/profile.hpp"
#include "experiments/kit/progress.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/run/reference.hpp"
#include "experiments/kit/run/selection.hpp"
#include "experiments/kit/sources.hpp"
#include "experiments/kit/summary.hpp"
#include "verification/interface/cli/program.hpp"
#include "verification/interface/kit/toys.hpp"
#include "verification/skip.hpp"

namespace boltzmark::experiments {
namespace {

constexpr double kTolerance = 1e-6;  // relative
constexpr double kPaths = 0.05;      // of paths that a last bit, in which libms differ, grows on
constexpr double kKept = 0.6;        // seconds that one took whose kept numbers it must give again
constexpr double kShort = 1.5;       // seconds of a trial that is run again, where another is, too
constexpr double kAtMost = 4;        // seconds of an experiment's trials
// What trials take on every CPU: other vectors round otherwise, from which training goes its own way.
constexpr const char* kPath = "avx2";
constexpr std::size_t kLongest = 8;  // numbers of an array that is recorded whole

std::string records_path() {
  return source_path("verification/interface/fixtures/experiments.json");
}

std::string digest(const std::string& text) {
  return sha256(text.data(), text.size()).substr(0, 8);
}

bool are_numbers(const Json& array) {
  return std::all_of(array.begin(), array.end(), [](const Json& x) { return x.is_number(); });
}

/// Hides the user's own data, which plans and models depend on.
class WithoutUserData {
 public:
  WithoutUserData() {
    if (const char* folders = std::getenv(kName)) before_ = folders;
    unsetenv(kName);
  }
  ~WithoutUserData() {
    if (before_) setenv(kName, before_->c_str(), 1);
  }
  WithoutUserData(const WithoutUserData&) = delete;
  WithoutUserData& operator=(const WithoutUserData&) = delete;

 private:
  static constexpr const char* kName = "BOLTZMARK_DATA";
  std::optional<std::string> before_;
};

/// Puts a few numbers in the place of long arrays, and leaves out what names the worst of cases: of those that differ by
/// rounding, another libm may find another.
Json sketch(const Json& value) {
  if (value.is_array() && value.size() > kLongest && are_numbers(value)) {
    double sum = 0, size = 0;
    for (const Json& x : value) {
      sum += x.get<double>();
      size += std::abs(x.get<double>());
    }
    return {{"count", value.size()},
            {"first", std::vector<Json>(value.begin(), value.begin() + 4)},
            {"last", value.back()},
            {"sum / size", size > 0 ? sum / size : 0},
            {"size", size}};
  }
  Json all = value;
  if (value.is_object()) all.erase("detail");
  if (value.is_structured())
    for (auto& [key, part] : all.items()) part = sketch(part);
  return all;
}

/// Forgets what two runs of one trial do not have in common: measured times.
Json common(const Json& a, const Json& b) {
  if (a == b) return a;
  if (!a.is_structured() || a.type() != b.type() || a.size() != b.size()) return nullptr;
  Json all = a;
  for (auto& [key, part] : all.items())
    part = common(part, a.is_array() ? b.at(std::stoul(key)) : b.value(key, Json()));
  return all;
}

// Leapfrog steps of hundreds of updates.
double tolerance_of(const Experiment& experiment) {
  return experiment.id == "carlson2016/acceptance" ? kPaths : kTolerance;
}

bool agree(const Json& now, const Json& then, double tolerance) {
  if (then.is_null()) return true;
  if (then.is_number() && now.is_number()) {
    const double a = now, b = then;
    return std::abs(a - b) <= tolerance * std::max({std::abs(a), std::abs(b), 1e-3});
  }
  if (!then.is_structured()) return now == then;
  if (now.type() != then.type() || now.size() != then.size()) return false;
  for (const auto& [key, part] : then.items()) {
    if (then.is_object() && !now.contains(key)) return false;
    if (!agree(then.is_array() ? now.at(std::stoul(key)) : now.at(key), part, tolerance))
      return false;
  }
  return true;
}

Json run_again(const Experiment& experiment, const Json& inputs) {
  TrialContext context;
  context.experiment = experiment.id;
  context.key = make_key(context.seed, experiment.id, inputs.dump());
  return Json::parse(experiment.run(inputs, context).dump());
}

/// What another rounding leaves of outputs: numbers and the start of curves, which training that
/// rounds otherwise leaves in the end; no texts.
Json beginnings(const Json& value) {
  if (value.is_string()) return nullptr;
  if (!value.is_structured()) return value;
  Json some = value.is_array() ? Json::array() : Json::object();
  for (const auto& [key, part] : value.items()) {
    if (value.is_object()) some[key] = beginnings(part);
    if (value.is_array() && some.size() < 3) some.push_back(beginnings(part));
  }
  return some;
}

/// The path of this CPU that a trial was kept on; empty: there is none.
std::string path_of(const Trial& trial) {
  for (const std::string& path : simd_paths())
    if (const ForcedSimdPath forced(path); simd_path() == trial.simd) return path;
  return "";
}

/// Digits that another order of a sum may change are left out.
std::string rounded_csv(const std::string& csv) {
  std::string text, cell;
  for (const char c : csv + "\n") {
    if (c != ',' && c != '\n') {
      cell += c;
      continue;
    }
    char* end = nullptr;
    const double value = std::strtod(cell.c_str(), &end);
    const bool number = !cell.empty() && *end == '\0' && std::isfinite(value);
    text += number ? fmt::format("{:.5e}", std::abs(value) < 1e-9 ? 0 : value) : cell;
    text += c;
    cell.clear();
  }
  return text;
}

Json plans_of(const Experiment& experiment) {
  Json plans;
  for (const Profile profile : {Profile::smoke, Profile::quick, Profile::paper}) {
    const std::vector<Json> trials = maker_of_trials(experiments(), experiment).trials(profile);
    plans[profile_name(profile)] = fmt::format("{} {}", trials.size(), digest(Json(trials).dump()));
  }
  return plans;
}

/// What an experiment makes of the trials that claims are digested by; empty if there are none.
Summary fixture_summary(const Experiment& experiment) {
  std::vector<Json> planned;
  std::vector<Trial> trials;
  for (const auto& [inputs, trial] :
       read_reference(source_path("verification/interface/fixtures/claims/" +
                                  maker_of_trials(experiments(), experiment).id + ".jsonl.gz"))) {
    planned.push_back(trial.inputs);
    trials.push_back(trial);
  }
  Summary summary;
  if (!trials.empty()) experiment.summarise(Results(Profile::paper, planned, trials), summary);
  return summary;
}

Json drawings_of(const Summary& summary) {
  Json drawings = Json::object();
  for (const auto& item : summary.items()) {
    if (const auto* table = std::get_if<Table>(&item))
      drawings["table " + table->name] = digest(rounded_csv(table_csv(*table)));
    if (const auto* figure = std::get_if<Figure>(&item))
      drawings["figure " + figure->name] = digest(rounded_csv(figure_csv(*figure)));
  }
  return drawings;
}

std::string frame_of(const Axis& axis) {
  std::string text = fmt::format("{}\n{}\n{}\n{}\n", axis.label, axis.log, csv_number(axis.low),
                                 csv_number(axis.high));
  for (const auto& [label, at] : axis.ticks) text += label + "\n" + csv_number(at) + "\n";
  return text;
}

/// What is about the curves of a panel or an inset, and how they are drawn.
template <class Graph>
std::string graph_frame(const Graph& graph) {
  std::string text = frame_of(graph.x) + frame_of(graph.y);
  for (const Series& series : graph.series)
    text += fmt::format("{} {}\n", static_cast<int>(series.mark), series.colour);
  for (const Guide& guide : graph.guides)
    text += fmt::format("{}\n{}\n{}\n", csv_number(guide.at), guide.label, guide.vertical);
  return text;
}

std::string frame_of(const Figure& figure) {
  std::string text = figure.caption + "\n" + figure.script + "\n";
  for (const Panel& panel : figure.panels) {
    text += panel.title + "\n" + panel.legend + "\n" + graph_frame(panel);
    for (const Inset& inset : panel.insets) text += graph_frame(inset);
  }
  return text;
}

std::string frame_of(const Table& table) {
  std::string text = table.caption + "\n";
  for (const Column& column : table.columns)
    text += fmt::format("{}\n{}\n", column.name, column.digits);
  return text;
}

std::string frame_of(const Measure& measure) {
  const bool known = !std::isnan(measure.power);
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n", measure.part, measure.interval,
                     known ? fmt::format("{:.2f}", measure.power) : "", measure.power_against,
                     measure.post_hoc, measure.note, measure.likely_reason);
}

/// What stands beside the numbers: titles, axes, guides, captions, notes and powers. Claims'
/// digests and the CSV files are of the numbers alone.
Json frames_of(const Summary& summary) {
  std::map<std::string, std::string> texts;
  for (const auto& item : summary.items()) {
    if (const auto* table = std::get_if<Table>(&item))
      texts["table " + table->name] = frame_of(*table);
    if (const auto* figure = std::get_if<Figure>(&item))
      texts["figure " + figure->name] = frame_of(*figure);
    if (const auto* note = std::get_if<std::string>(&item)) texts["notes"] += *note + "\n";
  }
  for (const Measure& measure : summary.measures()) texts[measure.claim] += frame_of(measure);
  Json frames = Json::object();
  for (const auto& [name, text] : texts) frames[name] = digest(rounded_csv(text));
  return frames;
}

bool runs_its_own(const Experiment& experiment) {
  return experiment.trials_of.empty() && !experiment.alone;
}

/// The ways that a trial goes: inputs that are names or choices.
std::set<std::string> ways_of(const Json& inputs) {
  std::set<std::string> ways;
  for (const auto& [key, value] : inputs.items())
    if (value.is_string() || value.is_boolean()) ways.insert(key + " " + value.dump());
  return ways;
}

/// Trials of profile smoke: the first, and of short ones those that go a way that none before them goes, and some that
/// are evenly spread; of those that were recorded before none is left out for the time that it took now.
Json record_runs(const Experiment& experiment, const Json& before) {
  const auto was_recorded = [&](const Json& inputs) {
    return std::any_of(before.begin(), before.end(),
                       [&](const Json& run) { return run.at("inputs") == inputs; });
  };
  Json runs = Json::array();
  std::set<std::string> gone;
  double all_seconds = 0;
  const std::vector<Json> trials = experiment.trials(Profile::smoke);
  const std::set<std::size_t> spread = {0, trials.size() / 3, trials.size() / 2, trials.size() - 1};
  for (std::size_t t = 0; t < trials.size(); ++t) {
    const Json& inputs = trials[t];
    const std::set<std::string> ways = ways_of(inputs);
    if (!spread.contains(t) && std::includes(gone.begin(), gone.end(), ways.begin(), ways.end()))
      continue;
    const double start = now_seconds();
    const Json outputs = sketch(run_again(experiment, inputs));
    const double seconds = now_seconds() - start;
    const bool is_short = seconds <= kShort && all_seconds + seconds <= kAtMost;
    if (!is_short && !runs.empty() && !was_recorded(inputs)) continue;
    all_seconds += seconds;
    gone.insert(ways.begin(), ways.end());
    runs.push_back(
        {{"inputs", inputs}, {"outputs", common(outputs, sketch(run_again(experiment, inputs)))}});
  }
  return runs;
}

/// What a run's last bits depend on, as on the CPU that they were recorded on.
class RecordedMachine {
 public:
  RecordedMachine() : path_(kPath) { Eigen::setCpuCacheSizes(1 << 15, 1 << 19, 1 << 22); }
  ~RecordedMachine() { Eigen::setCpuCacheSizes(before_[0], before_[1], before_[2]); }
  RecordedMachine(const RecordedMachine&) = delete;
  RecordedMachine& operator=(const RecordedMachine&) = delete;

 private:
  ForcedSimdPath path_;
  std::array<std::ptrdiff_t, 3> before_ = {Eigen::l1CacheSize(), Eigen::l2CacheSize(),
                                           Eigen::l3CacheSize()};
};

bool has_path() {
  const std::vector<std::string> paths = simd_paths();
  return std::find(paths.begin(), paths.end(), kPath) != paths.end();
}

/// Holds the recorded trials of a folder of experiments to what they gave.
void check_runs(std::string_view paper) {
  const WithoutUserData without;
  const Json records = Json::parse(read_text(records_path()));
  if (cli_test::kSanitized || !has_path())
    return skip("sanitizers take too long, or this CPU has no AVX2");
  const RecordedMachine machine;
  int checked = 0;
  for (const Experiment& experiment : experiments()) {
    if (experiment.paper() != paper || !runs_its_own(experiment)) continue;
    CHECK_FALSE(records.at(experiment.id).at("runs").empty());
    for (const Json& run : records[experiment.id]["runs"]) {
      const Json now = sketch(run_again(experiment, run["inputs"]));
      INFO(experiment.id << " " << run["inputs"] << "\nwas " << run["outputs"] << "\nis  " << now);
      CHECK(agree(now, run["outputs"], tolerance_of(experiment)));
      ++checked;
    }
  }
  CHECK(checked >= 3);
}

}  // namespace

TEST_CASE("renew the records", "[.]") {
  const WithoutUserData without;
  const RecordedMachine machine;
  const Json before = Json::parse(read_text(records_path()));
  Json records;
  for (const Experiment& experiment : experiments()) {
    Json& record = records[experiment.id];
    const Summary summary = fixture_summary(experiment);
    record = {{"plans", plans_of(experiment)},
              {"drawings", drawings_of(summary)},
              {"frames", frames_of(summary)}};
    if (runs_its_own(experiment))
      record["runs"] = record_runs(
          experiment, before.value(experiment.id, Json::object()).value("runs", Json::array()));
  }
  write_text(records_path(), records.dump(1) + "\n");
  SUCCEED("renewed");
}

TEST_CASE("every experiment plans the trials that are recorded, and draws the same of given ones") {
  const WithoutUserData without;
  const Json records = Json::parse(read_text(records_path()));
  CHECK(records.size() == experiments().size());
  for (const Experiment& experiment : experiments()) {
    INFO(experiment.id
         << "\nWhere a difference is meant, run: interface_tests \"renew the records\"");
    REQUIRE(records.contains(experiment.id));
    CHECK(plans_of(experiment) == records[experiment.id]["plans"]);
    const Summary summary = fixture_summary(experiment);
    CHECK(drawings_of(summary) == records[experiment.id]["drawings"]);
    CHECK(frames_of(summary) == records[experiment.id]["frames"]);
  }
}

TEST_CASE("every experiment is of a folder whose trials are run again") {
  std::set<std::string> papers;
  for (const Experiment& experiment : experiments())
    if (runs_its_own(experiment)) papers.insert(experiment.paper());
  CHECK(papers == std::set<std::string>{"bruegge2013", "calibration", "carlson2016",
                                        "salakhutdinov2010", "yokoyama2019"});
}

TEST_CASE("trials of bruegge2013 run again give the numbers that are recorded") {
  check_runs("bruegge2013");
}

TEST_CASE("trials of calibration run again give the numbers that are recorded") {
  check_runs("calibration");
}

TEST_CASE("trials of carlson2016 run again give the numbers that are recorded") {
  check_runs("carlson2016");
}

TEST_CASE("trials of salakhutdinov2010 run again give the numbers that are recorded") {
  check_runs("salakhutdinov2010");
}

TEST_CASE("trials of yokoyama2019 run again give the numbers that are recorded") {
  check_runs("yokoyama2019");
}

TEST_CASE("kept trials of the committed report, run again, begin as they were kept") {
  if (cli_test::kSanitized) return skip("sanitizers take too long");
  int run_again_on_path = 0;
  for (const Experiment& experiment : experiments()) {
    if (!runs_its_own(experiment)) continue;
    std::vector<Trial> kept;
    for (const auto& [inputs, trial] : read_reference(reference_path(experiment)))
      if (trial.seconds < kKept && !lacks_model(trial)) kept.push_back(trial);
    std::stable_sort(kept.begin(), kept.end(),
                     [](const Trial& a, const Trial& b) { return a.seconds < b.seconds; });
    for (const std::size_t place : std::set<std::size_t>{0, kept.size() / 2}) {
      if (place >= kept.size()) continue;
      const Trial& trial = kept[place];
      const std::string path = path_of(trial);
      if (path.empty()) continue;
      const ForcedSimdPath forced(path);
      ++run_again_on_path;
      const Json now = beginnings(run_again(experiment, trial.inputs));
      INFO(experiment.id << " " << trial.inputs << " of " << trial.revision << "\nkept "
                         << beginnings(trial.outputs) << "\nis   " << now);
      CHECK(agree(now, beginnings(trial.outputs), 1e-4));
    }
  }
  // All were kept on AVX2 or AVX-512.
  const std::vector<std::string> paths = simd_paths();
  const bool wide = std::find(paths.begin(), paths.end(), "avx2") != paths.end();
  CHECK(run_again_on_path >= (wide ? 10 : 0));
}

}  // namespace boltzmark::experiments

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "boltzmark/core/atomic_file.hpp"
#include "boltzmark/core/error.hpp"
#include "boltzmark/core/memory.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/core/simd.hpp"
#include "experiments/kit/datasets/data_folders.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "experiments/kit/ranks/mpi_transport.hpp"
#include "experiments/kit/sources.hpp"
#include "experiments/kit/subprocess.hpp"
#include "tools/boltzmark/output.hpp"
#include "tools/boltzmark/program.hpp"
#include "tools/boltzmark/progress.hpp"

namespace boltzmark::cli {
namespace {

namespace fs = std::filesystem;

struct SetState {
  std::string name;
  bool found = false;
  bool intact = false;
  std::string message;
};

struct Health {
  double memory = 0;
  std::string gnuplot;  ///< its version; empty if there is none
  bool out_writable = false;
  std::vector<SetState> sets = {};
  std::vector<std::string> problems = {};
};

std::string gnuplot_version() {
  const auto result = experiments::run_program({"gnuplot", "--version"});
  if (result.status != 0) return {};
  return result.output.substr(0, result.output.find('\n'));
}

// A folder that does not exist yet can be made if its nearest ancestor is writable.
bool is_writable(const std::string& folder) {
  std::error_code error;
  fs::path place = fs::absolute(folder, error);
  while (!fs::exists(place, error) && place.has_parent_path() && place != place.parent_path())
    place = place.parent_path();
  try {
    const AtomicFile probe(place / ".boltzmark-doctor");  // removed again
    return true;
  } catch (const DataError&) {
    return false;
  }
}

SetState check_set(const experiments::DatasetInfo& info) {
  SetState state{.name = info.name, .found = info.available, .message = "not found"};
  if (!info.available) return state;
  if (!info.stored) {
    state.intact = true;
    state.message = "made on the fly";
    return state;
  }
  try {
    experiments::load_dataset(info.name + ":train");
    experiments::load_dataset(info.name + ":test");
    state.intact = true;
    state.message = "found, hash ok";
  } catch (const Error& error) {
    state.message = error.what();
  }
  return state;
}

Health examine(const std::string& out) {
  Health health{
      .memory = machine_memory(), .gnuplot = gnuplot_version(), .out_writable = is_writable(out)};
  if (health.gnuplot.empty())
    health.problems.emplace_back("gnuplot is not found: figures cannot be drawn");
  if (!health.out_writable) health.problems.push_back(out + " cannot be written: give --out DIR");
  for (const experiments::DatasetInfo& info : experiments::registered_datasets()) {
    health.sets.push_back(check_set(info));
    const SetState& state = health.sets.back();
    if (state.found && !state.intact) health.problems.push_back(state.message);
    if (!state.found && state.name == "mnist")
      health.problems.emplace_back("mnist is not found: set BOLTZMARK_DATA to its folder");
  }
  return health;
}

std::string requested_simd() {
  const char* text = std::getenv("BOLTZMARK_SIMD");
  return text == nullptr ? "" : text;
}

void print_health(const Health& health, const std::string& out) {
  std::error_code error;
  FactList facts;
  facts.add("version",
            fmt::format("boltzmark {}, revision {}", BOLTZMARK_VERSION, experiments::revision()));
  facts.add("compiler", experiments::compiler_name());
  facts.add("CPU", experiments::cpu_name());
  facts.add("SIMD path", fmt::format("{}{}; BOLTZMARK_SIMD may be {}", simd_path(),
                                     requested_simd().empty() ? "" : ", as BOLTZMARK_SIMD asks",
                                     fmt::join(simd_paths(), ", ")));
  facts.add("threads",
            fmt::format("{} of {} cores", thread_count(), std::thread::hardware_concurrency()));
  facts.add("MPI", experiments::mpi_name().empty()
                       ? "none: built without, so that reproduce has one process"
                       : experiments::mpi_name());
  facts.add("memory", human_bytes(health.memory));
  for (const std::string& folder : experiments::data_folders())
    facts.add("data folder", folder + (fs::is_directory(folder, error) ? "" : " (missing)"));
  for (const SetState& set : health.sets) facts.add("data set " + set.name, set.message);
  facts.add("gnuplot", health.gnuplot.empty() ? "not found" : health.gnuplot);
  facts.add("results", out + (health.out_writable ? " (writable)" : " (not writable)"));
  for (const std::string& problem : health.problems) facts.add("PROBLEM", problem);
  if (health.problems.empty()) facts.add("verdict", "all is well");
  print(facts.text());
}

void print_json(const Health& health, const std::string& out) {
  std::vector<JsonObject> sets;
  for (const SetState& set : health.sets)
    sets.push_back(JsonObject()
                       .set("name", set.name)
                       .set("found", set.found)
                       .set("intact", set.intact)
                       .set("message", set.message));
  JsonObject object;
  object.set("version", BOLTZMARK_VERSION)
      .set("revision", experiments::revision())
      .set("compiler", experiments::compiler_name())
      .set("cpu", experiments::cpu_name())
      .set("simd", simd_path())
      .set("simd_requested", requested_simd())
      .set("simd_paths", simd_paths())
      .set("cores", static_cast<int>(std::thread::hardware_concurrency()))
      .set("threads", thread_count())
      .set("memory_bytes", health.memory)
      .set("data_folders", experiments::data_folders())
      .set("datasets", sets)
      .set("gnuplot", not_empty(health.gnuplot))
      .set("mpi", not_empty(experiments::mpi_name()))
      .set("out", out)
      .set("out_writable", health.out_writable)
      .set("problems", health.problems);
  print(object);
}

int run(const std::string& out, const Session& session) {
  const Health health = examine(out);
  if (session.json)
    print_json(health, out);
  else
    print_health(health, out);
  return health.problems.empty() ? 0 : 1;
}

}  // namespace

void add_doctor(Program& program) {
  const auto out = std::make_shared<std::string>("out");
  Command& command = program.command({
      .name = "doctor",
      .summary = "this machine, the data that are found, and what is missing",
      .about = "Shows the CPU and the SIMD path in use, threads and memory, where data sets are "
               "looked for and whether they are whole, and whether figures and results can be "
               "written.",
      .notes =
          "Exit code 1 if something that the experiments need is missing or damaged.\n"
          "JSON keys: version, revision, compiler, cpu, simd, simd_requested, simd_paths, cores,\n"
          "threads, memory_bytes, data_folders, datasets [name, found, intact, message], gnuplot\n"
          "(null if missing), mpi (null: built without), out, out_writable, problems.",
      .examples = {"boltzmark doctor", "BOLTZMARK_DATA=/data boltzmark doctor --json"},
  });
  command.text(out.get(), "--out DIR", "The folder that results would go to (default: out).");
  command.action([out](const Session& session) { return run(*out, session); });
}

}  // namespace boltzmark::cli

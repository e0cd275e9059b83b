#include "boltzmark/exact/modes/modes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "boltzmark/core/error.hpp"
#include "boltzmark/estimate/places/chosen_base.hpp"
#include "boltzmark/io/formats/npz.hpp"
#include "boltzmark/model/sides.hpp"
#include "tools/boltzmark/bounds.hpp"
#include "tools/boltzmark/commands/estimate/estimate_options.hpp"
#include "tools/boltzmark/image.hpp"
#include "tools/boltzmark/input.hpp"
#include "tools/boltzmark/output.hpp"
#include "tools/boltzmark/program.hpp"
#include "tools/boltzmark/progress.hpp"

namespace boltzmark::cli {
namespace {

struct ModesRequest {
  std::string model;
  std::string data;
  std::string binarise = EstimateArguments().binarise;
  std::string out;
  ImageRequest image;
  int starts = FixedPointSearch().starts;
  std::uint64_t seed = 1;
  bool force = false;
};

constexpr int kShown = 20;  // modes of a table for people

/// Modes and the time that they took.
struct Found {
  Modes modes;
  double seconds = 0;
};

Found search(const Layered& model, const ModesRequest& arguments, const Session& session) {
  const Base base = about_file(arguments.model, [&] { return Base::uniform(model); });
  FixedPointSearch climbs{.starts = arguments.starts,
                          .key = make_key(arguments.seed, "lower bound")};
  if (!arguments.data.empty())
    climbs.cases = spread_cases(load_states(model, arguments.data, arguments.binarise).values,
                                arguments.starts);
  const double sweeps = climbs.annealing_sweeps + 2.0 * climbs.max_sweeps;
  const double chains =
      1.25 * climbs.starts + climbs.further_starts + static_cast<double>(climbs.cases.cols());
  state_plan(
      session,
      fmt::format("climbs from up to {} states", grouped(static_cast<std::uint64_t>(chains))),
      sweep_seconds(model, sweeps * chains), weight_bytes(model) + 16 * chains * model.units(),
      "lower --starts");
  const Stopwatch watch;
  Modes modes = about_file(arguments.model,
                           [&] { return find_modes(model, base, {.climbs = std::move(climbs)}); });
  return {std::move(modes), watch.seconds()};
}

// Modes' states and their log f, as `sample` writes chains.
void write_states(const Layered& model, const Modes& modes, const std::string& path) {
  NpzWriter file(path);
  for (int l = 0; l < model.layers(); ++l)
    file.add(layer_name(model, l), Eigen::MatrixXf(modes.states.get_layer(l).transpose()));
  file.add("log_f", std::span(modes.log_f), {modes.log_f.size()});
  const std::vector<std::int32_t> basins(modes.basins.begin(), modes.basins.end());
  file.add("basin", basins, {basins.size()});
  file.commit();
}

void write_image(const Layered& model, const Modes& modes, const ImageRequest& image) {
  const Eigen::MatrixXf visible =
      modes.states.get_layer(0).leftCols(std::min(modes.count(), kMostImages));
  write_images(image.file, grey_values(visible, model.layer(0).unit),
               image_shape(image, model.size(0)));
}

void print_modes(const Layered& model, const Found& found, const ModesRequest& arguments,
                 const Session& session) {
  const Modes& modes = found.modes;
  if (session.json) {
    std::vector<JsonObject> all;
    for (std::size_t k = 0; k < modes.log_f.size(); ++k)
      all.push_back(JsonObject().set("log_f", modes.log_f[k]).set("basin", modes.basins[k]));
    print(JsonObject()
              .set("side", side_name(model, modes.parity))
              .set("climbs", modes.climbs)
              .set("modes", all)
              .set("seed", arguments.seed)
              .set("seconds", found.seconds));
    return;
  }
  TextTable table({">mode", ">log f", ">climbs that ended there"});
  for (int k = 0; k < std::min(modes.count(), kShown); ++k)
    table.add({fmt::format("{}", k + 1),
               fmt::format("{:.4f}", modes.log_f[static_cast<std::size_t>(k)]),
               fmt::format("{}", modes.basins[static_cast<std::size_t>(k)])});
  const bool listed = std::isfinite(log2_states(model, modes.parity));
  print(fmt::format("{} modes of the {} marginal from {} climbs in {}{}{}\n\n{}", modes.count(),
                    side_name(model, modes.parity), modes.climbs, human_seconds(found.seconds),
                    modes.count() > kShown ? fmt::format("; the likeliest {}", kShown) : "",
                    listed ? "" : "; neither side is discrete: of a density, no bound of log Z",
                    table.text()));
}

int run(const ModesRequest& arguments, const Session& session) {
  const Layered model = load_tempered_model(arguments.model);
  if (!arguments.out.empty() && !arguments.out.ends_with(".npz"))
    throw DataError(arguments.out + ": its name does not say the format (must end in .npz)");
  if (!arguments.image.file.empty()) image_shape(arguments.image, model.size(0));
  arguments.image.check(arguments.force);
  if (!arguments.out.empty()) check_output(arguments.out, arguments.force);
  const Found found = search(model, arguments, session);
  if (!arguments.out.empty()) write_states(model, found.modes, arguments.out);
  if (!arguments.image.file.empty()) write_image(model, found.modes, arguments.image);
  print_modes(model, found, arguments, session);
  return 0;
}

constexpr const char* kModesNotes =
    "log f is that of the side with fewer states, named `side`, the other side summed out, reference\n"
    "measure included, in nats: log Z is above the log of the sum of any of these. Where both sides\n"
    "have continuous units it is a density, of vertices of the side with fewer units, and no bound.\n"
    "A basin of 0 is a mode that only the states around another led to. No search finds all modes of\n"
    "every model.\n"
    "FILE.npz holds visible and hidden (deeper models: hidden1, hidden2, ..) [modes, units], the\n"
    "summed-out side at its means given the other; log_f and basin [modes].\n"
    "JSON keys: side, climbs, modes [log_f, basin], seed, seconds.";

}  // namespace

void add_modes(Program& program) {
  const auto arguments = std::make_shared<ModesRequest>();
  Command& command = program.command({
      .name = "modes",
      .summary = "the likeliest states that climbs from many starts find",
      .about =
          "Lists local maxima of a model's marginal law, from which no step of one unit to a "
          "neighbouring value goes up, the likeliest first. Climbs start from even draws, from short "
          "annealing and from data. `estimate` makes its lower bound of log Z of them.",
      .notes = kModesNotes,
      .examples = {"boltzmark modes rbm.npz",
                   "boltzmark modes rbm.npz --data mnist --image modes.pgm",
                   "boltzmark modes dbm.npz --starts 1000 --out modes.npz"},
  });
  command.positional(&arguments->model, "MODEL", "The model file (.npz or .mat).");
  command.integer(
      &arguments->starts, "--starts N", 1,
      fmt::format("Climbs from drawn states (default: {}), besides those from data and up to "
                  "1,024 from what these find.",
                  arguments->starts));
  command.text(&arguments->data, "--data DATASET",
               "Cases to climb from too, as many at most, evenly spread.");
  command.text(&arguments->binarise, "--binarise B", kBinariseHelp);
  command.text(&arguments->out, "--out FILE", "Write the modes' states (.npz).");
  arguments->image.add_to(command, "the visible values of the likeliest 100");
  command.integer(&arguments->seed, "--seed S", "Seed of every draw (default: 1).");
  command.flag(&arguments->force, "--force", "Replace files that exist.");
  command.comes_with("--binarise", {"--data"});
  command.comes_with("--force", {"--out", "--image"});
  command.writes({"--out", "--image"});
  command.reads_models("MODEL");
  command.action([arguments](const Session& session) { return run(*arguments, session); });
}

}  // namespace boltzmark::cli

#include "tools/boltzmark/commands/train/pretrain_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/learn/pretraining.hpp"
#include "experiments/kit/files.hpp"
#include "tools/boltzmark/input.hpp"
#include "tools/boltzmark/output.hpp"
#include "tools/boltzmark/progress.hpp"

namespace boltzmark::cli {
namespace {

constexpr int kMostEpochs = 1 << 20;
constexpr double kPretrainingRate = 0.05;                       // the recipe's
constexpr double kWidePretrainingRate = kPretrainingRate / 10;  // as much less as in training

bool begins_with(const std::string& path, const std::string& heading) {
  std::error_code error;
  return !path.empty() && std::filesystem::exists(path, error) &&
         experiments::read_text(path).starts_with(heading);
}

// As TrainRun::state_cost, and 3 ns a weight for the packing of both directions.
double seconds_of(const Pretraining& pretraining, const Layered& model, int batch) {
  double seconds = 0;
  for (const Pretraining::Stage& stage : pretraining.stages()) {
    const auto products = static_cast<double>(model.weights(stage.rbm).size());
    const double units = model.size(stage.rbm) + model.size(stage.rbm + 1);
    const double sweep = 2 * products * kTrainingProduct + units * 1e-9;
    seconds += static_cast<double>(stage.updates) *
               (batch * (stage.sweeps * sweep + 4 * products * kTrainingProduct) + products * 3e-9);
  }
  return seconds / thread_count();
}

// The stack, of whose weights those below the RBM in training are copied and packed too.
double stack_bytes(const Layered& model, int batch) {
  double stack = 0, most = 0;
  for (int l = 0; l + 1 < model.layers(); ++l) {
    const int sizes[] = {model.size(l), model.size(l + 1)};
    most = std::max(most, training_cost(sizes, {.batch = batch}).bytes + 2 * stack);
    stack += 8 * static_cast<double>(model.weights(l).size());
  }
  return stack + most;
}

}  // namespace

std::vector<int> parse_epochs(const std::string& text, std::size_t hidden) {
  std::vector<int> epochs;
  const char *at = text.data(), *const end = at + text.size();
  while (epochs.size() < hidden) {
    int& value = epochs.emplace_back();
    const auto [stop, error] = std::from_chars(at, end, value);
    const bool good = error == std::errc() && value >= 1 && value <= kMostEpochs;
    const bool last = epochs.size() == hidden;
    if (!good || (last ? stop != end : stop == end || *stop != ','))
      throw InvalidArgument(fmt::format(
          "--pretrain = {} (must be {} numbers of epochs from 1 to {}, one for each --hidden, with "
          "commas between)",
          text, hidden, kMostEpochs));
    at = stop + (last ? 0 : 1);
  }
  return epochs;
}

bool pretrain(TrainRun& training, const TrainArguments& arguments, const LoopOptions& loop,
              const Session& session) {
  if (begins_with(arguments.checkpoint, loop.heading)) return false;
  const StreamKey key = derive_key(make_key(arguments.seed, "train"), "pretraining");
  const int batch = training.trainer().options().batch;
  const Layered& shape = training.trainer().model();
  const bool bits = shape.is_binary();
  const NetworkUnits units{shape.layer(0).unit, shape.layer(1).unit};
  Pretraining pretraining(layer_sizes(shape), units, training.make_source(key),
                          {.epochs = parse_epochs(arguments.pretrain, arguments.hidden.size()),
                           .batch = batch,
                           .learning_rate = bits ? kPretrainingRate : kWidePretrainingRate},
                          key);
  const LoopOptions own{
      .checkpoint = arguments.checkpoint,
      .heading = fmt::format("boltzmark train 1, pretraining {}\n", arguments.pretrain),
      .updates = pretraining.total_updates(),
      .on_the_way = loop.on_the_way,
      .ends_run = false};
  say_resumed(resume(pretraining, own), own, session);
  training.state_cost(
      {.work = fmt::format("{} updates of pretraining", grouped(pretraining.total_updates())),
       .seconds = seconds_of(pretraining, shape, batch),
       .bytes = stack_bytes(shape, batch)});
  make_updates(
      pretraining, own, session, [] {}, [] {});
  training.start_from(pretraining.model());
  save_on_the_way(training.trainer(), loop);
  return true;
}

}  // namespace boltzmark::cli

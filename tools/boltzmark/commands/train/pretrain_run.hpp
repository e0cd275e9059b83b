#pragma once

#include <string>

#include "tools/boltzmark/command.hpp"
#include "tools/boltzmark/commands/train/train_loop.hpp"
#include "tools/boltzmark/commands/train/train_run.hpp"

namespace boltzmark::cli {

/// Parses the epochs of --pretrain, one number for each of so many hidden layers.
/// Throws  InvalidArgument naming the option
std::vector<int> parse_epochs(const std::string& text, std::size_t hidden);

/// Makes a training run's start by greedy pretraining, in the run's own checkpoint, unless this is
/// past it already; states first what both take.  Returns  whether it was made
/// Throws   as resume and make_updates
bool pretrain(TrainRun& training, const TrainArguments& arguments, const LoopOptions& loop,
              const Session& session);

}  // namespace boltzmark::cli

#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "boltzmark/core/atomic_file.hpp"
#include "boltzmark/core/error.hpp"
#include "boltzmark/core/saves_on_the_way.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/run/interrupt.hpp"
#include "tools/boltzmark/command.hpp"
#include "tools/boltzmark/output.hpp"
#include "tools/boltzmark/pace.hpp"
#include "tools/boltzmark/progress.hpp"

namespace boltzmark::cli {

/// What every training run of the command line does besides its updates.
struct LoopOptions {
  std::string checkpoint;      ///< the file to save to and go on from; empty: none
  std::string heading;         ///< what a resumed run must agree on and the trainer does not know
  std::uint64_t updates = 0;   ///< in all
  std::uint64_t evaluate = 0;  ///< how often `evaluate` is called; 0: never
  /// Returns what else a checkpoint is to hold, and takes it back; null: nothing.
  std::function<std::string()> record = nullptr;
  std::function<void(std::string_view)> take_record = nullptr;
  /// Of all loops of a run, which so complains once.
  std::shared_ptr<SavesOnTheWay> on_the_way = std::make_shared<SavesOnTheWay>();
  bool ends_run = true;  ///< its last state is the run's: another loop's is saved by what follows
};

/// Heads a record of so many bytes between the heading and the trainer's checkpoint.
inline std::string record_heading(std::size_t bytes) {
  return fmt::format("evaluations of {} bytes\n", bytes);
}
/// Takes the record off the front of what follows the heading; empty if there is none.
std::string_view take_record_off(std::string_view& bytes);

/// Refuses a checkpoint that another heading begins, and names the options that differ.
/// Throws  DataError
void check_heading(std::string_view checkpoint, const std::string& heading);

/// Saves a trainer's checkpoint: whole or not at all.
template <class Trainer>
void save_checkpoint(const Trainer& trainer, const LoopOptions& options) {
  if (options.checkpoint.empty()) return;
  AtomicFile file(options.checkpoint);
  file.write(options.heading);
  if (const std::string record = options.record ? options.record() : ""; !record.empty())
    file.write(record_heading(record.size()) + record);
  file.write(trainer.checkpoint());
  file.commit();
}

/// Saves it on the way: a run goes on where that fails, with a complaint.
template <class Trainer>
void save_on_the_way(const Trainer& trainer, const LoopOptions& options) {
  options.on_the_way->save([&] { save_checkpoint(trainer, options); }, complain);
}

/// Goes on from the checkpoint if there is one; returns the updates made.
/// Throws  DataError if it is another run's
template <class Trainer>
std::uint64_t resume(Trainer& trainer, const LoopOptions& options) {
  const std::string& path = options.checkpoint;
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error)) return 0;
  const std::string bytes = experiments::read_text(path);
  try {
    check_heading(bytes, options.heading);
    std::string_view rest = std::string_view(bytes).substr(options.heading.size());
    const std::string_view record = take_record_off(rest);
    trainer.restore(rest);
    if (options.take_record) options.take_record(record);
  } catch (const DataError& refusal) {
    throw DataError(fmt::format("{}: {}", path, refusal.what()));
  }
  if (trainer.updates() > options.updates)
    throw DataError(fmt::format("{}: has made {} updates (must be at most --updates, {})", path,
                                trainer.updates(), options.updates));
  return trainer.updates();
}

/// Says so, if a run goes on.
void say_resumed(std::uint64_t updates, const LoopOptions& options, const Session& session);

/// Says what of a training run is kept after Ctrl-C.
std::string interrupted_text(std::uint64_t updates, const std::string& checkpoint);

/// Makes all updates; saves the run every 30 s, or tries to, and at the end, behind `finish`, which keeps what the run is for:
/// neither is lost where the other cannot be written. An evaluation that takes long may end with Interrupted, and is made again
/// by the run that goes on.
/// Throws  Interrupted on Ctrl-C, after saving the checkpoint; DataError, or Error where the disk is full, if that or the
///   last state cannot be saved
template <class Trainer>
void make_updates(Trainer& trainer, const LoopOptions& options, const Session& session,
                  const std::function<void()>& evaluate, const std::function<void()>& finish) {
  const experiments::InterruptGuard guard;
  const Stopwatch watch;
  NowAndThen saving(30);
  Progress progress(session, "train", static_cast<double>(options.updates), "updates");
  const auto stop = [&] {
    save_checkpoint(trainer, options);
    throw experiments::Interrupted(interrupted_text(trainer.updates(), options.checkpoint));
  };
  while (true) {
    const std::uint64_t now = trainer.updates();
    if (options.evaluate > 0 && (now % options.evaluate == 0 || now >= options.updates)) {
      try {
        evaluate();
      } catch (const experiments::Interrupted&) {
        stop();
      }
    }
    if (now >= options.updates) break;
    trainer.step();
    progress.show(static_cast<double>(trainer.updates()));
    if (experiments::interrupt_requested()) stop();
    saving.do_if_due([&] { return watch.seconds(); }, [&] { save_on_the_way(trainer, options); });
  }
  try {
    finish();
  } catch (...) {
    try {
      save_checkpoint(trainer, options);
    } catch (const Error& lost) {
      complain(lost.what());  // both are told: where the checkpoint alone is, the model is kept
    }
    throw;
  }
  if (options.ends_run) save_checkpoint(trainer, options);
}

}  // namespace boltzmark::cli

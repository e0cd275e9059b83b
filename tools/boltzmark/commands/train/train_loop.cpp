#include "tools/boltzmark/commands/train/train_loop.hpp"

#include <charconv>
#include <utility>

#include "tools/boltzmark/output.hpp"

namespace boltzmark::cli {
namespace {

// How a heading says that the parameters start, as options; empty if it is none.
std::string start_options(std::string_view heading) {
  constexpr std::pair<std::string_view, std::string_view> kStarts[] = {
      {"initial sd ", "--initial-sd "},          {"initial xavier", "--initial xavier"},
      {"initial model ", "--start of SHA-256 "}, {"initial pretraining ", "--pretrain "},
      {"pretraining ", "--pretrain "},  // which is under way
      {"discriminative", "--discriminative"}};
  constexpr std::string_view kVersion = "boltzmark train 1, ";
  if (!heading.starts_with(kVersion)) return {};
  heading.remove_prefix(kVersion.size());
  heading = heading.substr(0, heading.find('\n'));
  for (const auto& [start, option] : kStarts)
    if (heading.starts_with(start))
      return fmt::format("{}{}", option, heading.substr(start.size()));
  return {};
}

}  // namespace

void check_heading(std::string_view checkpoint, const std::string& heading) {
  if (checkpoint.starts_with(heading)) return;
  const std::string theirs = start_options(checkpoint);
  if (theirs.empty()) throw DataError("is no checkpoint (must be written by --checkpoint)");
  throw DataError(
      fmt::format("checkpoint: of another start: {} (must be {})", start_options(heading), theirs));
}

// A trainer's checkpoint begins otherwise.
std::string_view take_record_off(std::string_view& bytes) {
  const std::string any = record_heading(0);
  const std::size_t number = any.find('0');
  if (!bytes.starts_with(any.substr(0, number))) return {};
  std::size_t size = 0;
  const char* const end = bytes.data() + bytes.size();
  if (std::from_chars(bytes.data() + number, end, size).ec != std::errc()) return {};
  const std::size_t start = record_heading(size).size();
  if (!bytes.starts_with(record_heading(size)) || bytes.size() - start < size)
    throw DataError("damaged or cut short (must be whole)");
  const std::string_view record = bytes.substr(start, size);
  bytes.remove_prefix(start + size);
  return record;
}

void say_resumed(std::uint64_t updates, const LoopOptions& options, const Session& session) {
  if (!session.quiet && updates > 0)
    complain(fmt::format("going on from update {} of {}", updates, options.checkpoint));
}

std::string interrupted_text(std::uint64_t updates, const std::string& checkpoint) {
  return checkpoint.empty()
             ? fmt::format("interrupted: {} updates are lost (--checkpoint FILE keeps them)",
                           updates)
             : fmt::format(
                   "interrupted: update {} is saved in {}, and the same command goes on "
                   "from there",
                   updates, checkpoint);
}

}  // namespace boltzmark::cli

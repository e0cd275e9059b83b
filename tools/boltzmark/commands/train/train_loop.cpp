#include "tools/boltzmark/commands/train/train_loop.hpp"

#include <charconv>

namespace boltzmark::cli {

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

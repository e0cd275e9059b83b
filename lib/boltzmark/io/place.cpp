#include "boltzmark/io/place.hpp"

#include <fmt/format.h>

#include <cctype>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/memory.hpp"

namespace boltzmark {

void Place::refuse(std::string_view what, std::string_view must) const {
  std::string line =
      fmt::format("{}: {}{}{} ({})", file, part, part.empty() ? "" : " ", what, must);
  // Names come from hostile files too; a message must stay one line.
  for (char& c : line) {
    if (std::iscntrl(static_cast<unsigned char>(c))) c = '?';
  }
  throw DataError(line);
}

void Place::require_memory(std::uint64_t bytes) const {
  constexpr std::uint64_t kLittle = 1 << 24;  // not worth to ask the system
  if (bytes <= kLittle) return;
  if (const double free = available_memory(); static_cast<double>(bytes) > free)
    refuse(fmt::format("needs {}", human_bytes(static_cast<double>(bytes))),
           fmt::format("must fit into the {} of memory that are free", human_bytes(free)));
}

}  // namespace boltzmark

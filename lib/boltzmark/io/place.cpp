#include "boltzmark/io/place.hpp"

#include <fmt/format.h>

#include <cctype>

#include "boltzmark/core/error.hpp"

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

}  // namespace boltzmark

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace boltzmark {

/// Names a file, and a part inside it, in the messages about it.
struct Place {
  std::string file;
  std::string part = {};  ///< an array or a member of the file; empty for the whole file

  /// Throws  DataError `FILE: what (must)`, or `FILE: PART what (must)`: always one line
  [[noreturn]] void refuse(std::string_view what, std::string_view must) const;
  /// Refuses what needs more memory than is free, before it is allocated.
  ///   FILE: PART needs 6 GiB (must fit into the 5 GiB of memory that are free)
  /// Throws  DataError
  void require_memory(std::uint64_t bytes) const;
};

}  // namespace boltzmark

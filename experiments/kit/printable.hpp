#pragma once

#include <string>
#include <string_view>

namespace boltzmark::experiments {

/// Makes one line of printable UTF-8 of any bytes: control characters, newlines among them, become
/// spaces, and bytes that are no UTF-8, or a character that XML does not allow, U+FFFD.
/// Invariant  a line of printable UTF-8 stays as it is
std::string printable_line(std::string_view bytes);

/// Puts a text before each of some characters.
std::string escaped(std::string_view text, std::string_view special, std::string_view before);

}  // namespace boltzmark::experiments

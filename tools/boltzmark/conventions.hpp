#pragma once

#include <string>

namespace boltzmark::cli {

/// Writes what every number of the program rests on, as Markdown: energies, log Z, base, ladder, what
/// each method needs, and a worked example. docs/conventions.md is this text.
std::string conventions();

}  // namespace boltzmark::cli

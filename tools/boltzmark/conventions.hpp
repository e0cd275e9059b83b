#pragma once

#include <string>

namespace boltzmark::cli {

/// Says what every number of the program rests on, as Markdown: the text of docs/conventions.md.
std::string conventions();

}  // namespace boltzmark::cli

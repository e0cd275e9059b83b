#pragma once

#include <string>
#include <string_view>

#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// Quotes a field where RFC 4180 asks for it.
std::string csv_field(std::string_view text);

/// Writes a number so that reading it gives the same double: the shortest such text; "nan", "inf".
std::string csv_number(double value);

/// Writes a table as CSV. A WithInterval fills `<key>`, `<key>_lower`, `<key>_upper` and, if any is
/// marked, `<key>_mark`; a cell that was not run is empty.
std::string table_csv(const Table& table);

/// Writes a figure's data as CSV: panel,series,x,y,lower,upper; insets follow as panel "1 inset 1".
std::string figure_csv(const Figure& figure);

}  // namespace boltzmark::experiments

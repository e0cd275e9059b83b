#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "boltzmark/core/error.hpp"
#include "boltzmark/exact/spectrum/spectrum.hpp"

namespace boltzmark::cli {

// What commands make of results that should not be: no input is known that leads to them.

/// Counts the rows whose outcome does not hold.
template <class Rows>
int count_failed(const Rows& rows) {
  return static_cast<int>(
      std::count_if(rows.begin(), rows.end(), [](const auto& row) { return !row.outcome.holds; }));
}

/// Returns the exit code of a command that checks: 3 if a check does not hold.
template <class Rows>
int exit_code_of(const Rows& rows) {
  return count_failed(rows) == 0 ? 0 : 3;
}

/// Refuses eigenvalues of a model's file that are but estimates.  Throws  Error
inline void require_converged(const Spectrum& result, const std::string& model) {
  if (!result.converged)
    throw Error(fmt::format("{}: the eigenvalue solver did not converge (residual {:.3g})", model,
                            result.residual));
}

}  // namespace boltzmark::cli

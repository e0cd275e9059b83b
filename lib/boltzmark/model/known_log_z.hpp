#pragma once

#include <string>

namespace boltzmark {

/// The log Z of a model as it is known, for what estimates it to be held to.
struct KnownLogZ {
  double log_z = 0;     ///< nats
  double error = 0;     ///< |log_z - true| is at most this; NaN: not told
  std::string by = {};  ///< how it is known: "enumeration", "Kaufman's formula"; or not told
};

}  // namespace boltzmark

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "boltzmark/model/case_values.hpp"

namespace boltzmark {

struct Array;

/// How grey levels of images (bytes 0..255, or shares level / 255) become values of visible units.
struct BinariseOptions {
  enum class Kind {
    threshold,  ///< on if level > threshold
    sample,     ///< on with probability level / 255
    grey        ///< level / 255, not binary
  };
  Kind kind = Kind::threshold;
  int threshold = 127;
  std::uint64_t seed = 0;
  bool images_only = true;  ///< other numbers stay as they are: nobody asked for anything
};

/// Parses `threshold:LEVEL`, `sample:SEED` or `grey`, which are for whatever holds grey levels.
/// Throws  InvalidArgument
BinariseOptions parse_binarise(std::string_view text);
/// Writes the options as parse_binarise reads them.
std::string binarise_text(const BinariseOptions& options);

/// Which cases of an array to take.
struct CaseRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// Turns grey levels into values, held as bytes.
/// Shapes  levels uint8 [cases, ..], result [units x range.count]
/// Randomness  `sample` draws one uint32 per pixel, keyed by (seed, set, case), so that a case is
/// the same in every split
CaseValues binarise(const Array& levels, const CaseRange& range, const BinariseOptions& options,
                    std::string_view set);

/// Turns shares in [0, 1] into values, as binarise does levels of 255 times as much.
/// Shapes      [units x cases]
/// Randomness  as binarise
CaseValues binarise_shares(const CaseValues& shares, const BinariseOptions& options,
                           std::string_view set);

}  // namespace boltzmark

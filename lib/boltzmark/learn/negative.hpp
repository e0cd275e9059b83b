#pragma once

#include <string>
#include <string_view>

namespace boltzmark {

/// How a trainer draws the negative samples of a gradient.
///   cd   k steps from the data:  h0 ~ Gibbs p(h | v0), T_v, then k - 1 times T_h T_v
///   pcd  k sweeps T_h T_v per update of persistent chains
///   pt   one step of persistent ladders per update, k sweeps before the swaps
struct Negative {
  enum class Kind { cd, pcd, pt };
  Kind kind = Kind::cd;
  int sweeps = 1;        ///< k
  int temperatures = 1;  ///< of a ladder from b = 0 to 1, pt only

  /// Throws  InvalidArgument if sweeps < 1 or temperatures < 1
  static Negative cd(int sweeps);
  static Negative pcd(int sweeps);
  static Negative pt(int temperatures, int sweeps);

  /// Writes it as the command line takes it: cd:25, pcd:10, pt:10:1 (10 temperatures, k = 1).
  std::string name() const;
  friend bool operator==(const Negative&, const Negative&) = default;
};

/// Parses a negative phase.  Throws  InvalidArgument naming the forms there are
Negative parse_negative(std::string_view text);

}  // namespace boltzmark

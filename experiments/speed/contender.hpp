#pragma once

#include <functional>
#include <string>

namespace boltzmark::speed {

/// Something that is timed against others that do the same work.
struct Contender {
  std::string work;  ///< what is done, "family/size": equal for all that compete
  std::string name;  ///< who does it, "boltzmark" or a baseline
  int threads = 1;
  /// Prepares the work and returns what does it once; made when it is first timed.
  std::function<std::function<void()>()> make = {};
  /// Instead of `make`, for work in another process: does it once and returns its seconds.
  std::function<double()> timed = {};
  bool once = false;  ///< in a repetition: what it takes is more than what it measures
};

/// The families that the page draws as curves: time against the number that a size starts with.
inline constexpr const char* kChainScaling = "sweeps of many chains, 784x500";
inline constexpr const char* kSizeScaling = "sweeps of square models, 100 chains";

/// Contenders that do only what a work cannot do without: its floors.
inline constexpr const char* kDrawsAlone = "draws alone";
inline constexpr const char* kArithmeticAlone = "arithmetic alone";
inline constexpr const char* kFloatArithmeticAlone = "arithmetic alone, float";
inline constexpr const char* kHalfWidth = ", half width";  ///< by vectors of half the width
inline constexpr const char* kSweepsAlone = "sweeps alone";
inline constexpr const char* kTrialsAlone = "trials alone";
inline constexpr const char* kProductsAlone = "products alone";  ///< by Eigen, float32

/// Registers a contender as the benchmark "work/name/threads:n".
void add(Contender contender);

/// Register the contenders of one family each.
void add_sweeps();
void add_scaling();
void add_draws();
void add_enumerations();
void add_annealing();
void add_training();
void add_spectra();
void add_studies();
void add_ranks();  ///< none without mpirun

}  // namespace boltzmark::speed

#pragma once

#include <string>
#include <vector>

namespace boltzmark::speed {

/// What NumPy says that does its matrix products.
struct NumpyFacts {
  std::string version = {};
  std::vector<std::string> blas = {};  ///< the files of the library, as they are mapped
  std::string core = {};               ///< the CPU that its kernels are for; empty: not told
  int threads = 0;                     ///< that it uses; 0: not told
};

/// Reads the answer of `numpy_baseline.py --version`.  Throws  DataError if it is none
NumpyFacts parse_numpy_facts(const std::string& json);

/// Tells whether the BLAS is one that anybody in need of speed would use: not the reference one of
/// a bare Debian, nor one without a known name. Only then is a ratio of times a fair one.
bool has_fast_blas(const NumpyFacts& facts);

/// Names NumPy, its BLAS and, as far as they are told, the core type and threads of that.
std::string describe_numpy(const NumpyFacts& facts);

/// The names of NumPy as a contender. The second is no baseline: the page takes no ratio to it.
inline constexpr const char* kNumpy = "NumPy";
inline constexpr const char* kSlowNumpy = "NumPy on a slow BLAS";

/// What to install for a ratio to NumPy.
inline constexpr const char* kInstallNumpy =
    "Install NumPy with OpenBLAS (tools/setup bench does; Debian's python3-numpy and "
    "libopenblas0-pthread), and run `make bench` again.";

}  // namespace boltzmark::speed

#pragma once

#include <cstdint>
#include <string>

#include "tools/boltzmark/program.hpp"

namespace boltzmark::cli {

/// What the command line says about drawing hidden units given cases, and about chains.
struct GivenArguments {
  std::string model;
  std::string given;     ///< a data set whose hidden units are drawn; empty: chains
  std::string binarise;  ///< empty: that of the model's visible units
  std::string out;       ///< .npy; of chains .npz
  std::uint64_t seed = 1;
  bool force = false;
};

/// Draws the hidden units of an RBM given each case and writes them as a data set.
/// Randomness  unit draws of the hidden layer, chain = case, under make_key(seed, "sample")
/// Throws  DataError or InvalidArgument
int sample_given(const GivenArguments& arguments, const Session& session);

}  // namespace boltzmark::cli

#pragma once

#include <array>
#include <cstdint>

#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {

/// A tile of weights has this many units, this many neighbours of each, and is stored in parts that
/// add up to the float32 weights; a tile of states has those neighbours of a block of chains.
inline constexpr int kTileUnits = 16;
inline constexpr int kTileTerms = 32;
inline constexpr int kWeightParts = 3;
inline constexpr int kWeightTile = kTileUnits * kTileTerms;
inline constexpr int kStateTile = kTileUnits * kTileTerms / 2;
constexpr int tiles_of(int terms) { return (terms + kTileTerms - 1) / kTileTerms; }

/// Splits a finite weight into bf16 numbers that add up to it, the largest first.
/// Accuracy  exact; products take parts below 2^-126 as 0
std::array<Bfloat16, kWeightParts> split_weight(float weight);

/// Inputs of kTileUnits units, to which the products of weights and states are added.
struct TileProducts {
  const Bfloat16* weights = nullptr;      ///< [tile][part][unit][neighbour]
  const std::uint32_t* states = nullptr;  ///< [block][tile][pair of neighbours][chain], two bf16
                                          ///< numbers each, the first neighbour's in the low half
  int tiles = 0;
  int blocks = 0;
  float* inputs = nullptr;  ///< [block][unit][chain]
};

/// Adds the products by AMX's dot products of bf16 numbers, accumulated in float32. Only where
/// takes_tiles().     [Intel 64 and IA-32 Architectures Software Developer's Manual, TDPBF16PS]
/// Accuracy  the products of states that are exact in bf16 are exact; three roundings of the input
///           a tile, and no more a term than a sequential float32 sum has; even and odd neighbours
///           are summed apart, so that each of these sums must be within the range of float32
void add_tile_products(const TileProducts& job);

}  // namespace boltzmark

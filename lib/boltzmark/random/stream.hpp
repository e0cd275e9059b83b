#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "boltzmark/random/key.hpp"

namespace boltzmark {

/// Computes one block of Philox4x32-10: four uint32 of a counter and a key (Random123).
std::array<std::uint32_t, 4> philox(StreamKey key, std::array<std::uint32_t, 4> counter);

/// A stream of scalar draws for set-up work, counted from 0 within (key, purpose, index).
/// Every object made of the same three gives the same draws; a stream belongs to one task.
class Stream {
 public:
  Stream(StreamKey key, Purpose purpose, std::uint64_t index = 0);

  std::uint32_t operator()();               ///< uniform on all uint32
  double uniform();                         ///< uniform on (0, 1), 53 bits
  double uniform(double low, double high);  ///< uniform on (low, high)
  double normal();                          ///< standard normal, by inversion
  bool bernoulli(double p);                 ///< true with probability p, to 2^-33; one draw
  std::uint64_t below(std::uint64_t n);     ///< uniform on 0..n-1; throws InvalidArgument if n = 0
  void skip(std::uint64_t draws);           ///< goes on as after so many draws, at once

 private:
  StreamKey key_;
  std::uint32_t purpose_;
  std::uint64_t index_;
  std::uint32_t block_ = 0;
  int left_ = 0;
  std::array<std::uint32_t, 4> draws_{};
};

/// Draws an order of 0..count-1, each equally likely (Fisher and Yates).
/// Randomness  below(count), below(count - 1), .., below(2)
std::vector<int> permutation(int count, Stream& stream);

}  // namespace boltzmark

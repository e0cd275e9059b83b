#pragma once

#include <Eigen/Core>
#include <vector>

#include "boltzmark/learn/initial.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "boltzmark/random/stream.hpp"

// Small training runs: their cases, their start and their negative phases.
namespace small_trainers {

using namespace boltzmark;

/// Bits of which a share is 1.
inline Eigen::MatrixXf random_cases(int visible, int cases, StreamKey key = make_key(7, "learn"),
                                    double share = 0.3) {
  Eigen::MatrixXf data(visible, cases);
  Stream stream(key, Purpose::test);
  for (float& x : data.reshaped()) x = stream.uniform() < share ? 1.0F : 0.0F;
  return data;
}

inline bool same_bytes(const Layered& a, const Layered& b) {
  bool same = a.weights() == b.weights();
  for (int l = 0; l < a.layers(); ++l) same = same && a.bias(l) == b.bias(l);
  return same;
}

inline Layered start(int visible, int hidden, double sd = 0.01) {
  return initial_rbm(visible, hidden, sd, make_key(5));
}

template <class AnyTrainer>
void steps(AnyTrainer& trainer, int count) {
  for (int i = 0; i < count; ++i) trainer.step();
}

// Every registered phase, with the settings of its example.
inline std::vector<Negative> registered_negatives() {
  std::vector<Negative> all;
  for (const NegativePhase& phase : negative_phases()) all.push_back(parse_negative(phase.example));
  return all;
}

}  // namespace small_trainers

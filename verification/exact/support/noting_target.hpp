#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "boltzmark/target/target.hpp"

namespace boltzmark {

/// Chains of which D is 0, so that every swap is accepted; they note all b that they are moved at.
class Noting final : public Population {
 public:
  Noting(int chains, std::vector<std::vector<float>>& moves, int& draws)
      : chains_(chains), moves_(&moves), draws_(&draws) {}
  int chains() const override { return chains_; }
  void draw_base() override { ++*draws_; }
  void move(std::span<const float> b) override { moves_->emplace_back(b.begin(), b.end()); }
  void log_ratio(std::span<double> out) override { std::fill(out.begin(), out.end(), 0.0); }
  void log_densities(const Ladder&, std::span<double>) override {}
  void log_increment(float, float, std::span<double>) override {}
  void copy_chain(int, const Population&, int) override {}

 private:
  int chains_;
  std::vector<std::vector<float>>* moves_;
  int* draws_;
};

class NotingTarget final : public Target {
 public:
  std::unique_ptr<Population> populate(int, int chains, StreamKey) const override {
    return std::make_unique<Noting>(chains, moves, draws);
  }
  mutable std::vector<std::vector<float>> moves;
  mutable int draws = 0;  ///< of a group's chains from the base
};

/// Counts how often it is asked to start a run's only population.
inline SetStates counting_start(int& starts) {
  return [&starts](Population&, int first_chain) { starts += first_chain == 0 ? 1 : 1000; };
}

}  // namespace boltzmark

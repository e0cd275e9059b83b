// What the tests of updates of single units share.
#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "boltzmark/transition/sweep.hpp"

namespace unit_test {

using namespace boltzmark;

inline constexpr double kRoundoff = 0x1p-24;  // float32

inline const std::vector<Rule> kRules = {Rule::gibbs(), Rule::flip(), Rule::blended(0.5),
                                         Rule::metropolis()};

// Both signs of sizes from a tie to certainty, all float32.
inline std::vector<float> inputs() {
  std::vector<float> result = {0};
  for (const float size :
       {1e-30F, 1e-7F, 1e-3F, 0.1F, 0.75F, 1.0F, 3.3F, 10.0F, 30.0F, 88.0F, 700.0F})
    for (const float sign : {1.0F, -1.0F}) result.push_back(sign * size);
  return result;
}

// A hidden layer of one kind whose inputs are its biases.
inline Layered isolated(Unit unit, const std::vector<float>& biases) {
  const auto units = static_cast<Eigen::Index>(biases.size());
  Eigen::VectorXd bias(units);
  for (Eigen::Index i = 0; i < units; ++i) bias[i] = static_cast<double>(biases[i]);
  return {{{.unit = Unit::bernoulli(), .bias = Eigen::VectorXd::Zero(1), .sigma0 = {}},
           {.unit = unit, .bias = bias, .sigma0 = {}}},
          {Eigen::MatrixXd::Zero(1, units)}};
}

// Draws that a table holds for every unit and chain of the hidden layer.
class TableDraws final : public Draws {
 public:
  TableDraws(std::size_t units, std::size_t chains) : chains_(chains), table_(units * chains) {}
  std::uint32_t& at(std::size_t unit, std::size_t chain) { return table_[unit * chains_ + chain]; }
  void fill(std::uint32_t* out, const DrawRange& range) const override {
    for (std::size_t u = 0; u < range.units; ++u)
      for (std::size_t c = 0; c < range.chains; ++c) {
        const std::size_t i = (range.first_unit + u) * chains_ + range.first_chain + c;
        const bool inside = range.first_chain + c < chains_ && i < table_.size();
        out[u * range.chains + c] = inside ? table_[i] : 0;
      }
  }

 private:
  std::size_t chains_;
  std::vector<std::uint32_t> table_;
};

// Moves the hidden layer once from the given values of every chain.
inline Eigen::MatrixXf moved(const Layered& model, const Eigen::MatrixXf& from, const Draws& draws,
                             const Rule& rule) {
  Chains chains(model, static_cast<int>(from.cols()));
  chains.set_layer(1, from);
  half_sweep(PackedModel(model), chains, draws, {.rule = rule}, 1);
  return chains.get_layer(1);
}

// The index of a value among the unit's values; fails if it is none.
inline int index_of(Unit unit, float value) {
  const double k = (static_cast<double>(value) - unit.lowest()) / unit.spacing();
  REQUIRE(value == static_cast<float>(unit.value(static_cast<int>(std::lround(k)))));
  return static_cast<int>(std::lround(k));
}

}  // namespace unit_test

#pragma once

#include <Eigen/Core>
#include <vector>

#include "boltzmark/core/checkpoint.hpp"

namespace boltzmark {

/// What a gradient or an optimiser's state holds: one array per parameter of a model.
struct Parameters {
  std::vector<Eigen::MatrixXd> weights;  ///< Layered: W_l [units of l x units of l+1]
  std::vector<Eigen::VectorXd> biases;   ///< Layered: [units of l]
};

/// Tells whether two have the same arrays in number and shape.
bool same_shapes(const Parameters& a, const Parameters& b);

/// Bounds every |value| of the arrays from above; NaN or infinity if one is not finite.
/// The 2-norm serves because it is one vectorised pass and swallows no NaN.
double magnitude(const Parameters& parameters);

/// Sets every entry to 0.
void set_zero(Parameters& parameters);
/// Sets x <- scale x + rate y in every entry, of equal shapes.
void combine(double scale, Parameters& x, double rate, const Parameters& y);

/// Write all entries, and read them back into arrays of the same shapes.
void write_parameters(const Parameters& parameters, CheckpointWriter& out);
void read_parameters(Parameters& parameters, CheckpointReader& in);

}  // namespace boltzmark

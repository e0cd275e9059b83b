#pragma once

#include <cstddef>
#include <vector>

// Slow references for the diagnostics: literal sums and complete enumerations. They share no code
// with the library.
namespace oracle {

/// One term of the definition: 1/n sum_t (x_t - mean)(x_{t+lag} - mean), in long double.
double autocovariance(const std::vector<double>& series, std::size_t lag);

/// Yule-Walker coefficients by Gaussian elimination on the Toeplitz system.
std::vector<double> yule_walker(const std::vector<double>& autocovariances, std::size_t order);

/// P(W+ >= w), P(W+ <= w) for the ranks of |differences|, over all 2^n signs (n <= 20).
struct Tails {
  double greater = 0;
  double less = 0;
};
Tails signed_rank_tails(const std::vector<double>& differences);

/// P(X >= x), P(X <= x) over all ways to draw `drawn` of `total` items, `marked` of them marked,
/// counted with integers (total <= 30).
Tails hypergeometric_tails(std::size_t x, std::size_t drawn, std::size_t marked, std::size_t total);

}  // namespace oracle

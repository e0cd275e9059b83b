#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <limits>

namespace boltzmark {

/// Computes log(1 + e^x) without overflow or cancellation.
///   Accuracy  2 ulp for every finite x
inline double softplus(double x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

/// Computes 1 / (1 + e^-x).
inline double sigmoid(double x) {
  if (x >= 0) return 1.0 / (1.0 + std::exp(-x));
  const double e = std::exp(x);
  return e / (1.0 + e);
}

/// Mixes the bits of a word: a bijection with full avalanche, the finaliser of SplitMix64.
inline std::uint64_t mix_bits(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// Computes log sum_i e^x_i of numbers that are there at once, one of them finite.
/// LogSum, which takes them one by one, may round otherwise.
template <class Terms>
double log_sum_exp(const Terms& terms) {
  const double highest = terms.maxCoeff();
  return highest + std::log((terms.array() - highest).exp().sum());
}

/// Sums e^x_i over a stream of log weights without leaving the range of double.
class LogSum {
 public:
  /// Adds e^log_weight to the sum.
  void add(double log_weight) {
    if (log_weight <= highest_) {
      if (log_weight > -std::numeric_limits<double>::infinity())
        scaled_sum_ += std::exp(log_weight - highest_);
      return;
    }
    scaled_sum_ = scaled_sum_ * std::exp(highest_ - log_weight) + 1.0;
    highest_ = log_weight;
  }
  /// Adds another sum.
  void add(const LogSum& other) {
    if (other.scaled_sum_ == 0) return;
    if (other.highest_ <= highest_) {
      scaled_sum_ += other.scaled_sum_ * std::exp(other.highest_ - highest_);
    } else {
      scaled_sum_ = scaled_sum_ * std::exp(highest_ - other.highest_) + other.scaled_sum_;
      highest_ = other.highest_;
    }
  }
  /// Returns the log of the sum; minus infinity while nothing was added.
  double log() const { return highest_ + std::log(scaled_sum_); }

 private:
  double highest_ = -std::numeric_limits<double>::infinity();
  double scaled_sum_ = 0;
};

/// Sums in twice the working precision (Neumaier 1974).
class CompensatedSum {
 public:
  void add(double x) {
    const double total = sum_ + x;
    rest_ += std::abs(sum_) >= std::abs(x) ? (sum_ - total) + x : (x - total) + sum_;
    sum_ = total;
  }
  double value() const { return sum_ + rest_; }

 private:
  double sum_ = 0, rest_ = 0;
};

}  // namespace boltzmark

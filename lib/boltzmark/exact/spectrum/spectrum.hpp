#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "boltzmark/core/ranks.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/transition/rule.hpp"

namespace boltzmark {

/// In which order a chain updates its units.
enum class Scan {
  periodic,  ///< odd (hidden) layers, then even ones: T = T_h T_v
  random,    ///< one unit, picked uniformly: (1/n) sum_i T_i
};

/// How a spectrum is computed.
struct SpectrumOptions {
  enum class Method { automatic, dense, krylov };
  Method method = Method::automatic;
  double tolerance = 1e-12;  ///< of the residual ||S y - lambda y|| at which an eigenpair counts
  int max_restarts = 300;
  int columns = 0;  ///< of the Krylov space; 0: 40, above 2^16 states 20
};

/// Eigenvalues are told to some 1e-14: a gap of less than this is rounding.
inline constexpr double kResolvedGap = 1e-12;

/// What the eigenvalues of a transition kernel say about its convergence.
struct Spectrum {
  std::size_t states = 0;
  double slem = 0;               ///< second largest eigenvalue modulus
  double second_eigenvalue = 0;  ///< largest real part, one eigenvalue 1 left out
  /// 1 / (1 - slem), in steps of the kernel; none if 1 - slem is less than kResolvedGap, or 0.
  std::optional<double> relaxation_time;
  double stationarity_error = 0;  ///< L1 norm of p T - p
  bool irreducible = false;
  bool aperiodic = false;
  bool converged = false;  ///< false: slem and second_eigenvalue are estimates, see residual
  double residual = 0;     ///< largest ||S y - lambda y|| of the eigenpairs they rest on
  std::string method;      ///< "dense", "marginal", "krylov", "marginal krylov", "reducible"
};

/// Computes the spectrum of the kernel of one sweep or one random-scan step: the double-precision
/// law.
///   Gibbs sweeps: squared singular values of p(v,h) / sqrt(p(v) p(h)), as many as states of a
///   side; small spaces: all eigenvalues; larger ones: Krylov-Schur on S = D^{1/2} T D^{-1/2} with
///   the stationary direction removed. Laws of one's own without detailed balance: all eigenvalues
///   of the plain kernel, of up to 4,096 states
/// Accuracy  1e-8 in both eigenvalues when converged, of moderate condition; where a nearly
///   deterministic sweep (weights of 100) has nilpotent blocks, 0 is known to about 1e-5
/// Ranks     must all call it, and get the same bits as one process. They share the states; up to
///   kMaxDenseStates each computes alone, and Gibbs sweeps up to kMaxStates the first one does
/// Throws    InvalidArgument if a unit is not discrete or there are more than kMaxStates states, on
///   several ranks kMaxSharedStates, or its parameters are too large for a double to resolve a nat
/// Cost      of weights of order 1 on 2 cores: 4x4 milliseconds, 10x10 seconds, 12x12 minutes and
///   3 GiB
Spectrum spectrum(const Layered& model, const Rule& rule, Scan scan = Scan::periodic,
                  const SpectrumOptions& options = {}, const Ranks& ranks = Ranks::serial());

}  // namespace boltzmark

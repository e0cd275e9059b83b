#pragma once

#include <cstdint>

// What one writes with Eigen alone, compiled for the CPU at hand into a library of its own, so that
// its instructions and Eigen's alignment never mix with the engine's. Float32, column = chain.
#pragma GCC visibility push(default)
namespace boltzmark::speed::baseline {

/// An RBM with its chains, weights normal with the given deviation, biases zero.
class Rbm;
Rbm* make_rbm(int visible, int hidden, int chains, const float* weights);
void destroy(Rbm* rbm);

/// One Gibbs sweep: two products, each followed by a pass that activates, draws from a scalar
/// Philox4x32-10 and thresholds.
void sweep(Rbm& rbm);
/// Only the two products of a sweep.
void products(Rbm& rbm);
/// One temperature of AIS: a sweep at b and log f_{b + step}(v) - log f_b(v) of every chain.
void anneal(Rbm& rbm, float b, float step);
/// One update of CD-1 whose minibatch is the chains.
void contrastive_divergence(Rbm& rbm);

/// The matrices of one update of a DBM of three layers, all ones: weights, states, statistics.
class Dbm;
Dbm* make_dbm(int visible, int lower, int upper, int cases);
void destroy_dbm(Dbm* dbm);
/// How many updates of mean field are in one of a DBM, here and where the engine is timed.
inline constexpr int kMeanFieldUpdates = 5;
/// Only the products of an update by mean field and CAST, `cases` chains in all: 11 of five updates
/// of mean field after a pass upwards, the input of the visible units kept; 4 of a sweep; 4 of the
/// statistics of the cases and of the slow half of the chains.
void update_products(Dbm& dbm);

/// log Z of a binary RBM from float32 products and a sum of logs, a block of states at a time:
/// what one writes with NumPy.  weights [visible x hidden] column-major, biases zero
double naive_log_z(int visible, int hidden, const float* weights);

/// Does about n multiply-adds at the peak of one core, from registers; returns what to keep.
float multiply_adds(std::int64_t n);
/// Does about n times an addition and a multiplication, likewise: what a sum over states needs for
/// each state and visible unit. By this CPU's widest vectors or by those of half their width, which
/// are faster where the CPU runs wide ones as two halves.
double add_and_multiply_doubles(std::int64_t n, bool half);
double add_and_multiply_floats(std::int64_t n, bool half);

/// Writes n uniform draws by Random123's Philox4x32-10, one counter after the other.
void scalar_draws(std::uint32_t* out, int n, std::uint32_t sweep);

}  // namespace boltzmark::speed::baseline
#pragma GCC visibility pop

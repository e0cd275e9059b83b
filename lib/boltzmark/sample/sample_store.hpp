#pragma once

#include <Eigen/Core>
#include <vector>

#include "boltzmark/target/ladder.hpp"

namespace boltzmark {

/// Returns the inverse temperatures of a ladder.  Shapes  [rungs]
inline Eigen::VectorXd inverse_temperatures_of(const Ladder& ladder) {
  return Eigen::VectorXf::Map(ladder.singles().data(), ladder.rungs()).cast<double>();
}

/// What tempered sampling keeps: for each kept sweep and chain the rung whose kernel produced the
/// state, and D = log f - log p1 of that joint state. Every estimator on samples reads this alone.
/// Invariant  Zhat is fixed while samples are kept
struct SampleStore {
  Ladder ladder;
  Eigen::VectorXd log_prior = {};  ///< log r_k [rungs], normalised
  Eigen::VectorXd log_z_hat = {};  ///< log Zhat_k [rungs], first 0
  Eigen::MatrixXd log_ratio = {};  ///< D [sweeps x chains]
  Eigen::MatrixXi rung = {};       ///< 0-based [sweeps x chains]
  std::vector<double> log_f = {};  ///< collapsed states kept whole: log f_b(v) [sweep][chain][rung]
  /// Whether rungs were drawn from q(b | x) (simulated tempering); otherwise each is a fixed share
  /// of the samples (parallel tempering), and RTS does not apply.
  bool random_rungs = true;
  /// Whether chains of a bundle exchange their rungs, as far as is known: parallel tempering, however
  /// few sweeps are kept and whether a swap was accepted in them or not.
  bool exchanged_rungs = false;

  int rungs() const { return ladder.rungs(); }
  Eigen::Index sweeps() const { return log_ratio.rows(); }
  Eigen::Index chains() const { return log_ratio.cols(); }
  double samples() const { return static_cast<double>(log_ratio.size()); }
  /// Returns how many consecutive chains may depend on each other: one of simulated tempering, or a
  /// bundle of parallel tempering, a chain a rung.
  Eigen::Index bundle() const {
    return !random_rungs && chains() % rungs() == 0 ? Eigen::Index{rungs()} : 1;
  }

  /// Throws  InvalidArgument if shapes disagree, a rung is outside 0..rungs-1, or a value is not
  /// finite
  void check() const;
};

/// Refuses log_f that cannot be log f_b(v) of the states whose D are stored beside it, as where its
/// indices are exchanged. log f_b(v) = log sum_h p1 e^{b D} is convex in b, and the mean of D given v
/// is its slope at the sampled rung: between the chords to the rungs below and above, in the mean of
/// the samples at the lower rungs and at the upper ones, up to ten standard errors and a tenth; and
/// within a rung, of five or more, D varies with the slope, by a third of as much at least, up to five
/// standard errors.
///   Cost  samples x rungs
/// Throws  InvalidArgument, also as SampleStore::check
void check_collapsed(const SampleStore& store);

/// Computes q(b_k | x) of all rungs from log f_k(x), k = 1..K.
///   q(b_k | x) = (r_k / Zhat_k) f_k(x) / sum_j (r_j / Zhat_j) f_j(x)     [carlson2016, Eq. 7]
/// Shapes  all [rungs]; in place allowed
void rung_probabilities(const Eigen::Ref<const Eigen::VectorXd>& log_f,
                        const Eigen::VectorXd& log_weight, Eigen::Ref<Eigen::VectorXd> out);

/// Which states q(b_k | x) is computed from.
enum class States {
  joint,     ///< all units, by D
  collapsed  ///< the marginal state, by log_f: latent units summed out
};

/// How samples are given to rungs.
enum class Assignment {
  soft,  ///< by q(b_k | x): Rao-Blackwellised
  hard   ///< to the rung that produced them
};

/// Sums over samples, by rung and by group; RTS, TS, TI and TI-RB are functions of these.
/// With weight w_kn = q(b_k | x_n) (soft) or 1{rung_n = k} (hard) and D_n:
struct RungSums {
  Eigen::MatrixXd weight;       ///< sum_n w_kn        [rungs x groups]
  Eigen::MatrixXd first = {};   ///< sum_n w_kn D_n    [rungs x groups]; empty if not kept
  Eigen::MatrixXd second = {};  ///< sum_n w_kn D_n^2  [rungs x groups]; empty if not kept
  /// Sums of w_1n^2, w_Kn^2 and w_1n w_Kn over all samples.
  Eigen::VectorXd end_squares = Eigen::VectorXd::Zero(3);
  double samples = 0;
  /// Of consecutive sweeps, per chain or bundle of chains: group = chain * batches + batch.
  int batches = 1;

  Eigen::Index rungs() const { return weight.rows(); }
  Eigen::Index groups() const { return weight.cols(); }
};

/// Into how many batches of consecutive sweeps each chain is cut: a power of two that makes 32
/// groups or more of all chains, and 1 if there are that many chains.
int batches_per_chain(Eigen::Index chains, Eigen::Index sweeps);

/// Sums the stored joint states by rung.  Cost  samples x rungs exponentials if soft
/// Throws  InvalidArgument as SampleStore::check, or if soft and the rungs were not drawn
RungSums sum_by_rung(const SampleStore& store, Assignment assignment);
/// Sums the stored joint states by q(b | x) of other weights than those that they were drawn by, if they were:
/// log r_k - log Zhat_k.
/// Shapes  log_weights [rungs]     Cost  as soft     Throws  InvalidArgument as SampleStore::check
RungSums sum_by_weights(const SampleStore& store, const Eigen::VectorXd& log_weights);
/// Sums the stored collapsed states, which have no D.
/// Throws  as RungLaw
RungSums sum_collapsed(const SampleStore& store);

/// Lists each rung's samples by their places in store.log_ratio.data(), ascending.
std::vector<std::vector<Eigen::Index>> samples_by_rung(const SampleStore& store);

/// Throws  InvalidArgument unless rungs were drawn by simulated tempering
void need_random_rungs(const SampleStore& store);

/// Computes q(b_k | x) of single stored states.                              [carlson2016, Eq. 7]
class RungLaw {
 public:
  /// Keeps a reference to the store.
  /// Throws  InvalidArgument as SampleStore::check, if rungs were not drawn by simulated tempering,
  /// or if collapsed states are asked for and the store has none
  RungLaw(const SampleStore& store, States states);
  RungLaw(SampleStore&& store, States states) = delete;
  /// The law of joint states by other weights, log r_k - log Zhat_k, however rungs came about.  Shapes  [rungs]
  RungLaw(const SampleStore& store, Eigen::VectorXd log_weights);
  /// Writes the law of the sample at a place of store.log_ratio.data().  Shapes  out [rungs]
  void operator()(Eigen::Index place, Eigen::VectorXd& out) const;

 private:
  const SampleStore& store_;
  States states_;
  Eigen::VectorXd inverse_temperatures_;
  Eigen::VectorXd log_weight_;
};

/// Turns rung occupancies into log partition functions.
///   log Z_k = log Zhat_k - log Zhat_1 + log r_1 - log r_k + log c_k - log c_1   [carlson2016, Eq. 12, Zhat_1 = 1]
/// Shapes  all [rungs], rungs >= 2; log_prior = log r       Units  nats
/// Throws  InvalidArgument if sizes differ, an occupancy is negative or not finite, or all are 0
Eigen::VectorXd log_z_from_occupancies(const Eigen::VectorXd& occupancy,
                                       const Eigen::VectorXd& log_prior,
                                       const Eigen::VectorXd& log_z_hat);

/// Moves log Zhat by one step of self-adjusted mixture sampling, in which step ~ 1 / t.
///   log Zhat_k += step (c_k / r_k - c_1 / r_1)        [Tan et al. 2016; carlson2016, Eq. 19]
/// Shapes, Throws  as log_z_from_occupancies, or if step is not finite
Eigen::VectorXd sams_update(const Eigen::VectorXd& occupancy, const Eigen::VectorXd& log_prior,
                            const Eigen::VectorXd& log_z_hat, double step);

/// Moves log Zhat a part of the way to RTS's estimate.
///   Zhat_k <- Zhat_k ((r_1 / r_k) (c_k / c_1))^alpha                        [carlson2016, Eq. 24]
/// Shapes, Throws  as log_z_from_occupancies
Eigen::VectorXd partial_rts_update(const Eigen::VectorXd& occupancy,
                                   const Eigen::VectorXd& log_prior,
                                   const Eigen::VectorXd& log_z_hat, double alpha);

}  // namespace boltzmark

#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "boltzmark/learn/ascent/ascent.hpp"
#include "boltzmark/learn/cases/case_source.hpp"
#include "boltzmark/learn/initial.hpp"
#include "boltzmark/learn/phases/mean_field.hpp"
#include "boltzmark/learn/phases/negative.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/key.hpp"
#include "boltzmark/sample/chains/sampler.hpp"
#include "boltzmark/transition/chains.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {

/// Subtracts the negative phase of a gradient, estimated from weighted samples.
///   sum -= sum_i q(b_K | x_i) g_i / sum_i q(b_K | x_i),  g_i = (v_i p(h|v_i)', v_i, p(h|v_i))
///                                                                     [carlson2016, Sec. 2.1, 4.4]
/// Every sample counts, whatever rung it came from; other samplers give equal weights. Replaces the
/// states of odd layers by their means given the even ones, which the gradient is of as well.
/// Shapes  weights [chains], q(b_K | x_i) up to a common factor, or empty for 1 each
/// Throws  InvalidArgument if shapes differ, a weight is negative or not finite, or all are 0
void subtract_weighted_negative(const PackedModel& model, std::span<const double> weights,
                                Chains& chains, Parameters& sum);

/// Draws states of a model that was trained on cases before: of p(h|v) for some of them, by sweeps
/// with v held, then v given h. Such a model gives no weight to uniformly random states, and chains
/// from there may find modes that no case is in.
/// Returns     [chains], of different cases as long as there are any
/// Randomness  key, by name; the cases as they are at update 0
/// Throws      InvalidArgument if chains < 1 or the source's units are not those of v
Chains chains_at_cases(const Layered& model, CaseSource& source, int chains, StreamKey key);

/// What a training run does: stochastic gradient ascent on the log-likelihood.
struct TrainOptions {
  Negative negative = Negative::cd(1);
  Rule rule = Rule::gibbs();
  Optimiser optimiser = Optimiser::sgd();
  double learning_rate = Optimiser::sgd().default_rate();
  double weight_decay = 0;        ///< times the weights is taken from their gradient
  int batch = 0;                  ///< cases per update; 0: all of them (batch learning)
  MeanFieldStop mean_field = {};  ///< of the positive phase of models deeper than an RBM
  bool start_at_cases = false;    ///< persistent chains, by chains_at_cases: of a trained model
  std::uint64_t updates = 0;      ///< how many `run` makes in all
};

/// Trains an RBM, whose visible layer may be Gaussian, or a deeper model of other units: positive
/// phase x sampler x optimiser.
///   gradient = mean over cases of (x_l x_{l+1}') with the means of h given v, p(h|v) or psi_s, by
///   mean field where there are more hidden layers than one, less the weighted mean of the same over
///   the sampler's states at b = 1, their odd layers replaced by means given the even ones
///                     [bruegge2013, Sec. 4.2; yokoyama2019, Eqs. 11-13; carlson2016, Sec. 2.1;
///                      salakhutdinov2010, Sec. 2]
/// of Gaussian visible units over sigma^2 for a; their sigma stay.
/// The samplers of negative_phases() give as many states as a minibatch has cases.
/// Randomness  minibatches (Purpose::minibatch), the sampler's initial states, and its draws, Philox
/// under `key` by default: none depends on the rule
/// Invariant   the same bytes for any number of threads, and after checkpoint and restore
class Trainer final : public Ascent {
 public:
  /// Makes the sampler that options.negative names.
  /// Shapes  data [visible x cases], values in the range of the visible units
  /// Throws  InvalidArgument if the model has Gaussian hidden units, is deep where the sampler serves
  /// RBMs only or the visible layer is Gaussian, a sampler is to temper a Gaussian layer, shapes
  /// differ, or an option is outside its range
  Trainer(const Layered& model, CaseValues data, const TrainOptions& options, StreamKey key,
          std::shared_ptr<const Draws> draws = nullptr);
  /// Takes another sampler, of the same model, that is advanced by options.negative.sweeps; an
  /// update throws InvalidArgument where its even layers have values that no unit has.
  /// Throws  InvalidArgument also if it is of other layers, or packed for states alone (Packing::values) where
  /// cases of an RBM are no values of their units
  Trainer(const Layered& model, CaseValues data, const TrainOptions& options, StreamKey key,
          std::unique_ptr<Sampler> sampler);
  /// The same, of cases that a source gives.
  Trainer(const Layered& model, const std::shared_ptr<CaseSource>& source,
          const TrainOptions& options, StreamKey key, std::shared_ptr<const Draws> draws = nullptr);
  Trainer(Layered model, std::shared_ptr<CaseSource> source, const TrainOptions& options,
          StreamKey key, std::unique_ptr<Sampler> sampler);

  /// Makes updates up to options().updates; calls `record` before the first one, after every
  /// `every` and after the last, if there is one.  Throws  InvalidArgument if every < 1; what `record` throws
  void run(std::uint64_t every, const std::function<void(const Trainer&)>& record) {
    run_to(options_.updates, every, [&] {
      if (record) record(*this);
    });
  }

  /// Advances the sampler for the next update, which else does so itself: for who evaluates the
  /// samples that the update will take. A checkpoint in between is refused.
  void sample();

  const Layered& model() const { return model_; }
  const TrainOptions& options() const { return options_; }
  /// Returns the cases of the last update.
  const std::vector<int>& cases() const { return cases_; }
  /// Returns the negative samples of the last update: even layers as drawn, odd ones as means.
  const Chains& negative() const { return negative_; }
  const Sampler& sampler() const { return *sampler_; }

 private:
  void load_cases();
  void fill_means();
  void fill_gradient(Parameters& gradient) override;
  void change(const Step& step) override { model_.add(step.direction, step.rate); }
  CheckpointInputs inputs() const override;
  void save(CheckpointWriter& out) const override;
  void load(CheckpointReader& in) override;

  Layered model_;
  std::shared_ptr<CaseSource> source_;
  TrainOptions options_;
  StreamKey key_;
  Minibatches minibatches_;
  std::optional<MeanField> mean_field_;  ///< of a deep model
  Chains positive_;
  std::unique_ptr<Sampler> sampler_;
  bool from_outside_ = true;  ///< is a sampler that this library did not make
  Chains negative_;
  std::vector<float> inputs_;  ///< of the hidden layer by the cases
  std::vector<int> cases_;
  std::vector<float> case_weights_;  ///< empty while a minibatch is full
  bool sampled_ = false;
};

}  // namespace boltzmark

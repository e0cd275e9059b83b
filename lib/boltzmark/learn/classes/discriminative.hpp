#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "boltzmark/learn/ascent/ascent.hpp"
#include "boltzmark/learn/cases/case_source.hpp"
#include "boltzmark/model/case_values.hpp"
#include "boltzmark/model/discriminative.hpp"

namespace boltzmark {

/// A sparse vector: values at places, ascending.
struct SparseValues {
  std::span<const std::uint32_t> places;
  std::span<const float> values;
};

/// Inputs with their classes, the inputs that are not zero listed case by case.
class LabelledCases {
 public:
  /// Shapes  inputs [inputs x cases], labels [cases], each in 0..classes - 1
  /// Throws  InvalidArgument if shapes disagree, there is no case, a value is not finite, or a
  /// label is outside its range
  LabelledCases(const CaseValues& inputs, std::vector<int> labels, int classes);

  int inputs() const { return inputs_; }
  int classes() const { return classes_; }
  int count() const { return static_cast<int>(labels_.size()); }
  int label(int c) const { return labels_[c]; }
  SparseValues input(int c) const;
  /// Mixes inputs and labels into a hash.
  std::uint64_t hash() const;

 private:
  int inputs_;
  int classes_;
  std::vector<int> labels_;
  std::vector<std::size_t> starts_;
  std::vector<std::uint32_t> places_;
  std::vector<float> values_;
};

/// Computes log P(k | x) of every class and case.  Shapes  [classes x cases]     Units  nats
/// Throws  InvalidArgument if the model has other inputs or classes than the cases
Eigen::MatrixXd log_class_probabilities(const DiscriminativeRbm& model, const LabelledCases& cases);

/// Predicts the likeliest class of each case; of equal ones the first.
std::vector<int> predict(const DiscriminativeRbm& model, const LabelledCases& cases);

/// How well a model classifies cases.
struct ClassScore {
  int cases = 0;
  int errors = 0;                  ///< cases whose likeliest class is another
  double mean_log_likelihood = 0;  ///< of the right classes, nats per case  [yokoyama2019, Eq. 24]
  double std_error_cases = 0;      ///< of that mean over cases; 0 for one case

  double error_rate() const { return static_cast<double>(errors) / cases; }
};
ClassScore score_classes(const DiscriminativeRbm& model, const LabelledCases& cases);

/// Computes the exact gradient of the mean log-likelihood of some cases, and returns that mean.
///   with r_k = t_k - P(k | x):  dl/db_k = <r_k>, dl/dc_j = <sum_k r_k psi_jk>,
///   dl/dW_ij = <x_i sum_k r_k psi_jk>, dl/dU_jk = <r_k psi_jk>      [yokoyama2019, Eqs. 25-28]
/// Shapes  chosen: numbers of cases, one or more; gradient as model.parameters(), overwritten
/// Throws  InvalidArgument if shapes differ, or there is no such case
/// Invariant  the same bytes for any number of threads
double class_gradient(const DiscriminativeRbm& model, const LabelledCases& cases,
                      std::span<const int> chosen, Parameters& gradient);

/// What a discriminative training run does.
struct DiscriminativeOptions {
  Optimiser optimiser = Optimiser::adamax();
  double learning_rate = Optimiser::adamax().default_rate();
  int batch = 0;              ///< cases per update; 0: all of them (batch learning)
  std::uint64_t updates = 0;  ///< how many `run` makes in all
};

/// Trains a discriminative RBM by ascent on the exact gradients of minibatches.
///                                                                     [yokoyama2019, Sec. 3]
/// Randomness  minibatches (key, Purpose::minibatch)
/// Invariant   the same bytes for any number of threads, and after checkpoint and restore
class DiscriminativeTrainer final : public Ascent {
 public:
  /// The cases must outlive the trainer.
  /// Throws  InvalidArgument if the model's sizes are others or an option is outside its range
  DiscriminativeTrainer(DiscriminativeRbm model, const LabelledCases& cases,
                        const DiscriminativeOptions& options, StreamKey key);
  DiscriminativeTrainer(DiscriminativeRbm, LabelledCases&&, const DiscriminativeOptions&,
                        StreamKey) = delete;

  /// Makes updates up to options().updates; calls `record` before the first one, after every
  /// `every` and after the last.  Throws  InvalidArgument if every < 1; what `record` throws
  void run(std::uint64_t every, const std::function<void(const DiscriminativeTrainer&)>& record) {
    run_to(options_.updates, every, [&] { record(*this); });
  }

  std::uint64_t updates_per_epoch() const;
  const DiscriminativeRbm& model() const { return model_; }
  const DiscriminativeOptions& options() const { return options_; }

 private:
  void fill_gradient(Parameters& gradient) override;
  void change(const Step& step) override { model_.add(step.direction, step.rate); }
  CheckpointInputs inputs() const override;
  void save(CheckpointWriter& out) const override;
  void load(CheckpointReader& in) override;

  DiscriminativeRbm model_;
  const LabelledCases* cases_;
  DiscriminativeOptions options_;
  StreamKey key_;
  Minibatches minibatches_;
};

}  // namespace boltzmark

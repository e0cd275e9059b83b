#include "boltzmark/learn/classes/discriminative.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "boltzmark/core/checkpoint.hpp"
#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/core/simd.hpp"
#include "boltzmark/learn/classes/class_kernel.hpp"

namespace boltzmark {
namespace {

constexpr int kChunkCases = 16;  // summed by one thread
constexpr int kPanelUnits = 64;  // of whose weights one thread sums the gradient

void check_sizes(const DiscriminativeRbm& model, const LabelledCases& cases) {
  if (cases.inputs() != model.inputs() || cases.classes() != model.classes())
    throw InvalidArgument(fmt::format("cases = {} inputs, {} classes (must be the model's {}, {})",
                                      cases.inputs(), cases.classes(), model.inputs(),
                                      model.classes()));
}

template <class Body>
void for_chunks(int count, int chunk, const Body& body) {
  const int chunks = (count + chunk - 1) / chunk;
  const auto one = [&](std::size_t i) {
    const int first = static_cast<int>(i) * chunk;
    body(i, first, std::min(first + chunk, count));
  };
  chunks == 1 ? one(0) : parallel_for(static_cast<std::size_t>(chunks), one);
}

/// Computes log P(k | x) of one case; psi [hidden x classes] is filled unless it is empty.
/// The scratch [hidden] receives the hidden inputs without the class's share.
void class_log_probabilities(const DiscriminativeRbm& model, SparseValues input,
                             Eigen::VectorXd& scratch, Eigen::MatrixXd& psi,
                             Eigen::Ref<Eigen::VectorXd> log_p) {
  const auto rows = static_cast<std::size_t>(model.hidden());
  scratch = model.hidden_bias();
  add_columns(model.input_weights().data(), rows, input, scratch.data());
  for (int k = 0; k < model.classes(); ++k)
    log_p[k] = model.class_bias()[k] + log_phi_sum(model.hidden_unit(), scratch.data(),
                                                   model.class_weights().col(k).data(), rows,
                                                   psi.size() == 0 ? nullptr : psi.col(k).data());
  log_p.array() -= log_sum_exp(log_p);
}

/// What a chunk of cases adds to the gradient, W apart.
struct ChunkSum {
  double log_likelihood = 0;
  Eigen::MatrixXd class_weights;
  Eigen::VectorXd hidden_bias, class_bias;

  void start(const DiscriminativeRbm& model) {
    class_weights.setZero(model.hidden(), model.classes());
    hidden_bias.setZero(model.hidden());
    class_bias.setZero(model.classes());
  }
  void add(const ChunkSum& other) {
    log_likelihood += other.log_likelihood;
    class_weights += other.class_weights;
    hidden_bias += other.hidden_bias;
    class_bias += other.class_bias;
  }
};

/// Sums some cases' gradients; column n of `towards` [hidden x cases] becomes sum_k r_k psi_jk.
ChunkSum sum_chunk(const DiscriminativeRbm& model, const LabelledCases& cases,
                   std::span<const int> chosen, Eigen::Ref<Eigen::MatrixXd> towards) {
  ChunkSum sum;
  sum.start(model);
  Eigen::VectorXd scratch, r(model.classes());
  Eigen::MatrixXd psi(model.hidden(), model.classes());
  for (std::size_t n = 0; n < chosen.size(); ++n) {
    const int right = cases.label(chosen[n]);
    class_log_probabilities(model, cases.input(chosen[n]), scratch, psi, r);
    sum.log_likelihood += r[right];
    r = -r.array().exp();
    r[right] += 1;
    auto d = towards.col(static_cast<Eigen::Index>(n));
    d.setZero();
    for (int k = 0; k < model.classes(); ++k) {
      sum.class_weights.col(k) += r[k] * psi.col(k);
      d += r[k] * psi.col(k);
    }
    sum.hidden_bias += d;
    sum.class_bias += r;
  }
  return sum;
}

/// Sums the outer products of what each case's hidden units are to follow, and its input.
void sum_input_weights(const Eigen::MatrixXd& towards, const LabelledCases& cases,
                       std::span<const int> chosen, Eigen::MatrixXd& sum) {
  const auto rows = static_cast<std::size_t>(towards.rows());
  for_chunks(static_cast<int>(rows), kPanelUnits, [&](std::size_t, int first, int last) {
    sum.middleRows(first, last - first).setZero();
    for (std::size_t n = 0; n < chosen.size(); ++n)
      add_outer(towards.col(static_cast<Eigen::Index>(n)).data(), rows,
                static_cast<std::size_t>(first), static_cast<std::size_t>(last - first),
                cases.input(chosen[n]), sum.data());
  });
}

int batch_size(const LabelledCases& cases, const DiscriminativeOptions& options) {
  if (options.batch < 0 || options.batch > cases.count())
    throw InvalidArgument(fmt::format("batch = {} (must be 1..{}, or 0 for all cases)",
                                      options.batch, cases.count()));
  return options.batch == 0 ? cases.count() : options.batch;
}

}  // namespace

LabelledCases::LabelledCases(const CaseValues& inputs, std::vector<int> labels, int classes)
    : inputs_(static_cast<int>(inputs.rows())), classes_(classes), labels_(std::move(labels)) {
  if (inputs.rows() < 1 || inputs.cols() < 1)
    throw InvalidArgument(fmt::format("inputs = [{} x {}] (must have an input and a case or more)",
                                      inputs.rows(), inputs.cols()));
  if (inputs.cols() != static_cast<Eigen::Index>(labels_.size()))
    throw InvalidArgument(
        fmt::format("labels = {} (must be {}, one per case)", labels_.size(), inputs.cols()));
  for (std::size_t c = 0; c < labels_.size(); ++c)
    if (labels_[c] < 0 || labels_[c] >= classes)
      throw InvalidArgument(
          fmt::format("label of case {} = {} (must be 0..{})", c + 1, labels_[c], classes - 1));
  if (!inputs.all([](float x) { return std::isfinite(x); }))
    throw InvalidArgument("inputs = NaN or infinity (must be finite)");
  starts_.push_back(0);
  for (Eigen::Index c = 0; c < inputs.cols(); ++c) {
    const Eigen::VectorXf values = inputs.col(c);
    for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
      if (values[i] == 0) continue;
      places_.push_back(static_cast<std::uint32_t>(i));
      values_.push_back(values[i]);
    }
    starts_.push_back(places_.size());
  }
}

SparseValues LabelledCases::input(int c) const {
  const std::size_t first = starts_[c], count = starts_[c + 1] - first;
  return {{places_.data() + first, count}, {values_.data() + first, count}};
}

std::uint64_t LabelledCases::hash() const {
  const auto bytes = [](const auto& values) {
    return std::string_view(reinterpret_cast<const char*>(values.data()),
                            values.size() * sizeof values[0]);
  };
  const auto shape = static_cast<std::uint64_t>(inputs_) << 32 | static_cast<unsigned>(classes_);
  return hash_bytes(
      bytes(values_),
      hash_bytes(bytes(places_), hash_bytes(bytes(starts_), hash_bytes(bytes(labels_), shape))));
}

Eigen::MatrixXd log_class_probabilities(const DiscriminativeRbm& model,
                                        const LabelledCases& cases) {
  simd_path();
  check_sizes(model, cases);
  Eigen::MatrixXd log_p(cases.classes(), cases.count());
  for_chunks(cases.count(), kChunkCases, [&](std::size_t, int first, int last) {
    Eigen::VectorXd scratch;
    Eigen::MatrixXd no_psi;
    for (int c = first; c < last; ++c)
      class_log_probabilities(model, cases.input(c), scratch, no_psi, log_p.col(c));
  });
  return log_p;
}

std::vector<int> predict(const DiscriminativeRbm& model, const LabelledCases& cases) {
  const Eigen::MatrixXd log_p = log_class_probabilities(model, cases);
  std::vector<int> classes(static_cast<std::size_t>(cases.count()));
  for (int c = 0; c < cases.count(); ++c) log_p.col(c).maxCoeff(&classes[c]);
  return classes;
}

ClassScore score_classes(const DiscriminativeRbm& model, const LabelledCases& cases) {
  const Eigen::MatrixXd log_p = log_class_probabilities(model, cases);
  ClassScore score{.cases = cases.count()};
  Eigen::VectorXd values(cases.count());
  for (int c = 0; c < cases.count(); ++c) {
    int likeliest = 0;
    log_p.col(c).maxCoeff(&likeliest);
    score.errors += likeliest != cases.label(c);
    values[c] = log_p(cases.label(c), c);
  }
  const auto n = static_cast<double>(cases.count());
  score.mean_log_likelihood = values.mean();
  if (cases.count() > 1)
    score.std_error_cases =
        std::sqrt((values.array() - score.mean_log_likelihood).square().sum() / (n - 1) / n);
  return score;
}

double class_gradient(const DiscriminativeRbm& model, const LabelledCases& cases,
                      std::span<const int> chosen, Parameters& gradient) {
  simd_path();
  check_sizes(model, cases);
  if (chosen.empty()) throw InvalidArgument("chosen = no case (must be one or more)");
  for (const int number : chosen)
    if (number < 0 || number >= cases.count())
      throw InvalidArgument(fmt::format("case = {} (must be one of {})", number, cases.count()));
  if (!same_shapes(gradient, model.parameters()))
    throw InvalidArgument("gradient (must have the model's shapes)");
  const auto count = static_cast<int>(chosen.size());
  Eigen::MatrixXd towards(model.hidden(), count);
  std::vector<ChunkSum> sums(static_cast<std::size_t>((count + kChunkCases - 1) / kChunkCases));
  for_chunks(count, kChunkCases, [&](std::size_t chunk, int first, int last) {
    const int size = last - first;
    sums[chunk] =
        sum_chunk(model, cases, chosen.subspan(first, size), towards.middleCols(first, size));
  });
  for (std::size_t i = 1; i < sums.size(); ++i) sums[0].add(sums[i]);
  const double share = 1.0 / count;
  sum_input_weights(share * towards, cases, chosen, gradient.weights[0]);
  gradient.weights[1] = share * sums[0].class_weights;
  gradient.biases[0] = share * sums[0].hidden_bias;
  gradient.biases[1] = share * sums[0].class_bias;
  return share * sums[0].log_likelihood;
}

DiscriminativeTrainer::DiscriminativeTrainer(DiscriminativeRbm model, const LabelledCases& cases,
                                             const DiscriminativeOptions& options, StreamKey key)
    : Ascent(model.zero_parameters(), options.optimiser, options.learning_rate),
      model_(std::move(model)),
      cases_(&cases),
      options_(options),
      key_(key),
      minibatches_(cases.count(), batch_size(cases, options), key) {
  check_sizes(model_, cases);
}

std::uint64_t DiscriminativeTrainer::updates_per_epoch() const {
  return static_cast<std::uint64_t>(minibatches_.per_epoch());
}

void DiscriminativeTrainer::fill_gradient(Parameters& gradient) {
  class_gradient(model_, *cases_, minibatches_.cases(updates()), gradient);
}

CheckpointInputs DiscriminativeTrainer::inputs() const {
  CheckpointInputs inputs;
  inputs.add("inputs, hidden units, classes",
             fmt::format("{}-{}-{}", model_.inputs(), model_.hidden(), model_.classes()));
  inputs.add("hidden units", "discriminative " + model_.hidden_unit().name());
  inputs.add("optimiser and rate", describe(options_.optimiser, options_.learning_rate));
  inputs.add("batch", std::to_string(batch_size(*cases_, options_)));
  inputs.add("cases", std::to_string(cases_->count()));
  inputs.add_hash("data", {cases_->hash()});
  inputs.add_hash("seed", {key_.low, key_.high});
  return inputs;
}

void DiscriminativeTrainer::save(CheckpointWriter& out) const {
  write_parameters(model_.parameters(), out);
}

void DiscriminativeTrainer::load(CheckpointReader& in) {
  Parameters values = model_.parameters();
  read_parameters(values, in);
  model_ = DiscriminativeRbm(model_.hidden_unit(), std::move(values.weights[0]),
                             std::move(values.weights[1]), std::move(values.biases[0]),
                             std::move(values.biases[1]));
}

}  // namespace boltzmark

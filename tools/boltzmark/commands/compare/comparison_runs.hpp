#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/kit/experiment.hpp"
#include "experiments/kit/results.hpp"
#include "tools/boltzmark/commands/compare/comparison.hpp"

namespace boltzmark::cli {

/// A model that methods are compared on.
struct Subject {
  std::string path;
  std::string name;    ///< in tables and figures
  std::string sha256;  ///< of the file
  Layered model;
  std::optional<double> truth = {};  ///< known before anything is summed
  CaseValues cases = {};
  bool truth_given = false;  ///< by the command, not by the file
  double truth_slack = 0;    ///< by which it may be off, in nats
};

/// The runs of a comparison as trials: of each model, number of sweeps and repeat one of all methods that
/// read samples, which share it, and one of each other method. A trial's inputs name all that it depends
/// on besides the seed, so that one that is stored is the one that would be computed. They run one at a
/// time, each with all threads.
class ComparisonRuns {
 public:
  /// Throws  as make_settings
  ComparisonRuns(ComparisonPlan plan, std::vector<Subject> subjects);
  ComparisonRuns(const ComparisonRuns&) = delete;
  ComparisonRuns& operator=(const ComparisonRuns&) = delete;

  const std::vector<Subject>& subjects() const { return subjects_; }
  /// Describes the trials; it refers to this object.
  experiments::Experiment experiment();
  /// Makes what a trial's model is tempered with and held to, once: its base, its modes and its bound.
  /// Throws  as make_target; DataError if a bound that is certain refutes the truth
  void prepare(const experiments::Json& inputs);
  /// Tells whether the log Z of a trial's model is said, not to be enumerated.
  bool has_truth(const experiments::Json& inputs) const;
  /// Sums up what was stored of a model.  Invariant  all of its trials were
  Comparison sum_up(const experiments::Results& results, const Subject& subject,
                    double truth) const;

 private:
  struct Prepared;
  std::size_t find(const experiments::Json& inputs) const;
  const Prepared& prepared(const experiments::Json& inputs);
  std::vector<experiments::Json> trials() const;
  experiments::Json run(const experiments::Json& inputs, const experiments::TrialContext& context);

  ComparisonPlan plan_;
  std::vector<Subject> subjects_;
  std::vector<std::vector<std::string>> groups_;  ///< methods that share a run
  std::vector<experiments::Json> options_;  ///< of each model, as its trials' inputs name them
  std::vector<std::shared_ptr<const Prepared>> prepared_;  ///< of each model, once it is
};

}  // namespace boltzmark::cli

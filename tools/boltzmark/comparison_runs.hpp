#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "comparison.hpp"
#include "experiments/kit/experiment.hpp"
#include "experiments/kit/results.hpp"

namespace boltzmark::cli {

/// A model that methods are compared on.
struct Subject {
  std::string path;
  std::string name;    ///< in tables and figures
  std::string sha256;  ///< of the file
  Layered model;
  std::optional<double> truth = {};  ///< known before anything is summed
  CaseValues cases = {};
};

/// The runs of a comparison as trials: of each model, number of sweeps and repeat one of all methods that
/// read samples, which share it, and one of each other method. A trial's inputs name all that it depends
/// on besides the seed, so that one that is stored is the one that would be computed.
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
  /// Safe to use from several threads.
  /// Throws  as make_target
  void prepare(const experiments::Json& inputs);
  /// Sums up what was stored of a model.
  /// Throws  std::out_of_range if a trial is missing
  Comparison sum_up(const experiments::Results& results, const Subject& subject,
                    double truth) const;

 private:
  struct Prepared;
  /// A model's place, where what is prepared of it goes.
  struct Place {
    std::once_flag once;
    std::shared_ptr<const Prepared> made;
  };

  std::size_t find(const experiments::Json& inputs) const;
  const Prepared& prepared(const experiments::Json& inputs);
  std::vector<experiments::Json> trials() const;
  experiments::Json run(const experiments::Json& inputs, const experiments::TrialContext& context);

  ComparisonPlan plan_;
  std::vector<Subject> subjects_;
  std::vector<std::vector<std::string>> groups_;  ///< methods that share a run
  std::vector<experiments::Json> options_;  ///< of each model, as its trials' inputs name them
  std::deque<Place> places_;
};

}  // namespace boltzmark::cli

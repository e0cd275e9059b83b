#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "experiments/kit/claims.hpp"
#include "experiments/kit/document.hpp"
#include "experiments/kit/run/plan.hpp"

namespace boltzmark::experiments {

/// `reproduce` on given experiments and claims, so that tests can bring their own.
ReproduceResult reproduce(const ReproduceOptions& options, const std::vector<Experiment>& all,
                          const std::vector<ClaimFile>& claims, RankLink* link = nullptr);

/// Writes the report of everything that a folder holds at one profile, and renews it while a run
/// goes on there: each experiment's CSV and SVG files, manifest.json, report/index.html,
/// report/<paper>.html, report/report.md and report/claims.json. An experiment is drawn again only when trials of it were
/// added. Two processes take turns; each file is replaced whole.
class ReportWriter {
 public:
  /// plans are experiments planned already, which the writer looks at again; of the others those
  /// are shown that the folder has results of
  ReportWriter(const ReproduceOptions& options, const std::vector<Experiment>& all,
               const std::vector<ClaimFile>& claims, const std::vector<PlannedExperiment>& plans);

  /// Lists what is shown: the plans, and the experiments that the folder has results of.
  std::vector<const PlannedExperiment*> all_plans() const;
  /// Writes a manifest of what is known before the run: no seconds yet.
  void write_manifest();
  /// Draws what has finished trials, before a run adds some.
  void draw_finished();
  /// Draws an experiment whose trials have ended, and writes the report anew. Safe to call from
  /// several threads, while others run trials of other experiments.
  void renew(const PlannedExperiment& ended);
  /// Draws and writes everything, the manifest too, and notes what failed unless the run was
  /// interrupted.
  void finish(ReproduceResult& result);

 private:
  void draw(const PlannedExperiment& plan);
  void write();

  std::string out_, root_;
  const std::vector<Experiment>& all_;
  const std::vector<ClaimFile>& claims_;
  const std::vector<PlannedExperiment>& plans_;
  std::vector<PlannedExperiment> others_ = {};
  Document document_ = {};
  std::mutex mutex_;
};

}  // namespace boltzmark::experiments

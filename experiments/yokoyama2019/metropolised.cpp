#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boltzmark/exact/spectrum/spectrum.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/statistics/interval.hpp"
#include "experiments/kit/statistics/proportion.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments::yokoyama2019_metropolised {
namespace {

constexpr int kSteps[] = {1, 2, 4, 8};
constexpr double kScales[] = {0.25, 0.5, 1, 2, 4};

/// RBMs per cell; the 6561 states of s = 8 cost most.
int rbms(int steps, Profile profile) {
  if (profile == Profile::smoke) return steps <= 2 ? 4 : 0;
  if (profile == Profile::paper) return 400;
  return steps <= 4 ? 40 : 6;
}

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  for (const int steps : kSteps)
    for (const double c : kScales)
      if (const int count = rbms(steps, profile); count > 0)
        all.push_back({{"s", steps}, {"c", c}, {"rbms", count}});
  return all;
}

/// A 2x2 RBM of X(s) on both sides with weights ~ U[-c, c] and no biases.
Layered random_rbm(int steps, double c, Stream& stream) {
  Eigen::MatrixXd weights(2, 2);
  for (double& w : weights.reshaped()) w = stream.uniform(-c, c);
  const Layer layer{
      .unit = Unit::multivalued(steps), .bias = Eigen::VectorXd::Zero(2), .sigma0 = {}};
  return Layered({layer, layer}, {std::move(weights)});
}

/// The weights of repeat r are the same for every s.
Json run(const Json& inputs, const TrialContext& context) {
  const int steps = inputs.at("s"), count = inputs.at("rbms");
  const double c = inputs.at("c");
  const StreamKey key = context.shared_key(fmt::format("c {}", c));
  std::vector<double> gibbs, metropolised;
  int unconverged = 0;
  for (int r = 0; r < count; ++r) {
    Stream stream(key, Purpose::initial_weights, static_cast<std::uint64_t>(r));
    const Layered model = random_rbm(steps, c, stream);
    const Spectrum g = spectrum(model, Rule::gibbs()), m = spectrum(model, Rule::flip());
    gibbs.push_back(g.slem);
    metropolised.push_back(m.slem);
    unconverged += !g.converged + !m.converged;
    context.progress(static_cast<double>(r + 1) / count);
  }
  return {{"slem_gibbs", gibbs}, {"slem_metropolised", metropolised}, {"unconverged", unconverged}};
}

/// One cell: how often Metropolised Gibbs has the lower SLEM, and both median spectral gaps.
struct Comparison {
  Count wins;
  double gap_gibbs, gap_metropolised;
  explicit Comparison(const Trial& trial) {
    const auto gibbs = numbers(trial.outputs.at("slem_gibbs"));
    const auto metropolised = numbers(trial.outputs.at("slem_metropolised"));
    wins.trials = gibbs.size();
    for (std::size_t r = 0; r < gibbs.size(); ++r) wins.successes += metropolised[r] < gibbs[r];
    gap_gibbs = 1 - median(gibbs);
    gap_metropolised = 1 - median(metropolised);
  }
};

void summarise(const Results& results, Summary& summary) {
  Table table{.name = "slems",
              .caption =
                  "2x2 RBMs of X(s) on both sides, weights uniform on [−c, c], no biases: "
                  "the share on which Metropolised Gibbs has the lower SLEM, with exact "
                  "95 % intervals, and the median spectral gaps 1 − SLEM of both.",
              .columns = {{"s", "s"},
                          {"c", "c", 2},
                          {"RBMs", "rbms"},
                          {"Metropolised lower", "share_metropolised", 2},
                          {"gap of Gibbs", "gap_gibbs", 4},
                          {"gap of Metropolised", "gap_metropolised", 4},
                          {"SLEMs not converged", "unconverged"}}};
  Panel panel{.x = {.label = "c, the largest size of a weight", .log = true},
              .y = {.label = "share with the lower SLEM", .low = 0, .high = 1},
              .series = {},
              .guides = {{.at = 0.5}}};
  for (const int steps : kSteps) {
    Series series{.label = fmt::format("s = {}", steps), .mark = Mark::line_points};
    for (const Trial* trial : results.where({{"s", steps}})) {
      const Comparison cell(*trial);
      const Interval share = proportion_interval(cell.wins.successes, cell.wins.trials);
      const double c = trial->inputs.at("c");
      table.rows.push_back({std::int64_t{steps}, c, static_cast<std::int64_t>(cell.wins.trials),
                            WithInterval{share.estimate, share.lower, share.upper}, cell.gap_gibbs,
                            cell.gap_metropolised,
                            trial->outputs.at("unconverged").get<std::int64_t>()});
      series.x.push_back(c);
      series.y.push_back(share.estimate);
      series.lower.push_back(share.lower);
      series.upper.push_back(share.upper);
    }
    if (!series.x.empty()) panel.series.push_back(std::move(series));
  }
  summary.add(std::move(table));
  summary.add(Figure{.name = "shares",
                     .caption =
                         "Share of random RBMs on which Metropolised Gibbs mixes faster than "
                         "Gibbs sampling. Bars: exact 95 % intervals.",
                     .panels = {std::move(panel)}});
}

}  // namespace

Experiment experiment() {
  return {
      .id = "yokoyama2019/metropolised",
      .item = "Beyond the paper",
      .title = "Does Metropolised Gibbs mix multivalued RBMs faster than Gibbs sampling?",
      .paper_did =
          "Samples with blocked Gibbs alone; bruegge2013 asks the question for binary "
          "units, where Liu's chain is flip-the-state. For multivalued units both leave it open: "
          "there is nothing to reproduce.",
      .settings = {.smoke = "s = 1, 2; 4 RBMs per s and c, exact spectra.",
                   .quick = "s = 1, 2, 4, 8; c = 0.25 to 4; 40 RBMs each, 6 for s = 8.",
                   .paper = "s = 1, 2, 4, 8; c = 0.25 to 4; 400 RBMs each."},
      .seconds = {.smoke = 0.2, .quick = 5, .paper = 150},
      .claims = {},
      .deviations = {},
      .trials = trials,
      .cost =
          [](const Json& inputs) {
            return inputs.at("rbms").get<double>() * std::pow(inputs.at("s").get<double>() + 1, 4);
          },
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::yokoyama2019_metropolised

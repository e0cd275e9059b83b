#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "boltzmark/exact/spectrum/spectrum.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/bruegge2013/support/measures.hpp"
#include "experiments/bruegge2013/support/random_rbm.hpp"
#include "experiments/bruegge2013/support/slem_rows.hpp"
#include "experiments/kit/statistics/interval.hpp"
#include "experiments/kit/statistics/power.hpp"
#include "experiments/kit/statistics/trend.hpp"

namespace boltzmark::experiments::bruegge2013_fig3_top {
namespace {

/// RBMs per c; a trial does some of them. B16 needs more of 2x2 and 3x3 than the paper's 100.
int rbms(int size, Profile profile) {
  if (profile == Profile::smoke) return size <= 4 ? 4 : 0;
  if (profile == Profile::quick) return size == 6 ? 20 : 100;
  return size == 2 ? 2000 : size == 3 ? 700 : 100;
}
int rbms_per_trial(int size) { return size <= 4 ? 100 : size == 5 ? 20 : 5; }

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  for (const int size : kSlemSizes)
    for (int c = 1; c <= kLargestC; ++c)
      for (int first = 0; first < rbms(size, profile); first += rbms_per_trial(size))
        all.push_back({{"size", size},
                       {"c", c},
                       {"first", first},
                       {"rbms", std::min(rbms(size, profile) - first, rbms_per_trial(size))}});
  return all;
}

Json run(const Json& inputs, const TrialContext& context) {
  const int size = inputs.at("size"), c = inputs.at("c");
  const StreamKey key = context.shared_key(fmt::format("size {} c {}", size, c));
  const SquareRbms rbms{
      .units = size, .c = 1.0 * c, .first = inputs.at("first"), .count = inputs.at("rbms")};
  std::vector<double> gibbs, flip;
  int unconverged = 0;
  for_each_rbm(rbms, key, context, [&](const Layered& model, Stream&) {
    const Spectrum g = spectrum(model, Rule::gibbs()), t = spectrum(model, Rule::flip());
    gibbs.push_back(g.slem);
    flip.push_back(t.slem);
    unconverged += !g.converged + !t.converged;
  });
  return {{"slem_gibbs", gibbs}, {"slem_flip", flip}, {"unconverged", unconverged}};
}

/// Shares computed independently of this program, c = 1..10, and the RBMs behind each.
struct Independent {
  int size;
  std::uint64_t rbms;
  std::array<double, kLargestC> share;
};
constexpr double kScores[kLargestC] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
constexpr Independent kIndependent[] = {
    {2, 400, {.00, .11, .39, .55, .65, .68, .73, .79, .82, .81}},
    {3, 300, {.00, .08, .43, .57, .66, .81, .75, .83, .78, .79}},
    {4, 200, {.00, .14, .54, .69, .74, .75, .77, .79, .82, .84}},
};

/// B15: the share rises with c. B17: at c = 10 it exceeds 1/2. B18: the SLEM of G rises with c.
void add_size_measures(const SlemRow& row, const Independent& independent, StreamKey key,
                       Summary& summary) {
  if (row.cells.size() < 2) return;
  const std::vector<Count> wins = row.wins();
  const std::uint64_t n = wins.front().trials;
  const auto cells = static_cast<std::int64_t>(wins.size());
  const ShareTrend trend = share_trend(wins, row.c);
  const Interval power =
      share_trend_power(independent.share, kScores, n, 0.05, {.key = key, .replicates = 500});
  summary.add(Measure{.claim = "B15",
                      .part = size_name(row.size),
                      .estimate = trend.slope.estimate,
                      .lower = trend.slope.lower,
                      .upper = trend.slope.upper,
                      .p_value = trend.p_increasing,
                      .n = cells * static_cast<std::int64_t>(n),
                      .power = power.estimate,
                      .power_against = "the shares computed independently",
                      .note = "estimate: slope of the share per unit of c"});
  if (row.c.back() == kLargestC) {
    const Interval share = proportion_interval(wins.back().successes, wins.back().trials);
    summary.add(Measure{.claim = "B17",
                        .part = size_name(row.size),
                        .estimate = share.estimate,
                        .lower = share.lower,
                        .upper = share.upper,
                        .p_value = binomial_test(wins.back(), 0.5, Alternative::greater),
                        .p_opposite = binomial_test(wins.back(), 0.5, Alternative::less),
                        .n = static_cast<std::int64_t>(n),
                        .power = binomial_power(n, 0.5, 0.65, 0.05, Alternative::greater),
                        .power_against = "a share of 0.65"});
  }
  std::vector<std::vector<double>> groups;
  for (const SlemCell& cell : row.cells) groups.push_back(cell.gibbs);
  add_trend({.claim = "B18",
             .part = size_name(row.size),
             .note = fmt::format(
                 "estimate: P(larger SLEM at the larger c) − 1/2; median SLEM of G {:.4f} at "
                 "c = {}, {:.4f} at c = {}",
                 median(groups.front()), row.c.front(), median(groups.back()), row.c.back())},
            groups, summary);
}

/// The standard deviation of a share averaged over c, of so many RBMs a cell, if the shares are those
/// computed independently.
double designed_sd(const Independent& independent, const std::vector<Count>& cells) {
  double variance = 0;
  for (std::size_t i = 0; i < cells.size(); ++i)
    variance +=
        independent.share[i] * (1 - independent.share[i]) / static_cast<double>(cells[i].trials);
  return std::sqrt(variance) / static_cast<double>(cells.size());
}

std::uint64_t total(const std::vector<Count>& cells) {
  std::uint64_t rbms = 0;
  for (const Count& cell : cells) rbms += cell.trials;
  return rbms;
}

/// B16: averaged over c, the share of a larger size is larger.
void add_size_comparison(const SlemRow& larger, const SlemRow& smaller, Summary& summary) {
  if (!larger.complete() || !smaller.complete()) return;
  const auto first = larger.wins(), second = smaller.wins();
  const StratifiedDifference difference = stratified_difference(first, second);
  const double sd = std::hypot(designed_sd(kIndependent[larger.size - kSlemSizes[0]], first),
                               designed_sd(kIndependent[smaller.size - kSlemSizes[0]], second));
  std::string reversed;
  for (int c = 1; c <= kLargestC; ++c) {
    const Count &a = first[c - 1], &b = second[c - 1];
    if (a.successes * b.trials < b.successes * a.trials)
      reversed += fmt::format("{}{}", reversed.empty() ? "" : ", ", c);
  }
  summary.add(Measure{
      .claim = "B16",
      .part = size_name(larger.size) + " over " + size_name(smaller.size),
      .estimate = difference.estimate,
      .lower = difference.lower,
      .upper = difference.upper,
      .p_value = difference.p_greater,
      .n = static_cast<std::int64_t>(total(first) + total(second)),
      .power = normal_power(0.03 / sd, 0.05, Alternative::greater),
      .power_against = "a difference of 0.03",
      .note = reversed.empty() ? "the larger size has the larger share at every c"
                               : "the smaller size has the larger share at c = " + reversed,
      .likely_reason = "the difference between 2x2 and 3x3 is small and changes sign with c: the "
                       "paper's 100 RBMs a cell cannot resolve it"});
}

void add_agreement(const std::vector<SlemRow>& rows, Summary& summary) {
  std::vector<Count> ours, theirs;
  for (const Independent& independent : kIndependent)
    for (const SlemRow& row : rows)
      if (row.size == independent.size)
        for (std::size_t i = 0; i < row.cells.size(); ++i) {
          const double share = independent.share[static_cast<std::size_t>(row.c[i]) - 1];
          ours.push_back(row.cells[i].wins);
          theirs.push_back({static_cast<std::uint64_t>(
                                std::lround(share * static_cast<double>(independent.rbms))),
                            independent.rbms});
        }
  if (ours.empty()) return;
  const Agreement agreement = test_agreement(ours, theirs);
  summary.note(
      fmt::format("The {} cells of 2x2 to 4x4 {} with shares computed by an independent program "
                  "(400, 300 and 200 "
                  "RBMs a cell): smallest Holm-adjusted p {:.3g}, family-wise level 0.001.",
                  ours.size(), agreement.agrees ? "agree" : "do NOT agree", agreement.smallest_p));
}

void summarise(const Results& results, Summary& summary) {
  const std::vector<SlemRow> rows = collect_rows(results);
  add_share_figures(rows, summary);
  add_share_table(rows, summary);
  add_agreement(rows, summary);
  for (const Independent& independent : kIndependent)
    for (const SlemRow& row : rows)
      if (row.size == independent.size)
        add_size_measures(row, independent, make_key(1, "bruegge2013/fig3-top", "power"), summary);
  add_size_comparison(rows[1], rows[0], summary);
  add_size_comparison(rows[2], rows[1], summary);
  double unconverged = 0;
  for (const double count : results.values(Json::object(), "unconverged")) unconverged += count;
  summary.note(fmt::format("Spectra that did not converge: {}.", unconverged));
}

}  // namespace

Experiment experiment() {
  return {
      .id = "bruegge2013/fig3-top",
      .item = "Fig. 3 (top)",
      .title = "On how many random RBMs does T mix faster than Gibbs sampling?",
      .paper_did =
          "For each c = 1..10, draws 100 RBMs with 2, 3 and 4 visible and as many hidden "
          "units, weights uniform on [−c, c] and no biases, and compares the second "
          "largest eigenvalue moduli (SLEM) of both transition matrices.",
      .settings = {.smoke = "4 RBMs a cell for 2x2 to 4x4.",
                   .quick = "100 RBMs a cell for 2x2 to 5x5, 20 for 6x6.",
                   .paper = "2,000 RBMs a cell for 2x2, 700 for 3x3, 100 for 4x4 to 6x6."},
      .seconds = {.smoke = 0.1, .quick = 7, .paper = 36},
      .claims = {"B15", "B16", "B17", "B18"},
      .deviations =
          {"5x5 and 6x6 are added.",
           "At paper size 2x2 and 3x3 have more RBMs a cell than the paper's 100, which cannot "
           "tell whether their shares differ."},
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::bruegge2013_fig3_top

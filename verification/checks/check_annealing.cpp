// Checks of annealing estimators: the whole measure is propagated, nothing is drawn but the models.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "boltzmark/exact/modes/modes.hpp"
#include "boltzmark/sample/annealing/annealing.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/laws/annealing_moments.hpp"
#include "verification/checks/laws/table_target.hpp"
#include "verification/checks/subjects.hpp"
#include "verification/checks/worst.hpp"

namespace boltzmark {
namespace {

struct Path {
  Layered model;
  Base base;
  Ladder ladder;
  int summed;  ///< the side: 1 the odd layers, 0 the even ones
  std::string detail;

  AnnealingRung rung(int k) const { return {model, base, ladder[k], summed}; }
  AnnealingRung top() const { return rung(ladder.rungs() - 1); }
};

Path draw_path(Stream& stream, const Layered& model, int max_rungs = 6) {
  Base base = Base::uniform(model);
  for (Eigen::VectorXd& logits : base.logits)
    for (double& logit : logits) logit = stream.uniform(-2, 2);
  std::vector<double> betas = {0, 1};
  for (int inner = draw_below(stream, max_rungs - 1); inner > 0; --inner)
    betas.push_back(stream.uniform());
  std::sort(betas.begin(), betas.end());
  const std::size_t rungs = betas.size();
  const int summed = draw_below(stream, 2);
  return {model, base, Ladder(betas), summed,
          fmt::format("{}, {} temperatures, {} layers summed out", describe_case(model), rungs,
                      summed == 1 ? "odd" : "even")};
}

Path draw_path(Stream& stream) { return draw_path(stream, draw_generic_model(stream, 3, 3)); }

// The base of the model's modes.
Path draw_modes_path(Stream& stream) {
  Path path = draw_path(stream);
  const StreamKey key{stream(), stream()};
  const Modes modes = find_modes(path.model, path.base, {.climbs = {.starts = 4, .key = key}});
  path.base = base_of_modes(path.model, modes, share_modes(modes, ModeShares::equal, 64), key);
  const auto largest = [&](int l) { return path.base.logits[l].cwiseAbs().maxCoeff(); };
  double hidden = 0;
  for (int l = 1; l < path.model.layers(); ++l) hidden = std::max(hidden, largest(l));
  path.detail +=
      fmt::format(", base |logits| <= {:.3g}, hidden ones <= {:.3g}", largest(0), hidden);
  return path;
}

// A model whose layers are Bernoulli or X(s), s <= 3.
Path draw_unit_path(Stream& stream) {
  const Layered binary = draw_generic_model(stream, 2, 2);
  std::vector<Layer> layers;
  for (int l = 0; l < binary.layers(); ++l) {
    layers.push_back(binary.layer(l));
    layers.back().unit = Unit::from_code(draw_below(stream, 4));
  }
  return draw_path(stream, Layered(std::move(layers), binary.weights()));
}

CaseOutcome ais_mean(const Path& path, SweepLaw law,
                     const AisMoments& find_moments = exact_ais_moments) {
  const AnnealingMoments moments = find_moments(path.model, path.base, path.ladder,
                                                {.sweeps = 2, .law = law, .summed = path.summed});
  return {std::abs(moments.log_mean - moments.log_z), path.detail};
}

CaseOutcome ais_jensen(Stream& stream, const AisMoments& find_moments) {
  const Path path = draw_path(stream);
  const AnnealingMoments moments =
      find_moments(path.model, path.base, path.ladder, {.summed = path.summed});
  return {moments.mean_log - moments.log_z, path.detail};
}

// log E[e^-R] + log Z over exact samples of the model.
CaseOutcome raise_mean(const Path& path, SweepLaw law,
                       const RaiseMeans& find_means = exact_reverse_annealing) {
  const Eigen::VectorXd means =
      find_means(path.model, path.base, path.ladder, {.law = law, .summed = path.summed});
  const AnnealingRung top = path.top();
  const double mean = (means.array() + top.space.log_p().array() + top.log_z).exp().sum();
  return {std::abs(std::log(mean)), path.detail};
}

// p*_K(v) E[e^-R | v] against the marginal law that annealing upwards ends in.
CaseOutcome raise_law(Stream& stream) {
  const Path path = draw_path(stream);
  const AnnealingKernel kernel{.summed = path.summed};
  const Eigen::VectorXd means = exact_reverse_annealing(path.model, path.base, path.ladder, kernel);
  const Eigen::VectorXd law = annealed_law(path.model, path.base, path.ladder, kernel);
  const AnnealingRung top = path.top();
  const StateSpace& space = top.space;
  const int kept = 1 - path.summed;
  const auto part = [&](Eigen::Index x) {
    return static_cast<Eigen::Index>(space.side_part(kept, static_cast<std::size_t>(x)));
  };
  Eigen::VectorXd marginal =
      Eigen::VectorXd::Zero(static_cast<Eigen::Index>(space.side_states(kept)));
  for (Eigen::Index x = 0; x < law.size(); ++x) marginal[part(x)] += law[x];
  double worst = 0;
  for (Eigen::Index x = 0; x < law.size(); ++x)
    if (space.side_part(path.summed, static_cast<std::size_t>(x)) == 0)
      worst = worse(worst, std::abs(std::exp(top.log_marginal[x] + means[x]) - marginal[part(x)]));
  return {worst, path.detail};
}

// log w with the joint density along a trajectory of the target's own moves, against (23).
CaseOutcome riemann_sum(Stream& stream) {
  const Path path = draw_path(stream);
  const TableTarget target(path.model, path.base);
  TablePopulation population(target, 0, 1, {stream(), stream()});
  population.draw_base();
  std::array<double, 1> d{};
  double log_weight = 0, sum = 0, size = 1;
  for (int k = 1; k < path.ladder.rungs(); ++k) {
    const AnnealingRung below = path.rung(k - 1), rung = path.rung(k);
    const auto x = static_cast<Eigen::Index>(population.state(0));
    population.log_ratio(d);
    const double step = rung.space.log_p()[x] + rung.log_z - below.space.log_p()[x] - below.log_z;
    log_weight += step;
    sum += (path.ladder[k] - path.ladder[k - 1]) * d[0];
    size += std::abs(step);
    population.move(std::array{path.ladder.single(k)});
  }
  return {std::abs(log_weight - sum) / size, path.detail};
}

// E[Z] of two chains of annealed SMC over every path, every resampling of every u included.
class PairedSmc {
 public:
  PairedSmc(const Path& path, const Offspring& offspring) : offspring_(offspring) {
    for (int k = 0; k < path.ladder.rungs(); ++k) {
      const AnnealingRung rung = path.rung(k);
      log_f_.push_back(rung.log_marginal);
      law_.push_back(transition_matrix(rung, path.summed));
    }
    start_ = path.rung(0).space.p();
  }

  double mean() const {
    double sum = 0;
    for (int a = 0; a < start_.size(); ++a)
      for (int b = 0; b < start_.size(); ++b)
        sum += start_[a] * start_[b] * from_rung(1, {a, b}, {1, 1});
    return sum;
  }

 private:
  using Pair = std::array<int, 2>;
  using Weights = std::array<double, 2>;

  static Eigen::MatrixXd transition_matrix(const AnnealingRung& rung, int summed) {
    StateBlock rows = StateBlock::Identity(rung.log_marginal.size(), rung.log_marginal.size());
    SweepOperator(rung.space, Rule::gibbs()).pull(rows, summed);
    return rows;
  }

  // The mean of what is still to be multiplied into Z, from weights before rung k's.
  double from_rung(std::size_t k, Pair x, Weights w) const {
    if (k == log_f_.size()) return (w[0] + w[1]) / 2;
    for (int i = 0; i < 2; ++i) w[i] *= std::exp(log_f_[k][x[i]] - log_f_[k - 1][x[i]]);
    const double total = w[0] + w[1], mean = total / 2;
    const Weights share = {w[0] / total, w[1] / total};
    // Two chains have an effective size of 1 at least: they are resampled below 3/4 of them.
    if (1 / (share[0] * share[0] + share[1] * share[1]) >= 1.5) return moved(k, x, w);
    // The offspring are constant in u on both sides of this point.
    const double cut = 2 * share[0] - std::floor(2 * share[0]);
    double sum = 0;
    for (const auto& [from, to] : {std::pair(0.0, cut), std::pair(cut, 1.0)}) {
      std::array<int, 2> offspring{};
      offspring_(share, (from + to) / 2, offspring);
      const Pair parents = {offspring[0] > 0 ? x[0] : x[1], offspring[1] > 0 ? x[1] : x[0]};
      sum += (to - from) * mean * moved(k, parents, {1, 1});
    }
    return sum;
  }

  double moved(std::size_t k, Pair x, Weights w) const {
    if (k + 1 == log_f_.size()) return from_rung(k + 1, x, w);
    double sum = 0;
    for (int a = 0; a < start_.size(); ++a)
      for (int b = 0; b < start_.size(); ++b)
        sum += law_[k](x[0], a) * law_[k](x[1], b) * from_rung(k + 1, {a, b}, w);
    return sum;
  }

  Offspring offspring_;
  std::vector<Eigen::VectorXd> log_f_;
  std::vector<Eigen::MatrixXd> law_;
  Eigen::VectorXd start_;
};

CaseOutcome smc_mean(Stream& stream, const Offspring& offspring) {
  const Layered model = draw_generic_model(stream, 1, 3);
  // Pairs of states to the power of the rungs: 8 states of v, h2 and h4 allow three.
  const Path path = draw_path(stream, model, model.layers() < 5 ? 4 : 3);
  const double log_z = path.top().log_z;
  return {std::abs(std::log(PairedSmc(path, offspring).mean()) - log_z), path.detail};
}

}  // namespace

Check ais_mean_check(const AisMoments& find_moments) {
  return bounded_check(
      "mean-weight", "ais", "E[w] = Z, either side summed out: difference of the logs", 1e-10,
      [find_moments](Stream& s) { return ais_mean(draw_path(s), SweepLaw::exact, find_moments); });
}

Check raise_mean_check(const RaiseMeans& find_means) {
  return bounded_check(
      "mean-weight", "raise",
      "E[e^-R] = 1/Z over exact samples, either side summed out: difference of the logs", 1e-10,
      [find_means](Stream& s) { return raise_mean(draw_path(s), SweepLaw::exact, find_means); });
}

Check ais_jensen_check(const AisMoments& find_moments) {
  return bounded_check("mean-log-weight", "ais", "E[log w] is at most log Z", 1e-12,
                       [find_moments](Stream& s) { return ais_jensen(s, find_moments); });
}

Check smc_mean_check(const Offspring& offspring) {
  return bounded_check(
      "mean-weight", "smc",
      "E[Z] of two chains that resample is Z, either side summed out: difference of the logs",
      1e-10, [offspring](Stream& s) { return smc_mean(s, offspring); });
}

std::vector<Check> annealing_checks() {
  // Each step rounds sums of some 2^6 terms of like sign: 1e-10 leaves room for a hundred steps.
  return {
      ais_mean_check(exact_ais_moments),
      bounded_check("mean-weight (production sweep)", "ais",
                    "E[w] = Z with the recovered law of the kernels", 1e-5,
                    [](Stream& s) { return ais_mean(draw_path(s), SweepLaw::recovered); }),
      bounded_check("mean-weight (discrete units)", "ais",
                    "E[w] = Z with multivalued units and the recovered law", 1e-5,
                    [](Stream& s) { return ais_mean(draw_unit_path(s), SweepLaw::recovered); }),
      bounded_check("mean-weight (base of modes)", "ais",
                    "E[w] = Z from the base of the model's modes", 1e-10,
                    [](Stream& s) { return ais_mean(draw_modes_path(s), SweepLaw::exact); }),
      ais_jensen_check(exact_ais_moments),
      bounded_check(
          "riemann-sum", "ais",
          "log w of the joint density is the Riemann sum of D along a trajectory: relative "
          "difference",
          1e-9, riemann_sum),
      raise_mean_check(exact_reverse_annealing),
      bounded_check("mean-weight (production sweep)", "raise",
                    "E[e^-R] = 1/Z with the recovered law of the kernels", 1e-5,
                    [](Stream& s) { return raise_mean(draw_path(s), SweepLaw::recovered); }),
      bounded_check("mean-weight (discrete units)", "raise", "E[e^-R] = 1/Z with multivalued units",
                    1e-5,
                    [](Stream& s) { return raise_mean(draw_unit_path(s), SweepLaw::recovered); }),
      bounded_check("annealed-law", "raise",
                    "p*_K(v) E[e^-R | v] is the law that annealing upwards ends in", 1e-10,
                    raise_law),
      smc_mean_check(systematic_offspring),
  };
}

}  // namespace boltzmark

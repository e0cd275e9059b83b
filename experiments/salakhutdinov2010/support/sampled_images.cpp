#include "experiments/salakhutdinov2010/support/sampled_images.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "boltzmark/sample/chains/adaptive_chains.hpp"
#include "boltzmark/sample/tempering/mixing.hpp"
#include "boltzmark/sample/tempering/parallel_tempering.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/statistics/class_changes.hpp"
#include "experiments/salakhutdinov2010/support/rung_walk.hpp"

namespace boltzmark::experiments {
namespace {

/// What tempered chains do on their ladder after burn-in.
class RungPaths {
 public:
  explicit RungPaths(const AdaptiveChains& chains)
      : chains_(chains), steps_(chains.rungs()), paths_(static_cast<std::size_t>(tempered())) {}

  void see() {
    for (int c = 0; c < tempered(); ++c) {
      std::vector<int>& path = paths_[static_cast<std::size_t>(c)];
      const int rung = chains_.rung(chains_.plain() + c);
      if (!path.empty()) steps_.see(path.back(), rung);
      path.push_back(rung);
    }
  }

  void add_to(Json& outputs) const {
    const std::vector<double> acceptance = steps_.acceptance();
    outputs["acceptance"] = acceptance;
    for (const std::vector<int>& path : paths_) {
      const auto shown = path.begin() + std::min<std::ptrdiff_t>(kPathSteps + 1, std::ssize(path));
      TripCounter counter(chains_.rungs() - 1);
      for (const int rung : path) counter.visit(rung);
      outputs["levels"].push_back(std::set<int>(path.begin(), shown).size());
      outputs["trips"].push_back(counter.trips());
      outputs["expected_trips"].push_back(
          expected_round_trips(acceptance, path.front(), static_cast<int>(path.size()) - 1));
      if (&path != &paths_.front()) continue;
      for (auto rung = path.begin(); rung != shown; ++rung)
        outputs["path"].push_back(chains_.rungs() - *rung);
    }
  }

 private:
  int tempered() const { return chains_.tempered(); }

  const AdaptiveChains& chains_;
  RungSteps steps_;
  std::vector<std::vector<int>> paths_;  ///< [chains][steps + 1]
};

std::string bits_of(const Eigen::Ref<const Eigen::VectorXf>& states) {
  std::string text;
  for (const float state : states) text += state > 0 ? '1' : '0';
  return text;
}

void keep_images(const Eigen::Ref<const Eigen::MatrixXf>& states, const char* sampler,
                 const Classify& classify, Json& outputs) {
  const std::vector<int> classes = classify(states);
  for (std::size_t c = 0; c < classes.size(); ++c) {
    outputs["classes"][sampler][c].push_back(classes[c]);
    if (c < kShownChains)
      outputs["shown"][sampler][c].push_back(bits_of(states.col(static_cast<Eigen::Index>(c))));
  }
}

/// Pixels of a row that are equally dark.
struct PixelRun {
  int row, column, pixels, level;
};

// White is left out.
std::vector<PixelRun> pixel_runs(const ImagePage& page, const std::string& bits) {
  const std::vector<float> dark = page.picture(bits);
  const auto level = [&](int row, int column) {
    const float at = dark[static_cast<std::size_t>(row * page.cols + column)];
    return std::clamp(static_cast<int>(std::lround(at * static_cast<float>(page.levels - 1))), 0,
                      page.levels - 1);
  };
  std::vector<PixelRun> runs;
  for (int row = 0; row < page.rows; ++row)
    for (int column = 0, end = 0; column < page.cols; column = end) {
      const int first = level(row, column);
      end = column + 1;
      while (end < page.cols && level(row, end) == first) ++end;
      if (first > 0) runs.push_back({row, column, end - column, first});
    }
  return runs;
}

}  // namespace

Json inputs_of(const ImageSampling& sampling) {
  constexpr double kLowest = 0.9;
  return {{"model", sampling.model},
          {"chains", sampling.chains},
          {"temperatures", sampling.temperatures},
          {"lowest", kLowest},
          {"factor", sampling.factor},
          {"burn_in", sampling.burn_in},
          {"steps", sampling.steps},
          {"images", sampling.images}};
}

Json sample_images(const Layered& model, const Json& inputs, const Classify& classify,
                   const TrialContext& context) {
  const int count = inputs.at("chains"), burn_in = inputs.at("burn_in"), steps = inputs.at("steps"),
            images = inputs.at("images");
  Chains start(model, count);
  start.randomise(context.key);
  AdaptiveChains chains(
      {.model = model,
       .packing = {.chains = count, .sweeps = 10000},
       .start = &start,
       .draws = std::make_shared<PhiloxDraws>(context.key)},
      count,
      {.inverse_temperatures = uniform_ladder(inputs.at("temperatures"), inputs.at("lowest")),
       .factor = {.size = inputs.at("factor")}});
  RungPaths paths(chains);
  Json outputs;
  const int all = burn_in + steps * (images - 1);
  for (int step = 0; step <= all; ++step) {
    if (step > 0) {
      chains.sweep();
      chains.move_rungs();
    }
    if (step >= burn_in) paths.see();
    if (step >= burn_in && (step - burn_in) % steps == 0) {
      keep_images(chains.states().get_layer(0).leftCols(count), "gibbs", classify, outputs);
      keep_images(chains.tops().get_layer(0), "st", classify, outputs);
    }
    if (step % 16 == 0) context.progress(static_cast<double>(step) / all);
  }
  paths.add_to(outputs);
  return outputs;
}

std::vector<double> change_shares(const Json& classes) {
  std::vector<double> shares;
  for (const Json& chain : classes) {
    const ClassChanges counts = count_class_changes(chain.get<std::vector<int>>());
    const double pairs = static_cast<double>(chain.size() - counts.discarded) - 1;
    shares.push_back(pairs > 0 ? static_cast<double>(counts.changes) / pairs : NAN);
  }
  return shares;
}

std::vector<float> black_where_on(const std::string& bits) {
  std::vector<float> dark;
  for (const char bit : bits) dark.push_back(bit == '1' ? 1.0F : 0.0F);
  return dark;
}

void add_images(const Json& outputs, const ImagePage& page, const std::string& caption,
                Summary& summary) {
  Figure figure{.name = "images", .caption = caption, .script = "images.gp"};
  figure.data = {{"sampler", "row", "column", "pixel_row", "pixel_column", "pixels", "darkness"}};
  int line = 0;
  for (const char* sampler : {"gibbs", "st"})
    for (const Json& chain : outputs.at("shown").at(sampler)) {
      const int images = std::min(page.images, static_cast<int>(chain.size()));
      for (int image = 0; image < images; ++image)
        for (const PixelRun& run : pixel_runs(page, chain[static_cast<std::size_t>(image)]))
          figure.data.push_back({sampler, fmt::format("{}", line), fmt::format("{}", image),
                                 fmt::format("{}", run.row), fmt::format("{}", run.column),
                                 fmt::format("{}", run.pixels),
                                 fmt::format("{:.4g}", run.level / (page.levels - 1.0))});
      ++line;
    }
  figure.height = 340;
  summary.add(std::move(figure));
}

double independent_change_share(const Json& classes) {
  std::map<int, double> counts;
  double all = 0, squares = 0;
  for (const Json& chain : classes)
    for (const int found : chain.get<std::vector<int>>())
      if (found != ambiguous) counts[found] += 1, all += 1;
  for (const auto& [found, count] : counts) squares += count * count / (all * all);
  return all > 0 ? 1 - squares : NAN;
}

void add_change_measures(const std::string& claim, const Json& outputs, Summary& summary) {
  const std::vector<double> gibbs = change_shares(outputs.at("classes").at("gibbs")),
                            st = change_shares(outputs.at("classes").at("st"));
  const double independent = independent_change_share(outputs.at("classes").at("st"));
  std::vector<double> differences, shares;
  for (std::size_t c = 0; c < gibbs.size(); ++c) {
    if (std::isfinite(st[c] - gibbs[c])) differences.push_back(st[c] - gibbs[c]);
    if (std::isfinite(gibbs[c])) shares.push_back(gibbs[c] / independent);
  }
  if (differences.size() < 2 || !(independent > 0)) return;
  summary.add(mean_measure({.claim = claim,
                            .part = "the difference",
                            .note = "chains of either kind start from the same random state"},
                           differences));
  summary.add(mean_measure(
      {.claim = claim,
       .part = "Gibbs hardly mixes",
       .note = fmt::format(
           "Gibbs sampling changes class in {:.3f} of the pairs, independent states with the "
           "classes of adaptive tempering would in {:.3f}",
           mean_of(shares) * independent, independent)},
      shares));
}

}  // namespace boltzmark::experiments

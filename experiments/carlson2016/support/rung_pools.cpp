#include "experiments/carlson2016/support/rung_pools.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <span>

#include "boltzmark/estimate/estimators/mbar.hpp"
#include "boltzmark/estimate/estimators/rts.hpp"
#include "boltzmark/estimate/estimators/thermodynamic_integration.hpp"
#include "boltzmark/exact/exact_sampler.hpp"
#include "boltzmark/transition/tempered_chains.hpp"
#include "experiments/carlson2016/support/models.hpp"

namespace boltzmark::experiments {
namespace {

constexpr int kPoolChains = 100;
constexpr int kDraws = 10000;  // samples of one estimate
constexpr double kAddedCount = 0.1;
constexpr std::size_t kBlock = 4096;  // states held at once

/// D of exact draws at one rung.
void draw_at_rung(const std::shared_ptr<const TemperedModel>& model, double b, Stream stream,
                  std::span<double> log_ratio) {
  if (log_ratio.empty()) return;
  const ExactSampler sampler(tempered(model->model, model->base, b));
  for (std::size_t first = 0; first < log_ratio.size(); first += kBlock) {
    const auto count = static_cast<int>(std::min(kBlock, log_ratio.size() - first));
    Eigen::MatrixXf visible(model->model.size(0), count), hidden(model->model.size(1), count);
    for (int i = 0; i < count; ++i) sampler.draw(stream, visible.col(i), hidden.col(i));
    TemperedChains states(model, 0, count);
    states.set_layer(0, visible);
    states.set_layer(1, hidden);
    states.log_ratio(log_ratio.subspan(first, static_cast<std::size_t>(count)));
  }
}

/// Draws samples with replacement: as many chains of one sweep each as there would be groups.
SampleStore resample(const SampleStore& pool, Stream& stream) {
  SampleStore drawn{
      .ladder = pool.ladder, .log_prior = pool.log_prior, .log_z_hat = pool.log_z_hat};
  drawn.log_ratio.resize(kDraws / kPoolChains, kPoolChains);
  drawn.rung.resize(kDraws / kPoolChains, kPoolChains);
  for (Eigen::Index i = 0; i < drawn.log_ratio.size(); ++i) {
    const auto from =
        static_cast<Eigen::Index>(stream.below(static_cast<std::uint64_t>(pool.log_ratio.size())));
    drawn.log_ratio(i) = pool.log_ratio(from);
    drawn.rung(i) = pool.rung(from);
  }
  return drawn;
}

}  // namespace

SampleStore exact_pool(const LayeredTarget& target, const Ladder& ladder, int samples,
                       const TrialContext& context) {
  const int rungs = ladder.rungs();
  SampleStore pool{.ladder = ladder, .log_z_hat = exact_log_z_of_rungs(target, ladder)};
  pool.log_prior = Eigen::VectorXd::Constant(rungs, -std::log(static_cast<double>(rungs)));
  pool.log_ratio.resize(samples / kPoolChains, kPoolChains);
  pool.rung.resize(samples / kPoolChains, kPoolChains);
  // In the order of their rungs: resampling takes them in any order.
  Stream stream(context.key, Purpose::rung);
  for (int& rung : pool.rung.reshaped())
    rung = static_cast<int>(stream.below(static_cast<std::uint64_t>(rungs)));
  std::sort(pool.rung.data(), pool.rung.data() + samples);
  const auto model = std::make_shared<const TemperedModel>(target.tempered_model());
  for (int k = 0, first = 0; k < rungs; ++k) {
    const int* end = std::upper_bound(pool.rung.data() + first, pool.rung.data() + samples, k);
    const auto last = static_cast<int>(end - pool.rung.data());
    draw_at_rung(model, ladder[k],
                 Stream(context.key, Purpose::data, static_cast<std::uint64_t>(k)),
                 {pool.log_ratio.data() + first, static_cast<std::size_t>(last - first)});
    first = last;
    context.progress((k + 1.0) / rungs);
  }
  return pool;
}

Json estimate_from_pool(const SampleStore& pool, int estimates, int mbar_estimates,
                        const TrialContext& context) {
  std::map<std::string, std::vector<double>> found;
  const TiOptions ti{.interpolate_empty = true};
  for (int i = 0; i < estimates; ++i) {
    Stream stream(context.key, Purpose::bootstrap, static_cast<std::uint64_t>(i));
    const SampleStore drawn = resample(pool, stream);
    const RungSums soft = sum_by_rung(drawn, Assignment::soft);
    const RungSums hard = sum_by_rung(drawn, Assignment::hard);
    found["RTS"].push_back(rts(soft, pool.log_prior, pool.log_z_hat).log_z);
    found["TS"].push_back(ts(hard, pool.log_prior, pool.log_z_hat, kAddedCount).log_z);
    found["TI"].push_back(thermodynamic_integration(hard, pool.ladder, ti).log_z);
    found["TI-RB"].push_back(thermodynamic_integration(soft, pool.ladder, ti).log_z);
    if (i < mbar_estimates) found["MBAR"].push_back(mbar(drawn).log_z);
    context.progress((i + 1.0) / estimates);
  }
  return found;
}

}  // namespace boltzmark::experiments

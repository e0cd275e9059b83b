#include "boltzmark/sample/chains/adaptive_chains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/number.hpp"
#include "boltzmark/sample/tempering/parallel_tempering.hpp"
#include "boltzmark/transition/log_density.hpp"

namespace boltzmark {
namespace {

constexpr std::string_view kConstant = "constant:", kVanishing = "vanishing:";

constexpr std::array<std::string_view, 4> kSwapRules = {"last", "lag", "each", "entry"};

}  // namespace

bool AdaptingFactor::is_valid() const { return size > 0 && std::isfinite(size); }

double AdaptingFactor::at(std::uint64_t update) const {
  return vanishing ? size / static_cast<double>(update) : size;
}

std::string AdaptingFactor::name() const {
  return fmt::format("{}{}", vanishing ? kVanishing : kConstant, size);
}

std::optional<AdaptingFactor> parse_adapting_factor(std::string_view text) {
  for (const bool vanishing : {false, true}) {
    const std::string_view kind = vanishing ? kVanishing : kConstant;
    if (!text.starts_with(kind)) continue;
    const auto size = parse_number<double>(text.substr(kind.size()));
    if (size && AdaptingFactor{vanishing, *size}.is_valid())
      return AdaptingFactor{vanishing, *size};
  }
  return std::nullopt;
}

std::string_view name(WeightSharing sharing) {
  return sharing == WeightSharing::own ? "own" : "shared";
}

std::optional<WeightSharing> parse_weight_sharing(std::string_view text) {
  for (const WeightSharing sharing : {WeightSharing::own, WeightSharing::shared})
    if (name(sharing) == text) return sharing;
  return std::nullopt;
}

std::string_view name(SwapRule rule) { return kSwapRules[static_cast<std::size_t>(rule)]; }

std::optional<SwapRule> parse_swap_rule(std::string_view text) {
  for (std::size_t i = 0; i < kSwapRules.size(); ++i)
    if (kSwapRules[i] == text) return static_cast<SwapRule>(i);
  return std::nullopt;
}

namespace {

bool is_end(int rungs, int rung) { return rung == 0 || rung + 1 == rungs; }

}  // namespace

double proposal_probability(int rungs, int from, int to) {
  if (std::abs(to - from) != 1) return 0;
  return is_end(rungs, from) ? 1 : 0.5;
}

int proposed_rung(int rungs, int from, std::uint32_t draw) {
  if (from == 0) return 1;
  if (from + 1 == rungs) return from - 1;
  return from + ((draw >> 31) != 0 ? 1 : -1);
}

double rung_step_probability(std::span<const float> inverse_temperatures,
                             std::span<const double> log_g, double log_f, int from, int to) {
  const auto rungs = static_cast<int>(log_g.size());
  const double b_from = inverse_temperatures[from], b_to = inverse_temperatures[to];
  const double proposals =
      proposal_probability(rungs, to, from) / proposal_probability(rungs, from, to);
  return std::min(1.0, proposals * std::exp((b_to - b_from) * log_f + log_g[from] - log_g[to]));
}

namespace {

AdaptingFactor checked_factor(const AdaptingFactor& factor) {
  if (!factor.is_valid())
    throw InvalidArgument(fmt::format("factor = {} (must be positive and finite)", factor.size));
  return factor;
}

}  // namespace

void raise_weight(std::span<double> log_g, int rung, double increase) {
  log_g[rung] += increase;
  const double top = log_g.back();
  for (double& value : log_g) value -= top;
}

AdaptiveWeights::AdaptiveWeights(int rungs, int chains, const AdaptingFactor& factor,
                                 WeightSharing sharing)
    : factor_(checked_factor(factor)),
      log_g_(Eigen::MatrixXd::Zero(rungs, sharing == WeightSharing::own ? chains : 1)) {}

std::span<const double> AdaptiveWeights::log_g(int chain) const {
  return {log_g_.col(set_of(chain)).data(), static_cast<std::size_t>(log_g_.rows())};
}

void AdaptiveWeights::update(std::span<const int> rungs) {
  const auto sets = static_cast<std::size_t>(log_g_.cols());
  if (rungs.empty() || (sets > 1 && rungs.size() != sets))
    throw InvalidArgument(
        fmt::format("rungs = {} (must be one a chain, of {})", rungs.size(), sets));
  for (const int rung : rungs)
    if (rung < 0 || rung >= log_g_.rows())
      throw InvalidArgument(fmt::format("rung = {} (must be one of {})", rung, log_g_.rows()));
  // The chains of one set of weights share an update's increase.
  const double share = static_cast<double>(log_g_.cols()) / static_cast<double>(rungs.size());
  const double increase = share * std::log1p(factor_.at(++updates_));
  for (std::size_t c = 0; c < rungs.size(); ++c)
    raise_weight(
        {log_g_.col(set_of(static_cast<int>(c))).data(), static_cast<std::size_t>(log_g_.rows())},
        rungs[c], increase);
}

void AdaptiveWeights::set(const Eigen::VectorXd& log_g) {
  if (log_g.size() != log_g_.rows() || !log_g.allFinite())
    throw InvalidArgument(
        fmt::format("log_g = {} values (must be {}, finite)", log_g.size(), log_g_.rows()));
  log_g_.colwise() = (log_g.array() - log_g[log_g.size() - 1]).matrix();
}

void AdaptiveWeights::save(CheckpointWriter& out) const {
  out.write(log_g_);
  out.write(updates_);
}

void AdaptiveWeights::restore(CheckpointReader& in) {
  in.read(log_g_);
  updates_ = in.read();
}

namespace {

AdaptiveOptions checked_options(AdaptiveOptions options, int plain) {
  if (plain < 0) throw InvalidArgument(fmt::format("plain = {} (must not be negative)", plain));
  require_ladder(options.inverse_temperatures, 2);
  return options;
}

Packing packing_of_all(Packing packing, int plain) {
  packing.chains += plain;
  return packing;
}

}  // namespace

AdaptiveChains::AdaptiveChains(const SamplerSetup& setup, int plain, AdaptiveOptions options)
    : options_(checked_options(std::move(options), plain)),
      plain_(plain),
      packed_(setup.model, packing_of_all(setup.packing, plain)),
      rule_(setup.rule),
      draws_(draws_of(setup)),
      states_(setup.model, plain + setup.packing.chains),
      tops_(setup.model, setup.packing.chains),
      rungs_(static_cast<std::size_t>(tempered()), rungs() - 1),
      from_bottom_(rungs_.size(), 0),
      weights_(rungs(), tempered(), options_.factor, options_.weights),
      chain_temperatures_(static_cast<std::size_t>(states_.chains()), 1.0F) {
  start(setup);
  keep_tops();
}

// A tempered chain starts where the plain one of its place does.
void AdaptiveChains::start(const SamplerSetup& setup) {
  if (setup.start == nullptr) return states_.randomise(setup.key);
  const Chains states = initial_states(setup);
  for (int c = 0; c < states_.chains(); ++c)
    states_.copy_chain(c, states, c < states.chains() ? c : c - states.chains());
}

void AdaptiveChains::sweep() {
  boltzmark::sweep(
      packed_, states_, *draws_,
      {.rule = rule_, .inverse_temperatures = chain_temperatures_, .first_sweep = sweeps_});
  ++sweeps_;
}

void AdaptiveChains::move_rungs() {
  draw_rung_steps();
  const std::vector<double> log_f = log_density(packed_, states_, plain_);
  const std::uint32_t* const proposals = step_draws_.data() + plain_ % kChainBlock;
  const std::uint32_t* const acceptances = proposals + step_draws_.size() / 4;
  for (int c = 0; c < tempered(); ++c) {
    const int from = rungs_[c], to = proposed_rung(rungs(), from, proposals[c]);
    const double p =
        rung_step_probability(options_.inverse_temperatures, weights_.log_g(c), log_f[c], from, to);
    if (acceptances[c] < static_cast<std::uint64_t>(std::llround(p * 0x1p32)))
      put_on_rung(plain_ + c, to);
  }
  weights_.update(rungs_);
  count_trips();
  keep_tops();
}

void AdaptiveChains::count_trips() {
  for (std::size_t c = 0; c < rungs_.size(); ++c) {
    if (rungs_[c] == 0) from_bottom_[c] = 1;
    if (rungs_[c] + 1 < rungs()) continue;
    round_trips_ += static_cast<std::uint64_t>(from_bottom_[c]);
    from_bottom_[c] = 0;
  }
}

// Laid out like unit draws, four units: proposal, acceptance, and two that nothing reads.
void AdaptiveChains::draw_rung_steps() {
  const int first = plain_ / kChainBlock * kChainBlock;
  const int width = states_.blocks() * kChainBlock - first;
  step_draws_.resize(4 * static_cast<std::size_t>(width));
  draws_->fill(step_draws_.data(), {.layer = static_cast<std::uint32_t>(Purpose::rung_step),
                                    .units = 4,
                                    .first_chain = static_cast<std::uint32_t>(first),
                                    .chains = static_cast<std::uint32_t>(width),
                                    .sweep = sweeps_});
}

void AdaptiveChains::exchange(int first, int second) {
  states_.exchange(first, second);
  keep_top(first);
  keep_top(second);
}

void AdaptiveChains::return_to_top(int chain) {
  states_.copy_chain(chain, tops_, chain - plain_);
  put_on_rung(chain, rungs() - 1);
  from_bottom_[chain - plain_] = 0;  // it did not come back by itself
}

void AdaptiveChains::keep_tops() {
  for (int c = plain_; c < states_.chains(); ++c) keep_top(c);
}

void AdaptiveChains::keep_top(int chain) {
  if (chain >= plain_ && rung(chain) + 1 == rungs())
    tops_.copy_chain(chain - plain_, states_, chain);
}

void AdaptiveChains::set_rung(int chain, int rung) {
  if (chain < plain_ || chain >= states_.chains() || rung < 0 || rung >= rungs())
    throw InvalidArgument(
        fmt::format("chain, rung = {}, {} (must be a tempered chain and a rung)", chain, rung));
  put_on_rung(chain, rung);
}

void AdaptiveChains::put_on_rung(int chain, int rung) {
  rungs_[chain - plain_] = rung;
  chain_temperatures_[chain] = options_.inverse_temperatures[rung];
}

void AdaptiveChains::save(CheckpointWriter& out) const {
  out.write(sweeps_);
  save_states(states_, out);
  save_states(tops_, out);
  out.write(rungs_);
  out.write(from_bottom_);
  out.write(round_trips_);
  weights_.save(out);
}

void AdaptiveChains::restore(CheckpointReader& in) {
  sweeps_ = in.read();
  restore_states(states_, in);
  restore_states(tops_, in);
  in.read(rungs_);
  in.read(from_bottom_);
  round_trips_ = in.read();
  weights_.restore(in);
  for (int c = 0; c < tempered(); ++c) set_rung(plain_ + c, rungs_[c]);
}

AdaptiveRuns::AdaptiveRuns(const SamplerSetup& setup, AdaptiveOptions options, int every)
    : chains_(setup, 0, std::move(options)),
      every_(every),
      ends_(static_cast<std::size_t>(chains()), chains_.rungs() - 1) {
  at_least_one("every", every);
}

void AdaptiveRuns::advance(int sweeps) {
  for (int s = 0; s < sweeps; ++s) {
    chains_.sweep();
    if (++plain_sweeps_ % static_cast<std::uint64_t>(every_) == 0) run();
  }
}

void AdaptiveRuns::run() {
  chains_.keep_tops();  // where a run starts is at b = 1
  for (int n = 0; n < every_; ++n) {
    chains_.sweep();
    chains_.move_rungs();
  }
  for (int c = 0; c < chains(); ++c) {
    ends_[c] = chains_.rung(c);
    chains_.return_to_top(c);
  }
}

std::vector<double> AdaptiveRuns::log_weights() const {
  std::vector<double> all;
  for (int c = 0; c < chains(); ++c) {
    const std::span<const double> log_g = chains_.weights().log_g(c);
    all.insert(all.end(), log_g.begin(), log_g.end());
  }
  return all;
}

void AdaptiveRuns::save(CheckpointWriter& out) const {
  out.write(plain_sweeps_);
  out.write(ends_);
  chains_.save(out);
}

void AdaptiveRuns::restore(CheckpointReader& in) {
  plain_sweeps_ = in.read();
  in.read(ends_);
  chains_.restore(in);
}

bool exchanges(SwapRule rule, bool at_lag, int before, int after, int top) {
  switch (rule) {
    case SwapRule::last:
      return at_lag;
    case SwapRule::lag:
      return at_lag && after == top;
    case SwapRule::each:
      return after == top;
    case SwapRule::entry:
      return after == top && before != top;
  }
  return false;
}

CoupledChains::CoupledChains(const SamplerSetup& setup, AdaptiveOptions options,
                             CouplingOptions coupling)
    : chains_(setup, setup.packing.chains, std::move(options)), coupling_(coupling) {
  at_least_one("lag", coupling.lag);
}

void CoupledChains::advance(int sweeps) {
  for (int s = 0; s < sweeps; ++s) {
    chains_.sweep();
    couple();
  }
}

void CoupledChains::couple() {
  std::vector<int> before;
  for (int slow = 0; slow < chains(); ++slow) before.push_back(chains_.rung(chains() + slow));
  chains_.move_rungs();
  const bool at_lag = chains_.sweeps() % static_cast<std::uint64_t>(coupling_.lag) == 0;
  for (int slow = 0; slow < chains(); ++slow) {
    const int fast = chains() + slow;
    if (!exchanges(coupling_.swap, at_lag, before[slow], chains_.rung(fast), chains_.rungs() - 1))
      continue;
    if (coupling_.swap == SwapRule::last) chains_.return_to_top(fast);
    chains_.exchange(slow, fast);
  }
}

void CoupledChains::copy_states(Chains& out) const {
  if (out.chains() < chains())
    throw InvalidArgument(
        fmt::format("out = {} chains (must be at least {})", out.chains(), chains()));
  for (int slow = 0; slow < chains(); ++slow) out.copy_chain(slow, chains_.states(), slow);
}

}  // namespace boltzmark

// Checks of tempered transitions: the whole of one is in detailed balance, by the double law and as
// recovered from what is shipped.                                  [Neal 1996; Salakhutdinov 2009]

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "boltzmark/exact/spectrum/operator.hpp"
#include "boltzmark/random/key.hpp"
#include "boltzmark/sample/tempering/tempered_transition.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/laws/states.hpp"
#include "verification/checks/subjects.hpp"
#include "verification/checks/worst.hpp"

namespace boltzmark {
namespace {

/// A transition of a small model.
struct TransitionCase {
  Layered model;
  Base base;
  std::vector<float> ladder;  ///< ascending to 1
  Rule rule = Rule::gibbs();

  std::string describe() const {
    return fmt::format("{}, {} temperatures, {}", describe_case(model), ladder.size(), rule.name());
  }
};

// T_h T_v at an inverse temperature, or T_v T_h.
Eigen::MatrixXd sweep_at(const TransitionCase& c, float b, bool reversed) {
  const StateSpace space(tempered(c.model, c.base, static_cast<double>(b)));
  const SweepOperator kernel(space, c.rule);
  const auto states = static_cast<Eigen::Index>(space.states());
  StateBlock pushed = StateBlock::Identity(states, states);  // column x is what is pushed from x
  kernel.push_half(pushed, reversed ? 0 : 1);
  kernel.push_half(pushed, reversed ? 1 : 0);
  return pushed.transpose();
}

/// The law of the whole transition, every path from every state followed to its end. The state at
/// the highest temperature is summed out: no weight depends on it.
class TransitionLaw {
 public:
  explicit TransitionLaw(const TransitionCase& c) : ladder_(c.ladder) {
    const StateSpace full(c.model);
    log_ratio_ = full.log_p() - StateSpace(tempered(c.model, c.base, 0)).log_p();
    for (const float b : ladder_) {
      up_.push_back(sweep_at(c, b, false));
      down_.push_back(sweep_at(c, b, true));
    }
    up_[0] *= down_[0];  // over the top
    up_visits_.resize(ladder_.size() - 1);
    down_visits_ = up_visits_;
  }

  Eigen::MatrixXd matrix() {
    const Eigen::Index states = log_ratio_.size();
    matrix_ = Eigen::MatrixXd::Zero(states, states);
    for (start_ = 0; start_ < states; ++start_)
      go_up(start_, static_cast<Eigen::Index>(ladder_.size()) - 2, 1);
    return std::move(matrix_);
  }

 private:
  void go_up(Eigen::Index from, Eigen::Index rung, double mass) {
    up_visits_[static_cast<std::size_t>(rung)] = log_ratio_[from];
    for (Eigen::Index to = 0; to < log_ratio_.size(); ++to) {
      const double next = mass * up_[static_cast<std::size_t>(rung)](from, to);
      if (next == 0) continue;
      rung > 0 ? go_up(to, rung - 1, next) : come_down(to, 0, next);
    }
  }
  // `at` was reached by the reversed sweep at `rung`.
  void come_down(Eigen::Index at, Eigen::Index rung, double mass) {
    down_visits_[static_cast<std::size_t>(rung)] = log_ratio_[at];
    if (rung + 2 == static_cast<Eigen::Index>(ladder_.size())) return end(at, mass);
    for (Eigen::Index to = 0; to < log_ratio_.size(); ++to) {
      const double next = mass * down_[static_cast<std::size_t>(rung + 1)](at, to);
      if (next != 0) come_down(to, rung + 1, next);
    }
  }
  void end(Eigen::Index at, double mass) {
    const double accept =
        std::min(1.0, std::exp(transition_log_ratio(ladder_, up_visits_, down_visits_)));
    matrix_(start_, at) += accept * mass;
    matrix_(start_, start_) += (1 - accept) * mass;
  }

  std::vector<float> ladder_;
  Eigen::VectorXd log_ratio_;
  std::vector<Eigen::MatrixXd> up_, down_;  // of each rung
  std::vector<double> up_visits_, down_visits_;
  Eigen::Index start_ = 0;
  Eigen::MatrixXd matrix_;
};

// max |p(x) K(x, y) - p(y) K(y, x)|, and that of the rows' sums from 1.
double imbalance(const Layered& model, const Eigen::MatrixXd& matrix) {
  const Eigen::MatrixXd flow = StateSpace(model).p().asDiagonal() * matrix;
  return worse(largest_of(flow - flow.transpose()), largest_of(matrix.rowwise().sum().array() - 1));
}

Layered draw_transition_model(Stream& stream) {
  switch (stream.below(3)) {
    case 0:
      return draw_check_model(stream, 2);
    case 1:
      return draw_generic_model(stream, 2, 3);
    default:
      return draw_small_unit_model(stream, 2, 36);
  }
}

// As many temperatures as leave at most two million paths, up to four; the lowest b is 0 or not.
std::vector<float> draw_transition_ladder(Stream& stream, std::size_t states) {
  int most = 2;
  while (most < 4 && std::pow(static_cast<double>(states), 2 * most) <= 2e6) ++most;
  const int rungs = 2 + draw_below(stream, most - 1);
  std::vector<float> ladder(static_cast<std::size_t>(rungs));
  const double lowest = stream.below(2) == 0 ? 0 : stream.uniform(0, 0.9);
  double b = lowest;
  for (float& value : ladder) {
    value = static_cast<float>(b);
    b += (1 - b) * stream.uniform(0.2, 0.8);
  }
  ladder.back() = 1;
  return ladder;
}

CaseOutcome transition_balance(Stream& stream) {
  const Layered model = draw_transition_model(stream);
  TransitionCase c{model, draw_base(stream, model),
                   draw_transition_ladder(stream, StateSpace(model).states())};
  const std::vector<Rule> rules = ergodic_rules();
  c.rule = rules[stream.below(rules.size())];
  return {imbalance(model, TransitionLaw(c).matrix()), c.describe()};
}

constexpr std::uint64_t kQuarters = 4;  // every probability below is a multiple of 1/4, or of 1/2

// A model of two or three units in a row, RBM or DBM, the input of each 0 or +-log 3 at b < 1.
Layered draw_quarter_model(Stream& stream, double b, bool three) {
  const double size = std::log(3.0) / b;
  const auto draw_sign = [&] { return stream.below(2) == 0 ? -size : size; };
  const auto outer = [&](double w) { return stream.below(2) == 0 ? 0.0 : -w; };
  const double first = draw_sign(), second = draw_sign();
  const auto vector = [](std::initializer_list<double> values) {
    return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(
        values.begin(), static_cast<Eigen::Index>(values.size())));
  };
  if (!three)
    return Layered::rbm(Eigen::MatrixXd::Constant(1, 1, first), vector({outer(first)}),
                        vector({outer(first)}));
  const double middle = -(first + second) / 2;
  const Eigen::VectorXd ends = vector({outer(first), outer(second)});
  const Eigen::MatrixXd weights = vector({first, second});
  switch (stream.below(3)) {
    case 0:
      return Layered::rbm(weights, ends, vector({middle}));
    case 1:
      return Layered::rbm(weights.transpose(), vector({middle}), ends);
    default:
      break;
  }
  std::vector<Layer> layers(3);
  layers[0].bias = vector({ends[0]});
  layers[1].bias = vector({middle});
  layers[2].bias = vector({ends[1]});
  return Layered(layers, {vector({first}), vector({second})});
}

/// The draws of every path of decisions of every state, chain by chain; each path weighs the same.
class PathDraws final : public Draws {
 public:
  PathDraws(const StateSpace& space, const std::vector<float>& ladder) {
    const int sweeps = 2 * (static_cast<int>(ladder.size()) - 1);
    for (int s = 0; s < sweeps; ++s)
      for (int u = 0; u < space.units(); ++u) {
        const bool at_zero = ladder[0] == 0 && std::abs(2 * s - (sweeps - 1)) == 1;
        decisions_.push_back(
            {space.place(u).layer, space.place(u).unit, s, paths_, at_zero ? 2 : kQuarters});
        paths_ *= decisions_.back().intervals;
      }
    accepting.assign(paths_ * space.states(), 0);
  }
  std::size_t paths() const { return paths_; }

  std::vector<std::uint32_t> accepting;  ///< of every chain, state * paths + path

  void fill(std::uint32_t* out, const DrawRange& range) const override {
    for (std::uint32_t u = 0; u < range.units; ++u)
      for (std::uint32_t c = 0; c < range.chains; ++c)
        *out++ = draw(range.layer, range.first_unit + u, range.first_chain + c, range.sweep);
  }

 private:
  struct Decision {
    int layer, unit, sweep;
    std::size_t stride;
    std::uint64_t intervals;
  };
  std::uint32_t draw(std::uint32_t layer, std::uint32_t unit, std::size_t chain,
                     std::uint64_t sweep) const {
    if (chain >= accepting.size()) return 0;
    if (layer == static_cast<std::uint32_t>(Purpose::transition)) return accepting[chain];
    for (const Decision& d : decisions_)
      if (d.layer == static_cast<int>(layer) && d.unit == static_cast<int>(unit) &&
          d.sweep == static_cast<int>(sweep)) {
        const std::uint64_t digit = chain % paths_ / d.stride % d.intervals;
        return static_cast<std::uint32_t>(((2 * digit + 1) << 31) / d.intervals);
      }
    return 0;  // a padded unit's
  }

  std::vector<Decision> decisions_;
  std::size_t paths_ = 1;
};

/// The production transition of every state along every path.
class RecoveredTransition {
 public:
  RecoveredTransition(const TransitionCase& c, const TransitionMove& move)
      : case_(c),
        move_(move),
        space_(c.model),
        packed_(c.model, c.base),
        draws_(space_, c.ladder),
        start_(c.model, static_cast<int>(draws_.paths() * space_.states())) {
    for (int chain = 0; chain < start_.chains(); ++chain)
      put_state(start_, chain, space_, state_of(chain));
  }

  Eigen::MatrixXd matrix() {
    const auto states = static_cast<Eigen::Index>(space_.states());
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(states, states);
    std::vector<std::size_t> proposals;
    const std::vector<double> accept = recover_acceptance(proposals);
    for (std::size_t chain = 0; chain < accept.size(); ++chain) {
      const auto from = static_cast<Eigen::Index>(state_of(chain));
      const double weight = 1 / static_cast<double>(draws_.paths());
      matrix(from, static_cast<Eigen::Index>(proposals[chain])) += weight * accept[chain];
      matrix(from, from) += weight * (1 - accept[chain]);
    }
    if (!proven_) matrix.setConstant(std::nan(""));
    return matrix;
  }

 private:
  std::size_t state_of(std::size_t chain) const { return chain / draws_.paths(); }

  std::vector<TransitionOutcome> move(Chains& chains) const {
    return move_(packed_, chains, draws_,
                 {.inverse_temperatures = case_.ladder, .rule = case_.rule});
  }

  // The probabilities that production states, each proved by draws just below and just above.
  std::vector<double> recover_acceptance(std::vector<std::size_t>& proposals) {
    std::fill(draws_.accepting.begin(), draws_.accepting.end(), 0U);
    Chains moved = start_;
    std::vector<double> accept;
    for (const TransitionOutcome& outcome : move(moved))
      accept.push_back(std::min(1.0, std::exp(outcome.log_ratio)));
    for (int chain = 0; chain < moved.chains(); ++chain)
      proposals.push_back(index_of(space_, moved.get_chain(chain)));
    for (const double side : {-1.0, 1.0}) prove(side, proposals, accept);
    return accept;
  }

  void prove(double side, const std::vector<std::size_t>& proposals,
             const std::vector<double>& accept) {
    const auto draw_of = [&](double probability) {
      return (probability + side * 0x1p-24) * 0x1p32;
    };
    for (std::size_t c = 0; c < accept.size(); ++c)
      draws_.accepting[c] =
          static_cast<std::uint32_t>(std::clamp(draw_of(accept[c]), 0.0, 0x1p32 - 1));
    Chains moved = start_;
    move(moved);
    for (std::size_t c = 0; c < accept.size(); ++c) {
      const bool tells = draw_of(accept[c]) >= 0 && draw_of(accept[c]) < 0x1p32;
      const std::size_t expected = side < 0 ? proposals[c] : state_of(c);
      if (tells && index_of(space_, moved.get_chain(static_cast<int>(c))) != expected)
        proven_ = false;
    }
  }

  TransitionCase case_;
  TransitionMove move_;
  StateSpace space_;
  PackedModel packed_;
  PathDraws draws_;
  Chains start_;
  bool proven_ = true;
};

TransitionCase draw_quarter_case(Stream& stream) {
  constexpr float kBetas[] = {0.25F, 0.5F, 0.75F};
  const float b = kBetas[stream.below(3)];
  const bool three = stream.below(4) != 0;
  const Layered model = draw_quarter_model(stream, static_cast<double>(b), three);
  return {model, Base::uniform(model),
          three ? std::vector<float>{b, 1} : std::vector<float>{0, b, 1}};
}

CaseOutcome recovered_transition(Stream& stream, const TransitionMove& move) {
  const TransitionCase c = draw_quarter_case(stream);
  const Eigen::MatrixXd recovered = RecoveredTransition(c, move).matrix();
  const double error = (recovered - TransitionLaw(c).matrix()).cwiseAbs().sum();
  return {imbalance(c.model, recovered) + error, c.describe()};
}

}  // namespace

Check transition_law_check(const TransitionMove& move) {
  return bounded_check(
      "production-law", "tempered-transitions",
      "so is the production transition, recovered by scripted draws along every path, and its law "
      "is the enumerated one: imbalance and difference",
      1e-6, [move](Stream& s) { return recovered_transition(s, move); });
}

std::vector<Check> transition_checks() {
  return {
      bounded_check(
          "detailed-balance", "tempered-transitions",
          "the whole transition, every path enumerated, is in detailed balance with p: max |p(x) "
          "K(x, y) - p(y) K(y, x)|",
          1e-12, transition_balance),
      transition_law_check(tempered_transition),
  };
}

}  // namespace boltzmark

#include "boltzmark/transition/rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/number.hpp"
#include "boltzmark/transition/rules.hpp"

namespace boltzmark {
namespace {

namespace rules = HWY_NAMESPACE::rules;

struct DoubleOps {
  double set(double x) const { return x; }
  double add(double a, double b) const { return a + b; }
  double subtract(double a, double b) const { return a - b; }
  double multiply(double a, double b) const { return a * b; }
  double divide(double a, double b) const { return a / b; }
  double select(bool mask, double a, double b) const { return mask ? a : b; }
};

double unlikely_probability(const Rule& rule, double input, bool at_unlikely) {
  const DoubleOps ops;
  const double ratio = std::exp(-std::abs(input));
  const bool tie = input == 0;
  return rules::visit(rule.kind, [&](auto law) {
    return rules::unlikely<decltype(law)>(ops, ratio, at_unlikely, tie, rule.blend);
  });
}

// P(next is y | now), values counted from the likeliest one.
template <class Law>
void fill_next(double log_odds, std::size_t now, double share, std::span<double> out) {
  const DoubleOps ops;
  const auto weight = [&](std::size_t k) {  // 1 of the likeliest, of infinite odds too
    return k == 0 ? 1 : std::exp(-log_odds * static_cast<double>(k));
  };
  const double weight_now = weight(now);
  double others_now = 0;
  for (std::size_t k = 0; k < out.size(); ++k) others_now += k == now ? 0 : weight(k);
  const double total = others_now + weight_now;
  double left = others_now > 0 ? 0 : 1;
  for (std::size_t y = out.size(); y-- > 0;) {
    const double w = weight(y);
    const double odds = w / (y > now ? total - w : others_now);
    const rules::Move<double, bool> move{w, total, odds, left, y == now, false};
    out[y] = Law::next(ops, move, share);
    if (y > now && others_now > 0) left += rules::stay_term(ops, odds, w, weight_now, others_now);
  }
}

// Calls a law of one's own, and holds it to be a law.
void fill_own(const NamedLaw& own, Unit unit, double input, int from, std::span<double> out) {
  constexpr double kSum = 1e-10;  // 2^16 values are summed to 1e-11; half a threshold's step
  std::fill(out.begin(), out.end(), 0.0);
  own.law(unit, input, from, out);
  double sum = 0, least = 0;
  for (const double p : out) {
    sum += p;
    least = std::min(least, p);
  }
  if (!(std::abs(sum - 1) <= kSum && least >= 0))
    throw InvalidArgument(fmt::format(
        "law of {} = probabilities of sum {}, the least {}, at input {} of {} units from value {} "
        "(must be at least 0 and sum to 1)",
        own.name, sum, least, input, unit.name(), from));
}

double own_probability(const Rule& rule, double input, bool on, bool next_on) {
  std::array<double, 2> next{};
  next_law(rule, Unit::bernoulli(), input, on ? 1 : 0, next);
  return next[next_on ? 1 : 0];
}

bool is_registered(std::string_view name) {
  const std::vector<RuleInfo>& rules = registered_rules();
  return name.starts_with("blend:") ||
         std::any_of(rules.begin(), rules.end(),
                     [&](const auto& info) { return info.name == name; });
}

double parse_share(std::string_view text) {
  const auto share = parse_number<double>(text);
  if (!share || !(*share >= 0 && *share <= 1))
    throw InvalidArgument(
        fmt::format("rule = blend:{} (must be blend:SHARE with 0 <= SHARE <= 1)", text));
  return *share;
}

}  // namespace

Rule Rule::blended(double share) {
  if (!(share >= 0 && share <= 1))
    throw InvalidArgument(fmt::format("share = {} (must lie in [0, 1])", share));
  return {Kind::blend, share};
}

Rule Rule::of(std::string name, Law law) {
  if (name.empty() || is_registered(name))
    throw InvalidArgument(
        fmt::format("name = {} (must not be empty, nor that of a rule with kernels)", name));
  if (!law) throw InvalidArgument(fmt::format("law of {} = none (must be a function)", name));
  return {Kind::own, 0,
          std::make_shared<const NamedLaw>(NamedLaw{std::move(name), std::move(law)})};
}

std::string Rule::name() const {
  switch (kind) {
    case Kind::gibbs:
      return "gibbs";
    case Kind::flip:
      return "flip";
    case Kind::blend:
      return fmt::format("blend:{}", blend);
    case Kind::metropolis:
      return "metropolis";
    case Kind::own:
      return own ? own->name : "none";
  }
  throw InvalidArgument("rule (must be a registered kind)");
}

Rule parse_rule(std::string_view text) {
  if (text == "gibbs") return Rule::gibbs();
  if (text == "flip") return Rule::flip();
  if (text == "metropolis") return Rule::metropolis();
  constexpr std::string_view blend = "blend:";
  if (text.substr(0, blend.size()) == blend)
    return Rule::blended(parse_share(text.substr(blend.size())));
  throw InvalidArgument(
      fmt::format("rule = {} (must be gibbs, flip, blend:SHARE or metropolis)", text));
}

const std::vector<RuleInfo>& registered_rules() {
  static const std::vector<RuleInfo> rules = {
      {"gibbs", "draws each unit from its conditional law", true},
      {"flip",
       "flip-the-state T: flips with the largest probability in detailed balance; Metropolised "
       "Gibbs for more than two values",
       true},
      {"blend:0.5", "T_a = a T + (1 - a) G, unit by unit; a is the number after the colon", true},
      {"metropolis", "T without its tie rule: the counter-example, periodic at ties of two values",
       false},
  };
  return rules;
}

void next_law(const Rule& rule, Unit unit, double input, int from, std::span<double> out) {
  if (!unit.is_discrete()) throw InvalidArgument("unit = " + unit.name() + " (must be discrete)");
  require_law(rule, unit);
  const int values = unit.values();
  if (std::isnan(input)) throw InvalidArgument("input = nan (must be a number)");
  if (static_cast<int>(out.size()) != values || from < 0 || from >= values)
    throw InvalidArgument(fmt::format("from = {}, out = {} values (must be 0..{}, {})", from,
                                      out.size(), values - 1, values));
  if (rule.kind == Rule::Kind::own) return fill_own(*rule.own, unit, input, from, out);
  const double log_odds = input * unit.spacing();
  if (values == 2) {
    const int unlikely = log_odds > 0 ? 0 : 1;  // 1 less its probability would lose digits
    out[unlikely] = unlikely_probability(rule, log_odds, from == unlikely);
    out[1 - unlikely] = 1 - out[unlikely];
    return;
  }
  const bool likely_high = log_odds > 0;
  const auto now = static_cast<std::size_t>(likely_high ? values - 1 - from : from);
  rules::visit(rule.kind, [&](auto law) {
    fill_next<decltype(law)>(std::abs(log_odds), now, rule.blend, out);
  });
  if (likely_high) std::reverse(out.begin(), out.end());
}

int next_value(const Rule& rule, Unit unit, double input, int from, std::uint32_t draw,
               std::span<double> law) {
  next_law(rule, unit, input, from, law);
  double tail = 0;
  for (int k = unit.values() - 1; k > 0; --k) {
    tail += law[k];
    if (std::llround(std::min(tail, 1.0) * 0x1p32) > std::int64_t{draw}) return k;
  }
  return 0;
}

void require_law(const Rule& rule, Unit unit) {
  if (rule.kind == Rule::Kind::blend) Rule::blended(rule.blend);  // refuses what is no share
  if (rule.kind == Rule::Kind::own && !(rule.own && rule.own->law))
    throw InvalidArgument("rule = none (must have a law: Rule::of)");
  if (rule.kind == Rule::Kind::own && !unit.is_discrete())
    throw InvalidArgument(
        fmt::format("rule = {} (must be one with kernels for {} units, not a law of one's own)",
                    rule.name(), unit.name()));
}

double on_probability(const Rule& rule, double input, bool on) {
  if (rule.kind == Rule::Kind::own) return own_probability(rule, input, on, true);
  const bool likely_on = input > 0;
  const double q = unlikely_probability(rule, input, on != likely_on);
  return likely_on ? 1 - q : q;
}

double flip_probability(const Rule& rule, double input, bool on) {
  if (rule.kind == Rule::Kind::own) return own_probability(rule, input, on, !on);
  const bool at_unlikely = on != (input > 0);
  const double q = unlikely_probability(rule, input, at_unlikely);
  return at_unlikely ? 1 - q : q;
}

}  // namespace boltzmark

#include "boltzmark/exact/state_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

// values = old values + the unit's own value times factor, for every value of a unit that comes on
// top: table[d stride + i] = table[i] + value(d) factor(i), i < stride.
template <class Factor>
void extend(Eigen::Ref<Eigen::VectorXd> table, std::size_t stride, Unit unit,
            const Factor& factor) {
  const auto run = static_cast<Eigen::Index>(stride);
  // From the top, for the lowest value writes over what the others start from.
  for (int d = unit.values() - 1; d >= 0; --d) {
    if (unit.value(d) == 0 && d == 0) continue;
    table.segment(d * run, run) = table.head(run).array() + unit.value(d) * factor;
  }
}

// A run of consecutive numbers, in pieces that lie in one table of `table` numbers each.
struct Piece {
  std::size_t table;          // how many tables are before
  Eigen::Index at, in, size;  // in the run, in the table
};

std::vector<Piece> pieces_of(std::size_t first, std::size_t count, std::size_t table) {
  std::vector<Piece> pieces;
  for (std::size_t at = 0; at < count;) {
    const std::size_t in = (first + at) % table, size = std::min(table - in, count - at);
    pieces.push_back({(first + at) / table, static_cast<Eigen::Index>(at),
                      static_cast<Eigen::Index>(in), static_cast<Eigen::Index>(size)});
    at += size;
  }
  return pieces;
}

// The units of which a unit's input is summed, in their order, by their states' digits.
struct Digit {
  Unit kind;
  std::size_t stride;
  double coupling;
};

// What a unit's input is for a run of states of others: those whose states fit into the run are a
// table, which the values of the rest add to.
Eigen::VectorXd input_run(double bias, const std::vector<Digit>& digits, std::size_t first,
                          std::size_t count) {
  std::size_t low = 0, table = 1;
  for (; low < digits.size(); ++low) {
    const auto values = static_cast<std::size_t>(digits[low].kind.values());
    if (table * values > std::max<std::size_t>(count, 1)) break;
    table *= values;
  }
  Eigen::VectorXd sums(static_cast<Eigen::Index>(table));
  sums[0] = bias;
  for (std::size_t k = 0; k < low; ++k)
    extend(sums, digits[k].stride, digits[k].kind, digits[k].coupling);
  if (low == digits.size() && first == 0 && count == table) return sums;
  Eigen::VectorXd run(static_cast<Eigen::Index>(count));
  for (const Piece& piece : pieces_of(first, count, table)) {
    auto here = run.segment(piece.at, piece.size);
    here = sums.segment(piece.in, piece.size);
    for (std::size_t k = low; k < digits.size(); ++k) {
      const auto values = static_cast<std::size_t>(digits[k].kind.values());
      const auto d = static_cast<int>(piece.table * table / digits[k].stride % values);
      const double value = digits[k].kind.value(d);
      if (value != 0 || d != 0) here.array() += value * digits[k].coupling;
    }
  }
  return run;
}

}  // namespace

StateSpace::StateSpace(const Layered& model, const Ranks& ranks) {
  if (!model.is_discrete())
    throw InvalidArgument("units (must all be discrete to enumerate states one by one)");
  const std::size_t most = ranks.count() > 1 ? kMaxSharedStates : kMaxStates;
  std::size_t stride = 1;
  for (int l = 0; l < model.layers(); ++l) {
    const Unit kind = model.layer(l).unit;
    const auto values = static_cast<std::size_t>(kind.values());
    for (int i = 0; i < model.size(l); ++i) {
      if (stride > most / values)
        throw InvalidArgument(
            fmt::format("states = more than {} (must be at most that to enumerate them one by one: "
                        "{} binary units)",
                        most, std::bit_width(most) - 1));
      sides_[l % 2].push_back(units());
      side_states_[l % 2] *= values;
      places_.push_back({l, i, l % 2 == 1, kind, stride});
      stride *= values;
      log_weight_ += kind.log_weight();
    }
  }
  bias_.resize(units());
  coupling_ = Eigen::MatrixXd::Zero(units(), units());
  for (int l = 0, first = 0; l < model.layers(); first += model.size(l), ++l) {
    const int size = model.size(l), next = first + size;
    bias_.segment(first, size) = model.bias(l);
    if (l + 1 == model.layers()) break;
    coupling_.block(first, next, size, model.size(l + 1)) = model.weights(l);
    coupling_.block(next, first, model.size(l + 1), size) = model.weights(l).transpose();
  }
  rows_ = Rows(states(), ranks);
  fill_log_f();
  // The highest first, so that the rounding of log p is relative to its own size, not to the
  // energy's.
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  const std::vector<double> highs = one_of_each(ranks, rows_.own() > 0 ? log_p_.maxCoeff() : kNone);
  const double highest = *std::max_element(highs.begin(), highs.end());
  log_p_.array() -= highest;
  const auto add = [this](SumInFours& sum, Eigen::Index at, Eigen::Index rows) {
    sum.add(log_p_.segment(at, rows).array().exp());
  };
  const double rest = std::log(rows_.sum<SumInFours>(add));
  log_p_.array() -= rest;
  log_z_ = highest + rest + log_weight_;
}

// log f(x) = log f(x below unit u) + value of u times its input from the units below: exact to the
// rounding of one addition a unit. The units whose states fit into this rank's rows are a table.
void StateSpace::fill_log_f() {
  const auto own = static_cast<std::size_t>(rows_.own());
  std::vector<std::vector<Digit>> below(places_.size());
  for (int u = 0; u < units(); ++u)
    for (int k = 0; k < u; ++k)
      below[u].push_back({places_[k].kind, places_[k].stride, coupling_(k, u)});
  int u = 0;
  std::size_t table = 1;
  log_p_ = Eigen::VectorXd::Zero(1);
  for (; u < units() && table * values(u) <= std::max<std::size_t>(own, 1); ++u) {
    const Eigen::VectorXd inputs = input_run(bias_[u], below[u], 0, table);
    log_p_.conservativeResize(static_cast<Eigen::Index>(table * values(u)));
    extend(log_p_, table, places_[u].kind, inputs.array());
    table *= values(u);
  }
  if (u == units()) return;
  const std::vector<Piece> pieces = pieces_of(rows_.first(), own, table);
  const Eigen::VectorXd low = std::exchange(log_p_, Eigen::VectorXd(rows_.own()));
  for (const Piece& piece : pieces)
    log_p_.segment(piece.at, piece.size) = low.segment(piece.in, piece.size);
  for (; u < units(); ++u)
    for (const Piece& piece : pieces) {
      const std::size_t state = piece.table * table;
      if (value(u, state) == 0 && value_index(u, state) == 0) continue;
      const Eigen::VectorXd inputs =
          input_run(bias_[u], below[u], rows_.first() + static_cast<std::size_t>(piece.at),
                    static_cast<std::size_t>(piece.size));
      log_p_.segment(piece.at, piece.size) += value(u, state) * inputs;
    }
}

double StateSpace::input(int unit, std::size_t state) const {
  double x = bias_[unit];
  for (const int k : sides_[places_[unit].odd ? 0 : 1]) x += value(k, state) * coupling_(k, unit);
  return x;
}

std::size_t StateSpace::side_part(int parity, std::size_t state) const {
  std::size_t part = 0, stride = 1;
  for (const int unit : sides_[parity]) {
    part += static_cast<std::size_t>(value_index(unit, state)) * stride;
    stride *= static_cast<std::size_t>(values(unit));
  }
  return part;
}

std::size_t StateSpace::side_state(int parity, std::size_t part) const {
  std::size_t state = 0;
  for (const int unit : sides_[parity]) {
    const auto count = static_cast<std::size_t>(values(unit));
    state += part % count * places_[unit].stride;
    part /= count;
  }
  return state;
}

Eigen::MatrixXd StateSpace::inputs(int parity, std::size_t first, std::size_t count) const {
  const std::vector<int>& own = sides_[parity];
  Eigen::MatrixXd table(static_cast<Eigen::Index>(count), static_cast<Eigen::Index>(own.size()));
  for (std::size_t j = 0; j < own.size(); ++j) {
    std::vector<Digit> digits;
    std::size_t stride = 1;
    for (const int k : sides_[1 - parity]) {
      digits.push_back({places_[k].kind, stride, coupling_(k, own[j])});
      stride *= static_cast<std::size_t>(values(k));
    }
    table.col(static_cast<Eigen::Index>(j)) = input_run(bias_[own[j]], digits, first, count);
  }
  return table;
}

}  // namespace boltzmark

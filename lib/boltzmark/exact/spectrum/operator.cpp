#include "boltzmark/exact/spectrum/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"

namespace boltzmark {

namespace {

constexpr std::size_t kSerialWork = std::size_t{1} << 15;  // values; below, threads cost more
constexpr std::size_t kMaxLaw = std::size_t{1} << 27;      // numbers of all single-unit laws

void for_each_index(std::size_t count, std::size_t work, const auto& body) {
  if (work < kSerialWork) {
    for (std::size_t i = 0; i < count; ++i) body(i);
  } else {
    parallel_for(count, body);
  }
}

// A unit's law as a matrix of runs over the states of the other side, [row * values + column].
using Coefficients = std::vector<const double*>;

// Mixes the runs of a unit's values, `stride` apart, by one matrix (that at place `at` of its runs)
// or, with `each`, by one for every place of the run from there on.
template <bool each>
void mix_two(double* __restrict low, std::size_t stride, std::size_t length,
             const Coefficients& matrix, std::size_t at) {
  double* __restrict high = low + stride;
  const double *c00 = matrix[0] + at, *c01 = matrix[1] + at, *c10 = matrix[2] + at,
               *c11 = matrix[3] + at;
  for (std::size_t i = 0; i < length; ++i) {
    const std::size_t k = each ? i : 0;
    const double a = low[i], b = high[i];
    low[i] = c00[k] * a + c01[k] * b;
    high[i] = c10[k] * a + c11[k] * b;
  }
}

template <bool each>
void mix_values(double* values, std::size_t stride, std::size_t length, std::size_t count,
                const Coefficients& matrix, std::size_t at) {
  if (count == 2) return mix_two<each>(values, stride, length, matrix, at);
  std::vector<double> old(count);
  for (std::size_t i = 0; i < length; ++i) {
    for (std::size_t k = 0; k < count; ++k) old[k] = values[k * stride + i];
    for (std::size_t row = 0; row < count; ++row) {
      double sum = 0;
      for (std::size_t k = 0; k < count; ++k)
        sum += matrix[row * count + k][at + (each ? i : 0)] * old[k];
      values[row * stride + i] = sum;
    }
  }
}

// p_i T(i, j) = p_j T(j, i) of a unit's law at place o of its table, p its conditional law.
bool is_balanced(Unit unit, double input, const std::vector<double>& table, std::size_t others,
                 std::size_t o) {
  constexpr double kBalance = 1e-14;
  const auto n = static_cast<std::size_t>(unit.values());
  std::vector<double> p(n);
  next_law(Rule::gibbs(), unit, input, 0, p);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (std::abs(p[i] * table[(i * n + j) * others + o] -
                   p[j] * table[(j * n + i) * others + o]) > kBalance)
        return false;
  return true;
}

void require_room(const StateSpace& space, int parity, std::size_t others) {
  for (const int unit : space.side(parity)) {
    const auto n = static_cast<std::size_t>(space.values(unit));
    if (n * n > kMaxLaw / others)
      throw InvalidArgument(fmt::format(
          "values of a unit = {} (must be fewer, to tabulate its law for {} states of the others)",
          n, others));
  }
}

}  // namespace

SweepOperator::UnitLaw SweepOperator::unit_law(const StateSpace& space, const Rule& rule, int unit,
                                               const double* inputs, std::size_t others) {
  const auto n = static_cast<std::size_t>(space.values(unit));
  UnitLaw law{.values = n, .stride = 1, .others = others, .table = {}, .symmetric = {}};
  law.table.resize(n * n * others);
  law.symmetric.resize(law.table.size());
  std::vector<double> next(n);
  for (std::size_t o = 0; o < others; ++o) {
    for (std::size_t from = 0; from < n; ++from) {
      next_law(rule, space.place(unit).kind, inputs[o], static_cast<int>(from), next);
      for (std::size_t to = 0; to < n; ++to) law.table[(from * n + to) * others + o] = next[to];
    }
    if (rule.kind == Rule::Kind::own)
      law.reversible =
          law.reversible && is_balanced(space.place(unit).kind, inputs[o], law.table, others, o);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        const double forth = law.table[(i * n + j) * others + o];
        const double back = law.table[(j * n + i) * others + o];
        law.symmetric[(i * n + j) * others + o] =
            i == j ? forth : std::sqrt(forth) * std::sqrt(back);
      }
  }
  return law;
}

Coefficients SweepOperator::UnitLaw::matrix(Form form) const {
  const std::vector<double>& source = form == Form::symmetrised ? symmetric : table;
  Coefficients result(values * values);
  for (std::size_t row = 0; row < values; ++row)
    for (std::size_t column = 0; column < values; ++column) {
      const std::size_t cell = form == Form::push ? column * values + row : row * values + column;
      result[row * values + column] = source.data() + cell * others;
    }
  return result;
}

SweepOperator::SweepOperator(const StateSpace& space, const Rule& rule) : turns_(space) {
  for (int parity = 0; parity < 2; ++parity) {
    const std::vector<int>& units = space.side(parity);
    require_room(space, parity, turns_.most(1 - parity));
    const SideRun others = turns_.own(1 - parity);
    const Eigen::MatrixXd inputs = space.inputs(parity, others.first, others.count);
    Side& side = sides_[parity];
    for (std::size_t k = 0; k < units.size(); ++k) {
      side.units.push_back(unit_law(space, rule, units[k],
                                    inputs.col(static_cast<Eigen::Index>(k)).data(), others.count));
      reversible_ = reversible_ && side.units.back().reversible;
      side.units.back().stride = side.states;
      side.states *= side.units.back().values;
    }
  }
  reversible_ = !holds_at_any(turns_.ranks(), !reversible_);
}

// The odd side's states are far apart in memory: a few even states at a time are gathered, mixed
// through all units, and put back.
void SweepOperator::mix_odd(double* values, std::size_t width, Form form) const {
  const std::size_t even_states = turns_.own(0).count, odd_states = sides_[1].states;
  const std::size_t most = std::max<std::size_t>(1, 32 / width);  // even states together
  const std::size_t chunks = (even_states + most - 1) / most;
  std::vector<Coefficients> matrices;
  for (const UnitLaw& unit : sides_[1].units) matrices.push_back(unit.matrix(form));
  for_each_index(chunks, size() * width, [&](std::size_t c) {
    const std::size_t e = c * most, chunk = std::min(most, even_states - e), run = chunk * width;
    std::vector<double> local(odd_states * run);
    for (std::size_t o = 0; o < odd_states; ++o)
      std::copy_n(values + (o * even_states + e) * width, run, &local[o * run]);
    for (std::size_t k = 0; k < matrices.size(); ++k) {
      const UnitLaw& unit = sides_[1].units[k];
      const std::size_t stride = unit.stride * run;
      for (std::size_t o = 0; o < odd_states; ++o) {
        if (o / unit.stride % unit.values != 0) continue;
        double* first = &local[o * run];
        if (width == 1) {
          mix_values<true>(first, stride, chunk, unit.values, matrices[k], e);
          continue;
        }
        for (std::size_t i = 0; i < chunk; ++i)
          mix_values<false>(first + i * width, stride, width, unit.values, matrices[k], e + i);
      }
    }
    for (std::size_t o = 0; o < odd_states; ++o)
      std::copy_n(&local[o * run], run, values + (o * even_states + e) * width);
  });
}

void SweepOperator::mix_even(double* values, std::size_t width, Form form) const {
  const std::size_t even_states = sides_[0].states;
  std::vector<Coefficients> matrices;
  for (const UnitLaw& unit : sides_[0].units) matrices.push_back(unit.matrix(form));
  for_each_index(turns_.own(1).count, size() * width, [&](std::size_t o) {
    double* row = values + o * even_states * width;
    for (std::size_t k = 0; k < matrices.size(); ++k) {
      const UnitLaw& unit = sides_[0].units[k];
      const std::size_t length = unit.stride * width;
      for (std::size_t e = 0; e < even_states; e += unit.stride * unit.values)
        mix_values<false>(row + e * width, length, length, unit.values, matrices[k], o);
    }
  });
}

void SweepOperator::apply_half(double* values, std::size_t width, int parity, Form form) const {
  if (parity == 0) return mix_even(values, width, form);
  Turned<double> turned(turns_, values, width);
  mix_odd(turned.data(), width, form);
  turned.turn_back();
}

template <typename Body>
void SweepOperator::in_odd_order(Eigen::Ref<StateBlock> values, const Body& body) const {
  const std::size_t width = static_cast<std::size_t>(values.cols());
  if (values.outerStride() != values.cols()) {
    StateBlock packed = values;
    in_odd_order(packed, body);
    values = packed;
    return;
  }
  if (turns_.in_place()) return body(values.data(), width);
  const auto odd = std::make_unique_for_overwrite<double[]>(size() * width);
  turns_.to_odd(values.data(), odd.get(), width);
  body(odd.get(), width);
  turns_.to_document(odd.get(), values.data(), width);
}

void SweepOperator::push_half(Eigen::Ref<StateBlock> p, int parity) const {
  in_odd_order(
      p, [&](double* values, std::size_t width) { apply_half(values, width, parity, Form::push); });
}

void SweepOperator::push(Eigen::Ref<StateBlock> p, int first) const {
  in_odd_order(p, [&](double* values, std::size_t width) {
    apply_half(values, width, first, Form::push);
    apply_half(values, width, 1 - first, Form::push);
  });
}

void SweepOperator::pull(Eigen::Ref<StateBlock> f, int first) const {
  in_odd_order(f, [&](double* values, std::size_t width) {
    apply_half(values, width, 1 - first, Form::pull);
    apply_half(values, width, first, Form::pull);
  });
}

void SweepOperator::require_reversible() const {
  if (!reversible_)
    throw InvalidArgument("rule (must be in detailed balance with p to have a symmetric form)");
}

void SweepOperator::apply_symmetrised(Eigen::Ref<StateBlock> g) const {
  require_reversible();
  in_odd_order(g, [&](double* values, std::size_t width) {
    apply_half(values, width, 0, Form::symmetrised);
    apply_half(values, width, 1, Form::symmetrised);
  });
}

// values += 1/n sum over the even side's units of S_unit old: each state's sum in the order of
// units.
void SweepOperator::scan_even(const double* old, double* values, std::size_t width) const {
  const std::size_t even_states = sides_[0].states;
  const double share = 1.0 / units();
  for_each_index(turns_.own(1).count, size() * width, [&](std::size_t o) {
    const std::size_t row = o * even_states * width;
    for (const UnitLaw& unit : sides_[0].units) {
      const std::size_t run = unit.stride * width;
      for (std::size_t block = row; block < row + even_states * width; block += unit.values * run)
        for (std::size_t cell = 0; cell < unit.values * unit.values; ++cell) {
          const double come = share * unit.symmetric[cell * unit.others + o];
          const double* from = old + block + cell % unit.values * run;
          double* to = values + block + cell / unit.values * run;
          for (std::size_t i = 0; i < run; ++i) to[i] += come * from[i];
        }
    }
  });
}

// The same for the odd side's, on vectors in the order even.
void SweepOperator::scan_odd(const double* old, double* values, std::size_t width) const {
  const std::size_t even_states = turns_.own(0).count, row = even_states * width;
  const double share = 1.0 / units();
  for_each_index(sides_[1].states, size() * width, [&](std::size_t o) {
    for (const UnitLaw& unit : sides_[1].units) {
      const std::size_t now = o / unit.stride % unit.values, lowest = o - now * unit.stride;
      for (std::size_t k = 0; k < unit.values; ++k) {
        const double* law = unit.symmetric.data() + (now * unit.values + k) * unit.others;
        const double* from = old + (lowest + k * unit.stride) * row;
        double* to = values + o * row;
        for (std::size_t e = 0; e < even_states; ++e) {
          const double come = share * law[e];
          for (std::size_t i = 0; i < width; ++i) to[e * width + i] += come * from[e * width + i];
        }
      }
    }
  });
}

void SweepOperator::apply_random_scan(Eigen::Ref<StateBlock> g) const {
  require_reversible();
  in_odd_order(g, [&](double* values, std::size_t width) {
    std::vector<double> old(values, values + size() * width);
    std::fill_n(values, old.size(), 0.0);
    scan_even(old.data(), values, width);
    Turned<double> before(turns_, old.data(), width), after(turns_, values, width);
    scan_odd(before.data(), after.data(), width);
    after.turn_back();
  });
}

namespace {

void require_dense(const StateSpace& space) {
  if (space.states() > kMaxDenseStates)
    throw InvalidArgument(fmt::format("states = {} (must be at most {} for a dense matrix)",
                                      space.states(), kMaxDenseStates));
}

// Row x of the identity pushed forward is row x of the matrix; columns of the block are rows x.
StateBlock identity(const StateSpace& space) {
  require_dense(space);
  const auto states = static_cast<Eigen::Index>(space.states());
  return StateBlock::Identity(states, states);
}

}  // namespace

Eigen::MatrixXd unit_matrix(const StateSpace& space, const Rule& rule, int unit) {
  require_dense(space);
  const auto states = static_cast<Eigen::Index>(space.states());
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(states, states);
  std::vector<double> next(static_cast<std::size_t>(space.values(unit)));
  for (std::size_t x = 0; x < space.states(); ++x) {
    next_law(rule, space.place(unit).kind, space.input(unit, x), space.value_index(unit, x), next);
    for (int k = 0; k < space.values(unit); ++k)
      matrix(static_cast<Eigen::Index>(x), static_cast<Eigen::Index>(space.moved(unit, x, k))) =
          next[k];
  }
  return matrix;
}

Eigen::MatrixXd sweep_matrix(const StateSpace& space, const Rule& rule) {
  StateBlock block = identity(space);
  SweepOperator(space, rule).push(block);
  return block.transpose();
}

Eigen::MatrixXd symmetrised_sweep_matrix(const StateSpace& space, const Rule& rule) {
  StateBlock block = identity(space);
  SweepOperator(space, rule).apply_symmetrised(block);
  return block;
}

Eigen::MatrixXd random_scan_matrix(const StateSpace& space, const Rule& rule) {
  Eigen::MatrixXd matrix = unit_matrix(space, rule, 0);
  for (int u = 1; u < space.units(); ++u) matrix += unit_matrix(space, rule, u);
  return matrix / space.units();
}

Eigen::MatrixXd symmetrised_random_scan_matrix(const StateSpace& space, const Rule& rule) {
  StateBlock block = identity(space);
  SweepOperator(space, rule).apply_random_scan(block);
  return block;
}

Eigen::MatrixXd breuleux_transform(const Eigen::Ref<const Eigen::MatrixXd>& matrix) {
  if (matrix.rows() != matrix.cols() || matrix.rows() == 0)
    throw InvalidArgument(fmt::format("matrix = {} x {} (must be square and not empty)",
                                      matrix.rows(), matrix.cols()));
  const double least = matrix.diagonal().minCoeff();
  if (least >= 1) throw InvalidArgument("matrix = identity (must move some probability)");
  Eigen::MatrixXd result = matrix;
  // The least diagonal entry minus itself is an exact zero.
  result.diagonal().array() -= least;
  return result / (1 - least);
}

}  // namespace boltzmark

#include "boltzmark/exact/operator.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "boltzmark/core/parallel.hpp"

namespace boltzmark {
namespace {

constexpr std::size_t kSerialWork = std::size_t{1} << 15;  // values; below, threads cost more

void for_each_index(std::size_t count, std::size_t work, const auto& body) {
  if (work < kSerialWork) {
    for (std::size_t i = 0; i < count; ++i) body(i);
  } else {
    parallel_for(count, body);
  }
}

// Moves the bits of a state of one side to where the document's order has them.
std::uint32_t scatter(std::size_t bits, const std::vector<int>& units) {
  std::uint32_t result = 0;
  for (std::size_t k = 0; k < units.size(); ++k)
    if ((bits >> k) & 1U) result |= std::uint32_t{1} << units[k];
  return result;
}

// Mixes two runs of values by one matrix.
inline void mix_runs(double* __restrict off, double* __restrict on, std::size_t length,
                     double stay_off, double into_off, double into_on, double stay_on) {
  for (std::size_t i = 0; i < length; ++i) {
    const double a = off[i], b = on[i];
    off[i] = stay_off * a + into_off * b;
    on[i] = into_on * a + stay_on * b;
  }
}

// Mixes two runs of values by a matrix each.
inline void mix_each(double* __restrict off, double* __restrict on, std::size_t length,
                     const double* __restrict stay_off, const double* __restrict into_off,
                     const double* __restrict into_on, const double* __restrict stay_on) {
  for (std::size_t i = 0; i < length; ++i) {
    const double a = off[i], b = on[i];
    off[i] = stay_off[i] * a + into_off[i] * b;
    on[i] = into_on[i] * a + stay_on[i] * b;
  }
}

}  // namespace

SweepOperator::SweepOperator(const StateSpace& space, const Rule& rule) : states_(space.states()) {
  for (int parity = 0; parity < 2; ++parity) {
    side_units_[parity] = static_cast<int>(space.side(parity).size());
    const Eigen::MatrixXd inputs = space.inputs(parity);
    Side& side = sides_[parity];
    const std::size_t size = static_cast<std::size_t>(inputs.size());
    for (auto* table :
         {&side.stay_off, &side.stay_on, &side.flip_off, &side.flip_on, &side.geometric})
      table->resize(size);
    for (std::size_t i = 0; i < size; ++i) {
      const double x = inputs.data()[i];
      const double off = flip_probability(rule, x, false), on = flip_probability(rule, x, true);
      side.flip_off[i] = off;
      side.flip_on[i] = on;
      side.stay_off[i] = 1 - off;
      side.stay_on[i] = 1 - on;
      side.geometric[i] = std::sqrt(off) * std::sqrt(on);
    }
  }
  const std::vector<int>& even = space.side(0);
  if (even.back() == static_cast<int>(even.size()) - 1) return;
  document_index_.resize(states_);
  for (std::size_t i = 0; i < states_; ++i) {
    const std::size_t even_bits = i & ((std::size_t{1} << side_units_[0]) - 1);
    document_index_[i] = scatter(even_bits, even) | scatter(i >> side_units_[0], space.side(1));
  }
}

SweepOperator::Mix SweepOperator::mix(int parity, int unit, Form form) const {
  const Side& side = sides_[parity];
  const std::size_t at = static_cast<std::size_t>(unit) << side_units_[1 - parity];
  const double* into_off = &side.flip_on[at];
  const double* into_on = &side.flip_off[at];
  if (form == Form::pull) std::swap(into_off, into_on);
  if (form == Form::symmetrised) into_off = into_on = &side.geometric[at];
  return {&side.stay_off[at], into_off, into_on, &side.stay_on[at]};
}

// The odd side's bits are the high ones, far apart in memory: a few even states at a time are
// gathered, mixed through all units, and put back.
void SweepOperator::mix_odd(double* values, std::size_t width, Form form) const {
  const std::size_t even_states = std::size_t{1} << side_units_[0];
  const std::size_t odd_states = std::size_t{1} << side_units_[1];
  std::size_t chunk = std::min<std::size_t>(even_states, 32);  // a power of two: it divides them
  while (chunk > 1 && chunk * width > 32) chunk /= 2;
  const std::size_t run = chunk * width;
  for_each_index(even_states / chunk, states_ * width, [&](std::size_t c) {
    const std::size_t e = c * chunk;
    std::vector<double> local(odd_states * run);
    for (std::size_t o = 0; o < odd_states; ++o)
      std::copy_n(values + (o * even_states + e) * width, run, &local[o * run]);
    for (int k = 0; k < side_units_[1]; ++k) {
      const std::size_t bit = std::size_t{1} << k;
      const Mix m = mix(1, k, form);
      for (std::size_t o = 0; o < odd_states; ++o) {
        if (o & bit) continue;
        double* off = &local[o * run];
        double* on = off + bit * run;
        if (width == 1) {
          mix_each(off, on, chunk, m.stay_off + e, m.into_off + e, m.into_on + e, m.stay_on + e);
          continue;
        }
        for (std::size_t i = 0; i < chunk; ++i)
          mix_runs(off + i * width, on + i * width, width, m.stay_off[e + i], m.into_off[e + i],
                   m.into_on[e + i], m.stay_on[e + i]);
      }
    }
    for (std::size_t o = 0; o < odd_states; ++o)
      std::copy_n(&local[o * run], run, values + (o * even_states + e) * width);
  });
}

void SweepOperator::mix_even(double* values, std::size_t width, Form form) const {
  const std::size_t even_states = std::size_t{1} << side_units_[0];
  const std::size_t odd_states = std::size_t{1} << side_units_[1];
  for_each_index(odd_states, states_ * width, [&](std::size_t o) {
    double* row = values + o * even_states * width;
    for (int k = 0; k < side_units_[0]; ++k) {
      const std::size_t bit = std::size_t{1} << k;
      const Mix m = mix(0, k, form);
      for (std::size_t e = 0; e < even_states; e += 2 * bit)
        mix_runs(row + e * width, row + (e + bit) * width, bit * width, m.stay_off[o],
                 m.into_off[o], m.into_on[o], m.stay_on[o]);
    }
  });
}

void SweepOperator::apply_half(double* values, std::size_t width, int parity, Form form) const {
  parity == 1 ? mix_odd(values, width, form) : mix_even(values, width, form);
}

template <typename Body>
void SweepOperator::in_side_order(Eigen::Ref<StateBlock> values, const Body& body) const {
  const std::size_t width = static_cast<std::size_t>(values.cols());
  if (document_index_.empty() && values.outerStride() == values.cols())
    return body(values.data(), width);
  StateBlock inner(values.rows(), values.cols());
  const auto at = [&](std::size_t i) {
    return static_cast<Eigen::Index>(document_index_.empty() ? i : document_index_[i]);
  };
  for (std::size_t i = 0; i < states_; ++i)
    inner.row(static_cast<Eigen::Index>(i)) = values.row(at(i));
  body(inner.data(), width);
  for (std::size_t i = 0; i < states_; ++i)
    values.row(at(i)) = inner.row(static_cast<Eigen::Index>(i));
}

void SweepOperator::push_half(Eigen::Ref<StateBlock> p, int parity) const {
  in_side_order(
      p, [&](double* values, std::size_t width) { apply_half(values, width, parity, Form::push); });
}

void SweepOperator::push(Eigen::Ref<StateBlock> p) const {
  in_side_order(p, [&](double* values, std::size_t width) {
    apply_half(values, width, 1, Form::push);
    apply_half(values, width, 0, Form::push);
  });
}

void SweepOperator::pull(Eigen::Ref<StateBlock> f) const {
  in_side_order(f, [&](double* values, std::size_t width) {
    apply_half(values, width, 0, Form::pull);
    apply_half(values, width, 1, Form::pull);
  });
}

void SweepOperator::apply_symmetrised(Eigen::Ref<StateBlock> g) const {
  in_side_order(g, [&](double* values, std::size_t width) {
    apply_half(values, width, 0, Form::symmetrised);
    apply_half(values, width, 1, Form::symmetrised);
  });
}

void SweepOperator::apply_symmetrised_adjoint(Eigen::Ref<StateBlock> g) const {
  in_side_order(g, [&](double* values, std::size_t width) {
    apply_half(values, width, 1, Form::symmetrised);
    apply_half(values, width, 0, Form::symmetrised);
  });
}

void SweepOperator::apply_random_scan(Eigen::Ref<StateBlock> g) const {
  in_side_order(g, [&](double* values, std::size_t width) {
    const std::size_t even_mask = (std::size_t{1} << side_units_[0]) - 1;
    const std::vector<double> old(values, values + states_ * width);
    const double share = 1.0 / units();
    for_each_index(states_, states_ * width, [&](std::size_t x) {
      double* out = values + x * width;
      std::fill(out, out + width, 0.0);
      for (int u = 0; u < units(); ++u) {
        const int parity = u < side_units_[0] ? 0 : 1;
        const Mix m = mix(parity, parity == 0 ? u : u - side_units_[0], Form::symmetrised);
        const std::size_t other = parity == 0 ? x >> side_units_[0] : x & even_mask;
        const bool on = (x >> u) & 1U;
        const double stay = share * (on ? m.stay_on : m.stay_off)[other];
        const double come = share * m.into_on[other];
        const double* self = &old[x * width];
        const double* flipped = &old[(x ^ (std::size_t{1} << u)) * width];
        for (std::size_t i = 0; i < width; ++i) out[i] += stay * self[i] + come * flipped[i];
      }
    });
  });
}

}  // namespace boltzmark

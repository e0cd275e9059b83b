#include "boltzmark/exact/spectrum/turns.hpp"

#include <functional>

namespace boltzmark {
namespace {

// Visits the states of a run of rows whose odd part is in a run, in the order of rows.
class Visit {
 public:
  using Body = std::function<void(std::size_t state, std::size_t odd, std::size_t even)>;
  Visit(const StateSpace& space, std::size_t first, std::size_t end, SideRun odd)
      : space_(space), first_(first), end_(end), odd_(odd) {
    for (int parity = 0; parity < 2; ++parity) {
      std::size_t stride = 1;
      for (const int unit : space.side(parity)) {
        strides_.resize(std::max<std::size_t>(strides_.size(), static_cast<std::size_t>(unit) + 1));
        strides_[static_cast<std::size_t>(unit)] = stride;
        stride *= static_cast<std::size_t>(space.values(unit));
      }
    }
  }
  void each(const Body& body) const {
    from(space_.units() - 1, 0, 0, 0, space_.side_states(1), body);
  }

 private:
  // `unit` is the highest whose value is open; `open` counts the states of the odd units below.
  void from(int unit, std::size_t state, std::size_t odd, std::size_t even, std::size_t open,
            const Body& body) const {
    if (odd >= odd_.first + odd_.count || odd + open <= odd_.first) return;
    const std::size_t below =
        unit < 0 ? 1 : space_.place(unit).stride * static_cast<std::size_t>(space_.values(unit));
    if (state >= end_ || state + below <= first_) return;
    if (unit < 0) return body(state, odd, even);
    const std::size_t stride = strides_[static_cast<std::size_t>(unit)];
    for (std::size_t k = 0; k < static_cast<std::size_t>(space_.values(unit)); ++k) {
      const std::size_t next = state + k * space_.place(unit).stride;
      if (space_.place(unit).odd)
        from(unit - 1, next, odd + k * stride, even, stride, body);
      else
        from(unit - 1, next, odd, even + k * stride, open, body);
    }
  }

  const StateSpace& space_;
  std::size_t first_, end_;
  SideRun odd_;
  std::vector<std::size_t> strides_;  // of each unit within its side
};

std::size_t in_common(std::size_t first, std::size_t end, std::size_t other_first,
                      std::size_t other_end) {
  const std::size_t low = std::max(first, other_first), high = std::min(end, other_end);
  return high > low ? high - low : 0;
}

}  // namespace

Turns::Turns(const StateSpace& space)
    : rows_(space.rows()), side_states_{space.side_states(0), space.side_states(1)} {
  const bool two_layers = space.side(0).back() == static_cast<int>(space.side(0).size()) - 1;
  in_place_ = two_layers;
  for (int rank = 0; rank <= ranks().count(); ++rank)
    in_place_ = in_place_ && rows_.first(rank) % side_states_[0] == 0;
  if (!two_layers) {
    order(space);
    return;
  }
  const std::size_t row = side_states_[0], here = own(1).first * row;
  const int self = ranks().number();
  for (int rank = 0; rank < ranks().count(); ++rank) {
    const std::size_t there = of(1, rank).first * row;
    sent_.push_back(in_common(rows_.first(self), rows_.first(self + 1), there,
                              there + of(1, rank).count * row));
    received_.push_back(
        in_common(rows_.first(rank), rows_.first(rank + 1), here, here + odd_size()));
  }
}

// The states that two ranks exchange are in the order of rows in the message too.
void Turns::order(const StateSpace& space) {
  const int self = ranks().number();
  for (int rank = 0; rank < ranks().count(); ++rank) {
    const std::size_t sent = send_order_.size(), received = receive_order_.size();
    if (ranks().count() > 1)
      Visit(space, rows_.first(self), rows_.first(self + 1), of(1, rank))
          .each([&](std::size_t state, std::size_t, std::size_t) {
            send_order_.push_back(static_cast<std::uint32_t>(state - rows_.first()));
          });
    Visit(space, rows_.first(rank), rows_.first(rank + 1), own(1))
        .each([&](std::size_t, std::size_t odd, std::size_t even) {
          receive_order_.push_back(
              static_cast<std::uint32_t>((odd - own(1).first) * side_states_[0] + even));
        });
    sent_.push_back(send_order_.size() - sent);
    received_.push_back(receive_order_.size() - received);
  }
}

SideRun Turns::of(int parity, int rank) const {
  const std::size_t row = side_states_[0], count = static_cast<std::size_t>(ranks().count());
  const auto first = [&](int r) {
    return parity == 1 ? (rows_.first(r) + row - 1) / row
                       : row * static_cast<std::size_t>(r) / count;
  };
  return {first(rank), first(rank + 1) - first(rank)};
}

std::size_t Turns::most(int parity) const {
  std::size_t most = 0;
  for (int rank = 0; rank < ranks().count(); ++rank) most = std::max(most, of(parity, rank).count);
  return most;
}

Ranks::Counts Turns::common(int parity, std::size_t width) const {
  Ranks::Counts counts;
  for (int rank = 0; rank < ranks().count(); ++rank)
    counts.push_back(own(parity).count * of(1 - parity, rank).count * width);
  return counts;
}

}  // namespace boltzmark

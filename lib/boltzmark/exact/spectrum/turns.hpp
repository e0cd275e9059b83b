#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "boltzmark/exact/state_space.hpp"

namespace boltzmark {

/// Consecutive states of one side.
struct SideRun {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Memory that is kept from one use to the next, as new pages cost half as much as a turn. What was
/// in it is lost; a copy has its own.
class ReusedRoom {
 public:
  ReusedRoom() = default;
  ReusedRoom(const ReusedRoom&) {}
  ReusedRoom& operator=(const ReusedRoom&) { return *this; }
  template <class T>
  T* of(std::size_t count) {
    if (count * sizeof(T) > bytes_) {
      room_.reset();
      bytes_ = count * sizeof(T);
      room_ = std::make_unique_for_overwrite<std::byte[]>(bytes_);
    }
    return reinterpret_cast<T*>(room_.get());
  }

 private:
  std::unique_ptr<std::byte[]> room_;
  std::size_t bytes_ = 0;
};

/// How ranks turn what they have of every state so that the update of either side is local, as a
/// parallel FFT turns its rows. A vector over the states has one of three orders:
///   document  this rank's rows of the space
///   odd       [this rank's odd states x all even states], where units of even layers are updated
///   even      [all odd states x this rank's even states], where units of odd layers are updated
/// On one rank the last two are the same, and so is the first in a model of two layers. A state has
/// `width` elements side by side.
class Turns {
 public:
  explicit Turns(const StateSpace& space);

  const Rows& rows() const { return rows_; }
  const Ranks& ranks() const { return rows_.ranks(); }
  /// Counts the states of a side; parity 1: odd.
  std::size_t side_states(int parity) const { return side_states_[parity]; }
  /// Returns the states of a side that are here in the order of that name.
  SideRun own(int parity) const { return of(parity, ranks().number()); }
  /// Counts the most states of a side that any rank has so.
  std::size_t most(int parity) const;
  /// Counts the states that are here in the order odd.
  std::size_t odd_size() const { return own(1).count * side_states_[0]; }
  /// Tells whether the orders document and odd are the same at every rank.
  bool in_place() const { return in_place_; }

  /// Turns document to odd where they differ, and the reverse.  Shapes  [own rows], [odd_size()]
  template <class T>
  void to_odd(const T* document, T* odd, std::size_t width = 1) const;
  template <class T>
  void to_document(const T* odd, T* document, std::size_t width = 1) const;

 private:
  template <class>
  friend class Turned;
  template <class T>
  void to_even(const T* odd, T* even, std::size_t width) const;
  template <class T>
  void from_even(const T* even, T* odd, std::size_t width) const;

  SideRun of(int parity, int rank) const;
  void order(const StateSpace& space);
  // What this rank's states of a side have in common with the other side's at each rank.
  Ranks::Counts common(int parity, std::size_t width) const;

  Rows rows_;
  std::array<std::size_t, 2> side_states_;
  bool in_place_;
  Ranks::Counts sent_, received_;             // from document to odd
  std::vector<std::uint32_t> send_order_;     // places in document, as sent; empty: as they are
  std::vector<std::uint32_t> receive_order_;  // places in odd, as received; empty: as they are
  mutable ReusedRoom packed_;                 // what is sent to or comes from the order even
};

/// A vector in the order odd, turned to the order even: the same numbers where there is one rank.
template <class T>
class Turned {
 public:
  Turned(const Turns& turns, T* odd, std::size_t width = 1)
      : turns_(turns), odd_(odd), width_(width) {
    if (turns.ranks().count() == 1) return;
    even_ = std::make_unique_for_overwrite<T[]>(turns.own(0).count * turns.side_states(1) * width);
    turns.to_even(odd, even_.get(), width);
  }
  T* data() { return even_ ? even_.get() : odd_; }
  /// Writes what the numbers have become back to where they came from.
  void turn_back() {
    if (even_) turns_.from_even(even_.get(), odd_, width_);
  }

 private:
  const Turns& turns_;
  T* odd_;
  std::size_t width_;
  std::unique_ptr<T[]> even_;
};

namespace turns_detail {

inline Ranks::Counts times(Ranks::Counts counts, std::size_t width) {
  for (std::size_t& count : counts) count *= width;
  return counts;
}

// to[i] = from[order[i]]
template <class T>
void pick(const T* from, const std::vector<std::uint32_t>& order, std::size_t width, T* to) {
  for (std::size_t i = 0; i < order.size(); ++i)
    std::copy_n(from + order[i] * width, width, to + i * width);
}

// to[order[i]] = from[i]
template <class T>
void put(const T* from, const std::vector<std::uint32_t>& order, std::size_t width, T* to) {
  for (std::size_t i = 0; i < order.size(); ++i)
    std::copy_n(from + i * width, width, to + order[i] * width);
}

template <class T>
std::unique_ptr<T[]> room_for(const std::vector<std::uint32_t>& order, std::size_t width) {
  if (order.empty()) return nullptr;
  return std::make_unique_for_overwrite<T[]>(order.size() * width);
}

}  // namespace turns_detail

template <class T>
void Turns::to_odd(const T* document, T* odd, std::size_t width) const {
  using namespace turns_detail;
  if (ranks().count() == 1) return put(document, receive_order_, width, odd);
  const auto sent = room_for<T>(send_order_, width), received = room_for<T>(receive_order_, width);
  pick(document, send_order_, width, sent.get());
  ranks().all_to_all(sent ? sent.get() : document, times(sent_, width),
                     received ? received.get() : odd, times(received_, width));
  put(received.get(), receive_order_, width, odd);
}

template <class T>
void Turns::to_document(const T* odd, T* document, std::size_t width) const {
  using namespace turns_detail;
  if (ranks().count() == 1) return pick(odd, receive_order_, width, document);
  const auto sent = room_for<T>(receive_order_, width), received = room_for<T>(send_order_, width);
  pick(odd, receive_order_, width, sent.get());
  ranks().all_to_all(sent ? sent.get() : odd, times(received_, width),
                     received ? received.get() : document, times(sent_, width));
  put(received.get(), send_order_, width, document);
}

template <class T>
void Turns::to_even(const T* odd, T* even, std::size_t width) const {
  const std::size_t row = side_states_[0] * width;
  T* const sent = packed_.of<T>(own(1).count * row);
  T* next = sent;
  for (int rank = 0; rank < ranks().count(); ++rank)
    for (std::size_t o = 0; o < own(1).count; ++o)
      next =
          std::copy_n(odd + o * row + of(0, rank).first * width, of(0, rank).count * width, next);
  ranks().all_to_all(sent, common(1, width), even, common(0, width));
}

template <class T>
void Turns::from_even(const T* even, T* odd, std::size_t width) const {
  const std::size_t row = side_states_[0] * width;
  T* const received = packed_.of<T>(own(1).count * row);
  ranks().all_to_all(even, common(0, width), received, common(1, width));
  const T* next = received;
  for (int rank = 0; rank < ranks().count(); ++rank)
    for (std::size_t o = 0; o < own(1).count; ++o, next += of(0, rank).count * width)
      std::copy_n(next, of(0, rank).count * width, odd + o * row + of(0, rank).first * width);
}

}  // namespace boltzmark

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace boltzmark {

/// The processes that compute one thing together. Each calls the same functions in the same order
/// and waits there for the others; never inside a parallel loop. One process is the serial one.
class Ranks {
 public:
  using Counts = std::vector<std::size_t>;  ///< [count()]

  virtual ~Ranks() = default;
  virtual int number() const = 0;  ///< this one's, 0..count() - 1
  virtual int count() const = 0;

  /// Sends every rank its run of elements and receives one of each; runs lie one after the other,
  /// in the order of ranks.
  /// Shapes  sent, received [count()], in elements; what r sends to q is what q receives from r
  template <class T>
  void all_to_all(const T* send, const Counts& sent, T* receive, const Counts& received) const {
    exchange(send, sent, receive, received, sizeof(T));
  }
  /// Gathers the runs of all ranks at every rank, in the order of ranks.
  /// Shapes  counts [count()], in elements, the same at every rank
  template <class T>
  void gather(const T* own, const Counts& counts, T* all) const {
    collect(own, counts, all, sizeof(T));
  }
  /// Gives every rank what one of them has.
  template <class T>
  void broadcast(T* data, std::size_t elements, int from) const {
    spread(data, elements * sizeof(T), from);
  }

  /// The one process that there is without others.
  static const Ranks& serial();

 protected:
  virtual void exchange(const void* send, const Counts& sent, void* receive, const Counts& received,
                        std::size_t element_bytes) const = 0;
  virtual void collect(const void* own, const Counts& counts, void* all,
                       std::size_t element_bytes) const = 0;
  virtual void spread(void* data, std::size_t bytes, int from) const = 0;
};

/// Gathers one value of every rank.  Returns  [count]
template <class T>
std::vector<T> one_of_each(const Ranks& ranks, T own) {
  const auto count = static_cast<std::size_t>(ranks.count());
  std::vector<T> all(count);
  ranks.gather(&own, Ranks::Counts(count, 1), all.data());
  return all;
}

/// Tells whether something holds at any rank.
bool holds_at_any(const Ranks& ranks, bool here);

}  // namespace boltzmark

#pragma once

#include <barrier>
#include <cstring>
#include <deque>
#include <exception>
#include <thread>
#include <vector>

#include "boltzmark/core/ranks.hpp"

// Ranks that are threads of one process, so that tests need no launcher.
namespace thread_ranks {

/// Where ranks show each other what they send.
struct Board {
  explicit Board(int ranks) : sends(ranks), counts(ranks), all_here(ranks) {}
  std::vector<const void*> sends;
  std::vector<boltzmark::Ranks::Counts> counts;
  std::barrier<> all_here;
};

class ThreadRank final : public boltzmark::Ranks {
 public:
  ThreadRank(Board& board, int number) : board_(board), number_(number) {}
  int number() const override { return number_; }
  int count() const override { return static_cast<int>(board_.sends.size()); }

 protected:
  void exchange(const void* send, const Counts& sent, void* receive, const Counts& received,
                std::size_t bytes) const override {
    show(send, sent);
    auto* to = static_cast<char*>(receive);
    for (int from = 0; from < count(); ++from) {
      const Counts& theirs = board_.counts[from];
      std::size_t before = 0;
      for (int rank = 0; rank < number_; ++rank) before += theirs[rank];
      if (theirs[number_] != received[from]) std::terminate();  // MPI would hang or crash
      to = copy(static_cast<const char*>(board_.sends[from]) + before * bytes,
                received[from] * bytes, to);
    }
    board_.all_here.arrive_and_wait();
  }
  void collect(const void* own, const Counts& counts, void* all, std::size_t bytes) const override {
    show(own, counts);
    auto* to = static_cast<char*>(all);
    for (int from = 0; from < count(); ++from)
      to = copy(static_cast<const char*>(board_.sends[from]), counts[from] * bytes, to);
    board_.all_here.arrive_and_wait();
  }
  void spread(void* data, std::size_t bytes, int from) const override {
    show(data, {});
    if (from != number_)
      copy(static_cast<const char*>(board_.sends[from]), bytes, static_cast<char*>(data));
    board_.all_here.arrive_and_wait();
  }

 private:
  void show(const void* send, const Counts& counts) const {
    board_.sends[number_] = send;
    board_.counts[number_] = counts;
    board_.all_here.arrive_and_wait();
  }
  static char* copy(const char* from, std::size_t bytes, char* to) {
    if (bytes > 0) std::memcpy(to, from, bytes);
    return to + bytes;
  }

  Board& board_;
  int number_;
};

/// Calls body(ranks) at each of so many ranks.  Returns  what they return, in their order
/// Throws  what rank 0 throws; bodies must all throw, or none
template <class Body>
auto on_ranks(int count, const Body& body) {
  using Result = decltype(body(boltzmark::Ranks::serial()));
  Board board(count);
  std::deque<Result> results(count);  // a vector<bool>'s would share bytes
  std::vector<std::exception_ptr> failures(count);
  std::vector<std::thread> threads;
  for (int number = 0; number < count; ++number)
    threads.emplace_back([&, number] {
      try {
        results[number] = body(ThreadRank(board, number));
      } catch (...) {
        failures[number] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  if (failures[0]) std::rethrow_exception(failures[0]);
  return results;
}

}  // namespace thread_ranks

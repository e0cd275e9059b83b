#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/core/ranks.hpp"

namespace boltzmark {

/// A sum of numbers as they come, one after the other.
class SumOneByOne {
 public:
  void add(const Eigen::Ref<const Eigen::ArrayXd>& values) {
    for (const double value : values) sum_ += value;
  }
  double total() const { return sum_; }

 private:
  double sum_ = 0;
};

/// A sum of numbers as they come, in four running sums of every fourth: Eigen's order of summation
/// of a vector, for packets of two. All parts but the last must have a multiple of four numbers.
class SumInFours {
 public:
  void add(const Eigen::Ref<const Eigen::ArrayXd>& values);
  void add_products(const Eigen::Ref<const Eigen::ArrayXd>& a,
                    const Eigen::Ref<const Eigen::ArrayXd>& b);
  double total() const;

 private:
  template <class Numbers>
  void add_each(Eigen::Index count, const Numbers& numbers);
  std::array<double, 4> sums_ = {-0.0, -0.0, -0.0, -0.0};  // -0 + x is x, also of x = -0
  std::array<double, 3> rest_ = {};
  std::size_t left_ = 0;  // in rest_
};

/// The rows of vectors that ranks share: each has a run of whole parts. Whatever is summed over all
/// rows is summed in one order for any number of ranks, so to the same bits at each of them.
class Rows {
 public:
  static constexpr Eigen::Index kChunk = 2048;  ///< rows of a basis that fit a cache
  static constexpr std::size_t kMostParts = 8192;

  /// A part is one chunk, or as many as keep the parts at most `most_parts`.
  explicit Rows(std::size_t all, const Ranks& ranks = Ranks::serial(),
                std::size_t most_parts = kMostParts);

  const Ranks& ranks() const { return *ranks_; }
  std::size_t all() const { return all_; }
  /// Returns the first row of a rank; of rank `count`: all rows.
  std::size_t first(int rank) const;
  std::size_t first() const { return first(ranks_->number()); }
  Eigen::Index own() const {
    return static_cast<Eigen::Index>(first(ranks_->number() + 1) - first());
  }

  /// Calls body(first, rows) for every chunk of this rank's rows, which count from 0, in parallel.
  template <class Body>
  void for_chunks(const Body& body) const {
    const Eigen::Index size = own();
    parallel_for(static_cast<std::size_t>((size + kChunk - 1) / kChunk), [&](std::size_t i) {
      const Eigen::Index at = static_cast<Eigen::Index>(i) * kChunk;
      body(at, std::min(kChunk, size - at));
    });
  }

  /// Computes what the parts of all ranks give: body(first, rows, result) writes `size` numbers of
  /// a chunk of this rank's rows, in parallel.  Returns  [size x parts]
  template <class Body>
  Eigen::MatrixXd parts(Eigen::Index size, const Body& body) const;

  /// Sums over all rows: add(sum, first, rows) adds the numbers of a chunk of this rank's rows.
  /// One Sum takes all in order, from rank to rank; where parts have several chunks, each part has
  /// its own and these are added, so that ranks need not wait for each other.
  template <class Sum, class Add>
  double sum(const Add& add) const;
  /// Sums a_i b_i over all rows.  Shapes  [own]
  double dot(const Eigen::Ref<const Eigen::VectorXd>& a,
             const Eigen::Ref<const Eigen::VectorXd>& b) const;

 private:
  std::size_t first_part(int rank) const;
  std::size_t all_parts() const { return (all_ + part_rows_ - 1) / part_rows_; }
  Eigen::MatrixXd gathered(Eigen::MatrixXd own) const;

  const Ranks* ranks_;
  std::size_t all_, part_rows_;
};

template <class Body>
Eigen::MatrixXd Rows::parts(Eigen::Index size, const Body& body) const {
  const std::size_t mine = first_part(ranks_->number() + 1) - first_part(ranks_->number());
  const auto length = static_cast<Eigen::Index>(part_rows_);
  Eigen::MatrixXd result(size, static_cast<Eigen::Index>(mine));
  parallel_for(mine, [&](std::size_t i) {
    const auto part = static_cast<Eigen::Index>(i);
    const Eigen::Index begin = part * length, end = std::min(begin + length, own());
    body(begin, std::min(kChunk, end - begin), result.col(part));
    for (Eigen::Index at = begin + kChunk; at < end; at += kChunk) {
      Eigen::VectorXd more(size);
      body(at, std::min(kChunk, end - at), more);
      result.col(part) += more;
    }
  });
  return gathered(std::move(result));
}

template <class Sum, class Add>
double Rows::sum(const Add& add) const {
  if (part_rows_ > kChunk) {
    const auto one = [&](Eigen::Index at, Eigen::Index rows, Eigen::Ref<Eigen::VectorXd> result) {
      Sum sum;
      add(sum, at, rows);
      result[0] = sum.total();
    };
    return parts(1, one).sum();
  }
  Sum sum;
  for (int rank = 0; rank < ranks_->count(); ++rank) {
    if (first(rank) == first(rank + 1)) continue;
    if (rank == ranks_->number())
      for (Eigen::Index at = 0; at < own(); at += kChunk)
        add(sum, at, std::min(kChunk, own() - at));
    ranks_->broadcast(&sum, 1, rank);
  }
  return sum.total();
}

}  // namespace boltzmark

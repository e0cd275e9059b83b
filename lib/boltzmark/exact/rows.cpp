#include "boltzmark/exact/rows.hpp"

#include <type_traits>

namespace boltzmark {

// Ranks hand them on.
static_assert(std::is_trivially_copyable_v<SumOneByOne> &&
              std::is_trivially_copyable_v<SumInFours>);

template <class Numbers>
void SumInFours::add_each(Eigen::Index count, const Numbers& numbers) {
  Eigen::Map<Eigen::Array4d> sums(sums_.data());
  const Eigen::Index whole = count / 4 * 4;
  Eigen::Array4d running = sums;
  for (Eigen::Index i = 0; i < whole; i += 4) running += numbers.template operator()<4>(i);
  sums = running;
  for (Eigen::Index i = whole; i < count; ++i)
    rest_[left_++] = numbers.template operator()<1>(i).value();
}

void SumInFours::add(const Eigen::Ref<const Eigen::ArrayXd>& values) {
  add_each(values.size(), [&]<int n>(Eigen::Index i) { return values.segment<n>(i); });
}

void SumInFours::add_products(const Eigen::Ref<const Eigen::ArrayXd>& a,
                              const Eigen::Ref<const Eigen::ArrayXd>& b) {
  add_each(a.size(), [&]<int n>(Eigen::Index i) { return a.segment<n>(i) * b.segment<n>(i); });
}

double SumInFours::total() const {
  double even = sums_[0] + sums_[2], odd = sums_[1] + sums_[3];
  if (left_ >= 2) {
    even += rest_[0];
    odd += rest_[1];
  }
  const double sum = even + odd;
  return left_ % 2 == 1 ? sum + rest_[left_ - 1] : sum;
}

Rows::Rows(std::size_t all, const Ranks& ranks, std::size_t most_parts)
    : ranks_(&ranks), all_(all) {
  const std::size_t chunk = kChunk, chunks = (all + chunk - 1) / chunk;
  part_rows_ = chunk * std::max<std::size_t>(1, (chunks + most_parts - 1) / most_parts);
}

// Rounded up: the first rank has rows wherever there are any.
std::size_t Rows::first_part(int rank) const {
  const auto count = static_cast<std::size_t>(ranks_->count());
  return (all_parts() * static_cast<std::size_t>(rank) + count - 1) / count;
}

std::size_t Rows::first(int rank) const { return std::min(all_, first_part(rank) * part_rows_); }

double Rows::dot(const Eigen::Ref<const Eigen::VectorXd>& a,
                 const Eigen::Ref<const Eigen::VectorXd>& b) const {
  return sum<SumInFours>([&](SumInFours& sum, Eigen::Index at, Eigen::Index rows) {
    sum.add_products(a.segment(at, rows).array(), b.segment(at, rows).array());
  });
}

Eigen::MatrixXd Rows::gathered(Eigen::MatrixXd own) const {
  if (ranks_->count() == 1) return own;
  Ranks::Counts counts;
  for (int rank = 0; rank < ranks_->count(); ++rank)
    counts.push_back((first_part(rank + 1) - first_part(rank)) *
                     static_cast<std::size_t>(own.rows()));
  Eigen::MatrixXd all(own.rows(), static_cast<Eigen::Index>(all_parts()));
  ranks_->gather(own.data(), counts, all.data());
  return all;
}

}  // namespace boltzmark

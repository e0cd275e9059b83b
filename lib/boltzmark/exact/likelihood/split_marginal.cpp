#include "boltzmark/exact/likelihood/split_marginal.hpp"

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "boltzmark/core/exponentials.hpp"
#include "boltzmark/core/numeric.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/core/simd.hpp"
#include "boltzmark/exact/enumeration/plain.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boltzmark/exact/likelihood/split_marginal.cpp"
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace boltzmark {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// How many cases stand side by side in a split product, and how many rows of its matrix.
constexpr int kSplitCases = 16, kSplitRows = 4;
constexpr int kCachedColumns = 256;  // 32 KiB of w, which stays in cache while the rows pass

/// Computes u' C w of 16 cases, each with its own u and w.
/// Shapes  c [row_groups][columns][4], u [4 row_groups][16], w [columns][16], out [16]; u, w and out
///   aligned to 64 bytes
/// Cost  one fused product and sum per entry of C and case
void split_product(const double* c, int row_groups, int columns, const double* u, const double* w,
                   double* out) {
  const hn::CappedTag<double, kSplitCases / 2> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int k = 0; k < kSplitCases; k += 2 * lanes) {
    auto total0 = hn::Zero(d), total1 = hn::Zero(d);
    for (int first = 0; first < columns; first += kCachedColumns) {
      const int end = std::min(first + kCachedColumns, columns);
      for (int group = 0; group < row_groups; ++group) {
        const double* entry = c + static_cast<std::ptrdiff_t>(group) * columns * kSplitRows;
        auto a0 = hn::Zero(d), a1 = a0, b0 = a0, b1 = a0, c0 = a0, c1 = a0, e0 = a0, e1 = a0;
        for (int column = first; column < end; ++column) {
          const double* x = entry + column * kSplitRows;
          const auto w0 = hn::Load(d, w + column * kSplitCases + k);
          const auto w1 = hn::Load(d, w + column * kSplitCases + k + lanes);
          const auto x0 = hn::Set(d, x[0]), x1 = hn::Set(d, x[1]);
          const auto x2 = hn::Set(d, x[2]), x3 = hn::Set(d, x[3]);
          a0 = hn::MulAdd(x0, w0, a0);
          a1 = hn::MulAdd(x0, w1, a1);
          b0 = hn::MulAdd(x1, w0, b0);
          b1 = hn::MulAdd(x1, w1, b1);
          c0 = hn::MulAdd(x2, w0, c0);
          c1 = hn::MulAdd(x2, w1, c1);
          e0 = hn::MulAdd(x3, w0, e0);
          e1 = hn::MulAdd(x3, w1, e1);
        }
        const auto take = [&](int row, auto sum0, auto sum1) HWY_ATTR {
          const double* at = u + (group * kSplitRows + row) * kSplitCases + k;
          total0 = hn::MulAdd(hn::Load(d, at), sum0, total0);
          total1 = hn::MulAdd(hn::Load(d, at + lanes), sum1, total1);
        };
        take(0, a0, a1);
        take(1, b0, b1);
        take(2, c0, c1);
        take(3, e0, e1);
      }
    }
    hn::Store(total0, d, out + k);
    hn::Store(total1, d, out + k + lanes);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace boltzmark
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boltzmark {
HWY_EXPORT(split_product);
namespace {

using HWY_NAMESPACE::kSplitCases, HWY_NAMESPACE::kSplitRows;

constexpr int kHalfStates = 1024;
constexpr std::uint64_t kBlockStates = 1 << 20;
constexpr double kLowest = -std::numeric_limits<double>::infinity();

using CaseRow = Eigen::Array<double, kSplitCases, 1>;

/// A number of each of 16 cases for each of some states, aligned for split_product.
/// Shapes  view [16 x states]
struct StateTable {
  explicit StateTable(int states)
      : data(hwy::AllocateAligned<double>(static_cast<std::size_t>(states) * kSplitCases)),
        view(data.get(), kSplitCases, states) {}
  hwy::AlignedFreeUniquePtr<double[]> data;
  Eigen::Map<Eigen::Array<double, kSplitCases, Eigen::Dynamic>> view;
};

/// Writes sum_i value_i input_i of every state of some units, the first unit fastest.
/// Shapes  inputs [16 x units], table.view [16 x states or more]
void sum_inputs(Unit unit, const Eigen::Ref<const Eigen::ArrayXXd>& inputs, StateTable& table) {
  Eigen::Index states = 1;
  table.view.col(0).setZero();
  for (Eigen::Index i = 0; i < inputs.cols(); ++i) {
    for (int k = unit.values() - 1; k >= 0; --k) {
      const CaseRow step = unit.value(k) * inputs.col(i);
      table.view.middleCols(k * states, states) = table.view.leftCols(states).colwise() + step;
    }
    states *= unit.values();
  }
}

/// Adds the scale of each state and makes the table's first states exponentials, 1 the largest of
/// each case; the others 0.  Returns the largest logarithms
CaseRow exponentiate_table(const Eigen::VectorXd& scale, StateTable& table) {
  auto used = table.view.leftCols(scale.size());
  used.rowwise() += scale.transpose().array();
  CaseRow highest = used.rowwise().maxCoeff();
  used.colwise() -= highest;
  exponentiate(std::span(table.data.get(), static_cast<std::size_t>(used.size())), 0);
  table.view.rightCols(table.view.cols() - scale.size()).setZero();
  return highest;
}

}  // namespace

/// The matrix of one state of the units that are neither rows nor columns:
///   c = entries(row, column) e^{row_scale + column_scale}
struct SplitMarginal::Block {
  std::uint64_t number = 0;
  Eigen::Matrix<double, kSplitRows, Eigen::Dynamic> entries;  ///< [row group][columns] of 4
  Eigen::VectorXd row_scale;                                  ///< [rows]
  Eigen::VectorXd column_scale;                               ///< [columns]
};

/// What was summed of the cases so far.
struct SplitMarginal::Sums {
  std::vector<LogSum> sum;
  Eigen::VectorXd scale;  ///< the largest of all blocks; no sum can be above it by much
};

SplitMarginal::SplitMarginal(const Layered& model)
    : unit_(model.layer(1).unit), units_(model.size(1)), sides_(enumerate_odd_hidden(model)) {
  check_magnitude(sides_);
  simd_path();  // settles BOLTZMARK_SIMD before the first kernel
  split_units();
}

void SplitMarginal::split_units() {
  const int values = unit_.values();
  const double half = std::min<double>(kHalfStates, std::sqrt(std::pow(values, units_)));
  const auto fits = [&](int states) {
    return static_cast<std::uint64_t>(states) * static_cast<std::uint64_t>(values) <= kBlockStates;
  };
  for (; column_units_ < units_ && columns_ < half && fits(columns_); ++column_units_)
    columns_ *= values;
  for (; column_units_ + row_units_ < units_ && fits(rows_ * columns_); ++row_units_)
    rows_ *= values;
  for (int i = column_units_ + row_units_; i < units_; ++i)
    blocks_ *= static_cast<std::uint64_t>(values);
  others_ = sides_.states / blocks_ / static_cast<std::uint64_t>(rows_ * columns_);
}

void SplitMarginal::fill_row(std::uint64_t block, int row, double* log_entries) const {
  const auto rows = static_cast<std::uint64_t>(rows_),
             columns = static_cast<std::uint64_t>(columns_);
  std::vector<LogSum> sums(columns);
  for (std::uint64_t other = 0; other < others_; ++other) {
    const std::uint64_t first = (other * blocks_ + block) * rows + static_cast<std::uint64_t>(row);
    StateWalk walk(sides_, first * columns);
    for (std::uint64_t b = 0; b < columns; ++b, walk.next()) sums[b].add(walk.log_weight());
  }
  for (std::uint64_t b = 0; b < columns; ++b) log_entries[b * kSplitRows] = sums[b].log();
}

SplitMarginal::Block SplitMarginal::make_block(std::uint64_t number) const {
  const int groups = (rows_ + kSplitRows - 1) / kSplitRows;
  Block block{.number = number,
              .entries = {},
              .row_scale = Eigen::VectorXd::Zero(groups * kSplitRows),
              .column_scale = Eigen::VectorXd::Constant(columns_, kLowest)};
  block.entries.setConstant(kSplitRows, groups * columns_, kLowest);
  const auto rows_of = [&](std::size_t group) {
    return block.entries.middleCols(static_cast<Eigen::Index>(group) * columns_, columns_);
  };
  parallel_for(static_cast<std::size_t>(groups), [&](std::size_t group) {
    const int first = static_cast<int>(group) * kSplitRows;
    auto entries = rows_of(group);
    for (int r = 0; r < std::min(kSplitRows, rows_ - first); ++r) {
      fill_row(number, first + r, entries.data() + r);
      block.row_scale[first + r] = entries.row(r).maxCoeff();
    }
    entries.colwise() -= block.row_scale.segment<kSplitRows>(first);
  });
  for (std::size_t group = 0; group < static_cast<std::size_t>(groups); ++group)
    block.column_scale =
        block.column_scale.cwiseMax(rows_of(group).colwise().maxCoeff().transpose());
  parallel_for(static_cast<std::size_t>(groups), [&](std::size_t group) {
    auto entries = rows_of(group);
    entries.rowwise() -= block.column_scale.transpose();
    exponentiate(std::span(entries.data(), static_cast<std::size_t>(entries.size())), 0);
  });
  block.row_scale.conservativeResize(rows_);
  return block;
}

void SplitMarginal::add_block(const Block& block, const Eigen::Ref<const Eigen::MatrixXd>& inputs,
                              Eigen::Index first, Sums& sums) const {
  const Eigen::Index cases = std::min<Eigen::Index>(kSplitCases, inputs.cols() - first);
  Eigen::ArrayXXd x = Eigen::ArrayXXd::Zero(kSplitCases, units_);
  x.topRows(cases) = inputs.middleCols(first, cases).transpose().array();
  const int groups = (rows_ + kSplitRows - 1) / kSplitRows;
  StateTable w(columns_), u(groups * kSplitRows);
  sum_inputs(unit_, x.leftCols(column_units_), w);
  sum_inputs(unit_, x.middleCols(column_units_, row_units_), u);
  CaseRow scale = exponentiate_table(block.column_scale, w);
  scale += exponentiate_table(block.row_scale, u);
  std::uint64_t rest = block.number;
  for (int i = column_units_ + row_units_; i < units_; ++i) {
    const auto values = static_cast<std::uint64_t>(unit_.values());
    scale += unit_.value(static_cast<int>(rest % values)) * x.col(i);
    rest /= values;
  }
  alignas(64) std::array<double, kSplitCases> product;
  HWY_DYNAMIC_DISPATCH(split_product)
  (block.entries.data(), groups, columns_, u.data.get(), w.data.get(), product.data());
  for (Eigen::Index k = 0; k < cases; ++k) {
    sums.sum[static_cast<std::size_t>(first + k)].add(std::log(product[k]) + scale[k]);
    sums.scale[first + k] = std::max(sums.scale[first + k], scale[k]);
  }
}

Eigen::VectorXd SplitMarginal::log_sums(const Eigen::Ref<const Eigen::MatrixXd>& inputs) const {
  const double least = std::log(1e-250);
  const Eigen::Index cases = inputs.cols();
  Sums sums{std::vector<LogSum>(static_cast<std::size_t>(cases)),
            Eigen::VectorXd::Constant(cases, kLowest)};
  for (std::uint64_t b = 0; b < blocks_; ++b) {
    const Block block = make_block(b);
    parallel_for(static_cast<std::size_t>((cases + kSplitCases - 1) / kSplitCases),
                 [&](std::size_t part) {
                   add_block(block, inputs, static_cast<Eigen::Index>(part) * kSplitCases, sums);
                 });
  }
  Eigen::VectorXd result(cases);
  for (Eigen::Index k = 0; k < cases; ++k) {
    result[k] = sums.sum[static_cast<std::size_t>(k)].log();
    const bool kept =
        result[k] - sums.scale[k] >= least && inputs.col(k).cwiseAbs().sum() < kUnresolved;
    if (!kept) result[k] = std::numeric_limits<double>::quiet_NaN();
  }
  return result;
}

}  // namespace boltzmark
#endif  // HWY_ONCE

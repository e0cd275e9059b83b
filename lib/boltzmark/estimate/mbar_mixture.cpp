#include "boltzmark/estimate/mbar_mixture.hpp"

#include <algorithm>
#include <vector>

#include "boltzmark/core/parallel.hpp"

namespace boltzmark {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// The depth of a chunk's product is too small for Eigen to split it by the size of a cache, so that
// the order of its sums is the same on every machine.
constexpr Index kChunk = 128;
constexpr Index kBlocks = 16;

void add_products(const MatrixXd& chunk, MatrixXd& sum) {
  sum.selfadjointView<Eigen::Lower>().rankUpdate(chunk);
}

}  // namespace

SampleChunks::SampleChunks(const VectorXd& inverse_temperatures, const MatrixXd& log_ratio)
    : inverse_temperatures_(inverse_temperatures), log_ratio_(log_ratio.data(), log_ratio.size()) {}

template <class Body>
void SampleChunks::for_chunks(const VectorXd& offset, const Body& body) const {
  const Index chunks = (log_ratio_.size() + kChunk - 1) / kChunk;
  parallel_for(kBlocks, [&](std::size_t block) {
    const auto b = static_cast<Index>(block);
    MatrixXd chunk;
    for (Index t = b * chunks / kBlocks; t < (b + 1) * chunks / kBlocks; ++t) {
      const Index first = t * kChunk, count = std::min(kChunk, log_ratio_.size() - first);
      chunk =
          (inverse_temperatures_ * log_ratio_.segment(first, count).transpose()).colwise() + offset;
      body(block, first, chunk);
    }
  });
}

MixturePoint SampleChunks::sum(const VectorXd& offset, bool with_overlap) const {
  const Index rungs = offset.size();
  std::vector<MixturePoint> blocks(kBlocks);
  for (MixturePoint& block : blocks) {
    block.expected = VectorXd::Zero(rungs);
    if (with_overlap) block.overlap = MatrixXd::Zero(rungs, rungs);
  }
  for_chunks(offset, [&](std::size_t block, Index, MatrixXd& chunk) {
    const Eigen::RowVectorXd highest = chunk.colwise().maxCoeff();
    chunk = (chunk.rowwise() - highest).array().exp();
    const Eigen::RowVectorXd sums = chunk.colwise().sum();
    chunk.array().rowwise() /= sums.array();
    blocks[block].value += highest.sum() + sums.array().log().sum();
    blocks[block].expected += chunk.rowwise().sum();
    if (with_overlap) add_products(chunk, blocks[block].overlap);
  });
  for (Index b = 1; b < kBlocks; ++b) {
    blocks[0].value += blocks[b].value;
    blocks[0].expected += blocks[b].expected;
    if (with_overlap) blocks[0].overlap += blocks[b].overlap;
  }
  return blocks[0];
}

VectorXd SampleChunks::log_sums(const VectorXd& offset) const {
  VectorXd result(log_ratio_.size());
  for_chunks(offset, [&](std::size_t, Index first, const MatrixXd& chunk) {
    const Eigen::RowVectorXd highest = chunk.colwise().maxCoeff();
    const Eigen::RowVectorXd sums = (chunk.rowwise() - highest).array().exp().colwise().sum();
    result.segment(first, chunk.cols()) = (highest.array() + sums.array().log()).transpose();
  });
  return result;
}

MatrixXd SampleChunks::weight_products(const VectorXd& offset, const VectorXd& log_mixture) const {
  std::vector<MatrixXd> blocks(kBlocks, MatrixXd::Zero(offset.size(), offset.size()));
  for_chunks(offset, [&](std::size_t block, Index first, MatrixXd& chunk) {
    chunk.rowwise() -= log_mixture.segment(first, chunk.cols()).transpose();
    chunk = chunk.array().exp();
    add_products(chunk, blocks[block]);
  });
  for (Index b = 1; b < kBlocks; ++b) blocks[0] += blocks[b];
  return blocks[0].selfadjointView<Eigen::Lower>();
}

VectorXd SampleChunks::weighted_sums(const VectorXd& offset, const VectorXd& log_mixture,
                                     const VectorXd& c) const {
  VectorXd result(log_ratio_.size());
  for_chunks(offset, [&](std::size_t, Index first, MatrixXd& chunk) {
    chunk.rowwise() -= log_mixture.segment(first, chunk.cols()).transpose();
    chunk = chunk.array().exp();
    result.segment(first, chunk.cols()) = chunk.transpose() * c;
  });
  return result;
}

}  // namespace boltzmark

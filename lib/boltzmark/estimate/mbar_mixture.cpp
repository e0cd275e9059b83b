#include "boltzmark/estimate/mbar_mixture.hpp"

#include <algorithm>
#include <vector>

#include "boltzmark/core/parallel.hpp"

namespace boltzmark {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// The depth of a tile's product is too small for Eigen to split it by the size of a cache, so that
// the order of its sums is the same on every machine.
constexpr Index kTile = 128;
constexpr Index kBlocks = 16;

void add_products(const MatrixXd& tile, MatrixXd& sum) {
  sum.selfadjointView<Eigen::Lower>().rankUpdate(tile);
}

}  // namespace

SampleTiles::SampleTiles(const VectorXd& inverse_temperatures, const MatrixXd& log_ratio)
    : inverse_temperatures_(inverse_temperatures), log_ratio_(log_ratio.data(), log_ratio.size()) {}

template <class Body>
void SampleTiles::for_tiles(const VectorXd& offset, const Body& body) const {
  const Index tiles = (log_ratio_.size() + kTile - 1) / kTile;
  parallel_for(kBlocks, [&](std::size_t block) {
    const auto b = static_cast<Index>(block);
    MatrixXd tile;
    for (Index t = b * tiles / kBlocks; t < (b + 1) * tiles / kBlocks; ++t) {
      const Index first = t * kTile, count = std::min(kTile, log_ratio_.size() - first);
      tile =
          (inverse_temperatures_ * log_ratio_.segment(first, count).transpose()).colwise() + offset;
      body(block, first, tile);
    }
  });
}

MixturePoint SampleTiles::sum(const VectorXd& offset, bool with_overlap) const {
  const Index rungs = offset.size();
  std::vector<MixturePoint> blocks(kBlocks);
  for (MixturePoint& block : blocks) {
    block.expected = VectorXd::Zero(rungs);
    if (with_overlap) block.overlap = MatrixXd::Zero(rungs, rungs);
  }
  for_tiles(offset, [&](std::size_t block, Index, MatrixXd& tile) {
    const Eigen::RowVectorXd highest = tile.colwise().maxCoeff();
    tile = (tile.rowwise() - highest).array().exp();
    const Eigen::RowVectorXd sums = tile.colwise().sum();
    tile.array().rowwise() /= sums.array();
    blocks[block].value += highest.sum() + sums.array().log().sum();
    blocks[block].expected += tile.rowwise().sum();
    if (with_overlap) add_products(tile, blocks[block].overlap);
  });
  for (Index b = 1; b < kBlocks; ++b) {
    blocks[0].value += blocks[b].value;
    blocks[0].expected += blocks[b].expected;
    if (with_overlap) blocks[0].overlap += blocks[b].overlap;
  }
  return blocks[0];
}

VectorXd SampleTiles::log_sums(const VectorXd& offset) const {
  VectorXd result(log_ratio_.size());
  for_tiles(offset, [&](std::size_t, Index first, const MatrixXd& tile) {
    const Eigen::RowVectorXd highest = tile.colwise().maxCoeff();
    const Eigen::RowVectorXd sums = (tile.rowwise() - highest).array().exp().colwise().sum();
    result.segment(first, tile.cols()) = (highest.array() + sums.array().log()).transpose();
  });
  return result;
}

MatrixXd SampleTiles::weight_products(const VectorXd& offset, const VectorXd& log_mixture) const {
  std::vector<MatrixXd> blocks(kBlocks, MatrixXd::Zero(offset.size(), offset.size()));
  for_tiles(offset, [&](std::size_t block, Index first, MatrixXd& tile) {
    tile.rowwise() -= log_mixture.segment(first, tile.cols()).transpose();
    tile = tile.array().exp();
    add_products(tile, blocks[block]);
  });
  for (Index b = 1; b < kBlocks; ++b) blocks[0] += blocks[b];
  return blocks[0].selfadjointView<Eigen::Lower>();
}

VectorXd SampleTiles::weighted_sums(const VectorXd& offset, const VectorXd& log_mixture,
                                    const VectorXd& c) const {
  VectorXd result(log_ratio_.size());
  for_tiles(offset, [&](std::size_t, Index first, MatrixXd& tile) {
    tile.rowwise() -= log_mixture.segment(first, tile.cols()).transpose();
    tile = tile.array().exp();
    result.segment(first, tile.cols()) = tile.transpose() * c;
  });
  return result;
}

}  // namespace boltzmark

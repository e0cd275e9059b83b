#include "boltzmark/model/case_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "boltzmark/core/checkpoint.hpp"
#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

std::array<std::size_t, 256> counts_of(const CaseValues::Levels& levels) {
  std::array<std::size_t, 256> counts{};
  for (const unsigned char level : levels) counts[level] += 1;
  return counts;
}

}  // namespace

CaseValues::CaseValues(Eigen::MatrixXf&& values)
    : rows_(values.rows()),
      cols_(values.cols()),
      floats_(std::make_shared<const Eigen::MatrixXf>(std::move(values))) {}

CaseValues::CaseValues(Levels levels, Eigen::Index units, const Meanings& meanings)
    : rows_(units),
      cols_(units > 0 ? static_cast<Eigen::Index>(levels.size()) / units : 0),
      levels_(std::make_shared<const Levels>(std::move(levels))),
      counts_(counts_of(*levels_)),
      meanings_(meanings) {
  if (size() != static_cast<Eigen::Index>(levels_->size()))
    throw InvalidArgument(
        fmt::format("levels = {} (must be cases of {} units)", levels_->size(), units));
}

CaseValues CaseValues::compact(Eigen::MatrixXf values) {
  const auto is_level = [](float x) { return x >= 0 && x <= 255 && x == std::floor(x); };
  if (!std::ranges::all_of(values.reshaped(), is_level)) return values;
  const auto all = values.reshaped();
  return {Levels(all.begin(), all.end()), values.rows()};
}

void CaseValues::require_case(Eigen::Index number) const {
  if (number < 0 || number >= cols_)
    throw InvalidArgument(fmt::format("case = {} (must be one of {})", number, cols_));
}

CaseValues::Meanings CaseValues::whole_numbers() {
  Meanings meanings;
  for (int level = 0; level < 256; ++level) meanings[level] = static_cast<float>(level);
  return meanings;
}

double CaseValues::bytes() const {
  return static_cast<double>(size()) * (levels_ ? 1 : sizeof(float));
}

float CaseValues::operator()(Eigen::Index unit, Eigen::Index number) const {
  return levels_ ? meanings_[first_level(number)[unit]] : (*floats_)(unit, number);
}

void CaseValues::copy_case(Eigen::Index number, float* out) const {
  if (!levels_) {
    std::copy_n(floats_->col(number).data(), rows_, out);
    return;
  }
  const unsigned char* levels = first_level(number);
  for (Eigen::Index i = 0; i < rows_; ++i) out[i] = meanings_[levels[i]];
}

Eigen::VectorXf CaseValues::col(Eigen::Index number) const {
  require_case(number);
  Eigen::VectorXf values(rows_);
  copy_case(number, values.data());
  return values;
}

Eigen::MatrixXf CaseValues::leftCols(Eigen::Index count) const {
  if (count != 0) require_case(count - 1);
  Eigen::MatrixXf some(rows_, count);
  for (Eigen::Index c = 0; c < count; ++c) copy_case(c, some.col(c).data());
  return some;
}

Eigen::MatrixXf CaseValues::select(std::span<const int> cases) const {
  for (const int number : cases) require_case(number);
  Eigen::MatrixXf some(rows_, static_cast<Eigen::Index>(cases.size()));
  for (Eigen::Index c = 0; c < some.cols(); ++c)
    copy_case(cases[static_cast<std::size_t>(c)], some.col(c).data());
  return some;
}

bool CaseValues::all(const std::function<bool(float)>& holds) const {
  if (floats_) return std::ranges::all_of(floats_->reshaped(), holds);
  for (std::size_t level = 0; level < counts_.size(); ++level)
    if (counts_[level] > 0 && !holds(meanings_[level])) return false;
  return true;
}

float CaseValues::minCoeff() const {
  float least = std::numeric_limits<float>::infinity();
  all([&](float x) { return least = std::min(least, x), true; });
  return least;
}

float CaseValues::maxCoeff() const {
  float most = -std::numeric_limits<float>::infinity();
  all([&](float x) { return most = std::max(most, x), true; });
  return most;
}

double CaseValues::mean(const std::function<double(float)>& of) const {
  double sum = 0;
  if (floats_)
    for (const float x : floats_->reshaped()) sum += of(x);
  for (std::size_t level = 0; level < counts_.size(); ++level)
    if (counts_[level] > 0) sum += static_cast<double>(counts_[level]) * of(meanings_[level]);
  return sum / static_cast<double>(size());
}

std::uint64_t CaseValues::hash(std::uint64_t seed) const {
  Eigen::VectorXf values(rows_);
  for (Eigen::Index c = 0; c < cols_; ++c) {
    copy_case(c, values.data());
    seed = hash_bytes({reinterpret_cast<const char*>(values.data()),
                       sizeof(float) * static_cast<std::size_t>(rows_)},
                      seed);
  }
  return hash_bytes({}, seed ^ static_cast<std::uint64_t>(rows_));
}

CaseValues CaseValues::mapped(const std::function<float(float)>& function) const {
  CaseValues result = *this;
  if (floats_)
    result.floats_ = std::make_shared<const Eigen::MatrixXf>(floats_->unaryExpr(function));
  for (float& meaning : result.meanings_) meaning = function(meaning);
  return result;
}

}  // namespace boltzmark

#include "boltzmark/io/binarise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/number.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/io/formats/array.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {
namespace {

using Kind = BinariseOptions::Kind;

/// Cases that one task converts; enough that tasks cost more than starting them.
constexpr std::uint64_t kCasesPerTask = 512;

/// Converts one case; one plain loop per kind, for the compiler to vectorise.
void convert(const unsigned char* levels, std::uint64_t units, const BinariseOptions& options,
             Stream draws, unsigned char* out) {
  const int limit = options.threshold;
  switch (options.kind) {
    case Kind::threshold:
      for (std::uint64_t i = 0; i < units; ++i) out[i] = levels[i] > limit;
      return;
    case Kind::grey:
      std::copy_n(levels, units, out);
      return;
    case Kind::sample:
      for (std::uint64_t i = 0; i < units; ++i) out[i] = draws.bernoulli(levels[i] / 255.0);
  }
}

CaseValues::Meanings meanings_of(Kind kind) {
  CaseValues::Meanings meanings{0, 1};
  if (kind == Kind::grey)
    for (int level = 0; level < 256; ++level) meanings[level] = static_cast<float>(level) / 255.0F;
  return meanings;
}

}  // namespace

BinariseOptions parse_binarise(std::string_view text) {
  BinariseOptions options{.images_only = false};
  const std::string_view kind = text.substr(0, text.find(':'));
  const std::string_view value = kind.size() < text.size() ? text.substr(kind.size() + 1) : "";
  if (text == "grey") {
    options.kind = Kind::grey;
    return options;
  }
  const auto level = parse_number<int>(value);
  if (kind == "threshold" && level && *level >= 0 && *level < 255) {
    options.threshold = *level;
    return options;
  }
  const auto seed = parse_number<std::uint64_t>(value);
  if (kind == "sample" && seed) {
    options.kind = Kind::sample;
    options.seed = *seed;
    return options;
  }
  throw InvalidArgument(
      fmt::format("binarise = {} (must be threshold:LEVEL with a level of 0..254, sample:SEED or "
                  "grey; fresh is for training alone)",
                  text));
}

std::string binarise_text(const BinariseOptions& options) {
  if (options.kind == Kind::grey) return "grey";
  if (options.kind == Kind::sample) return fmt::format("sample:{}", options.seed);
  return fmt::format("threshold:{}", options.threshold);
}

CaseValues binarise(const Array& levels, const CaseRange& range, const BinariseOptions& options,
                    std::string_view set) {
  const std::uint64_t units = levels.count() / levels.shape[0];
  const StreamKey key = make_key(options.seed, "binarise", set);
  CaseValues::Levels out(units * range.count);
  parallel_for((range.count + kCasesPerTask - 1) / kCasesPerTask, [&](std::size_t task) {
    const std::uint64_t end = std::min(range.count, (task + 1) * kCasesPerTask);
    for (std::uint64_t i = task * kCasesPerTask; i < end; ++i) {
      const std::uint64_t number = range.first + i;
      convert(levels.bytes.data() + number * units, units, options,
              Stream(key, Purpose::data, number), out.data() + i * units);
    }
  });
  return {std::move(out), static_cast<Eigen::Index>(units), meanings_of(options.kind)};
}

CaseValues binarise_shares(const CaseValues& shares, const BinariseOptions& options,
                           std::string_view set) {
  if (options.kind == Kind::grey) return shares;
  const float limit = static_cast<float>(options.threshold) / 255.0F;
  if (options.kind == Kind::threshold)
    return CaseValues::compact(
        shares.matrix().unaryExpr([limit](float x) { return x > limit ? 1.0F : 0.0F; }));
  const StreamKey key = make_key(options.seed, "binarise", set);
  Eigen::MatrixXf bits(shares.rows(), shares.cols());
  for (Eigen::Index c = 0; c < shares.cols(); ++c) {
    Stream draws(key, Purpose::data, static_cast<std::uint64_t>(c));
    bits.col(c) = shares.col(c).unaryExpr(
        [&](float x) { return draws.bernoulli(static_cast<double>(x)) ? 1.0F : 0.0F; });
  }
  return CaseValues::compact(std::move(bits));
}

}  // namespace boltzmark

#include "boltzmark/exact/log_z.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/core/saves_on_the_way.hpp"
#include "boltzmark/exact/enumeration/checkpoint.hpp"
#include "boltzmark/exact/enumeration/chunk_total.hpp"
#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/exact/enumeration/fast_sum.hpp"
#include "boltzmark/exact/enumeration/plain.hpp"

namespace boltzmark {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Chooses the fastest arithmetic that can serve, not below the precision asked for.
std::unique_ptr<ChunkedSum> choose_sum(const Bipartite& sides, Precision precision) {
  if (precision == Precision::float_precision) {
    auto sum = FastSum<float>::make(sides);
    if (sum && std::isfinite(sum->error_bound())) return sum;
  }
  auto sum = FastSum<double>::make(sides);
  if (sum && std::isfinite(sum->error_bound())) return sum;
  return std::make_unique<PlainSum>(sides);
}

/// Sums chunks in rounds, each round's in parallel.
void sum_in_rounds(const EnumerationChunks& chunks) {
  for (std::uint64_t next = chunks.first; next < chunks.end;) {
    const auto round =
        std::min<std::uint64_t>(chunks.end - next, 8 * static_cast<std::uint64_t>(thread_count()));
    chunks.take(chunks.sum(next, round));
    next += round;
  }
}

/// Adds the sums of all chunks in order, in groups of so many.
///   unsaved  what the last save threw
ScaledSum sum_chunks(const ChunkedSum& sum, std::uint64_t group,
                     const EnumerationCheckpoint& checkpoint, const ExactOptions& options,
                     std::exception_ptr& unsaved) {
  const std::uint64_t chunks = sum.chunks();
  if (chunks == 1 && !checkpoint.enabled() && !options.progress && !options.driver)
    return sum.sum(0);
  const EnumerationProgress start = checkpoint.load();
  ChunkTotal total(group, start);
  auto saved = Clock::now();
  SavesOnTheWay on_the_way;
  const auto save_on_the_way = [&](const EnumerationProgress& now) {
    on_the_way.save([&] { checkpoint.save(now); },
                    [&](const std::string& why) {
                      if (options.on_unsaved) options.on_unsaved(why);
                    });
    saved = Clock::now();
  };
  const auto save_last = [&](const EnumerationProgress& now) {
    try {
      checkpoint.save(now);
    } catch (const Error&) {  // the sums are there all the same
      unsaved = std::current_exception();
    }
  };
  const auto report = [&](std::uint64_t next) {
    if (options.progress) options.progress(static_cast<double>(next) / static_cast<double>(chunks));
  };
  report(start.next);
  EnumerationChunks all{.first = start.next, .end = chunks};
  all.sum = [&](std::uint64_t first, std::uint64_t count) {
    std::vector<Scaled> parts(count);
    parallel_for(count, [&](std::size_t k) { parts[k] = sum.sum(first + k).value(); });
    return parts;
  };
  all.take = [&](const std::vector<Scaled>& parts) {
    for (const Scaled& part : parts) total.add(part);
    const EnumerationProgress now = total.progress();
    if (now.next == chunks)
      save_last(now);
    else if (seconds_since(saved) >= options.checkpoint_seconds)
      save_on_the_way(now);
    try {
      report(now.next);
    } catch (...) {
      checkpoint.save(now);
      throw;
    }
  };
  if (options.driver)
    options.driver(all);
  else
    sum_in_rounds(all);
  return total.total();
}

}  // namespace

double magnitude(const Bipartite& sides) {
  double size = std::abs(sides.constant) + sides.bias.cwiseAbs().sum();
  for (Eigen::Index j = 0; j < sides.weights.rows(); ++j) {
    const double x = std::abs(sides.other_input[j]) + sides.weights.row(j).cwiseAbs().sum();
    const double scaled = sides.other_sigma[j] == 0 ? 0 : sides.other_sigma[j] * x;  // x may be inf
    size += x + scaled * scaled;
    if (sides.other_mean[j] != 0) size += std::abs(sides.other_mean[j]) * x;
  }
  return size;
}

void check_magnitude(const Bipartite& sides) {
  if (const double size = magnitude(sides); !(size < kUnresolved)) {
    throw InvalidArgument(
        fmt::format("sum of the sizes of all parameters = {:.3g} (must be below 2^49 nats)", size));
  }
}

ExactLogZ sum_states(const Bipartite& sides, const ExactOptions& options) {
  check_magnitude(sides);
  const std::unique_ptr<ChunkedSum> sum = choose_sum(sides, options.precision);
  ExactLogZ result;
  const ScaledSum total = sum_chunks(*sum, chunks_of_group(sides),
                                     {options.checkpoint, sides, *sum}, options, result.unsaved);
  result.log_z = total.log();
  result.error_bound = sum->error_bound() + total.log_error();
  result.states = sides.states;
  result.enumerated_units = static_cast<int>(sides.enumerated.size());
  return result;
}

ExactLogZ exact_log_z(const Layered& model, const ExactOptions& options) {
  const auto start = Clock::now();
  ExactLogZ result =
      sum_states(enumerate_smaller_side(model, options.max_enumerated_units), options);
  result.seconds = seconds_since(start);
  return result;
}

double exact_log_z_seconds(const Layered& model, int max_enumerated_units) {
  const Bipartite sides = enumerate_smaller_side(model, max_enumerated_units);
  return choose_sum(sides, Precision::double_precision)->seconds();
}

}  // namespace boltzmark

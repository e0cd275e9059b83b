#include "boltzmark/exact/enumeration/checkpoint.hpp"

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "boltzmark/core/atomic_file.hpp"
#include "boltzmark/core/error.hpp"
#include "boltzmark/core/simd.hpp"

namespace boltzmark {
namespace {

constexpr const char* kMagic = "boltzmark-enumeration-3";

/// FNV-1a over 64-bit words.
class Hash {
 public:
  void add(std::uint64_t word) {
    for (int k = 0; k < 8; ++k) {
      value_ = (value_ ^ ((word >> (8 * k)) & 0xff)) * 0x100000001b3ULL;
    }
  }
  void add(double x) { add(std::bit_cast<std::uint64_t>(x)); }
  void add(const std::string& text) {
    for (const char c : text) add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
  }
  template <typename Derived>
  void add_all(const Eigen::MatrixBase<Derived>& values) {
    add(static_cast<std::uint64_t>(values.size()));
    for (Eigen::Index c = 0; c < values.cols(); ++c) {
      for (Eigen::Index r = 0; r < values.rows(); ++r) add(values(r, c));
    }
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

std::uint64_t identity_of(const Bipartite& sides, const ChunkedSum& sum) {
  Hash hash;
  hash.add(std::string(sum.name()) + " " + simd_path());
  hash.add(sum.chunks());
  for (const Unit unit : sides.enumerated) hash.add(static_cast<std::uint64_t>(unit.code() + 2));
  for (const Unit unit : sides.other) hash.add(static_cast<std::uint64_t>(unit.code() + 2));
  hash.add_all(sides.bias);
  hash.add_all(sides.other_input);
  hash.add_all(sides.other_mean);
  hash.add_all(sides.other_sigma);
  hash.add_all(sides.weights);
  hash.add(sides.constant);
  return hash.value();
}

std::string describe(std::uint64_t identity, std::uint64_t chunks, const EnumerationProgress& p,
                     bool groups) {
  char line[240];
  const int size = std::snprintf(line, sizeof line, "%s %016llx %llu %llu %a %lld", kMagic,
                                 static_cast<unsigned long long>(identity),
                                 static_cast<unsigned long long>(chunks),
                                 static_cast<unsigned long long>(p.next), p.sum.mantissa,
                                 static_cast<long long>(p.sum.exponent));
  if (groups)
    std::snprintf(line + size, sizeof line - static_cast<std::size_t>(size), " %a %lld",
                  p.open.mantissa, static_cast<long long>(p.open.exponent));
  return line;
}

/// Appends a checksum of the line, so that a damaged file is known.
std::string sealed(const std::string& line) {
  Hash hash;
  hash.add(line);
  std::ostringstream out;
  out << line << ' ' << std::hex << hash.value() << " end\n";
  return out.str();
}

}  // namespace

EnumerationCheckpoint::EnumerationCheckpoint(std::string path, const Bipartite& sides,
                                             const ChunkedSum& sum)
    : path_(std::move(path)),
      identity_(path_.empty() ? 0 : identity_of(sides, sum)),
      chunks_(sum.chunks()),
      groups_(chunks_of_group(sides) > 0) {}

EnumerationProgress EnumerationCheckpoint::load() const {
  if (!enabled() || !std::filesystem::exists(path_)) return {};
  if (!std::filesystem::is_regular_file(path_)) {
    throw DataError(path_ + ": is no regular file (must be a checkpoint of an enumeration)");
  }
  std::ifstream in(path_, std::ios::binary);
  char buffer[512] = {};
  in.read(buffer, sizeof buffer - 1);
  if (!in.is_open() || in.bad())
    throw DataError(path_ + ": cannot be read: " + std::strerror(errno) +
                    " (must be a checkpoint)");
  if (!in.gcount()) throw DataError(path_ + ": is empty (must be a checkpoint)");
  const std::string content(buffer, static_cast<std::size_t>(in.gcount()));
  unsigned long long identity = 0, chunks = 0, next = 0;
  long long exponent = 0, open_exponent = 0;
  double mantissa = 0, open_mantissa = 0;
  const std::string form = std::string(kMagic) + " %llx %llu %llu %la %lld %la %lld";
  const int read = std::sscanf(content.c_str(), form.c_str(), &identity, &chunks, &next, &mantissa,
                               &exponent, &open_mantissa, &open_exponent);
  if (read < 5) {
    if (content.starts_with(kMagic))
      throw DataError(path_ + ": is damaged or cut short (must be whole)");
    throw DataError(path_ + ": is no checkpoint of this version (must begin with " + kMagic + ")");
  }
  // What follows the fifth number is the checksum, or the open group's sum before it.
  const EnumerationProgress alone{next, {mantissa, exponent}};
  const EnumerationProgress grouped{next, {mantissa, exponent}, {open_mantissa, open_exponent}};
  const bool of_groups = read == 7 && content == sealed(describe(identity, chunks, grouped, true));
  if ((!of_groups && content != sealed(describe(identity, chunks, alone, false))) ||
      next > chunks) {
    throw DataError(path_ + ": is damaged (its checksum must agree)");
  }
  if (identity != identity_ || chunks != chunks_ || of_groups != groups_) {
    throw DataError(
        path_ +
        ": belongs to another enumeration (must be of the same model, precision and SIMD path)");
  }
  return of_groups ? grouped : alone;
}

void EnumerationCheckpoint::save(const EnumerationProgress& progress) const {
  if (!enabled()) return;
  AtomicFile file(path_);
  file.write(sealed(describe(identity_, chunks_, progress, groups_)));
  file.commit();
}

}  // namespace boltzmark

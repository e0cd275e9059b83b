#include "boltzmark/core/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"
#include "boltzmark/core/simd.hpp"

namespace boltzmark {
namespace {

constexpr std::string_view kMagic = "BMTRAIN3";
constexpr std::string_view kAnyVersion = "BMTRAIN";

}  // namespace

std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed) {
  std::uint64_t hash = mix_bits(seed ^ (bytes.size() + 0x9e3779b97f4a7c15ULL));
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t size = std::min(sizeof word, bytes.size());
    std::memcpy(&word, bytes.data(), size);
    hash = mix_bits(hash + 0x9e3779b97f4a7c15ULL) ^ mix_bits(hash ^ word);
    bytes.remove_prefix(size);
  }
  return hash;
}

void CheckpointWriter::append(const void* data, std::size_t size) {
  bytes_.append(static_cast<const char*>(data), size);
}

void CheckpointWriter::write(std::uint64_t value) { append(&value, sizeof value); }

void CheckpointWriter::write(const Eigen::Ref<const Eigen::MatrixXd>& values) {
  for (Eigen::Index j = 0; j < values.cols(); ++j)
    append(values.col(j).data(), sizeof(double) * static_cast<std::size_t>(values.rows()));
}

void CheckpointWriter::write(const Eigen::Ref<const Eigen::MatrixXf>& values) {
  for (Eigen::Index j = 0; j < values.cols(); ++j)
    append(values.col(j).data(), sizeof(float) * static_cast<std::size_t>(values.rows()));
}

void CheckpointWriter::write(std::string_view text) {
  write(static_cast<std::uint64_t>(text.size()));
  append(text.data(), text.size());
}

std::string CheckpointWriter::finish() const {
  std::string whole(kMagic);
  whole += bytes_;
  const std::uint64_t hash = hash_bytes(whole);
  whole.append(reinterpret_cast<const char*>(&hash), sizeof hash);
  return whole;
}

CheckpointReader::CheckpointReader(std::string_view bytes) {
  std::uint64_t hash = 0;
  if (bytes.starts_with(kAnyVersion) && bytes.size() > kMagic.size() && !bytes.starts_with(kMagic))
    throw DataError("checkpoint: of another version (must be written by this one)");
  if (bytes.size() < kMagic.size() + sizeof hash || !bytes.starts_with(kMagic))
    throw DataError("checkpoint: not a training checkpoint (must be written by train)");
  left_ = bytes.substr(0, bytes.size() - sizeof hash);
  std::memcpy(&hash, bytes.data() + left_.size(), sizeof hash);
  if (hash != hash_bytes(left_))
    throw DataError("checkpoint: damaged or cut short (must be whole)");
  left_.remove_prefix(kMagic.size());
}

void CheckpointReader::take(void* data, std::size_t size) {
  if (size > left_.size())
    throw DataError("checkpoint: too short (must be of this model, data and options)");
  std::memcpy(data, left_.data(), size);
  left_.remove_prefix(size);
}

std::uint64_t CheckpointReader::read() {
  std::uint64_t value = 0;
  take(&value, sizeof value);
  return value;
}

void CheckpointReader::read(Eigen::Ref<Eigen::MatrixXd> values) {
  for (Eigen::Index j = 0; j < values.cols(); ++j)
    take(values.col(j).data(), sizeof(double) * static_cast<std::size_t>(values.rows()));
}

void CheckpointReader::read(Eigen::Ref<Eigen::MatrixXf> values) {
  for (Eigen::Index j = 0; j < values.cols(); ++j)
    take(values.col(j).data(), sizeof(float) * static_cast<std::size_t>(values.rows()));
}

std::string CheckpointReader::read_text() {
  const std::uint64_t size = read();
  std::string text(std::min<std::uint64_t>(size, left_.size() + 1), '\0');
  take(text.data(), text.size());
  return text;
}

void CheckpointReader::finish() const {
  if (!left_.empty())
    throw DataError("checkpoint: too long (must be of this model, data and options)");
}

namespace {

constexpr char kHash = '#';  // begins a value that is no text for people

}  // namespace

CheckpointInputs::CheckpointInputs() { add("SIMD path", simd_path()); }

void CheckpointInputs::add_hash(std::string name, std::initializer_list<std::uint64_t> hash) {
  add(std::move(name), fmt::format("{}{:016x}", kHash, fmt::join(hash, " ")));
}

void CheckpointInputs::write(CheckpointWriter& out) const {
  out.write(static_cast<std::uint64_t>(inputs_.size()));
  for (const auto& [name, value] : inputs_) {
    out.write(name);
    out.write(value);
  }
}

void CheckpointInputs::check(CheckpointReader& in) const {
  std::vector<std::string> differ;
  std::map<std::string, std::string> theirs;
  for (std::uint64_t left = in.read(); left > 0; --left) {
    std::string name = in.read_text();
    theirs[std::move(name)] = in.read_text();
  }
  for (const auto& [name, value] : inputs_) {
    const auto found = theirs.extract(name);
    const std::string other = found ? found.mapped() : "";
    if (value == other) continue;
    differ.push_back(value.starts_with(kHash) ? "another " + name
                                              : fmt::format("{} = {} (must be {})", name, value,
                                                            found ? other : "left out"));
  }
  for (const auto& [name, value] : theirs)
    differ.push_back(fmt::format("no {} (must be {})", name, value));
  if (!differ.empty())
    throw DataError(fmt::format("checkpoint: of other inputs: {}", fmt::join(differ, ", ")));
}

}  // namespace boltzmark

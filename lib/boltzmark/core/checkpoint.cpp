#include "boltzmark/core/checkpoint.hpp"

#include <algorithm>
#include <cstring>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

constexpr std::string_view kMagic = "BMTRAIN1";

// The finaliser of SplitMix64, a bijection with full avalanche.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace

std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed) {
  std::uint64_t hash = mix(seed ^ (bytes.size() + 0x9e3779b97f4a7c15ULL));
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t size = std::min(sizeof word, bytes.size());
    std::memcpy(&word, bytes.data(), size);
    hash = mix(hash + 0x9e3779b97f4a7c15ULL) ^ mix(hash ^ word);
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

void CheckpointWriter::write(const std::vector<int>& values) {
  append(values.data(), sizeof(int) * values.size());
}

void CheckpointWriter::write(const std::vector<std::uint64_t>& values) {
  append(values.data(), sizeof(std::uint64_t) * values.size());
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

void CheckpointReader::read(std::vector<int>& values) {
  take(values.data(), sizeof(int) * values.size());
}

void CheckpointReader::read(std::vector<std::uint64_t>& values) {
  take(values.data(), sizeof(std::uint64_t) * values.size());
}

void CheckpointReader::finish() const {
  if (!left_.empty())
    throw DataError("checkpoint: too long (must be of this model, data and options)");
}

}  // namespace boltzmark

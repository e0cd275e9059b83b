#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace boltzmark {

/// Mixes bytes into a 64-bit hash: a check against accidents, not against attack.
std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed = 0);

/// Appends plain values to a string of bytes, ended by their hash.
class CheckpointWriter {
 public:
  void write(std::uint64_t value);
  void write(const Eigen::Ref<const Eigen::MatrixXd>& values);
  void write(const Eigen::Ref<const Eigen::MatrixXf>& values);
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void write(const std::vector<Number>& values) {
    append(values.data(), sizeof(Number) * values.size());
  }
  void write(std::string_view text);
  /// Returns everything written, with its hash behind it.
  std::string finish() const;

 private:
  void append(const void* data, std::size_t size);
  std::string bytes_;
};

/// Reads back what a CheckpointWriter wrote, into arrays whose sizes the reader knows.
/// Throws  DataError `checkpoint: ...` when the bytes are damaged, too short or too long
class CheckpointReader {
 public:
  explicit CheckpointReader(std::string_view bytes);
  std::uint64_t read();
  void read(Eigen::Ref<Eigen::MatrixXd> values);
  void read(Eigen::Ref<Eigen::MatrixXf> values);
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void read(std::vector<Number>& values) { take(values.data(), sizeof(Number) * values.size()); }
  std::string read_text();
  /// Checks that nothing is left.
  void finish() const;

 private:
  void take(void* data, std::size_t size);
  std::string_view left_;
};

/// What a checkpoint's run depends on and the checkpoint does not hold, by name: one of another run is
/// refused by what differs. The SIMD path is among them: sums of another round otherwise.
class CheckpointInputs {
 public:
  CheckpointInputs();

  void add(std::string name, std::string value) {
    inputs_.emplace_back(std::move(name), std::move(value));
  }
  /// Adds what numbers stand for that say nothing to people: a hash, a key.
  void add_hash(std::string name, std::initializer_list<std::uint64_t> hash);

  void write(CheckpointWriter& out) const;
  /// Reads what a checkpoint was written with.
  /// Throws  DataError `checkpoint: of other inputs: NAME = OURS (must be THEIRS), another NAME, ...`
  void check(CheckpointReader& in) const;

 private:
  std::vector<std::pair<std::string, std::string>> inputs_;
};

}  // namespace boltzmark

#include "boltzmark/core/ranks.hpp"

#include <algorithm>
#include <cstring>

namespace boltzmark {
namespace {

void copy_bytes(const void* from, std::size_t bytes, void* to) {
  if (bytes > 0 && from != to) std::memcpy(to, from, bytes);
}

class SerialRanks final : public Ranks {
 public:
  int number() const override { return 0; }
  int count() const override { return 1; }

 protected:
  void exchange(const void* send, const Counts& sent, void* receive, const Counts&,
                std::size_t element_bytes) const override {
    copy_bytes(send, sent[0] * element_bytes, receive);
  }
  void collect(const void* own, const Counts& counts, void* all,
               std::size_t element_bytes) const override {
    copy_bytes(own, counts[0] * element_bytes, all);
  }
  void spread(void*, std::size_t, int) const override {}
};

}  // namespace

const Ranks& Ranks::serial() {
  static const SerialRanks ranks;
  return ranks;
}

bool holds_at_any(const Ranks& ranks, bool here) {
  const std::vector<std::uint8_t> all = one_of_each<std::uint8_t>(ranks, here ? 1 : 0);
  return std::any_of(all.begin(), all.end(), [](std::uint8_t holds) { return holds != 0; });
}

}  // namespace boltzmark

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>

#include "boltzmark/random/key.hpp"

namespace boltzmark {

/// Sees each block of four draws, by its key and its counter, as it is made: for the check that no
/// draw is made for two uses. Called by all threads at once.
using DrawAudit = std::function<void(StreamKey, const std::array<std::uint32_t, 4>& counter)>;

/// Who sees the draws from now on; null: nobody. It must outlive its being here.
inline std::atomic<const DrawAudit*> draw_audit = nullptr;

}  // namespace boltzmark

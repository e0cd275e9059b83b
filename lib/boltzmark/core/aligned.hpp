#pragma once

#include <tbb/cache_aligned_allocator.h>

#include <cstddef>
#include <new>
#include <vector>

namespace boltzmark {

#ifdef __SANITIZE_THREAD__
/// TBB's allocator is not built with the thread sanitizer, which so would take memory that one thread
/// gives back and another one gets for shared.
template <class T>
struct CacheAligned {
  using value_type = T;
  static constexpr std::align_val_t kLine{128};
  CacheAligned() = default;
  template <class U>
  CacheAligned(const CacheAligned<U>&) {}
  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), kLine));
  }
  void deallocate(T* place, std::size_t) { ::operator delete(place, kLine); }
  friend bool operator==(const CacheAligned&, const CacheAligned&) { return true; }
};
#else
template <class T>
using CacheAligned = tbb::cache_aligned_allocator<T>;
#endif

/// A vector that begins at a cache line, and shares none with another one.
template <class T>
using AlignedVector = std::vector<T, CacheAligned<T>>;

}  // namespace boltzmark

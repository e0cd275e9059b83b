#pragma once

#include <string>
#include <utility>

#include "boltzmark/core/error.hpp"

namespace boltzmark {

/// Saves of long work on its way, of which one that fails does not end the work: what was saved before
/// stands, and the next one may succeed. The state at the end is none on the way: whoever saves it tells
/// that it failed.
class SavesOnTheWay {
 public:
  /// Saves; tells why it failed, of the first in a row alone.
  ///   save  () -> void, throws DataError, or Error where the disk is full
  ///   tell  (std::string) -> void
  template <class Save, class Tell>
  void save(const Save& save, const Tell& tell) {
    try {
      save();
      failed_ = false;
    } catch (const InvalidArgument&) {
      throw;  // not of the file
    } catch (const Error& error) {
      if (!std::exchange(failed_, true))
        tell(std::string(error.what()) + ": the work goes on, and saves are tried again");
    }
  }

 private:
  bool failed_ = false;  ///< the last one
};

}  // namespace boltzmark

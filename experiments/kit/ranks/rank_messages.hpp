#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace boltzmark::experiments {

/// What ranks say to each other about trials; the trials are numbered as every rank plans them.
///   to rank 0:   join (number: slots; text: host), beat, result, failure, abandoned (number: trial)
///   from rank 0: beat, give (number: trial, attempt), stop: begin no more, and trials that keep their
///                state stop; give_up: all stop; rest: all has been given
struct RankNote {
  enum class Kind : char { join, beat, result, failure, abandoned, give, stop, give_up, rest };
  Kind kind = Kind::beat;
  std::size_t number = 0;
  int attempt = 0;
  std::string text = {};
};

std::string encode(const RankNote& note);
/// Throws  Error if the bytes are no note
RankNote decode(std::string_view bytes);

}  // namespace boltzmark::experiments

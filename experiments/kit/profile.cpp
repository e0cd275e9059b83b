#include "experiments/kit/profile.hpp"

#include <fmt/format.h>

#include "boltzmark/core/error.hpp"

namespace boltzmark::experiments {

std::string profile_name(Profile profile) {
  return PerProfile<const char*>{"smoke", "quick", "paper"}.at(profile);
}

Profile parse_profile(std::string_view text) {
  for (const Profile profile : {Profile::smoke, Profile::quick, Profile::paper})
    if (text == profile_name(profile)) return profile;
  throw InvalidArgument(fmt::format("profile = {} (must be smoke, quick or paper)", text));
}

}  // namespace boltzmark::experiments

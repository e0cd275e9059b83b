#pragma once

#include <string>
#include <string_view>

namespace boltzmark::experiments {

/// How much is run: smoke end to end at toy size, quick in minutes, paper the paper's own settings.
enum class Profile { smoke, quick, paper };

/// Writes a profile as the command line takes it.
std::string profile_name(Profile profile);
/// Parses a profile's name.  Throws  InvalidArgument naming the profiles there are
Profile parse_profile(std::string_view text);

/// A value for each profile: `{.smoke = 2, .quick = 10, .paper = 25}`.
template <class T>
struct PerProfile {
  T smoke{};
  T quick{};
  T paper{};
  const T& at(Profile profile) const {
    return profile == Profile::smoke ? smoke : profile == Profile::quick ? quick : paper;
  }
};

}  // namespace boltzmark::experiments

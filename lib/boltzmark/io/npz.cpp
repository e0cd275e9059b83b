#include "boltzmark/io/npz.hpp"

#include <fmt/format.h>

#include "boltzmark/core/error.hpp"
#include "boltzmark/io/npy.hpp"

namespace boltzmark {
namespace {

constexpr std::string_view kEnding = ".npy";

std::string_view array_name(std::string_view member) {
  if (member.ends_with(kEnding)) member.remove_suffix(kEnding.size());
  return member;
}

}  // namespace

std::vector<std::string> Npz::names() const {
  std::vector<std::string> names;
  for (const auto& member : zip_.members()) names.emplace_back(array_name(member.name));
  return names;
}

const ZipMember* Npz::find(std::string_view name) const {
  for (const auto& member : zip_.members()) {
    if (array_name(member.name) == name) return &member;
  }
  return nullptr;
}

bool Npz::contains(std::string_view name) const { return find(name) != nullptr; }

Array Npz::read(std::string_view name) const {
  const ZipMember* member = find(name);
  if (member == nullptr) {
    Place{path()}.refuse(fmt::format("has no array {}", name), "must have it");
  }
  ByteSource source = zip_.open(*member, std::string(name));
  return read_npy(source);
}

}  // namespace boltzmark

#include "experiments/kit/ranks/equal_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/simd.hpp"
#include "experiments/kit/ranks/fingerprint.hpp"
#include "experiments/kit/ranks/host.hpp"
#include "experiments/kit/ranks/launcher.hpp"
#include "experiments/kit/sources.hpp"

namespace boltzmark::experiments {
namespace {

/// The path that this rank would take by itself.
std::string own_path() {
  if (const char* named = std::getenv("BOLTZMARK_SIMD"); named != nullptr && *named) return named;
  for (const std::string& path : simd_paths())
    if (path != "amx") return path;
  return "";
}

/// What a rank says, or the error that it met instead.
template <class Make>
Json said(Make make) {
  try {
    return make();
  } catch (const std::exception& error) {
    return {{"host", host_name()}, {"problem", error.what()}};
  }
}

Json identity() {
  return {{"host", host_name()},
          {"facts",
           {{"sources", program_hash()},
            {"compiler", compiler_name()},
            {"SIMD path", simd_path()},
            {"arithmetic", numeric_fingerprint()}}}};
}

std::string compare(const std::vector<std::string>& texts) {
  std::vector<RankIdentity> ranks;
  for (const std::string& text : texts) {
    const Json json = Json::parse(text);
    if (json.contains("problem"))
      return fmt::format("host {}: {}", json.at("host").get<std::string>(),
                         json.at("problem").get<std::string>());
    RankIdentity& it = ranks.emplace_back();
    it.host = json.at("host");
    for (const auto& [name, value] : json.at("facts").items()) it.facts.emplace_back(name, value);
  }
  return difference(ranks);
}

/// Has rank 0 judge what all have said, and every rank hear it.
void judge(RankLink& link, const Json& own) {
  const std::vector<std::string> texts = link.gather(own.dump());
  const std::string problem = link.broadcast(link.rank() == 0 ? compare(texts) : "");
  if (!problem.empty()) throw InvalidArgument(problem);
}

/// Tells whether this is the first rank of its host.
bool is_first_on_host(RankLink& link) {
  const std::vector<std::string> hosts = link.gather(host_name());
  std::set<std::string> seen;
  std::string firsts;
  for (const std::string& host : hosts) firsts += seen.insert(host).second ? '1' : '0';
  return link.broadcast(firsts).at(static_cast<std::size_t>(link.rank())) == '1';
}

}  // namespace

std::string weakest_path(const std::vector<std::string>& paths) {
  static constexpr std::array kBestFirst = {"amx", "avx512", "avx2", "sse4"};
  const auto place = [](const std::string& path) {
    return std::find(kBestFirst.begin(), kBestFirst.end(), path) - kBestFirst.begin();
  };
  return *std::max_element(paths.begin(), paths.end(),
                           [&](const auto& a, const auto& b) { return place(a) < place(b); });
}

std::string difference(const std::vector<RankIdentity>& ranks) {
  for (std::size_t rank = 1; rank < ranks.size(); ++rank)
    for (std::size_t i = 0; i < ranks[0].facts.size(); ++i)
      if (ranks[rank].facts.at(i) != ranks[0].facts[i])
        return fmt::format("rank {} on host {}: {} = {} (must be that of rank 0 on host {}, {})",
                           rank, ranks[rank].host, ranks[0].facts[i].first,
                           ranks[rank].facts[i].second, ranks[0].host, ranks[0].facts[i].second);
  return "";
}

void agree_on_build(RankLink& link) {
  const std::vector<std::string> paths = link.gather(own_path());
  const char* name = std::getenv("BOLTZMARK_SIMD");
  const bool named = name != nullptr && *name != '\0';
  const std::string path =
      link.broadcast(link.rank() == 0 ? (named ? paths[0] : weakest_path(paths)) : "");
  setenv("BOLTZMARK_SIMD", path.c_str(), 1);
  judge(link, said(identity));
  limit_start(0);
}

void agree_on(RankLink& link, const std::string& name, const std::function<std::string()>& value) {
  judge(link, said([&]() -> Json {
          return {{"host", host_name()}, {"facts", {{name, value()}}}};
        }));
}

std::vector<std::string> agree_on_sources(const std::vector<const Experiment*>& experiments,
                                          RankLink& link) {
  const bool first = is_first_on_host(link);
  const Json own = said([&]() -> Json {
    Json facts = Json::object();
    for (const Experiment* experiment : experiments)
      if (first) facts[experiment->id + " and its data"] = sources_hash(*experiment);
    return {{"host", host_name()}, {"facts", facts}};
  });
  // Other ranks of a host read the same files: they say what rank 0 says.
  const Json of_rank_0 = Json::parse(link.broadcast(own.dump()));
  judge(link, first || own.contains("problem") ? own : of_rank_0);
  std::vector<std::string> sources;
  for (const Experiment* experiment : experiments)
    sources.push_back(of_rank_0.at("facts").at(experiment->id + " and its data"));
  return sources;
}

}  // namespace boltzmark::experiments

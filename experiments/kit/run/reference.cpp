#include "experiments/kit/run/reference.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <sstream>

#include "boltzmark/core/error.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/run/store.hpp"

namespace boltzmark::experiments {
namespace {

using GzFile = std::unique_ptr<gzFile_s, decltype(&gzclose)>;

std::string read_gzip(const std::string& path) {
  const GzFile file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file)
    throw DataError(
        fmt::format("{}: cannot be read: {} (must be a gzip file)", path, std::strerror(errno)));
  std::string text;
  char buffer[1 << 16];
  int got = 0;
  while ((got = gzread(file.get(), buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<std::size_t>(got));
  int error = Z_OK;
  gzerror(file.get(), &error);
  if (got < 0 || (error != Z_OK && error != Z_STREAM_END))
    throw DataError(path + ": is truncated or damaged (must be a whole gzip file)");
  return text;
}

/// Compresses to bytes that depend on the text alone: no time, no name.
std::string gzip(const std::string& text) {
  z_stream stream{};
  if (deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw Error("zlib cannot start");
  std::string bytes(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  deflate(&stream, Z_FINISH);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

Trial parse_trial(const Json& line) {
  return {.inputs = line.at("inputs"),
          .outputs = line.at("outputs"),
          .seconds = line.at("seconds"),
          .revision = line.at("revision"),
          .simd = line.at("simd"),
          .from_reference = true};
}

Json open_reference_line(const std::string& line, const std::string& path, int number) {
  try {
    Json json = open_line(line);
    if (json.contains("inputs") && json.contains("outputs")) return json;
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: line {}: {}", path, number, error.what()));
  }
  throw DataError(
      fmt::format("{}: line {} is not a trial (must have inputs and outputs)", path, number));
}

/// Returns the lines of a reference file by the text of their inputs.
std::map<std::string, Json> read_lines(const std::string& path) {
  std::map<std::string, Json> lines;
  if (!std::filesystem::exists(path)) return lines;
  std::istringstream text(read_gzip(path));
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    Json json = open_reference_line(line, path, number);
    std::string inputs = json["inputs"].dump();  // before the move: the right side comes first
    lines.insert_or_assign(std::move(inputs), std::move(json));
  }
  return lines;
}

// A part that was run names the experiment that measured it, and has what it measured.
CommittedVerdict committed_verdict(const Json& claim) {
  std::set<std::string> parts, run;
  for (const Json& part : claim.at("parts")) {
    parts.insert(part.at("part"));
    const bool counted = part.at("n") > 0 || !part.at("estimate").is_null();
    if (counted && !part.at("experiment").get<std::string>().empty()) run.insert(part.at("part"));
  }
  return {.verdict = parse_verdict(claim.at("verdict")),
          .parts = static_cast<int>(parts.size()),
          .run = static_cast<int>(run.size())};
}

}  // namespace

std::string reference_path(const Experiment& experiment) {
  return source_path("reports/reference/" + experiment.id + "/trials.jsonl.gz");
}

std::map<std::string, Trial> read_reference(const std::string& path) {
  std::map<std::string, Trial> trials;
  for (const auto& [inputs, line] : read_lines(path)) trials.emplace(inputs, parse_trial(line));
  return trials;
}

void read_committed(const std::string& path, std::vector<ClaimFile>& files) {
  if (!std::filesystem::exists(path)) return;
  try {
    for (const Json& said : Json::parse(read_text(path)))
      for (ClaimFile& file : files)
        for (Claim& claim : file.claims)
          if (said.at("paper") == file.paper && said.at("id") == claim.id)
            claim.committed = committed_verdict(said);
  } catch (const std::exception& error) {
    throw DataError(fmt::format("{}: {} (must be a report's claims.json)", path, error.what()));
  }
}

void keep_in_reference(const std::string& path, const std::vector<Trial>& trials) {
  auto lines = read_lines(path);
  for (const Trial& trial : trials)
    if (!trial.from_reference)
      lines[trial.inputs.dump()] = {{"inputs", trial.inputs},   {"outputs", trial.outputs},
                                    {"seconds", trial.seconds}, {"revision", trial.revision},
                                    {"simd", trial.simd},       {"seed", kReferenceSeed}};
  if (lines.empty()) return;
  std::string text;
  for (const auto& [inputs, line] : lines) text += seal_line(line);
  write_text(path, gzip(text));
}

}  // namespace boltzmark::experiments

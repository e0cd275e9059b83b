#include "experiments/kit/run/store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "boltzmark/core/atomic_file.hpp"
#include "boltzmark/core/checkpoint.hpp"
#include "boltzmark/core/error.hpp"
#include "experiments/kit/files.hpp"

namespace boltzmark::experiments {
namespace {

constexpr const char* kCheck = "check";
constexpr std::string_view kCheckFirst = "{\"check\":\"";  // as `seal_line` writes

std::string hash_text(std::string_view text) { return fmt::format("{:016x}", hash_bytes(text)); }

/// Tells whether a line is, byte for byte, one that `seal_line` wrote.
bool is_as_written(std::string_view text) {
  constexpr std::size_t kDigits = 16, kRest = kCheckFirst.size() + kDigits + 2;
  return text.starts_with(kCheckFirst) && text.size() > kRest &&
         text.substr(kCheckFirst.size(), kDigits) ==
             hash_text("{" + std::string(text.substr(kRest)));
}

/// Tells whether a string stands in JSON as it is.
bool is_plain(std::string_view text) {
  bool plain = true;  // with no way out of the loop, which would keep it from being vectorised
  for (const char c : text) plain &= (c >= ' ') & (c < '\x7f') & (c != '"') & (c != '\\');
  return plain;
}

/// Appends what `dump` writes, which escapes a string character by character: most of the time of
/// a long line of nothing to escape.
void append_json(std::string& line, const std::string& text) {
  if (is_plain(text))
    ((line += '"') += text) += '"';
  else
    line += Json(text).dump();
}

void append_json(std::string& line, const Json& value) {
  if (value.is_string()) return append_json(line, value.get_ref<const std::string&>());
  if (!value.is_object() || value.empty()) return void(line += value.dump());
  char before = '{';
  for (const auto& [key, member] : value.items()) {
    append_json(line += std::exchange(before, ','), key);
    append_json(line += ':', member);
  }
  line += '}';
}

std::string seal_text(std::string_view text) {
  return fmt::format("{}{}\",{}\n", kCheckFirst, hash_text(text), text.substr(1));
}

std::string inputs_text(const Json& inputs, std::uint64_t seed) {
  return fmt::format("{} {}", inputs.dump(), seed);
}

[[noreturn]] void throw_unstored(const std::string& path, int error) {
  const bool is_full = error == ENOSPC || error == EDQUOT;
  throw Error(fmt::format("{}: cannot be written: {} ({})", path, std::strerror(error),
                          is_full ? "must have space left" : "must be on a disk that works"));
}

/// Throws  an exception if the line is no trial
std::pair<TrialKey, Trial> parse_line(const std::string& line) {
  const Json json = open_line(line);
  TrialKey key{json.at("inputs"), json.at("seed"), json.at("simd"), json.at("sources")};
  Trial trial{.inputs = key.inputs,
              .outputs = json.at("outputs"),
              .seconds = json.at("seconds"),
              .revision = json.at("revision"),
              .simd = key.simd,
              .host = json.value("host", "")};
  if (!key.inputs.is_object() || !trial.outputs.is_object() || trial.outputs.empty())
    throw DataError("not a trial");
  return {std::move(key), std::move(trial)};
}

bool is_store_name(const std::string& name) {
  return name == "trials.jsonl" || (name.starts_with("trials.") && name.ends_with(".jsonl"));
}

}  // namespace

std::string TrialKey::text() const {
  return fmt::format("{} {} {}", inputs_text(inputs, seed), simd, sources);
}

std::string trial_line(const TrialKey& key, const Trial& trial) {
  std::string text;
  append_json(text += "{\"host\":", trial.host);
  append_json(text += ",\"inputs\":", key.inputs);
  append_json(text += ",\"outputs\":", trial.outputs);
  append_json(text += ",\"revision\":", trial.revision);
  append_json(text += ",\"seconds\":", Json(trial.seconds));
  append_json(text += ",\"seed\":", Json(key.seed));
  append_json(text += ",\"simd\":", key.simd);
  append_json(text += ",\"sources\":", key.sources);
  return seal_text(text += '}');
}

std::string seal_line(const Json& line) { return seal_text(line.dump()); }

Json open_line(const std::string& text) {
  Json line = Json::parse(text, nullptr, false);
  if (!line.is_object()) throw DataError("a line is not a JSON object (must be a trial)");
  const auto check = line.find(kCheck);
  if (check == line.end()) return line;
  const Json said = *check;
  line.erase(check);
  if (!is_as_written(text) && said != hash_text(line.dump()))
    throw DataError("a line was changed (must be as it was written)");
  return line;
}

std::vector<std::string> store_files(const std::string& folder) {
  std::vector<std::string> files;
  if (!std::filesystem::is_directory(folder)) return files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (is_store_name(entry.path().filename().string())) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

TrialStore::TrialStore(std::string path, Access access) : path_(std::move(path)), access_(access) {
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  if (access_ == Access::append) {
    make_folder(folder);
    file_ = open(path_.c_str(), O_CLOEXEC | O_RDWR | O_CREAT | O_APPEND, 0666);
    if (file_ < 0) throw_unwritable(path_, errno, "must be writable");
  }
  const std::vector<std::string> files = store_files(folder);
  if (files.empty()) throw DataError(path_ + ": is missing (must be written by a run first)");
  for (const std::string& file : files) read_lines(file);
}

TrialStore::~TrialStore() {
  if (file_ >= 0) close(file_);
}

std::size_t TrialStore::remember_all(std::string_view text) {
  std::size_t start = 0;
  for (std::size_t end; (end = text.find('\n', start)) != std::string_view::npos; start = end + 1)
    remember(std::string(text.substr(start, end - start)));
  return start;
}

void TrialStore::read_lines(const std::string& path) {
  std::size_t size = 0, whole = 0;
  std::string rest;
  read_blocks(path, [&](std::string_view block) {
    size += block.size();
    rest += block;
    const std::size_t taken = remember_all(rest);
    whole += taken;
    rest.erase(0, taken);
  });
  const auto file = [](const std::string& of) { return std::filesystem::path(of).filename(); };
  if (access_ == Access::read || file(path) != file(path_)) return;
  read_to_ = whole;
  end_ = static_cast<off_t>(whole);
  if (whole < size && ftruncate(file_, static_cast<off_t>(whole)) != 0)
    throw DataError(path_ + ": a torn last line cannot be cut off (must be writable)");
}

void TrialStore::remember(const std::string& line) {
  try {
    auto [key, trial] = parse_line(line);
    auto& stored = trials_[key.text()];
    if (stored) note(key, *stored, trial);
    stored = std::make_shared<const Trial>(std::move(trial));
  } catch (const std::exception&) {
    ++unreadable_;  // a cache: what cannot be read is computed again
  }
}

void TrialStore::note(const TrialKey& key, const Trial& first, const Trial& second) {
  if (first.outputs != second.outputs) conflicts_.push_back({key, first, second});
}

void TrialStore::compare(std::string_view line) {
  read_appended();
  const auto [key, trial] = parse_line(std::string(line.substr(0, line.find('\n'))));
  const std::lock_guard lock(mutex_);
  const auto stored = trials_.find(key.text());
  if (stored != trials_.end()) note(key, *stored->second, trial);
}

std::shared_ptr<const Trial> TrialStore::find(const TrialKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = trials_.find(key.text());
  return found == trials_.end() ? nullptr : found->second;
}

std::size_t TrialStore::size() const {
  const std::lock_guard lock(mutex_);
  return trials_.size();
}

std::size_t TrialStore::count_other_builds(const TrialKey& key) const {
  const std::lock_guard lock(mutex_);
  const std::string same = inputs_text(key.inputs, key.seed) + " ";
  std::size_t count = 0;
  for (auto at = trials_.lower_bound(same); at != trials_.end() && at->first.starts_with(same);
       ++at)
    ++count;
  return count - trials_.count(key.text());
}

void TrialStore::append(const TrialKey& key, const Trial& trial) {
  add_line(trial_line(key, trial));
  write();
  sync();
  read_appended();
}

void TrialStore::add_line(std::string_view line) {
  const std::lock_guard lock(mutex_);
  added_ += line;
}

void TrialStore::write() {
  const std::lock_guard lock(mutex_);
  if (added_.empty()) return;
  struct stat before {};
  if (fstat(file_, &before) != 0) throw_unstored(path_, errno);
  if (before.st_size < end_) begin_after_cut(before.st_size);
  const ssize_t written = ::write(file_, added_.data(), added_.size());
  if (written != static_cast<ssize_t>(added_.size())) {
    const int error = written < 0 ? errno : ENOSPC;
    // Best effort: should this fail too, opening the store cuts the torn line off.
    [[maybe_unused]] const int cut = ftruncate(file_, before.st_size);
    throw_unstored(path_, error);
  }
  end_ = before.st_size + written;
  added_.clear();
  unsynced_ = true;
}

void TrialStore::begin_after_cut(off_t size) {
  cut_ = true;
  char last = '\n';
  if (size > 0 && pread(file_, &last, 1, size - 1) == 1 && last != '\n') added_.insert(0, "\n");
  read_to_ = std::min(read_to_, static_cast<std::size_t>(size));
}

bool TrialStore::was_cut() const {
  const std::lock_guard lock(mutex_);
  struct stat now {};
  return cut_ || fstat(file_, &now) != 0 || now.st_size < end_;
}

void TrialStore::sync() {
  const std::lock_guard lock(mutex_);
  if (!unsynced_) return;
  // A network file system tells of a full disk or quota only here.
  if (fdatasync(file_) != 0) throw_unstored(path_, errno);
  unsynced_ = false;
}

void TrialStore::read_appended() {
  const std::lock_guard lock(mutex_);
  struct stat now {};
  if (fstat(file_, &now) != 0 || now.st_size <= static_cast<off_t>(read_to_)) return;
  std::string text(static_cast<std::size_t>(now.st_size) - read_to_, '\0');
  const ssize_t got = pread(file_, text.data(), text.size(), static_cast<off_t>(read_to_));
  if (got > 0) read_to_ += remember_all(std::string_view(text).substr(0, got));
}

}  // namespace boltzmark::experiments

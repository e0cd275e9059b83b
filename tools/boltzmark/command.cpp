#include "command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/number.hpp"
#include "experiments/kit/datasets/data_folders.hpp"
#include "output.hpp"

namespace boltzmark::cli {
namespace {

// Of an argument as the help shows it.
std::string name_of(const std::string& shown) { return shown.substr(0, shown.find(' ')); }

[[noreturn]] void refuse(const std::string& name, const std::string& text,
                         const std::string& must) {
  throw InvalidArgument(fmt::format("{} = {} (must be {})", name, text, must));
}

int parse_within(const std::string& name, const std::string& text, int low, int high) {
  const auto value = parse_number<int>(text);
  if (!value || *value < low || *value > high)
    refuse(name, text, fmt::format("an integer from {} to {}", low, high));
  return *value;
}

std::string describe(const Range& range) {
  std::string text = "a number";
  if (std::isfinite(range.low))
    text += fmt::format(" {} {}", range.above_low ? "above" : "of at least", range.low);
  if (std::isfinite(range.high))
    text += fmt::format(" and {} {}", range.below_high ? "below" : "at most", range.high);
  return text;
}

bool name_one_path(const std::string& first, const std::string& second) {
  namespace fs = std::filesystem;
  std::error_code no_first, no_second;
  const fs::path a = fs::weakly_canonical(fs::absolute(first), no_first),
                 b = fs::weakly_canonical(fs::absolute(second), no_second);
  return !no_first && !no_second && a == b;
}

// By device and inode; a file in a folder of results is one of these.
bool is_written(const std::string& out, const std::string& file) {
  namespace fs = std::filesystem;
  std::error_code error;
  return fs::equivalent(out, file, error) ||
         (fs::is_directory(out, error) && fs::is_regular_file(file, error) &&
          fs::equivalent(out, fs::absolute(file).parent_path(), error));
}

// Whether an argument's file, or one in its folder, is what another one reads or writes.
bool would_write(const Argument& out, const std::string& text, bool written) {
  const std::string file = written ? text : experiments::find_in_data_folders(text);
  if (written && name_one_path(*out.text, file)) return true;
  if (out.into.empty()) return is_written(*out.text, file);
  return std::any_of(out.into.begin(), out.into.end(), [&](const std::string& name) {
    const std::string path = *out.text + "/" + name;
    return is_written(path, file) || (written && name_one_path(path, file));
  });
}

// Lays out "  name   help" with the help in one column.
std::string entry(const std::string& name, const std::string& help) {
  constexpr int column = 28;
  std::string text = "  " + name;
  if (static_cast<int>(text.size()) + 2 > column) text += '\n';
  const std::size_t start = text.rfind('\n') == std::string::npos ? text.size() : 0;
  text += std::string(column - start, ' ');
  return text + wrap(help, kColumns - column, column).substr(column) + "\n";
}

// Whether a space parts the digits of one number (40 000).
bool is_in_number(const std::string& text, std::size_t space) {
  const auto is_digit = [&](std::size_t k) {
    return k < text.size() && text[k] >= '0' && text[k] <= '9';
  };
  return space != std::string::npos && space > 0 && text[space] == ' ' && is_digit(space - 1) &&
         is_digit(space + 1) && is_digit(space + 2) && is_digit(space + 3) && !is_digit(space + 4);
}

}  // namespace

std::optional<double> parse_real(const std::string& text) {
  const auto value = parse_number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

Argument& Command::add(const std::string& shown, const std::string& help,
                       std::function<void(const std::string&)> take) {
  Argument argument;
  argument.name = name_of(shown);
  argument.shown = shown;
  argument.help = help;
  argument.take = [this, at = arguments_.size(), take = std::move(take)](const std::string& text) {
    arguments_[at].given = true;
    take(text);
  };
  arguments_.push_back(std::move(argument));
  return arguments_.back();
}

Argument& Command::named(std::string_view name) {
  return *std::find_if(arguments_.begin(), arguments_.end(),
                       [&](const Argument& argument) { return argument.name == name; });
}

bool Command::given(const std::string& name) const {
  return std::any_of(arguments_.begin(), arguments_.end(), [&](const Argument& argument) {
    return argument.given && argument.name == name;
  });
}

void Command::refuse_given(const std::vector<std::string>& names, const std::string& why) const {
  for (const std::string& name : names)
    if (given(name)) throw InvalidArgument(name + " " + why);
}

void Command::positional(std::string* target, const std::string& shown, const std::string& help) {
  text(target, shown, help);
  arguments_.back().required = true;
}

void Command::positionals(std::vector<std::string>* target, const std::string& shown,
                          const std::string& help, bool required) {
  Argument& argument = add(shown, help, [target, shown, required](const std::string& text) {
    if (required && text.empty()) throw InvalidArgument(shown + " is empty (must be given)");
    target->push_back(text);
  });
  argument.many = true;
  argument.required = required;
}

void Command::text(std::string* target, const std::string& shown, const std::string& help) {
  add(shown, help, [target, name = name_of(shown)](const std::string& text) {
    if (text.empty()) throw InvalidArgument(name + " is empty (must be given)");
    *target = text;
  }).text = target;
}

void Command::required_text(std::string* target, const std::string& shown,
                            const std::string& help) {
  text(target, shown, help);
  arguments_.back().required = true;
}

void Command::choice(std::string* target, const std::string& shown,
                     std::vector<std::string> choices, const std::string& help) {
  add(shown, help, [target, name = name_of(shown), choices](const std::string& text) {
    if (std::find(choices.begin(), choices.end(), text) == choices.end())
      refuse(name, text, join_or(choices));
    *target = text;
  });
  arguments_.back().choices = std::move(choices);
}

void Command::integer(int* target, const std::string& shown, int low, int high,
                      const std::string& help) {
  add(shown, help, [target, name = name_of(shown), low, high](const std::string& text) {
    *target = parse_within(name, text, low, high);
  });
}

void Command::integers(std::vector<int>* target, const std::string& shown, int low, int high,
                       const std::string& help) {
  add(shown, help, [target, name = name_of(shown), low, high](const std::string& text) {
    target->push_back(parse_within(name, text, low, high));
  });
  arguments_.back().many = true;
  arguments_.back().required = true;
}

void Command::integer(std::uint64_t* target, const std::string& shown, const std::string& help) {
  add(shown, help, [target, name = name_of(shown)](const std::string& text) {
    constexpr std::uint64_t high = std::numeric_limits<std::int64_t>::max();
    const auto value = parse_number<std::uint64_t>(text);
    if (!value || *value > high) refuse(name, text, "an integer from 0 to 2^63 - 1");
    *target = *value;
  });
}

void Command::real(double* target, const std::string& shown, Range range, const std::string& help) {
  add(shown, help, [target, name = name_of(shown), range](const std::string& text) {
    const auto value = parse_real(text);
    if (!value || *value < range.low || *value > range.high ||
        (range.above_low && *value == range.low) || (range.below_high && *value == range.high))
      refuse(name, text, describe(range));
    *target = *value;
  });
}

void Command::flag(bool* target, const std::string& shown, const std::string& help) {
  add(shown, help, [target](const std::string&) { *target = true; }).flag = true;
}

void Command::writes(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) named(name).writes = true;
}

void Command::reads_models(std::string_view name) {
  Argument& model = named(name);
  model.take = [take = std::move(model.take)](const std::string& text) {
    take(experiments::find_in_data_folders(text));
  };
}

void Command::comes_with(std::string_view name, std::vector<std::string> others) {
  named(name).with = std::move(others);
}

void Command::check_given() const {
  for (const Argument& argument : arguments_)
    if (argument.given && !argument.with.empty() &&
        std::none_of(argument.with.begin(), argument.with.end(),
                     [&](const std::string& other) { return given(other); }))
      throw InvalidArgument(
          fmt::format("{} is given (must come with {})", argument.name, join_or(argument.with)));
}

void Command::writes_folder(std::string_view name) {
  named(name).writes = named(name).holds = true;
}

void Command::writes_into(std::string_view name, std::vector<std::string> files) {
  named(name).writes = true;
  named(name).into = std::move(files);
}

// A file that is not there yet cannot be read.
void Command::check_files() const {
  std::error_code error;
  for (const Argument& out : arguments_)
    if (out.writes && !out.holds && out.into.empty() && out.text != nullptr &&
        std::filesystem::is_directory(*out.text, error))
      throw DataError(fmt::format("{}: is a folder (must be a file for {})", *out.text, out.name));
  for (const Argument& out : arguments_)
    for (const Argument& other : arguments_)
      if (out.writes && !out.text->empty() && &other != &out && other.text != nullptr &&
          other.given && would_write(out, *other.text, other.writes))
        throw DataError(fmt::format("{}: is both {} and {} (must be two files)", *other.text,
                                    out.name, other.name));
}

std::vector<std::string> Command::written_files() const {
  std::vector<std::string> files;
  for (const Argument& argument : arguments_)
    if (argument.writes && !argument.holds && !argument.text->empty())
      files.push_back(*argument.text);
  return files;
}

std::string Command::usage() const {
  std::string text = "boltzmark " + texts_.name;
  for (const Argument& argument : arguments_) {
    if (argument.is_option() && argument.required) text += " " + argument.shown;
    if (argument.is_option()) continue;
    const std::string shown = argument.shown + (argument.many ? "..." : "");
    text += argument.required ? " " + shown : " [" + shown + "]";
  }
  return text + " [options]";
}

namespace {

// The words that an argument takes, unless its help names them all.
std::string unsaid(const Argument& argument) {
  const bool all_said = std::all_of(
      argument.choices.begin(), argument.choices.end(),
      [&](const std::string& choice) { return argument.help.find(choice) != std::string::npos; });
  return all_said ? "" : fmt::format(" One of {}.", fmt::join(argument.choices, ", "));
}

}  // namespace

std::string Command::help() const {
  std::string text = fmt::format("{}\n\n{}\n", usage(), wrap(texts_.about, kColumns, 0));
  std::string positionals;
  std::string options;
  for (const Argument& argument : arguments_)
    (argument.is_option() ? options : positionals) +=
        entry(argument.shown, argument.help + unsaid(argument));
  if (!positionals.empty()) text += "\nArguments\n" + positionals;
  text += "\nOptions\n" + options;
  if (!texts_.notes.empty()) text += "\n" + texts_.notes + "\n";
  if (!texts_.examples.empty()) text += "\nExamples\n";
  for (const std::string& example : texts_.examples) text += "  " + example + "\n";
  return text;
}

std::string wrap(const std::string& text, int width, int indent) {
  std::string out(indent, ' ');
  int used = 0;
  std::size_t start = 0;
  while (start < text.size()) {
    if (text[start] == '\n') {
      out += '\n' + std::string(indent, ' ');
      used = 0;
      ++start;
      continue;
    }
    std::size_t end = text.find_first_of(" \n", start);
    while (is_in_number(text, end)) end = text.find_first_of(" \n", end + 1);
    if (end == std::string::npos) end = text.size();
    const std::string word = text.substr(start, end - start);
    const int length = display_width(word);
    if (used > 0 && used + 1 + length > width) {
      out += '\n' + std::string(indent, ' ');
      used = 0;
    }
    if (used > 0) out += ' ', ++used;
    out += word;
    used += length;
    start = end + (end < text.size() && text[end] == ' ' ? 1 : 0);
  }
  return out;
}

}  // namespace boltzmark::cli

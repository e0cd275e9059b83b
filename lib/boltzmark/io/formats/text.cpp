#include "boltzmark/io/formats/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

namespace boltzmark {
namespace {

constexpr std::size_t kTextChunk = 65536;
// A text file promises no size, so the unpacked table has a limit instead: 1 GiB of float32.
constexpr std::size_t kMostValues = std::size_t{1} << 28;
constexpr double kBeyondAny = 1e9;  // an exponent
constexpr std::size_t kLongestWord = 512, kMostNames = 1 << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // of UTF-8, as spreadsheets write it

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Takes a text apart into words and rows, and the words into numbers.
class TableParser {
 public:
  TableParser(const Place& place, Separator separator, bool label_column)
      : place_(place), commas_(separator == Separator::commas), label_column_(label_column) {}

  void add(char c) {
    if (!in_comment_ && c == '#' && begins_row() && !label_column_) {
      in_comment_ = true;
      word_.clear();  // of the blanks before it
    }
    if (in_comment_) {
      in_comment_ = c != '\n';
      return;
    }
    if (after_return_ && c != '\n') refuse_return();
    after_return_ = c == '\r';
    if (c == '\n') {
      end_row();
    } else if (commas_ ? c == ',' : is_space(c)) {
      if (commas_ || !word_.empty()) end_word();
      after_comma_ = commas_;
    } else {
      if (word_.size() == kLongestWord) refuse_word("is too long", "must be a number");
      word_.push_back(c);
    }
  }

  TextTable finish() {
    if (after_return_) refuse_return();
    end_row();
    if (values_.empty() && !header_.empty()) refuse_header("must be a number, in a row at least");
    if (values_.empty()) place_.refuse("holds no values", "must hold a row or more");
    const auto rows = static_cast<Eigen::Index>(values_.size() / width_);
    TextTable table;
    table.cases =
        Eigen::Map<Eigen::MatrixXf>(values_.data(), static_cast<Eigen::Index>(width_), rows);
    table.labels = std::move(labels_);
    table.header = std::move(header_);
    return table;
  }

 private:
  bool begins_row() const {
    return column_ == 0 && std::all_of(word_.begin(), word_.end(), is_space) && !after_comma_;
  }

  [[noreturn]] void refuse_word(std::string_view what, std::string_view must) const {
    place_.refuse(
        fmt::format("row {}, column {}: '{}' {}", row_ + 1, column_ + 1, word_.substr(0, 24), what),
        must);
  }

  [[noreturn]] void refuse_return() const {
    place_.refuse(fmt::format("row {} ends in a carriage return alone", row_ + 1),
                  "must have lines that end in LF or CR LF");
  }

  // A name, which no number begins like, though some words are numbers: nan, inf.
  static bool is_name(const std::string& word) {
    double value = 0;
    const char* last = word.data() + word.size();
    const auto [end, error] = std::from_chars(word.data(), last, value);
    return !word.empty() && std::string_view("0123456789+-.").find(word[0]) == std::string::npos &&
           (error != std::errc{} || end != last) && !stands_for_value(word);
  }

  // A value of a table, whose first row would be lost as a header: "1" in quotes, True, NA.
  static bool stands_for_value(std::string word) {
    const bool quoted =
        word.size() > 2 && (word[0] == '"' || word[0] == '\'') && word.back() == word[0];
    if (quoted) word = word.substr(1, word.size() - 2);
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const char* value : {"true", "false", "na", "n/a", "none", "null"})
      if (word == value) return true;
    return quoted && std::string_view("0123456789+-.").find(word[0]) != std::string::npos;
  }

  // In a first row of names alone, which are a header.
  bool in_header() const { return commas_ && !label_column_ && row_ == 0 && values_.empty(); }

  [[noreturn]] void refuse_header(std::string_view must) {
    word_ = header_.front();
    row_ = column_ = 0;
    refuse_word("is no number", must);
  }

  void end_word() {
    if (commas_) trim();
    if (in_header() && is_name(word_)) {
      if (header_.size() == kMostNames) refuse_header("must be a number");
      header_.push_back(std::exchange(word_, {}));
      ++column_;
      return;
    }
    if (row_ == 0 && !header_.empty()) refuse_header("must be a number, or all names");
    if (in_header() && word_.empty())
      refuse_word("is empty", "must be a number; pandas leaves row numbers out by index=False");
    if (label_column_ && column_ == 0) {
      if (word_.empty()) refuse_word("is empty", "must be a class");
      labels_.push_back(word_);
      ++column_;
    } else {
      add_number();
    }
    word_.clear();
  }

  void add_number() {
    values_.push_back(parse_number());
    ++column_;
    if (values_.size() > kMostValues) {
      place_.refuse("holds too many values", fmt::format("must hold at most {}", kMostValues));
    }
  }

  void trim() {
    while (!word_.empty() && is_space(word_.back())) word_.pop_back();
    const std::size_t first = word_.find_first_not_of(" \t\r");
    if (first != 0 && first != std::string::npos) word_.erase(0, first);
  }

  float parse_number() const {
    if (word_.size() == 1 && word_[0] >= '0' && word_[0] <= '9') return word_[0] - '0';
    if (word_.empty()) refuse_word("is empty", "must be a number");
    const char* first = word_.data() + (word_[0] == '+' ? 1 : 0);
    const char* last = word_.data() + word_.size();
    float value = 0;
    const auto [end, error] = std::from_chars(first, last, value);
    if (error == std::errc::result_out_of_range && end == last) return out_of_range();
    if (error != std::errc{} || end != last || (first != word_.data() && *first == '-')) {
      refuse_word("is no number", "must be a number");
    }
    if (!std::isfinite(value)) refuse_word("is not finite", "must be finite");
    return value;
  }

  /// Numbers too small for float32 are 0; those too large are refused.
  float out_of_range() const {
    // By the place of its first digit that is not 0, for it may be beyond a double, too.
    const std::size_t mantissa = std::min(word_.find_first_of("eE"), word_.size()),
                      digit = word_.find_first_of("123456789"),
                      point = std::min(word_.find('.'), mantissa);
    double exponent = 0;
    if (mantissa < word_.size()) {
      const std::size_t first = mantissa + (word_[mantissa + 1] == '+' ? 2 : 1);
      const char* last = word_.data() + word_.size();
      if (std::from_chars(word_.data() + first, last, exponent).ec != std::errc{})
        exponent = word_[first] == '-' ? -kBeyondAny : kBeyondAny;
    }
    const double places = static_cast<double>(point) - static_cast<double>(digit);
    if (places - (digit < point ? 1 : 0) + exponent >= 0)
      refuse_word("is out of range", "must be a float32");
    return 0;
  }

  void end_row() {
    if (commas_) trim();
    if (!word_.empty() || after_comma_) end_word();
    after_comma_ = false;
    if (column_ == 0) return;
    const std::size_t width = column_ - (label_column_ ? 1 : 0);
    if (width_ == 0) width_ = width;
    if (width != width_ || width == 0) {
      place_.refuse(fmt::format("row {} holds {} values", row_ + 1, width),
                    fmt::format("must hold {}, as row 1 does, and one at least", width_));
    }
    ++row_;
    column_ = 0;
  }

  const Place& place_;
  bool commas_;
  bool label_column_;
  bool after_comma_ = false, in_comment_ = false;
  std::string word_;
  std::vector<float> values_;
  std::vector<std::string> labels_, header_;
  bool after_return_ = false;
  std::size_t row_ = 0, column_ = 0, width_ = 0;
};

}  // namespace

bool starts_as_text(std::string_view head) {
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  for (std::size_t i = 0; i < head.size(); ++i) {
    const auto c = static_cast<unsigned char>(head[i]);
    const bool printable = c >= ' ' && c <= '~';
    if (printable || is_space(head[i]) || c == '\n') continue;
    // A letter of UTF-8: as many bytes as the first begins with ones, less where the end cuts it.
    const auto bytes = static_cast<std::size_t>(std::countl_one(c));
    if (bytes < 2 || bytes > 4) return false;
    for (const char next : head.substr(i + 1, bytes - 1))
      if (std::countl_one(static_cast<unsigned char>(next)) != 1) return false;
    i += bytes - 1;
  }
  return !head.empty();
}

TextTable read_text(ByteSource& source, Separator separator, bool label_column) {
  TableParser parser(source.place(), separator, label_column);
  std::vector<char> chunk(kTextChunk);
  if (source.peek(kByteOrderMark.size()) == kByteOrderMark)
    source.read_exactly(chunk.data(), kByteOrderMark.size(), "byte order mark");
  while (const std::size_t got = source.read(chunk.data(), kTextChunk)) {
    for (std::size_t i = 0; i < got; ++i) parser.add(chunk[i]);
  }
  source.expect_end("text");
  return parser.finish();
}

}  // namespace boltzmark

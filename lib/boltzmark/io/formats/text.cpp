#include "boltzmark/io/formats/text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

namespace boltzmark {
namespace {

constexpr std::size_t kTextChunk = 65536;
// A text file promises no size, so the unpacked table has a limit instead: 1 GiB of float32.
constexpr std::size_t kMostValues = std::size_t{1} << 28;
constexpr std::size_t kLongestWord = 512;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Takes a text apart into words and rows, and the words into numbers.
class TableParser {
 public:
  TableParser(const Place& place, Separator separator, bool label_column)
      : place_(place), commas_(separator == Separator::commas), label_column_(label_column) {}

  void add(char c) {
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
    end_row();
    if (values_.empty()) place_.refuse("holds no values", "must hold a row or more");
    const auto rows = static_cast<Eigen::Index>(values_.size() / width_);
    TextTable table;
    table.cases =
        Eigen::Map<Eigen::MatrixXf>(values_.data(), static_cast<Eigen::Index>(width_), rows);
    table.labels = std::move(labels_);
    return table;
  }

 private:
  [[noreturn]] void refuse_word(std::string_view what, std::string_view must) const {
    place_.refuse(
        fmt::format("row {}, column {}: '{}' {}", row_ + 1, column_ + 1, word_.substr(0, 24), what),
        must);
  }

  void end_word() {
    if (commas_) trim();
    if (label_column_ && column_ == 0) {
      if (word_.empty()) refuse_word("is empty", "must be a class");
      labels_.push_back(word_);
    } else {
      values_.push_back(parse_number());
      if (values_.size() > kMostValues) {
        place_.refuse("holds too many values", fmt::format("must hold at most {}", kMostValues));
      }
    }
    ++column_;
    word_.clear();
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
    double value = 0;
    const char* first = word_.data() + (word_[0] == '+' ? 1 : 0);
    const auto error = std::from_chars(first, word_.data() + word_.size(), value).ec;
    if (error != std::errc{} || std::abs(value) > 1) {
      refuse_word("is out of range", "must be a float32");
    }
    return 0;
  }

  void end_row() {
    if (commas_) trim();
    if (!word_.empty() || after_comma_) end_word();
    after_comma_ = false;
    if (column_ == 0) return;
    const std::size_t width = column_ - (label_column_ ? 1 : 0);
    if (row_ == 0) width_ = width;
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
  bool after_comma_ = false;
  std::string word_;
  std::vector<float> values_;
  std::vector<std::string> labels_;
  std::size_t row_ = 0, column_ = 0, width_ = 0;
};

}  // namespace

bool starts_as_text(std::string_view head) {
  for (const char c : head) {
    const bool printable = c >= ' ' && c <= '~';
    if (!printable && !is_space(c) && c != '\n') return false;
  }
  return !head.empty();
}

TextTable read_text(ByteSource& source, Separator separator, bool label_column) {
  TableParser parser(source.place(), separator, label_column);
  std::vector<char> chunk(kTextChunk);
  while (const std::size_t got = source.read(chunk.data(), kTextChunk)) {
    for (std::size_t i = 0; i < got; ++i) parser.add(chunk[i]);
  }
  source.expect_end("text");
  return parser.finish();
}

}  // namespace boltzmark

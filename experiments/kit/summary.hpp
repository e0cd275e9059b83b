#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "experiments/kit/figure.hpp"

namespace boltzmark::experiments {

/// A number with a 95 % interval and, where the paper stars it, a mark.
struct WithInterval {
  double value = std::numeric_limits<double>::quiet_NaN();
  double lower = std::numeric_limits<double>::quiet_NaN();
  double upper = std::numeric_limits<double>::quiet_NaN();
  std::string mark = {};  ///< "*"
};

/// A cell that has no value in this profile: the report says "not run in this profile".
struct NotRun {};

using Cell = std::variant<NotRun, std::string, double, std::int64_t, WithInterval>;

/// A column; digits is how many decimals the report shows (the CSV always has all).
struct Column {
  std::string name;  ///< heading in the report, with its unit: "tau of G / sweeps"
  std::string key;   ///< heading in the CSV: "tau_gibbs"
  int digits = 3;
};

/// A table: `<name>.csv` and a table of the report. A WithInterval's interval and mark become columns
/// `<key>_lower`, `<key>_upper` and `<key>_mark` of the CSV.
struct Table {
  std::string name;  ///< file name without extension
  std::string caption;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows = {};
  bool timing = false;  ///< holds measured times: shown in the report, never written as CSV
};

/// What an experiment found for a claim, or for one of its parts.
/// The verdict is the claim file's: the experiment supplies numbers only.
struct Measure {
  std::string claim;      ///< "B15"
  std::string part = {};  ///< one of the claim's parts, e.g. "3x3"; empty if it has none
  double estimate = std::numeric_limits<double>::quiet_NaN();
  double lower = std::numeric_limits<double>::
      quiet_NaN();  ///< 95 % interval, unless `interval` says which; exact claims need none
  double upper = std::numeric_limits<double>::quiet_NaN();
  std::string interval = {};  ///< what they are where not a mean's or share's of 95 %: "98.75 %"
  /// One-sided p-value for the claim's direction; NaN: the interval decides.
  double p_value = std::numeric_limits<double>::quiet_NaN();
  /// The same for the opposite direction; NaN: 1 - p_value, which is too small where the statistic
  /// is discrete (ranks, counts): there both may be large.
  double p_opposite = std::numeric_limits<double>::quiet_NaN();
  std::int64_t n = 0;  ///< independent repeats behind it
  /// Probability that this profile's size decides the claim if the effect is `power_against`.
  double power = std::numeric_limits<double>::quiet_NaN();
  std::string power_against = {};  ///< "a share of 0.65"
  /// The effect is counted in standard deviations, however large they are: the power tells of n alone.
  bool power_of_n = false;
  bool post_hoc = false;           ///< the power rests on what was seen, not on the design alone
  bool decidable = true;           ///< false: undecided whatever the numbers (estimators disagree)
  std::string note = {};           ///< a sentence for the report
  std::string likely_reason = {};  ///< the most likely reason, should it not be reproduced
  std::string check = {};          ///< "name/subject" of the exact check that it is of, if any
  double bound = std::numeric_limits<double>::quiet_NaN();  ///< of that check
};

/// Collects what an experiment shows: tables, figures and measures, in the order of the report.
class Summary {
 public:
  /// Throws  InvalidArgument if a name is not [a-z0-9-]+ or another table has it, or a row's length
  /// is wrong
  void add(Table table);
  /// Throws  InvalidArgument as for tables, or if the lengths of a series differ
  void add(Figure figure);
  void add(Measure measure);
  /// Adds a paragraph to the experiment's section.
  void note(std::string text);

  const std::vector<std::variant<Table, Figure, std::string>>& items() const { return items_; }
  const std::vector<Measure>& measures() const { return measures_; }

 private:
  void take_name(const std::string& kind, const std::string& name);
  std::vector<std::variant<Table, Figure, std::string>> items_;
  std::vector<Measure> measures_;
  std::vector<std::string> names_;
};

}  // namespace boltzmark::experiments

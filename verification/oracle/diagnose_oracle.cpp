#include "diagnose_oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace oracle {
namespace {

// Average ranks of |x| by counting: 1 + #smaller + (#equal - 1) / 2.
std::vector<double> ranks_of_size(const std::vector<double>& x) {
  std::vector<double> ranks;
  for (const double a : x) {
    double smaller = 0, equal = 0;
    for (const double b : x) {
      smaller += std::abs(b) < std::abs(a);
      equal += std::abs(b) == std::abs(a);
    }
    ranks.push_back(1 + smaller + (equal - 1) / 2);
  }
  return ranks;
}

// Pascal's triangle.
std::uint64_t choose(std::size_t n, std::size_t k) {
  if (k > n) return 0;
  std::vector<std::uint64_t> row{1};
  for (std::size_t i = 0; i < n; ++i) {
    row.push_back(0);
    for (std::size_t j = row.size() - 1; j > 0; --j) row[j] += row[j - 1];
  }
  return row[k];
}

}  // namespace

double autocovariance(const std::vector<double>& series, std::size_t lag) {
  long double mean = 0, sum = 0;
  for (const double x : series) mean += x;
  mean /= static_cast<long double>(series.size());
  for (std::size_t t = 0; t + lag < series.size(); ++t)
    sum += (series[t] - mean) * (series[t + lag] - mean);
  return static_cast<double>(sum / static_cast<long double>(series.size()));
}

std::vector<double> yule_walker(const std::vector<double>& autocovariances, std::size_t order) {
  const std::size_t p = order;
  std::vector<std::vector<long double>> rows(p, std::vector<long double>(p + 1));
  for (std::size_t i = 0; i < p; ++i) {
    for (std::size_t j = 0; j < p; ++j) rows[i][j] = autocovariances[i > j ? i - j : j - i];
    rows[i][p] = autocovariances[i + 1];
  }
  for (std::size_t c = 0; c < p; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c; r < p; ++r)
      if (std::abs(rows[r][c]) > std::abs(rows[pivot][c])) pivot = r;
    std::swap(rows[c], rows[pivot]);
    for (std::size_t r = 0; r < p; ++r) {
      if (r == c) continue;
      const long double factor = rows[r][c] / rows[c][c];
      for (std::size_t k = c; k <= p; ++k) rows[r][k] -= factor * rows[c][k];
    }
  }
  std::vector<double> coefficients;
  for (std::size_t i = 0; i < p; ++i)
    coefficients.push_back(static_cast<double>(rows[i][p] / rows[i][i]));
  return coefficients;
}

Tails signed_rank_tails(const std::vector<double>& differences) {
  std::vector<double> nonzero;
  for (const double d : differences)
    if (d != 0) nonzero.push_back(d);
  const std::vector<double> ranks = ranks_of_size(nonzero);
  double seen = 0;
  for (std::size_t i = 0; i < nonzero.size(); ++i) seen += nonzero[i] > 0 ? ranks[i] : 0;
  const std::uint64_t signs = std::uint64_t{1} << nonzero.size();
  std::uint64_t at_least = 0, at_most = 0;
  for (std::uint64_t sign = 0; sign < signs; ++sign) {
    double sum = 0;  // of halves: exact
    for (std::size_t i = 0; i < ranks.size(); ++i) sum += (sign >> i & 1) != 0 ? ranks[i] : 0;
    at_least += sum >= seen;
    at_most += sum <= seen;
  }
  const double all = static_cast<double>(signs);
  return {static_cast<double>(at_least) / all, static_cast<double>(at_most) / all};
}

Tails hypergeometric_tails(std::size_t x, std::size_t drawn, std::size_t marked,
                           std::size_t total) {
  double all = 0, at_least = 0, at_most = 0;
  for (std::size_t k = 0; k <= std::min(drawn, marked); ++k) {
    if (drawn - k > total - marked) continue;
    const double ways = static_cast<double>(choose(marked, k) * choose(total - marked, drawn - k));
    all += ways;
    if (k >= x) at_least += ways;
    if (k <= x) at_most += ways;
  }
  return {at_least / all, at_most / all};
}

}  // namespace oracle

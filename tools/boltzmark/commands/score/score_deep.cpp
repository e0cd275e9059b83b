#include "tools/boltzmark/commands/score/score_deep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/number.hpp"
#include "boltzmark/estimate/held/case_likelihood.hpp"
#include "tools/boltzmark/progress.hpp"

namespace boltzmark::cli {

MeanFieldStop parse_mean_field(const std::string& text) {
  if (text == "converge") return MeanFieldStop::converged();
  const auto updates = parse_number<int>(text);
  if (!updates || *updates < 1)
    throw InvalidArgument(
        fmt::format("--mean-field = {} (must be converge or an integer from 1)", text));
  return {.updates = *updates, .tolerance = MeanFieldStop::converged().tolerance};
}

void TrueCases::refuse(Status reason, std::string warning) {
  status = std::max(status, reason);
  warnings.push_back(std::move(warning));
}

namespace {

// Of a sum of squared deviations over so many values: 0 of one.
double error_of_mean(double variance, double count) {
  return count > 1 ? std::sqrt(variance / (count - 1)) : 0.0;
}

}  // namespace

double spread_of_mean(const Cases& cases, const Eigen::VectorXd& log_f, double mean_log_f) {
  return error_of_mean(cases.mean((log_f.array() - mean_log_f).square().matrix()),
                       static_cast<double>(cases.count()));
}

DeepBound bound_cases(const Layered& model, const Cases& cases, MeanFieldStop stop) {
  Eigen::MatrixXf states(model.size(0), static_cast<Eigen::Index>(cases.distinct()));
  for (std::size_t k = 0; k < cases.distinct(); ++k)
    states.col(static_cast<Eigen::Index>(k)) = cases.state(k).cast<float>();
  const VariationalBounds bounds = variational_bounds(model, states, stop);
  const Eigen::Map<const Eigen::VectorXd> log_f(bounds.log_f.data(),
                                                static_cast<Eigen::Index>(bounds.log_f.size()));
  DeepBound result{.log_f = log_f, .mean_log_f = cases.mean(log_f), .updates = bounds.updates};
  result.std_error_cases = spread_of_mean(cases, log_f, result.mean_log_f);
  result.not_converged = bounds.not_converged;
  return result;
}

namespace {

// How much each chosen case is of the mean over the data set: of a class as much as its cases are of
// all, however many of them were chosen.  Shapes  [chosen], which add up to 1
std::vector<double> shares_of(const std::vector<int>& chosen, const Dataset& data) {
  const auto label = [&](int c) {
    return data.labels.empty() ? 0 : data.labels[static_cast<std::size_t>(c)];
  };
  std::map<int, double> of, all;
  for (const int c : chosen) ++of[label(c)];
  double represented = 0;
  for (int c = 0; c < static_cast<int>(data.values.cols()); ++c)
    if (of.contains(label(c))) {
      ++all[label(c)];
      ++represented;
    }
  std::vector<double> shares;
  for (const int c : chosen) shares.push_back(all[label(c)] / of[label(c)] / represented);
  return shares;
}

}  // namespace

TrueCases estimate_true_cases(const Layered& model, const Dataset& data, const DeepOptions& options,
                              const MethodSettings& settings, const Session& session) {
  const std::vector<int> chosen = spread_cases(data, options.true_cases);
  const auto n = static_cast<double>(chosen.size());
  const std::vector<double> shares = shares_of(chosen, data);
  Progress progress(session, "true cases", n, "cases");
  std::vector<double> log_f;
  const Eigen::MatrixXf states = data.values.select(chosen);
  TrueCases result{.cases = static_cast<int>(chosen.size())};
  int refused = 0, doubtful = 0;
  double doubtful_variance = 0;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    MethodSettings own = settings;
    own.key = derive_key(settings.key, fmt::format("score case {}", chosen[i]));
    own.progress = [&](double share) { progress.show(static_cast<double>(i) + share); };
    const Estimate estimate = estimate_log_f(
        "ais", model, states.col(static_cast<Eigen::Index>(i)).cast<double>(), own, result.cases);
    log_f.push_back(estimate.log_z);
    result.mean_log_f += shares[i] * estimate.log_z;
    result.std_error = std::hypot(result.std_error, shares[i] * estimate.std_error);
    if (estimate.status == Status::few_effective_samples) {
      ++doubtful;
      doubtful_variance += std::pow(shares[i] * estimate.std_error, 2);
    } else if (estimate.status != Status::ok) {
      ++refused;
      result.status = std::max(result.status, estimate.status);
    }
  }
  // The error of the mean rests on the other cases where these hold little of it.
  constexpr double kMostDoubtful = 0.25;
  const double most = kMostDoubtful * std::pow(result.std_error, 2);
  if (doubtful > 0 && (!(doubtful_variance <= most) || doubtful > kMostDoubtful * n)) {
    refused += doubtful;
    result.status = std::max(result.status, Status::few_effective_samples);
  }
  double squares = 0;
  for (std::size_t i = 0; i < log_f.size(); ++i)
    squares += n * std::pow(shares[i] * (log_f[i] - result.mean_log_f), 2);
  result.spread = error_of_mean(squares, n);
  const VariationalBounds bounds =
      variational_bounds(model, states, parse_mean_field(options.mean_field));
  for (std::size_t i = 0; i < bounds.log_f.size(); ++i)
    result.mean_bound += shares[i] * bounds.log_f[i];
  // AIS that misses where a case's hidden states lie falls short of what is proven.
  if (result.mean_bound - result.mean_log_f >
      4 * result.std_error + 1e-9 * std::max(1.0, std::abs(result.mean_bound)))
    result.refuse(Status::not_converged,
                  "the true cases' AIS lies below their bound: it needs more sweeps");
  if (chosen.size() == 1)
    result.warnings.emplace_back("one true case: its spread is unknown, and set to 0");
  if (refused > 0)
    result.warnings.push_back(fmt::format("{} of {} true cases: their AIS is not ok ({})", refused,
                                          chosen.size(), name(result.status)));
  return result;
}

}  // namespace boltzmark::cli

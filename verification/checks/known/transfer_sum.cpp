#include "verification/checks/known/transfer_sum.hpp"

#include <algorithm>
#include <cmath>

namespace boltzmark {
namespace {

double log_add(double a, double b) { return std::max(a, b) + softplus(-std::abs(a - b)); }

}  // namespace

void TransferSum::replace(int place, double coupling) {
  for (std::size_t bits = 0; bits < log_weights_.size(); ++bits) {
    if ((bits >> place & 1) != 0) continue;
    double& off = log_weights_[bits];
    double& on = log_weights_[bits | std::size_t{1} << place];
    const double sum_off = log_add(off + coupling, on - coupling);
    on = log_add(off - coupling, on + coupling);
    off = sum_off;
  }
}

double TransferSum::rescale() {
  const auto [lowest, highest] = std::minmax_element(log_weights_.begin(), log_weights_.end());
  const double shared = *highest, spread = *highest - *lowest;
  taken_out_.add(shared);
  for (double& log_weight : log_weights_) log_weight -= shared;
  return spread;
}

double TransferSum::log_sum() const {
  LogSum sum;
  for (const double log_weight : log_weights_) sum.add(log_weight);
  CompensatedSum all = taken_out_;
  all.add(sum.log());
  return all.value();
}

}  // namespace boltzmark

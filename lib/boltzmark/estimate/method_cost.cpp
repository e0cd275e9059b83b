#include "boltzmark/estimate/method_cost.hpp"

namespace boltzmark {
namespace {

constexpr double kSample = 8 + 4;   // D and its rung
constexpr double kInfluence = 8;    // of a sample, while the error is computed
constexpr double kRung = 8 + 4;     // b in both precisions
constexpr double kUnit = 4 + 4;     // state and input
constexpr double kIslandSweep = 8;  // log Zhat at the top, of each of at most 8 islands

double bytes_per_sweep(std::string_view method, Source source, const MethodSettings& settings,
                       double rungs) {
  const double chains = settings.chains;
  switch (source) {
    case Source::tempered:
      return chains * (kSample + kInfluence + (settings.keep_log_f ? 8 * rungs : 0));
    case Source::continuous:  // half of the sweeps keep a store, half D, b, its density and
                              // interval
      return chains * (kSample + 8 + 8 + 4 + 8 + kInfluence) / 2;
    case Source::parallel:
      return chains * kSample;
    case Source::adaptive:
      return 8 * kIslandSweep;
    case Source::annealed:  // RAISE without cases draws them by half of the sweeps
      return method == "raise" && settings.cases.size() == 0 ? chains * kSample / 2 : 0;
  }
  return 0;
}

}  // namespace

double method_bytes(std::string_view method, const MethodSettings& settings, const Layered& model) {
  const double rungs = method_work(method, settings).temperatures;
  return settings.sweeps * bytes_per_sweep(method, find_method(method).source, settings, rungs) +
         settings.chains * (kUnit * model.units()) + rungs * kRung;
}

}  // namespace boltzmark

#include "boltzmark/estimate/method_cost.hpp"

namespace boltzmark {
namespace {

constexpr double kRung = 8 + 4;  // b in both precisions
constexpr double kUnit = 4 + 4;  // state and input

}  // namespace

double method_bytes(std::string_view name, const MethodSettings& settings, const Layered& model) {
  const Method& method = find_method(name);
  const double rungs = method.work(settings).temperatures;
  return settings.sweeps * method.sweep_bytes(settings) +
         settings.chains * (kUnit * model.units()) + rungs * kRung;
}

}  // namespace boltzmark

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "boltzmark/exact/log_z.hpp"
#include "experiments/speed/contender.hpp"
#include "experiments/speed/workload.hpp"

namespace boltzmark::speed {

void add_enumerations() {
  constexpr int kEnumerated = 18;  // the baselines need seconds for more
  const Size size{784, kEnumerated, 0};
  const std::string work = fmt::format("log Z by enumeration/784x{}", kEnumerated);
  for (const int threads : thread_counts())
    for (const Precision precision : {Precision::double_precision, Precision::float_precision})
      add({.work = work,
           .name = precision == Precision::double_precision ? "boltzmark" : "boltzmark, float",
           .threads = threads,
           .make = [=] {
             return [=, model = random_rbm(size)] { exact_log_z(model, {.precision = precision}); };
           }});
  const std::int64_t steps = std::int64_t{size.visible} << kEnumerated;
  for (const bool half : {false, true}) {
    const char* width = half ? kHalfWidth : "";
    add({.work = work, .name = fmt::format("{}{}", kArithmeticAlone, width), .make = [=] {
           return
               [=] { benchmark::DoNotOptimize(baseline::add_and_multiply_doubles(steps, half)); };
         }});
    add({.work = work, .name = fmt::format("{}{}", kFloatArithmeticAlone, width), .make = [=] {
           return [=] { benchmark::DoNotOptimize(baseline::add_and_multiply_floats(steps, half)); };
         }});
  }
  add({.work = work, .name = "Eigen", .make = [=] {
         return [=, weights = Eigen::MatrixXf(random_rbm(size).weights(0).cast<float>())] {
           baseline::naive_log_z(size.visible, size.hidden, weights.data());
         };
       }});
  add_numpy(work, fmt::format("log_z {} {} 0 1", size.visible, size.hidden));
}

}  // namespace boltzmark::speed

#include "experiments/speed/numpy_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "boltzmark/core/error.hpp"

namespace boltzmark::speed {
namespace {

// The optimised ones, by what the names of their files hold.
constexpr const char* kFastBlas[] = {"openblas", "mkl", "blis", "atlas"};

bool is_fast(const std::string& file) {
  return std::any_of(std::begin(kFastBlas), std::end(kFastBlas),
                     [&](const char* name) { return file.find(name) != std::string::npos; });
}

}  // namespace

NumpyFacts parse_numpy_facts(const std::string& json) {
  using Json = nlohmann::json;
  try {
    const Json all = Json::parse(json);
    const auto text = [](const Json& value) { return value.is_null() ? "" : std::string(value); };
    const Json& threads = all.at("threads");
    return {.version = all.at("version"),
            .blas = all.at("blas"),
            .core = text(all.at("core")),
            .threads = threads.is_null() ? 0 : int{threads}};
  } catch (const Json::exception&) {
    throw DataError("numpy_baseline.py: answered " + json + " (must say what NumPy is)");
  }
}

bool has_fast_blas(const NumpyFacts& facts) {
  return std::any_of(facts.blas.begin(), facts.blas.end(), is_fast);
}

std::string describe_numpy(const NumpyFacts& facts) {
  std::string text = fmt::format("NumPy {} with ", facts.version);
  if (facts.blas.empty()) text += "an unknown BLAS";
  text += fmt::format("{}", fmt::join(facts.blas, ", "));
  if (!has_fast_blas(facts)) text += ", not an optimised one";
  if (!facts.core.empty()) text += ", kernels for " + facts.core;
  if (facts.threads > 0)
    text += fmt::format(", {} thread{}", facts.threads, facts.threads == 1 ? "" : "s");
  return text;
}

}  // namespace boltzmark::speed

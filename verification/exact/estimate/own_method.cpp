// Methods from outside the library: once registered, all tests of every method hold them too.
#include <catch2/catch.hpp>
#include <cmath>
#include <span>

#include "boltzmark/core/error.hpp"
#include "boltzmark/estimate/estimators/thermodynamic_integration.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/sample/estimate.hpp"
#include "boltzmark/sample/tempering/adaptive_tempering.hpp"
#include "boltzmark/target/layered_target.hpp"

using namespace boltzmark;

namespace {

// log Z = log mean f / p1 over draws from p1, which every sweep at b = 0 makes afresh.
Estimate weigh_base(const Target& target, const MethodSettings& settings) {
  Eigen::MatrixXd log_weights(settings.chains, settings.sweeps);
  Populations(target, settings.chains, settings.key).for_each([&](Population& group, int first) {
    const auto n = static_cast<std::size_t>(group.chains());
    const std::vector<float> base(n, 0);
    group.draw_base();
    for (int s = 0; s < settings.sweeps; ++s) {
      group.move(base);
      group.log_increment(0, 1, std::span(&log_weights(first, s), n));
    }
  });
  return estimate_from_weights(summarise(log_weights.reshaped()), Bound::lower);
}

Method base_weights() {
  return {
      .name = "base-weights",
      .summary = "importance sampling from the base",
      .run = weigh_base,
      .work = [](const MethodSettings& settings) -> MethodWork {
        return {settings.chains, settings.sweeps, 2, double{1} * settings.chains * settings.sweeps};
      },
      .sweep_bytes = [](const MethodSettings& settings) { return 8.0 * settings.chains; }};
}

// TI by another name: it shares the tempered run with the library's methods.
Method ti_again() {
  return reader_of_stores("ti-again", "TI once more", [](const SampleStore& store, States) {
    return thermodynamic_integration(store, Assignment::hard);
  });
}

const bool kRegistered = (register_method(ti_again()), register_method(base_weights()), true);

Layered own_model() {
  Stream stream(make_key(9), Purpose::test);
  const auto entry = [&] { return stream.uniform(-0.5, 0.5); };
  return Layered::rbm(Eigen::MatrixXd::NullaryExpr(6, 4, entry),
                      Eigen::VectorXd::NullaryExpr(6, entry),
                      Eigen::VectorXd::NullaryExpr(4, entry));
}

}  // namespace

TEST_CASE("a method from outside the library is listed, run and booked as its own methods are") {
  REQUIRE(kRegistered);
  const Layered model = own_model();
  const LayeredTarget target(model, Base::uniform(model));
  const MethodSettings settings{.chains = 40, .sweeps = 100, .key = make_key(10)};
  CHECK(registered_methods().back().name == "base-weights");
  CHECK(name(find_method("base-weights").source) == "its own sampler");

  const Estimate e = MethodRuns(target, settings).estimate("base-weights");
  CHECK(e.status == Status::ok);
  CHECK(std::abs(e.log_z - exact_log_z(model).log_z) < 5 * e.std_error);
  CHECK(e.log_z == weigh_base(target, settings).log_z);
  CHECK(e.log_z == estimate_log_z("base-weights", target, settings).log_z);

  CHECK(method_work("base-weights", settings).moves == 40 * 100);
  // 8 bytes a weight; 320 of a chain, and a state and an input of 4 bytes for each of 10 units; b of
  // 2 rungs, in a few copies.
  CHECK(method_bytes("base-weights", settings, model) ==
        40 * 100 * 8 + 40 * (320 + 10 * 8) + 2 * 4 * 12);
  CHECK_THROWS_AS(estimate_from("base-weights", run_tempering(target, settings)), InvalidArgument);
}

TEST_CASE("a method from outside the library reads the tempered run that others read") {
  REQUIRE(kRegistered);
  const Layered model = own_model();
  const LayeredTarget target(model, Base::uniform(model));
  const MethodSettings settings{
      .chains = 40, .sweeps = 100, .ladder = Ladder::linear(5), .key = make_key(12)};
  MethodRuns runs(target, settings);
  const double log_z = runs.estimate("ti-again").log_z;
  CHECK(log_z == runs.estimate("ti").log_z);
  CHECK(log_z == estimate_log_z("ti-again", target, settings).log_z);
  CHECK(log_z == estimate_from("ti-again", runs.tempered().store).log_z);
  CHECK(method_work("ti-again", settings).moves == method_work("ti", settings).moves);
  CHECK(method_bytes("ti-again", settings, model) == method_bytes("ti", settings, model));
}

TEST_CASE("a method that lacks a part or whose name is taken is refused") {
  const std::size_t known = registered_methods().size();
  const auto refused = [](const auto& spoil) {
    Method method = base_weights();
    method.name = "spoilt";
    spoil(method);
    CHECK_THROWS_AS(register_method(method), InvalidArgument);
  };
  refused([](Method& m) { m.name = ""; });
  refused([](Method& m) { m.name = "rts"; });
  refused([](Method& m) { m.name = "a,b"; });  // which no list of methods could name
  refused([](Method& m) { m = reader_of_stores("of-no-store", "", nullptr); });
  refused([](Method& m) { m.name = "base-weights"; });
  refused([](Method& m) { m.run = nullptr; });
  refused([](Method& m) { m.work = nullptr; });
  refused([](Method& m) { m.sweep_bytes = nullptr; });
  refused([](Method& m) { m.source = Source::tempered; });
  refused([](Method& m) { m.from_run = find_method("rts").from_run; });
  refused([](Method& m) { m.from_store = find_method("rts").from_store; });
  CHECK(registered_methods().size() == known);
  CHECK_THROWS_AS(find_method("spoilt"), InvalidArgument);
}

TEST_CASE("each adaptive method adapts as its name says") {
  const Layered model = own_model();
  const LayeredTarget target(model, Base::uniform(model));
  const auto direct = [&](Adaptation adaptation) {
    return adaptive_tempering(target, {.adaptation = adaptation,
                                       .chains = 16,
                                       .sweeps = 60,
                                       .ladder = Ladder::linear(4),
                                       .key = make_key(11)})
        .estimate.log_z;
  };
  const auto by_name = [&](const char* method) {
    return estimate_log_z(
               method, target,
               {.chains = 16, .sweeps = 60, .ladder = Ladder::linear(4), .key = make_key(11)})
        .log_z;
  };
  CHECK(by_name("wang-landau") == direct(Adaptation::wang_landau));
  CHECK(by_name("sams") == direct(Adaptation::sams));
  CHECK(by_name("sams") != by_name("wang-landau"));
}

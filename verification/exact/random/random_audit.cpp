// No block of draws is made for two uses: of every method, sampler and trainer each counter that is
// drawn under a key is seen once. What reuses draws goes unseen by every test of laws that is short.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "boltzmark/estimate/held/both_ways.hpp"
#include "boltzmark/estimate/held/held_estimate.hpp"
#include "boltzmark/estimate/held/log_z_tracker.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/estimate/places/chosen_base.hpp"
#include "boltzmark/estimate/places/phases.hpp"
#include "boltzmark/learn/classes/discriminative.hpp"
#include "boltzmark/learn/initial.hpp"
#include "boltzmark/learn/pretraining.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "boltzmark/random/draws.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/sample/chains/sampler.hpp"
#include "boltzmark/target/continuous.hpp"
#include "boltzmark/target/continuous_target.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "verification/checks/known/gaussian_mixture.hpp"
#include "verification/exact/support/small_trainers.hpp"

using namespace boltzmark;

namespace {

using DrawnBlock = std::tuple<std::uint32_t, std::uint32_t, std::array<std::uint32_t, 4>>;

struct DrawnBlocks {
  std::size_t all = 0;
  std::vector<DrawnBlock> again;  ///< those that were made before
};

/// Runs something and lists the blocks of draws that it makes.
DrawnBlocks drawn_by(const std::function<void()>& run) {
  DrawnBlocks drawn;
  std::set<DrawnBlock> seen;
  std::mutex mutex;
  const DrawAudit audit = [&](StreamKey key, const std::array<std::uint32_t, 4>& counter) {
    const std::lock_guard lock(mutex);
    const DrawnBlock block{key.low, key.high, counter};
    drawn.all += 1;
    if (!seen.insert(block).second) drawn.again.push_back(block);
  };
  draw_audit = &audit;
  try {
    run();
  } catch (...) {
    draw_audit = nullptr;
    throw;
  }
  draw_audit = nullptr;
  return drawn;
}

void check_no_reuse(const std::string& what, const std::function<void()>& run) {
  const DrawnBlocks drawn = drawn_by(run);
  INFO(what);
  CHECK(drawn.all > 0);
  INFO("the first of " << drawn.again.size() << " drawn again has purpose "
                       << (drawn.again.empty() ? 0 : std::get<2>(drawn.again.front())[3]));
  CHECK(drawn.again.empty());
}

Eigen::MatrixXf audited_cases(int units, int cases) {
  return small_trainers::random_cases(units, cases, make_key(23, "audited cases"), 0.4);
}

MethodSettings audited_settings() {
  return {.chains = 33, .sweeps = 60, .ladder = Ladder::linear(5), .key = make_key(3, "audit")};
}

}  // namespace

TEST_CASE("the audit sees every block of a stream and of a range of draws, by its counter") {
  const StreamKey key{7, 9};
  const DrawnBlocks stream = drawn_by([&] {
    Stream five(key, Purpose::test, (std::uint64_t{3} << 32) + 2);
    for (int n = 0; n < 5; ++n) five();
  });
  CHECK(stream.all == 2);  // of four draws each
  CHECK(drawn_by([&] { Stream(key, Purpose::test)(), Stream(key, Purpose::test)(); }).again ==
        std::vector<DrawnBlock>{{7, 9, {0, 0, 0, 73}}});
  const DrawRange range{
      .layer = 1, .first_unit = 8, .units = 8, .first_chain = 16, .chains = 16, .sweep = 5};
  std::vector<std::uint32_t> values(8 * 16);
  DrawRange overlapping = range;
  overlapping.first_unit = 12;
  const DrawnBlocks drawn = drawn_by([&] {
    PhiloxDraws(key).fill(values.data(), range);
    PhiloxDraws(key).fill(values.data(), overlapping);
  });
  CHECK(drawn.all == 2 * 2 * 16);
  CHECK(drawn.again.size() == 16);
  CHECK(drawn.again.front() == DrawnBlock{7, 9, {3, 16, 5, 1}});
  // The counters are those of the draws.
  CHECK(philox(key, {2, 16, 5, 1})[1] != 0);
  PhiloxDraws(key).fill(values.data(), range);
  CHECK(values[16] == philox(key, {2, 16, 5, 1})[1]);
}

TEST_CASE("no method of estimating log Z makes a draw twice") {
  const Layered rbm = initial_rbm(9, 6, 1, make_key(1));
  const Layered deep = initial_network(std::vector{7, 6, 5, 3}, 1, make_key(1));
  for (const Method& method : registered_methods()) {
    for (const Layered* model : {&rbm, &deep})
      check_no_reuse(method.name + (model == &rbm ? " of an RBM" : " of a deep model"), [&] {
        estimate_log_z(method.name, LayeredTarget(*model, Base::uniform(*model)),
                       audited_settings());
      });
    if (method.any_tempering && method.source == Source::tempered)
      check_no_reuse(method.name + " over parallel tempering", [&] {
        MethodSettings settings = audited_settings();
        settings.tempering = Tempering::parallel;
        estimate_log_z(method.name, LayeredTarget(deep, Base::uniform(deep)), settings);
      });
    const ContinuousTarget mixture(std::make_shared<GaussianMixture>(), std::make_shared<Hmc>(),
                                   StepSizes(Ladder::linear(2), Eigen::Vector2d(6, 0.8)));
    check_no_reuse(method.name + " of a mixture",
                   [&] { estimate_log_z(method.name, mixture, audited_settings()); });
  }
}

TEST_CASE("what tells the states that a method met, and goes the other way, draws anew") {
  const Layered model = initial_rbm(9, 6, 1, make_key(1));
  const LayeredTarget target(model, Base::uniform(model));
  const Modes modes = find_modes(model, Base::uniform(model), mode_search(model, 1));
  for (const Method& method : registered_methods())
    for (const bool parallel : {false, true}) {
      if (parallel && !(method.any_tempering && method.source == Source::tempered)) continue;
      MethodSettings settings = audited_settings();
      if (parallel) settings.tempering = Tempering::parallel;
      check_no_reuse(method.name + (parallel ? " over parallel tempering" : ""), [&] {
        MethodRuns runs(target, settings);
        const Estimate told = runs.estimate(method.name);
        if (!method.other_way) return;
        MethodSettings other = settings;
        other.key = derive_key(settings.key, "other way");
        if (method.source == Source::tempered && !parallel)
          other.log_z_hat = runs.tempered().store.log_z_hat;
        method.other_way(method, told, target, modes, other);
      });
    }
  MethodSettings of_cases = audited_settings();
  of_cases.cases = CaseValues(audited_cases(9, 7));
  check_no_reuse("raise of cases", [&] { MethodRuns(target, of_cases).estimate("raise"); });
}

TEST_CASE("no phase makes a draw of another one, and no tuning of steps one twice") {
  const Layered model = initial_rbm(20, 12, 1, make_key(1));
  const Modes modes = find_modes(model, Base::uniform(model), mode_search(model, 1));
  check_no_reuse("phases", [&] {
    anneal_phases(model, modes, make_key(5), {.chains = 20, .sweeps = 20, .key = make_key(6)});
  });
  check_no_reuse("tuning", [&] {
    tune_steps(GaussianMixture(), RandomWalk(), Ladder::geometric(4), {.chains = 4, .moves = 3},
               make_key(1));
  });
}

TEST_CASE("no attempt, base or search of an estimate makes a draw that another one made") {
  const Layered model = initial_rbm(20, 12, 1, make_key(1));
  const DrawnBlocks drawn = drawn_by([&] {
    const ChosenBase chosen = choose_auto_base(model, mode_search(model, 1), 1, 0);
    const LayeredTarget target(model, chosen.base);
    MethodSettings settings = audited_settings();
    for (int attempt = 0; attempt < 4; ++attempt) {
      settings.key = attempt_key(1, attempt);
      estimate_log_z("rts", target, settings);
    }
    find_lower_bound(
        target, mode_search(model, 1), {},
        {.modes = chosen.modes,
         .states = (chosen.search ? *chosen.search : tempered_search(model, 1)).states});
  });
  CHECK(drawn.all > 0);
  // But that bases are compared by the same draws.
  const StreamKey compared = make_key(1, "base choice");
  CHECK(std::ranges::all_of(drawn.again, [&](const DrawnBlock& block) {
    return std::get<0>(block) == compared.low && std::get<1>(block) == compared.high;
  }));
}

TEST_CASE("nothing of an estimate with another seed makes a draw of the first one") {
  const Layered model = initial_rbm(20, 12, 1, make_key(1));
  const LayeredTarget target(model, Base::uniform(model));
  const auto base = [&](std::uint64_t seed) {
    choose_auto_base(model, mode_search(model, seed), seed, 0);
  };
  const auto bound = [&](std::uint64_t seed) {
    find_lower_bound(target, mode_search(model, seed));
  };
  const auto attempt = [&](std::uint64_t seed) {
    MethodSettings settings = audited_settings();
    settings.key = attempt_key(seed);
    estimate_log_z("rts", target, settings);
  };
  for (const std::function<void(std::uint64_t)>& part :
       {std::function<void(std::uint64_t)>(base), {bound}, {attempt}}) {
    const std::size_t alone = drawn_by([&] { part(1); }).again.size();
    CHECK(drawn_by([&] { part(2); }).again.size() == alone);
    CHECK(drawn_by([&] { part(1), part(2); }).again.size() == 2 * alone);
  }
}

TEST_CASE("looks that follow log Z of a model make no draw twice") {
  const Layered model = initial_rbm(9, 6, 1, make_key(1));
  check_no_reuse("looks", [&] {
    LogZTracker tracker(
        Base::uniform(model),
        {.chains = 20, .sweeps = 60, .ladder = Ladder::linear(5), .key = make_key(3)});
    for (int look = 0; look < 4; ++look) tracker.look(model);
  });
}

TEST_CASE("no trainer makes a draw twice, whatever its negative phase") {
  const Eigen::MatrixXf data = audited_cases(9, 50);
  for (const char* text : {"cd:2", "pcd:2", "fpcd:2", "pt:3:2", "tt:3:0.5 --every 2",
                           "st:3:0.5 --every 3", "cast:3:0.5 --chains 20 --lag 3"})
    for (const bool deep : {false, true}) {
      if (deep && std::string_view(text).starts_with("cd")) continue;
      const TrainOptions options{.negative = parse_negative_description(text), .batch = 20};
      check_no_reuse(std::string(text) + (deep ? " of a deep model" : " of an RBM"), [&] {
        const std::vector sizes = deep ? std::vector{9, 6, 5} : std::vector{9, 6};
        Trainer trainer(initial_network(sizes, 0.1, make_key(2)),
                        std::make_shared<DrawnCases>(data, Unit::bernoulli(), make_key(2)), options,
                        make_key(2));
        for (int update = 0; update < 12; ++update) trainer.step();
      });
    }
  // Cases that are drawn anew are those of the first update, by design: these are given.
  check_no_reuse("chains at cases", [&] {
    const TrainOptions options{
        .negative = parse_negative("pcd:2"), .batch = 20, .start_at_cases = true};
    Trainer trainer(initial_rbm(9, 6, 0.1, make_key(2)),
                    std::make_shared<GivenCases>(data, Unit::bernoulli()), options, make_key(2));
    for (int update = 0; update < 60; ++update) trainer.step();
  });
  check_no_reuse("pretraining", [&] {
    Pretraining pretraining({9, 6, 5}, {}, std::make_shared<GivenCases>(data, Unit::bernoulli()),
                            {.epochs = {2, 2}, .batch = 20}, make_key(2));
    while (!pretraining.finished()) pretraining.step();
  });
}

TEST_CASE("no sampler of a model that stays makes a draw twice, piece after piece") {
  const Layered model = initial_rbm(9, 6, 1, make_key(1));
  for (const std::string text : {"gibbs", "tt:3:0.5", "pt:4:2", "st:3:0.5"})
    check_no_reuse(text, [&] {
      const StreamKey key = make_key(4);
      const auto sampler =
          make_sampler(parse_sampler(text), {.model = model,
                                             .packing = {.chains = 33, .sweeps = 12},
                                             .key = key,
                                             .draws = std::make_shared<PhiloxDraws>(key)});
      for (const int sweeps : {2, 2, 4, 2, 2}) sampler->advance(sweeps);
    });
}

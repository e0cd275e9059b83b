// Training of models deeper than an RBM: the whole gradient against the slope of what it ascends,
// the same bytes for any threads and after a resume, and the bound's identities on a worked case.
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <tuple>
#include <vector>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/exact/state_space.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/sample/chains/sampler.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/laws/states.hpp"
#include "verification/exact/support/small_data.hpp"
#include "verification/exact/support/small_trainers.hpp"

using namespace boltzmark;
using small_trainers::same_bytes;
using small_trainers::steps;

namespace {

constexpr MeanFieldStop kLong{.updates = 300};

Layered draw_network(const std::vector<int>& sizes, const std::vector<int>& codes, double sd) {
  const Layered bits = initial_network(sizes, sd, make_key(sizes.size() + codes.front()));
  std::vector<Layer> layers;
  for (int l = 0; l < bits.layers(); ++l) {
    layers.push_back(bits.layer(l));
    layers.back().unit = Unit::from_code(codes[static_cast<std::size_t>(l)]);
  }
  return Layered(std::move(layers), bits.weights());
}

Eigen::MatrixXf draw_cases(const Layered& model, int cases) {
  Stream stream(make_key(3, "deep"), Purpose::test);
  return draw_states(stream, model.layer(0).unit, model.size(0), cases);
}

/// Every joint state, weighed by its probability: the negative phase without sampling.
class EveryState final : public Sampler {
 public:
  explicit EveryState(const Layered& model)
      : packed_(model), states_(model, static_cast<int>(StateSpace(model).states())) {
    set_model(model);
  }
  std::string name() const override { return "every state"; }
  int chains() const override { return states_.chains(); }
  void set_model(const Layered& model) override {
    packed_.update(model);
    const StateSpace space(model);
    weights_.clear();
    const double log_z = exact_log_z(model).log_z;
    for (std::uint64_t x = 0; x < space.states(); ++x) {
      for (int l = 0, unit = 0; l < model.layers(); ++l)
        for (int i = 0; i < model.size(l); ++i, ++unit)
          states_.set(l, i, static_cast<int>(x), static_cast<float>(space.value(unit, x)));
      double log_weight = 0;  // of the base measure, which X(s) has
      for (int l = 0; l < model.layers(); ++l)
        log_weight += model.size(l) * model.layer(l).unit.log_weight();
      const State state = states_.get_chain(static_cast<int>(x));
      weights_.push_back(std::exp(log_weight - energy(model, state) - log_z));
    }
  }
  const PackedModel& packed() const override { return packed_; }
  void advance(int) override {}
  void copy_states(Chains& out) const override { out = states_; }
  std::span<const double> weights() const override { return weights_; }
  void save(CheckpointWriter&) const override {}
  void restore(CheckpointReader&) override {}

 private:
  PackedModel packed_;
  Chains states_;
  std::vector<double> weights_;
};

/// What training ascends: the mean bound of log p(v), at mean field's fixed point.
double objective(const Layered& model, const Eigen::MatrixXf& data) {
  const VariationalBounds bounds = variational_bounds(model, data, kLong);
  double mean = 0;
  for (const double bound : bounds.log_f) mean += bound / static_cast<double>(data.cols());
  return mean - exact_log_z(model).log_z;
}

/// One that gives states all the same, whatever it says their number is.
class GivenStates final : public Sampler {
 public:
  GivenStates(const Layered& model, Chains states, int chains)
      : packed_(model), states_(std::move(states)), chains_(chains) {}
  std::string name() const override { return "given"; }
  int chains() const override { return chains_; }
  void set_model(const Layered& model) override { packed_.update(model); }
  const PackedModel& packed() const override { return packed_; }
  void advance(int) override {}
  void copy_states(Chains& out) const override { out = states_; }
  void save(CheckpointWriter&) const override {}
  void restore(CheckpointReader&) override {}

 private:
  PackedModel packed_;
  Chains states_;
  int chains_;
};

const std::vector<Negative> kNegatives{Negative::pcd(2), Negative::pt(3, 1)};

}  // namespace

TEST_CASE(
    "a sampler without draws has those of its key, and one of fewer states than it says is refused") {
  const Layered model = draw_network({4, 3}, {0, 0}, 0.5);
  for (const char* negative : {"pcd:1", "pt:3:1", "tt:3:0.5", "st:3:0.5", "cast:3:0.5", "fpcd:1"}) {
    INFO(negative);
    const auto states = [&](std::shared_ptr<const Draws> draws) {
      const auto sampler = make_sampler(parse_negative(negative), {.model = model,
                                                                   .packing = {.chains = 16},
                                                                   .key = make_key(5),
                                                                   .draws = std::move(draws)});
      sampler->advance(3);
      Chains out(model, sampler->chains());
      sampler->copy_states(out);
      return out.get_layer(0);
    };
    CHECK(states(nullptr) == states(std::make_shared<PhiloxDraws>(make_key(5))));
  }
  Trainer trainer(model, draw_cases(model, 5), {}, make_key(1),
                  std::make_unique<GivenStates>(model, Chains(model, 16), 48));
  CHECK_THROWS_WITH(trainer.step(), Catch::Contains("of 48 chains"));
}

TEST_CASE("states of a sampler of one's own that no unit has are not trained on") {
  const Layered model = draw_network({4, 3, 2}, {0, 1, 2}, 0.5);
  const auto step = [&](int layer, float value) {
    Chains states(model, 16);
    states.set(layer, 1, 9, value);
    Trainer trainer(model, draw_cases(model, 5), {}, make_key(1),
                    std::make_unique<GivenStates>(model, states, 16));
    trainer.step();
  };
  CHECK_NOTHROW(step(0, 1.0F));
  CHECK_NOTHROW(step(2, 0.0F));   // one of three values
  CHECK_NOTHROW(step(1, 0.25F));  // of an odd layer, which means replace
  CHECK_THROWS_WITH(step(0, 0.5F), Catch::Contains("value = 0.5 (must be a state of"));
  CHECK_THROWS_WITH(step(0, std::nanf("")), Catch::Contains("value = nan"));
  CHECK_THROWS_WITH(step(2, 0.5F), Catch::Contains("value = 0.5 (must be a state of"));
}

TEST_CASE("a deep model's gradient is the slope of the bound, for three to five layers") {
  const std::vector<std::vector<int>> sizes{{3, 2, 2}, {2, 3, 1}, {2, 2, 2, 2}, {2, 2, 1, 2, 2}};
  for (std::size_t kind = 0; kind < sizes.size(); ++kind)
    for (const bool multivalued : {false, true}) {
      std::vector<int> codes(sizes[kind].size(), 0);
      if (multivalued) codes[1] = 2, codes.back() = 1;
      const Layered start = draw_network(sizes[kind], codes, 0.5);
      const Eigen::MatrixXf data = draw_cases(start, 5);
      Trainer trainer(start, data,
                      {.negative = Negative::pcd(1), .learning_rate = 0.3, .mean_field = kLong},
                      make_key(1), std::make_unique<EveryState>(start));
      trainer.step();
      const Layered model = trainer.model();  // not the one that everything was made for
      trainer.step();
      const Parameters& gradient = trainer.gradient();
      const State negative = trainer.negative().get_chain(1);
      for (int l = 1; l < model.layers(); l += 2)
        for (int i = 0; i < model.size(l); ++i)
          CHECK(negative[l][i] ==
                Approx(mean_value(model.layer(l).unit, layer_input(model, negative, l)[i]))
                    .margin(2e-6));
      Parameters direction = model.zero_parameters();
      const auto check = [&](double& parameter, double slope) {
        constexpr double h = 1e-4;
        parameter = 1;
        Layered above = model, below = model;
        above.add(direction, h);
        below.add(direction, -h);
        parameter = 0;
        // Means are float32, and so are the weights of the negative phase: 2^-20 each.
        CHECK(std::abs((objective(above, data) - objective(below, data)) / (2 * h) - slope) < 1e-5);
      };
      for (std::size_t l = 0; l < direction.weights.size(); ++l)
        for (Eigen::Index i = 0; i < direction.weights[l].size(); ++i)
          check(direction.weights[l].data()[i], gradient.weights[l].data()[i]);
      for (std::size_t l = 0; l < direction.biases.size(); ++l)
        for (Eigen::Index i = 0; i < direction.biases[l].size(); ++i)
          check(direction.biases[l][i], gradient.biases[l][i]);
    }
}

// Bernoulli 1-1-1, b = 0, w1 = ln 3, w2 = 0, v = 1: h1 has the odds 3, h2 is even, and q = p(h|v)
// once the start's doubled weights are forgotten: log f = log(1 + 3) + log 2. After the start alone
// h1 has the odds 9: E_q log f + H = 0.9 ln 3 + H(0.9) + ln 2, H(0.9) = 0.325083.
TEST_CASE("mean field's bound on a worked case, after the start and after an update") {
  const Eigen::MatrixXd w1 = Eigen::MatrixXd::Constant(1, 1, std::log(3.0));
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(1);
  const Layered model(
      {{.bias = zero, .sigma0 = {}}, {.bias = zero, .sigma0 = {}}, {.bias = zero, .sigma0 = {}}},
      {w1, Eigen::MatrixXd::Zero(1, 1)});
  const Eigen::MatrixXf on = Eigen::MatrixXf::Ones(1, 1);
  CHECK(variational_bounds(model, on, {.updates = 0}).log_f.front() ==
        Approx(0.9 * std::log(3.0) + 0.3250829734 + std::log(2.0)).epsilon(1e-7));
  CHECK(variational_bounds(model, on, {.updates = 1}).log_f.front() ==
        Approx(std::log(8.0)).epsilon(1e-12));
  const Eigen::MatrixXf off = Eigen::MatrixXf::Zero(1, 1);
  CHECK(variational_bounds(model, off, {.updates = 0}).log_f.front() ==
        Approx(std::log(4.0)).epsilon(1e-12));
}

TEST_CASE("the bottom-up pass doubles the weights but for those into the top layer") {
  const Layered model = draw_network({3, 2, 2}, {0, 0, 0}, 1);
  Chains chains(model, 1);
  chains.set_layer(0, Eigen::MatrixXf::Ones(3, 1));
  MeanField(model).start(chains);
  const State means = chains.get_chain(0);
  const Eigen::VectorXd first =
      2 * model.weights(0).transpose() * Eigen::VectorXd::Ones(3) + model.bias(1);
  const Eigen::VectorXd top = model.weights(1).transpose() * means[1] + model.bias(2);
  for (int i = 0; i < 2; ++i) {
    CHECK(means[1][i] == Approx(1 / (1 + std::exp(-first[i]))).margin(2e-6));
    CHECK(means[2][i] == Approx(1 / (1 + std::exp(-top[i]))).margin(2e-6));
  }
}

TEST_CASE("mean field's tolerance is of values, whatever their unit") {
  for (const int code : {0, 1, 3}) {
    const Layered model = draw_network({5, 4, 4}, {0, code, code}, 1);
    const Eigen::MatrixXf cases = draw_cases(model, 12);
    constexpr float kMoved = 0.02F;
    const auto means = [&](int updates) {
      Chains chains(model, 12);
      chains.set_layer(0, cases);
      MeanField(model, {.updates = updates}).fill(chains);
      return chains;
    };
    int moving = 12, told = 0;
    for (int updates = 1; moving > 0; ++updates) {
      const Chains before = means(updates - 1), after = means(updates);
      moving = 0;
      for (int c = 0; c < 12; ++c) {
        double most = 0;
        for (const int l : {1, 2})
          most = std::max<double>(
              most, (after.get_layer(l).col(c) - before.get_layer(l).col(c)).cwiseAbs().maxCoeff());
        moving += most > kMoved ? 1 : 0;
      }
      Chains chains(model, 12);
      chains.set_layer(0, cases);
      CHECK(MeanField(model, {.updates = updates, .tolerance = kMoved}).fill(chains) == moving);
      told += moving > 0 && moving < 12 ? 1 : 0;
    }
    CHECK(told > 0);
  }
}

TEST_CASE("of more cases than a batch each has its own bound") {
  const Layered model = draw_network({12, 4, 3}, {0, 0, 0}, 1.5);
  const Eigen::MatrixXf data = draw_cases(model, 600);
  const std::vector<double> all = variational_bounds(model, data).log_f;
  REQUIRE(all.size() == 600);
  for (int c = 0; c < 600; ++c)
    CHECK(
        all[static_cast<std::size_t>(c)] ==
        Approx(variational_bounds(model, data.col(c)).log_f[0]).margin(1e-6));  // means are float32
}

TEST_CASE("mean field refuses a tolerance that is no number") {
  const Layer layer{Unit::bernoulli(), Eigen::VectorXd::Zero(2), {}};
  const Layered deep({layer, layer, layer},
                     {Eigen::MatrixXd::Zero(2, 2), Eigen::MatrixXd::Zero(2, 2)});
  const Eigen::MatrixXf cases = Eigen::MatrixXf::Zero(2, 3);
  CHECK_THROWS_WITH(variational_bounds(deep, cases, {.updates = 1, .tolerance = NAN}),
                    Catch::Contains("tolerance = NaN"));
  CHECK_NOTHROW(variational_bounds(deep, cases, {.updates = 1, .tolerance = -1}));
}

TEST_CASE("mean field tells how many cases had not converged") {
  // Weights of order 1.5: one update is not enough.
  const Layered model = draw_network({4, 6, 6}, {0, 0, 0}, 1.5);
  const Eigen::MatrixXf data = draw_cases(model, 40);
  CHECK(variational_bounds(model, data, {.updates = 1, .tolerance = 1e-6F}).not_converged > 30);
  CHECK(variational_bounds(model, data).not_converged == 0);
  CHECK(variational_bounds(model, data, {.updates = 1}).not_converged == 0);
  CHECK_THROWS_AS(variational_bounds(model, data, {.updates = -1}), InvalidArgument);
}

TEST_CASE(
    "mean field goes on while a mean of any hidden layer moves, of odd ones or of even ones") {
  for (const double scale : {1.0, 1.5, 2.0, 3.0})
    for (const std::vector<int>& sizes :
         std::vector<std::vector<int>>{{4, 6, 6}, {6, 2, 8}, {5, 3, 7, 4}, {4, 3, 5, 2, 6}}) {
      const Layered model = draw_network(sizes, std::vector<int>(sizes.size(), 0), scale);
      const Eigen::MatrixXf data = draw_cases(model, 8);
      for (int c = 0; c < 8; ++c) {
        Chains chains(model, 1);
        chains.set_layer(0, data.col(c));
        MeanField field(model);
        field.start(chains);
        int made = 0;
        for (float moved = 1; moved > 1e-6F && made < 1000; ++made) {
          const Chains before = chains;
          for (const int parity : {1, 0}) field.update_side(chains, parity);
          moved = 0;
          for (int l = 1; l < model.layers(); ++l)
            moved =
                std::max(moved, (chains.get_layer(l) - before.get_layer(l)).cwiseAbs().maxCoeff());
        }
        INFO(sizes.size() << " layers, scale " << scale << ", case " << c);
        CHECK(variational_bounds(model, data.col(c)).updates == made);
      }
    }
}

// Bernoulli 1-1-1, w1 = 1, v = 1, tolerance 0.01. By hand, of the first update and the second:
//   c1 = 4, w2 = 40, c2 = -39.9: h1 goes 0.9975, 1, 1 and h2 0.5003, 0.5250, 0.5250: h2 alone moves
//   c1 = -1, w2 = 0.1, c2 = 0: h1 goes 0.7311, 0.5130, 0.5128 and h2 0.5183, 0.5128, 0.5128: h1 does
TEST_CASE("one layer's moves, of the even one or of the odd one, keep mean field going") {
  const auto one = [](double value) { return Eigen::VectorXd::Constant(1, value); };
  for (const auto& [c1, w2, c2] : {std::tuple{4.0, 40.0, -39.9}, {-1.0, 0.1, 0.0}}) {
    INFO("w2 = " << w2);
    const Layered model({{.bias = one(0), .sigma0 = {}},
                         {.bias = one(c1), .sigma0 = {}},
                         {.bias = one(c2), .sigma0 = {}}},
                        {one(1), one(w2)});
    const Eigen::MatrixXf on = Eigen::MatrixXf::Ones(1, 1);
    const VariationalBounds first =
        variational_bounds(model, on, {.updates = 1, .tolerance = 0.01F});
    CHECK(first.not_converged == 1);
    const VariationalBounds all = variational_bounds(model, on, {.updates = 9, .tolerance = 0.01F});
    CHECK(all.updates == 2);
    CHECK(all.not_converged == 0);
  }
}

TEST_CASE("mean field tells how many updates it made, the most of any cases") {
  const Layered model = draw_network({4, 6, 6}, {0, 0, 0}, 1.5);
  const Eigen::MatrixXf data = draw_cases(model, 40);
  Chains chains(model, 40);
  chains.set_layer(0, data);
  MeanField field(model);
  field.start(chains);
  int made = 0;
  for (float moved = 1; moved > 1e-6F; ++made) {
    const Eigen::MatrixXf first = chains.get_layer(1), second = chains.get_layer(2);
    for (const int parity : {1, 0}) field.update_side(chains, parity);
    moved = std::max((chains.get_layer(1) - first).cwiseAbs().maxCoeff(),
                     (chains.get_layer(2) - second).cwiseAbs().maxCoeff());
  }
  REQUIRE(made > 5);
  REQUIRE(made < 1000);
  CHECK(variational_bounds(model, data).updates == made);
  const VariationalBounds early =
      variational_bounds(model, data, {.updates = made - 1, .tolerance = 1e-6F});
  CHECK(early.updates == made - 1);
  CHECK(early.not_converged > 0);
  CHECK(variational_bounds(model, data, {.updates = 3}).updates == 3);
  // The quickest case behind 512 of the slowest, and one of these behind 512 of that.
  const auto updates_of = [&](int c) { return variational_bounds(model, data.col(c)).updates; };
  int slow = 0, fast = 0;
  for (int c = 1; c < 40; ++c) {
    if (updates_of(c) > updates_of(slow)) slow = c;
    if (updates_of(c) < updates_of(fast)) fast = c;
  }
  REQUIRE(updates_of(slow) > updates_of(fast));
  for (const auto& [most, last] : {std::pair(slow, fast), std::pair(fast, slow)}) {
    Eigen::MatrixXf many = data.col(most).replicate(1, 513);
    many.col(512) = data.col(last);
    CHECK(variational_bounds(model, many).updates == updates_of(slow));
  }
}

TEST_CASE("deep training gives the same bytes for one thread and two, and after a resume") {
  for (const Negative& negative : kNegatives) {
    INFO(negative.name());
    const Layered start = initial_network(std::vector{100, 40, 30, 10}, 0.1, make_key(4));
    const Eigen::MatrixXf data = draw_cases(start, 300);
    TrainOptions options{.negative = negative, .weight_decay = 0.001, .batch = 200};
    options.optimiser.momentum = 0.5;
    options.optimiser.rate_decay = 10;
    Trainer whole(start, data, options, make_key(1));
    steps(whole, 12);
    {
      const ThreadLimit limit(1);
      Trainer one(start, data, options, make_key(1));
      steps(one, 12);
      CHECK(same_bytes(whole.model(), one.model()));
    }
    Trainer first(start, data, options, make_key(1));
    steps(first, 5);
    Trainer second(start, data, options, make_key(1));
    second.restore(first.checkpoint());
    steps(second, 7);
    CHECK(same_bytes(whole.model(), second.model()));
    TrainOptions other = options;
    other.mean_field.updates = 6;
    CHECK_THROWS_AS(Trainer(start, data, other, make_key(1)).restore(first.checkpoint()),
                    DataError);
  }
}

TEST_CASE("a deep model learns Bars and Stripes beyond what independent pixels can") {
  const Eigen::MatrixXf data = bars_and_stripes_patterns(3);
  const Layered start = initial_network(std::vector{9, 6, 4}, 0.01, make_key(2));
  for (const Negative& negative : kNegatives) {
    Trainer trainer(start, data, {.negative = negative, .learning_rate = 0.1}, make_key(1));
    steps(trainer, 3000);
    const double after = exact_mean_log_likelihood(trainer.model(), Cases(data));
    CHECK(after > -9 * std::log(2.0) + 1.0);  // independent pixels: -9 ln 2 = -6.238
    // 12 patterns stand once among 16 cases and 2 twice: minus the entropy of these.
    CHECK(after < -0.75 * std::log(16.0) - 0.25 * std::log(8.0));
  }
}

TEST_CASE("the rate falls as asked, momentum adds up, weight decay takes its share") {
  const Layered start = initial_network(std::vector{4, 3, 2}, 0.5, make_key(6));
  const Eigen::MatrixXf data = draw_cases(start, 8);
  TrainOptions options{.negative = Negative::pcd(1), .learning_rate = 0.5};
  options.optimiser.rate_decay = 2;
  options.optimiser.momentum = 0.25;
  Trainer trainer(start, data, options, make_key(1));
  const double rates[] = {0.5, 0.5 * 2 / 3, 0.25};  // 0.5 T0 / (T0 + t), T0 = 2
  Eigen::MatrixXd velocity = Eigen::MatrixXd::Zero(3, 2);
  Eigen::VectorXd bias_velocity = Eigen::VectorXd::Zero(3);
  for (const double rate : rates) {
    const Eigen::MatrixXd before = trainer.model().weights(1);
    const Eigen::VectorXd bias = trainer.model().bias(1);
    trainer.step();
    velocity = 0.25 * velocity + trainer.gradient().weights[1];
    bias_velocity = 0.25 * bias_velocity + trainer.gradient().biases[1];
    CHECK((trainer.model().weights(1) - before - rate * velocity).cwiseAbs().maxCoeff() < 1e-15);
    CHECK((trainer.model().bias(1) - bias - rate * bias_velocity).cwiseAbs().maxCoeff() < 1e-15);
  }
  Trainer plain(start, data, {.negative = Negative::pcd(1)}, make_key(1));
  Trainer decayed(start, data, {.negative = Negative::pcd(1), .weight_decay = 0.125}, make_key(1));
  plain.step();
  decayed.step();
  for (std::size_t l = 0; l < 2; ++l)
    CHECK((plain.gradient().weights[l] - 0.125 * start.weights(static_cast<int>(l)) -
           decayed.gradient().weights[l])
              .cwiseAbs()
              .maxCoeff() < 1e-15);
  CHECK(plain.gradient().biases[1] == decayed.gradient().biases[1]);
  CHECK_THROWS_AS(Trainer(start, data, {.negative = Negative::cd(1)}, {}), InvalidArgument);
  CHECK_THROWS_AS(Trainer(start, data, {.weight_decay = -1}, {}), InvalidArgument);
  options.optimiser.momentum = 1;
  CHECK_THROWS_AS(Trainer(start, data, options, {}), InvalidArgument);
  options.optimiser = Optimiser::adam();
  options.optimiser.momentum = 0.5;
  CHECK_THROWS_AS(Trainer(start, data, options, {}), InvalidArgument);
}

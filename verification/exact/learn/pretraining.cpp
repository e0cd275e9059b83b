// Greedy pretraining of deep models: the update of an RBM with tied copies against its law, the
// states that an RBM on others learns from, the recipe's schedule, and the same bytes after a resume.
#include "boltzmark/learn/pretraining.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "boltzmark/learn/cases/case_source.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/sample/chains/contrastive_divergence.hpp"
#include "verification/exact/support/small_data.hpp"
#include "verification/exact/support/small_trainers.hpp"

using namespace boltzmark;
using small_trainers::same_bytes;

namespace {

Layered stacked_rbm(int visible, int hidden, double sd, std::uint64_t seed) {
  return initial_rbm(visible, hidden, sd, make_key(seed, "stacked"));
}

Eigen::MatrixXf stacked_bits(int units, int cases) {
  return random_bits(units, cases, make_key(21, "stacked"));
}

Eigen::MatrixXd on_probability(const Eigen::MatrixXd& inputs) {
  return 1 / (1 + (-inputs.array()).exp());
}

// The draws of one layer of all chains: on where the draw is below 2^32 p.
Eigen::MatrixXd stacked_states(const Eigen::MatrixXd& p, const Draws& draws, int layer,
                               std::uint64_t sweep) {
  Eigen::MatrixXd states(p.rows(), p.cols());
  const auto units = static_cast<std::uint32_t>((p.rows() + 3) / 4 * 4);
  for (Eigen::Index c = 0; c < p.cols(); ++c) {
    std::vector<std::uint32_t> drawn(units);
    draws.fill(drawn.data(), {.layer = static_cast<std::uint32_t>(layer),
                              .units = units,
                              .first_chain = static_cast<std::uint32_t>(c),
                              .chains = 1,
                              .sweep = sweep});
    for (Eigen::Index u = 0; u < p.rows(); ++u)
      states(u, c) = drawn[static_cast<std::size_t>(u)] < p(u, c) * 0x1p32 ? 1 : 0;
  }
  return states;
}

Pretraining small_pretraining(const Eigen::MatrixXf& data, std::vector<int> epochs) {
  return Pretraining({9, 6, 5, 4}, {}, std::make_shared<GivenCases>(data, Unit::bernoulli()),
                     {.epochs = std::move(epochs), .batch = 8}, make_key(4));
}

void pretrain_to(Pretraining& pretraining, std::uint64_t updates) {
  while (pretraining.updates() < updates) pretraining.step();
}

}  // namespace

// Draws that fall between the float32 threshold and the double one would part them: 2^-20 of all.
TEST_CASE("an update of an RBM with tied copies is that of its law, draw by draw") {
  const Layered rbm = stacked_rbm(7, 5, 0.7, 1);
  const Eigen::MatrixXf data = stacked_bits(7, 24);
  const Eigen::MatrixXd v = data.cast<double>(), w = rbm.weights(0);
  for (const TiedCopies copies : {TiedCopies{2, 1}, TiedCopies{1, 2}, TiedCopies{2, 2}})
    for (const int sweeps : {1, 3}) {
      const auto draws = std::make_shared<PhiloxDraws>(make_key(8));
      const SamplerSetup setup{.model = rbm, .packing = {.chains = 24}, .draws = draws};
      Trainer trainer(rbm, data, {.negative = Negative::cd(sweeps), .learning_rate = 0},
                      make_key(1), std::make_unique<TiedDivergence>(setup, copies));
      const auto means = [&](const Eigen::MatrixXd& visible) {
        return on_probability(copies.visible * ((w.transpose() * visible).colwise() + rbm.bias(1)));
      };
      for (std::uint64_t update = 0; update < 2; ++update) {
        trainer.step();
        Eigen::MatrixXd now = v;
        for (int sweep = 0; sweep < sweeps; ++sweep) {
          const auto number =
              update * static_cast<std::uint64_t>(sweeps) + static_cast<std::uint64_t>(sweep);
          const Eigen::MatrixXd h = stacked_states(means(now), *draws, 1, number);
          now = stacked_states(on_probability(copies.hidden * ((w * h).colwise() + rbm.bias(0))),
                               *draws, 0, number);
        }
        CHECK(trainer.negative().get_layer(0).cast<double>() == now);
        const Eigen::MatrixXd slope =
            (v * means(v).transpose() - now * means(now).transpose()) / 24;
        CHECK((trainer.gradient().weights[0] - slope).cwiseAbs().maxCoeff() < 4e-6);
        CHECK((trainer.gradient().biases[0] - (v - now).rowwise().mean()).cwiseAbs().maxCoeff() <
              1e-6);
        CHECK((trainer.gradient().biases[1] - (means(v) - means(now)).rowwise().mean())
                  .cwiseAbs()
                  .maxCoeff() < 4e-6);
      }
    }
}

TEST_CASE("what is left over of a short minibatch does not count in an RBM with tied copies") {
  // The hidden unit copies the case and v copies it: an update's gradient is 0 whichever cases it has.
  const Layered rbm =
      Layered::rbm(Eigen::MatrixXd::Constant(1, 1, 80), Eigen::VectorXd::Constant(1, -40),
                   Eigen::VectorXd::Constant(1, -40));
  const StreamKey key = make_key(3);
  Eigen::MatrixXf data(1, 3);
  data << 0, 1, 1;
  const SamplerSetup setup{
      .model = rbm, .packing = {.chains = 2}, .draws = std::make_shared<PhiloxDraws>(key)};
  Trainer trainer(rbm, data, {.learning_rate = 0.5, .batch = 2}, key,
                  std::make_unique<TiedDivergence>(setup, TiedCopies{1, 1}));
  trainer.advance(40);
  CHECK(trainer.model().bias(0) == rbm.bias(0));
  CHECK(trainer.model().bias(1) == rbm.bias(1));
}

TEST_CASE("an RBM on others learns from states drawn layer by layer from the cases") {
  const std::vector<Layered> below{stacked_rbm(7, 5, 0.7, 1), stacked_rbm(5, 6, 0.7, 2)};
  const Eigen::MatrixXf data = stacked_bits(7, 30);
  const StreamKey key = make_key(9);
  StackedCases source(std::make_shared<GivenCases>(data, Unit::bernoulli()), below, 100, key);
  CHECK(source.units() == 6);
  CHECK(source.cases() == 30);
  CHECK(source.vary());
  const std::vector<int> cases{29, 3, 3, 11, 17};
  Chains chains(stacked_rbm(6, 2, 0.1, 3), 5);
  source.fill(chains, cases, 4);
  Eigen::MatrixXd states(7, 5);
  for (int c = 0; c < 5; ++c)
    states.col(c) = data.col(cases[static_cast<std::size_t>(c)]).cast<double>();
  for (int l = 0; l < 2; ++l) {
    const Layered& rbm = below[static_cast<std::size_t>(l)];
    const PhiloxDraws draws(derive_key(key, "stacked cases", std::to_string(l)));
    states = stacked_states(
        on_probability((rbm.weights(0).transpose() * states).colwise() + rbm.bias(1)), draws, 1,
        104);
  }
  CHECK(chains.get_layer(0).cast<double>() == states);
  CHECK_THROWS_AS(
      StackedCases(std::make_shared<GivenCases>(data, Unit::bernoulli()), {below[1]}, 0, key),
      InvalidArgument);
}

TEST_CASE("stacked cases are others where what they are drawn by is, their biases included") {
  const auto cases = std::make_shared<GivenCases>(stacked_bits(3, 4), Unit::bernoulli());
  const auto hash = [&](double weight, double hidden_bias, std::uint64_t first,
                        std::uint64_t seed = 1, Unit unit = Unit::bernoulli()) {
    const Layered rbm({{Unit::bernoulli(), Eigen::VectorXd::Zero(3), {}},
                       {unit, Eigen::VectorXd::Constant(2, hidden_bias), {}}},
                      {Eigen::MatrixXd::Constant(3, 2, weight)});
    return StackedCases(cases, {rbm}, first, make_key(seed)).hash(0);
  };
  CHECK(hash(1, 1, 5) == hash(1, 1, 5));
  CHECK(hash(1, 1, 5) != hash(2, 1, 5));
  CHECK(hash(1, 1, 5) != hash(1, 2, 5));
  CHECK(hash(1, 1, 5) != hash(1, 1, 6));
  CHECK(hash(1, 1, 5) != hash(1, 1, 5, 2));
  CHECK(hash(1, 1, 5) != hash(1, 1, 5, 1, Unit::multivalued(1)));
  const auto drawn = [&](std::uint64_t seed) {
    return DrawnCases(stacked_bits(3, 4), Unit::bernoulli(), make_key(seed)).hash(0);
  };
  CHECK(drawn(1) == drawn(1));
  CHECK(drawn(1) != drawn(2));
}

TEST_CASE("pretraining follows its recipe, stage by stage") {
  const Eigen::MatrixXf data = stacked_bits(9, 20);  // 3 updates an epoch
  Pretraining pretraining = small_pretraining(data, {7, 43, 4});
  struct Expected {
    int rbm, sweeps;
    double momentum;
    std::uint64_t epochs;
  };
  const Expected expected[] = {{0, 1, 0.5, 5},  {0, 1, 0.9, 2}, {1, 1, 0.5, 5}, {1, 1, 0.9, 15},
                               {1, 2, 0.9, 20}, {1, 3, 0.9, 3}, {2, 1, 0.5, 4}};
  REQUIRE(pretraining.stages().size() == std::size(expected));
  for (std::size_t s = 0; s < std::size(expected); ++s) {
    CHECK(pretraining.stages()[s].rbm == expected[s].rbm);
    CHECK(pretraining.stages()[s].sweeps == expected[s].sweeps);
    CHECK(pretraining.stages()[s].momentum == expected[s].momentum);
    CHECK(pretraining.stages()[s].updates == 3 * expected[s].epochs);
  }
  CHECK(pretraining.total_updates() == 3 * 54);
  const Layered start = pretraining.model();
  for (int l = 0; l < 4; ++l) CHECK(start.bias(l).isZero(0));
  // 54 and 30 draws: five standard deviations of their mean square are .96 and 1.3 of it.
  CHECK(start.weights(0).squaredNorm() / 54 == Approx(1e-6).margin(1e-6));
  CHECK(start.weights(1).squaredNorm() / 30 == Approx(1e-4).margin(1.3e-4));

  // The second RBM's third stage, CD-2, by a trainer of its own.
  pretrain_to(pretraining, 3 * 27);
  const Layered before = pretraining.model();
  pretraining.step();
  const Layered after = pretraining.model();
  const Eigen::VectorXd bias = before.bias(1), moved = after.bias(1);
  CHECK(before.weights(0) == after.weights(0));
  CHECK(before.weights(2) == after.weights(2));
  CHECK(before.weights(1) != after.weights(1));
  CHECK(bias != moved);  // that of the layer it shares
  pretrain_to(pretraining, pretraining.total_updates());
  CHECK(pretraining.finished());
  const Layered end = pretraining.model();
  pretraining.step();
  CHECK(same_bytes(end, pretraining.model()));
}

// The first five stages, two of the bottom RBM and three of the next, the last of CD-2, by trainers that
// know nothing of stages.
TEST_CASE("a stage of pretraining is a trainer's run from where the stage before ended") {
  const Eigen::MatrixXf data = stacked_bits(9, 20);
  Pretraining pretraining = small_pretraining(data, {6, 22, 1});
  const Layered start = pretraining.model();
  std::vector<Layered> rbms;
  for (int l = 0; l < 3; ++l)
    rbms.push_back(Layered({start.layer(l), start.layer(l + 1)}, {start.weights(l)}));
  struct Stage {
    std::size_t rbm;
    TiedCopies copies;
    double momentum;
    std::uint64_t first, updates;
    int sweeps = 1;
  };
  const Stage stages[] = {{0, {2, 1}, 0.5, 0, 15},    {0, {2, 1}, 0.9, 15, 3},
                          {1, {2, 2}, 0.5, 18, 15},   {1, {2, 2}, 0.9, 33, 45},
                          {1, {2, 2}, 0.9, 78, 6, 2}, {2, {1, 2}, 0.5, 84, 3}};
  const auto cases = std::make_shared<GivenCases>(data, Unit::bernoulli());
  for (std::size_t s = 0; s < std::size(stages); ++s) {
    const Stage& stage = stages[s];
    const StreamKey key = derive_key(make_key(4), "pretraining stage", std::to_string(s));
    TrainOptions options{.negative = Negative::cd(stage.sweeps),
                         .learning_rate = 0.05 / stage.sweeps,
                         .weight_decay = 0.001,
                         .batch = 8};
    options.optimiser.momentum = stage.momentum;
    Layered& rbm = rbms[stage.rbm];
    std::vector<Layered> below;  // its hidden layer gets twice its input
    for (std::size_t l = 0; l < stage.rbm; ++l) {
      Layer hidden = rbms[l].layer(1);
      hidden.bias *= 2;
      below.push_back(Layered({rbms[l].layer(0), hidden}, {2 * rbms[l].weights(0)}));
    }
    const SamplerSetup setup{
        .model = rbm, .packing = {.chains = 8}, .draws = std::make_shared<PhiloxDraws>(key)};
    Trainer trainer(rbm, std::make_shared<StackedCases>(cases, below, stage.first, key), options,
                    key, std::make_unique<TiedDivergence>(setup, stage.copies));
    trainer.advance(stage.updates);
    rbm = trainer.model();
  }
  pretrain_to(pretraining, 87);
  const Layered model = pretraining.model();
  CHECK(model.weights(0) == rbms[0].weights(0));
  CHECK(model.weights(1) == rbms[1].weights(0));
  CHECK(model.weights(2) == rbms[2].weights(0));
  CHECK(model.bias(0) == rbms[0].bias(0));
  CHECK(model.bias(1) == rbms[0].bias(1) + rbms[1].bias(0));
  CHECK(model.bias(2) == rbms[1].bias(1) + rbms[2].bias(0));
  CHECK(model.bias(3) == rbms[2].bias(1));
}

TEST_CASE("pretraining goes on from any update with the same bytes, on one thread and two") {
  const Eigen::MatrixXf data = stacked_bits(9, 20);
  const std::vector<int> epochs{6, 22, 1};
  Pretraining whole = small_pretraining(data, epochs);
  const std::uint64_t all = whole.total_updates();
  pretrain_to(whole, all);
  {
    const ThreadLimit limit(1);
    Pretraining one = small_pretraining(data, epochs);
    pretrain_to(one, all);
    CHECK(same_bytes(one.model(), whole.model()));
  }
  Pretraining first = small_pretraining(data, epochs);
  // At the start, within a stage, between two of an RBM, between two RBMs, at the end.
  for (const std::uint64_t stop : {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{15},
                                   std::uint64_t{18}, std::uint64_t{80}, all}) {
    INFO("stopped at " << stop);
    pretrain_to(first, stop);
    Pretraining second = small_pretraining(data, epochs);
    second.restore(first.checkpoint());
    CHECK(second.updates() == stop);
    pretrain_to(second, all);
    CHECK(same_bytes(second.model(), whole.model()));
    CHECK(second.checkpoint() == whole.checkpoint());
  }
}

TEST_CASE("a checkpoint of pretraining that is damaged or of other inputs is refused") {
  const Eigen::MatrixXf data = stacked_bits(9, 20);
  Pretraining pretraining = small_pretraining(data, {1, 1, 1});
  pretrain_to(pretraining, 4);
  const std::string bytes = pretraining.checkpoint();
  Pretraining other = small_pretraining(data, {1, 1, 1});
  for (std::size_t size = 0; size < bytes.size(); size += 7)
    CHECK_THROWS_AS(other.restore(bytes.substr(0, size)), DataError);
  for (std::size_t i = 0; i < bytes.size(); i += 7) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    CHECK_THROWS_AS(other.restore(damaged), DataError);
  }
  CHECK_THROWS_AS(other.restore(bytes + "x"), DataError);
  CHECK_NOTHROW(other.restore(bytes));
  Pretraining longer = small_pretraining(data, {2, 1, 1});
  CHECK_THROWS_AS(longer.restore(bytes), DataError);
  const Eigen::MatrixXf turned = 1 - data.array();
  Pretraining stranger = small_pretraining(turned, {1, 1, 1});
  CHECK_THROWS_AS(stranger.restore(bytes), DataError);
  Eigen::MatrixXf moved = data;  // one case, and the order of two
  moved(3, 7) = 1 - moved(3, 7);
  CHECK_THROWS_AS(small_pretraining(moved, {1, 1, 1}).restore(bytes), DataError);
  moved = data;
  moved.col(4).swap(moved.col(6));
  REQUIRE(moved != data);
  CHECK_THROWS_AS(small_pretraining(moved, {1, 1, 1}).restore(bytes), DataError);
  // One input alone.
  const auto refuses = [&](std::vector<int> sizes, NetworkUnits units, PretrainingOptions options,
                           StreamKey key) {
    Pretraining one(std::move(sizes), units, std::make_shared<GivenCases>(data, Unit::bernoulli()),
                    std::move(options), key);
    CHECK_THROWS_AS(one.restore(bytes), DataError);
  };
  const PretrainingOptions options{.epochs = {1, 1, 1}, .batch = 8};
  refuses({9, 6, 5, 3}, {}, options, make_key(4));
  refuses({9, 6, 5, 4}, {.hidden = Unit::multivalued(1)}, options, make_key(4));
  refuses({9, 6, 5, 4}, {}, options, make_key(5));
  refuses({9, 6, 5, 4}, {}, options, {.low = make_key(4).low, .high = ~make_key(4).high});
  refuses({9, 6, 5, 4}, {}, {.epochs = {1, 1, 1}, .batch = 7}, make_key(4));
  refuses({9, 6, 5, 4}, {}, {.epochs = {1, 1, 1}, .batch = 8, .learning_rate = 0.06}, make_key(4));
  refuses({9, 6, 5, 4}, {}, {.epochs = {1, 1, 2}, .batch = 8}, make_key(4));
  CHECK_THROWS_AS(small_pretraining(data, {1, 1}), InvalidArgument);
  CHECK_THROWS_AS(small_pretraining(data, {1, 1, 0}), InvalidArgument);
}

TEST_CASE("a checkpoint of a stage that no pretraining has is refused, and changes nothing") {
  const Eigen::MatrixXf data = stacked_bits(9, 20);
  Pretraining pretraining = small_pretraining(data, {1, 1, 1});
  pretrain_to(pretraining, 4);
  std::string bytes = pretraining.checkpoint();
  CheckpointReader in(bytes);
  std::size_t at = 16;  // behind the magic and the count of inputs
  for (std::uint64_t texts = 2 * in.read(); texts > 0; --texts) at += 8 + in.read_text().size();
  const std::uint64_t stage = 99;
  std::memcpy(&bytes[at], &stage, sizeof stage);
  bytes.resize(bytes.size() - 8);
  const std::uint64_t hash = hash_bytes(bytes);
  bytes.append(reinterpret_cast<const char*>(&hash), sizeof hash);
  Pretraining other = small_pretraining(data, {1, 1, 1});
  const std::string before = other.checkpoint();
  CHECK_THROWS_WITH(other.restore(bytes), Catch::Contains("stage 99"));
  CHECK(other.checkpoint() == before);
}

TEST_CASE("the RBMs of a stack double what the deep model's inner layers miss") {
  const auto copies = [](int l, int rbms) {
    const TiedCopies all = copies_in_stack(l, rbms);
    return std::pair(all.visible, all.hidden);
  };
  CHECK(copies(0, 2) == std::pair(2, 1));
  CHECK(copies(1, 2) == std::pair(1, 2));
  CHECK(copies(0, 3) == std::pair(2, 1));
  CHECK(copies(1, 3) == std::pair(2, 2));
  CHECK(copies(2, 3) == std::pair(1, 2));
  const std::vector<Layered> stack{stacked_rbm(3, 4, 1, 1), stacked_rbm(4, 2, 1, 2),
                                   stacked_rbm(2, 5, 1, 3)};
  const Layered deep = compose_stack(stack);
  REQUIRE(deep.layers() == 4);
  for (int l = 0; l < 3; ++l)
    CHECK(deep.weights(l) == stack[static_cast<std::size_t>(l)].weights(0));
  CHECK(deep.bias(0) == stack[0].bias(0));
  CHECK(deep.bias(1) == stack[0].bias(1) + stack[1].bias(0));
  CHECK(deep.bias(2) == stack[1].bias(1) + stack[2].bias(0));
  CHECK(deep.bias(3) == stack[2].bias(1));
  CHECK_THROWS_AS(compose_stack(std::vector<Layered>{stack[0], stack[2]}), InvalidArgument);
  CHECK_THROWS_AS(compose_stack(std::vector<Layered>{}), InvalidArgument);
}

TEST_CASE("a pretrained model knows Bars and Stripes beyond what independent pixels can") {
  const Eigen::MatrixXf data = bars_and_stripes_patterns(3);
  Pretraining pretraining({9, 8, 8}, {}, std::make_shared<GivenCases>(data, Unit::bernoulli()),
                          {.epochs = {1500, 60}, .batch = 4}, make_key(2));
  pretrain_to(pretraining, pretraining.total_updates());
  const double after = exact_mean_log_likelihood(pretraining.model(), Cases(data));
  CAPTURE(after);
  CHECK(after > -9 * std::log(2.0) + 0.5);  // independent pixels: -9 ln 2 = -6.238
}

// What the experiments of salakhutdinov2010 on trained models compute themselves: classes of images,
// paths through temperatures, overlaps.
#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/learn/initial.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "experiments/kit/statistics/class_changes.hpp"
#include "experiments/kit/statistics/interval.hpp"
#include "experiments/salakhutdinov2010/support/committed_models.hpp"
#include "experiments/salakhutdinov2010/support/nearest_labels.hpp"
#include "experiments/salakhutdinov2010/support/overlaps.hpp"
#include "experiments/salakhutdinov2010/support/rung_walk.hpp"
#include "experiments/salakhutdinov2010/support/sampled_images.hpp"
#include "experiments/salakhutdinov2010/support/toy_features.hpp"
#include "verification/interface/experiments/made_trials.hpp"

namespace boltzmark::experiments {
namespace {

/// Images of 70 pixels, more than a word of 64, the first so many of which are on.
Eigen::MatrixXf bars(const std::vector<int>& on) {
  Eigen::MatrixXf images = Eigen::MatrixXf::Zero(70, static_cast<Eigen::Index>(on.size()));
  for (std::size_t c = 0; c < on.size(); ++c)
    images.col(static_cast<Eigen::Index>(c)).head(on[c]).setOnes();
  return images;
}

/// Images of a small random machine, one step apart.
Json sampled(int burn_in, std::uint64_t seed = 1) {
  const std::vector<int> sizes = {6, 4, 3};
  const Layered model = initial_network(sizes, 1, make_key(1, "images"));
  const Json inputs = {{"chains", 2},        {"temperatures", 3}, {"lowest", 0.5}, {"factor", 10},
                       {"burn_in", burn_in}, {"steps", 1},        {"images", 400}};
  TrialContext context;
  context.key = make_key(seed, "images");
  return sample_images(
      model, inputs,
      [](const Eigen::Ref<const Eigen::MatrixXf>& states) {
        return std::vector<int>(static_cast<std::size_t>(states.cols()), 0);
      },
      context);
}

}  // namespace

TEST_CASE("an image has the class of its nearest labelled ones, and none where these differ") {
  const NearestLabels labelled(bars({0, 10, 20, 70}), {3, 5, 5, 7});
  CHECK(labelled.classes(bars({0, 4, 6, 15, 19, 44, 46, 70})) ==
        std::vector<int>{3, 3, 5, 5, 5, 5, 7, 7});
  CHECK(labelled.classes(bars({5, 45})) == std::vector<int>{ambiguous, ambiguous});
  // Two nearest ones of one class are no tie, in whatever order a third comes.
  const NearestLabels twice(bars({10, 10, 12, 10}), {1, 1, 2, 1});
  CHECK(twice.classes(bars({10, 11})) == std::vector<int>{1, ambiguous});
  CHECK_THROWS_AS(labelled.classes(Eigen::MatrixXf::Zero(69, 1)), InvalidArgument);
  CHECK_THROWS_AS(NearestLabels(bars({1}), {1, 2}), InvalidArgument);
}

TEST_CASE("the acceptance between neighbours is moves over expected proposals") {
  RungSteps steps(3);
  const std::vector<int> path = {0, 1, 0, 0, 1, 2, 1, 1, 0};
  for (std::size_t i = 1; i < path.size(); ++i) steps.see(path[i - 1], path[i]);
  // Three proposals from rung 0, two of four from rung 1 either way, one from rung 2.
  const std::vector<double> acceptance = steps.acceptance();
  REQUIRE(acceptance.size() == 2);
  CHECK(acceptance[0] == Approx(4.0 / 5));
  CHECK(acceptance[1] == Approx(2.0 / 3));
  CHECK_THROWS_AS(steps.see(0, 2), InvalidArgument);
  CHECK(RungSteps(2).acceptance() == std::vector<double>{0});
}

TEST_CASE("the expected round trips of a walk are those worked out by hand") {
  const auto trips = [](std::vector<double> acceptance, int start, int steps) {
    return expected_round_trips(acceptance, start, steps);
  };
  CHECK(trips({1}, 1, 4) == Approx(2));        // 1 0 1 0 1
  CHECK(trips({1}, 0, 4) == Approx(1));        // 0 1 0 1 0: the way up before is no trip
  CHECK(trips({0.5}, 1, 2) == Approx(0.25));   // down, then up
  CHECK(trips({1, 1}, 2, 4) == Approx(0.25));  // 2 1 0 1 2 alone
  CHECK(trips({1, 1}, 2, 3) == 0);
  // In the long run one trip in 2 (K - 1) sum 1 / a steps, a reversible walk's commute time.
  const std::vector<double> uneven = {0.2, 0.5, 1};
  CHECK((trips(uneven, 0, 9600) - trips(uneven, 0, 4800)) == Approx(4800.0 / 48).epsilon(1e-9));
  CHECK_THROWS_AS(trips({1}, 2, 1), InvalidArgument);
}

// Overlaps 1 1 -1 -1: autocovariances 1, 1/4, -1/2, -1/4, so that Geyer's sum is its first pair.
TEST_CASE("the time of overlaps is that of the first half of the units less the second") {
  Eigen::MatrixXf upper(4, 1), lower(4, 1);
  upper << 1, 0, 0, 0;
  lower << 0, 0, 0, 1;
  const auto time_of = [](const std::vector<Eigen::MatrixXf>& states) {
    Overlaps overlaps(static_cast<int>(states.size()), 1);
    for (const Eigen::MatrixXf& state : states) overlaps.see(state);
    return overlaps.time().tau;
  };
  CHECK(time_of({upper, upper, lower, lower}) == Approx(-1 + 2 * 1.25));
  CHECK(std::isinf(time_of({upper, upper, upper, upper})));
  // Units of one half count alike, whichever is on.
  Eigen::MatrixXf other(4, 1);
  other << 0, 1, 0, 0;
  CHECK(time_of({upper, other, lower, lower}) == time_of({upper, upper, lower, lower}));
  Overlaps full(2, 1);
  CHECK_THROWS_AS(full.see(Eigen::MatrixXf::Zero(4, 2)), InvalidArgument);
}

TEST_CASE("class changes are per pair of images that have a class") {
  const Json classes = {{0, 0, 1, ambiguous, 1, 0}, {2, 2, 2}, {2, ambiguous, ambiguous}};
  const std::vector<double> shares = change_shares(classes);
  REQUIRE(shares.size() == 3);
  CHECK(shares[0] == Approx(2.0 / 4));
  CHECK(shares[1] == 0);
  CHECK(std::isnan(shares[2]));
}

TEST_CASE("a time of overlaps counts where batch means support it") {
  const auto of = [](int records, int period) {
    Stream draws(make_key(1, "overlaps"), Purpose::test);
    Overlaps overlaps(records, 40);
    Eigen::MatrixXf states(2, 40);
    for (int t = 0; t < records; ++t) {
      if (t % period == 0)
        for (float& state : states.reshaped()) state = static_cast<float>(draws.below(2));
      overlaps.see(states);
    }
    return overlaps.time();
  };
  const Overlaps::Time short_lived = of(2000, 1), long_lived = of(2000, 1000);
  CHECK(short_lived.supported);
  CHECK(short_lived.tau == Approx(1).margin(0.1));
  CHECK_FALSE(long_lived.supported);  // no batch of 20 times is there
  CHECK(long_lived.tau > 200);
}

TEST_CASE(
    "that Gibbs sampling hardly mixes is asked of its changes beside those of independent states") {
  // Half of all images of adaptive tempering are of either class, a tie dropped: independent ones change in
  // half of the pairs. Gibbs sampling changes in 1 of 2 and 0 of 2, adaptive tempering in 2 of 2 and 1 of 1.
  const Json st = {{0, 1, 0}, {1, 0, ambiguous}, {1, ambiguous, ambiguous}},
             gibbs = {{0, 0, 1}, {1, 1, 1}, {3, 3, 3}};
  CHECK(independent_change_share(st) == Approx(0.5));
  CHECK(independent_change_share({{2, 2, 2}}) == 0);
  CHECK(std::isnan(independent_change_share({{ambiguous}})));
  Summary summary;
  add_change_measures("S13", {{"classes", {{"gibbs", gibbs}, {"st", st}}}}, summary);
  REQUIRE(summary.measures().size() == 2);
  const Measure &difference = summary.measures()[0], &hardly = summary.measures()[1];
  CHECK(difference.part == "the difference");
  CHECK(difference.n == 2);  // the third chain of adaptive tempering has no pair
  CHECK(difference.estimate == Approx((0.5 + 1.0) / 2));
  CHECK(hardly.part == "Gibbs hardly mixes");
  CHECK(hardly.n == 3);
  CHECK(hardly.estimate == Approx((1.0 + 0 + 0) / 3));
  CHECK_THAT(hardly.note, Catch::Contains("in 0.167 of the pairs") && Catch::Contains("in 0.500"));
}

TEST_CASE("images of adaptive tempering are of its last states at b = 1") {
  const Json outputs = sampled(0);
  const Json &st = outputs.at("shown").at("st")[0], &gibbs = outputs.at("shown").at("gibbs")[0];
  CHECK(st[0] == gibbs[0]);  // one random start for both
  CHECK(st != gibbs);
  const std::vector<double> path = numbers(outputs.at("path"));
  REQUIRE(path.size() == 400);
  CHECK(path[0] == 1);
  int away = 0, moved = 0;
  for (std::size_t i = 1; i < path.size(); ++i) {
    if (path[i] == 1) {
      moved += st[i] != st[i - 1];
      continue;
    }
    ++away;
    CHECK(st[i] == st[i - 1]);
  }
  CHECK(away > 100);
  CHECK(moved > 20);
  CHECK(outputs == sampled(0));
  CHECK(outputs.at("path") != sampled(0, 2).at("path"));
  CHECK(sampled(100).at("shown").at("st")[0][0] == st[100]);  // burn-in leaves the first images out
}

TEST_CASE(
    "a page of images lists the runs of pixels that are equally dark, the white ones left out") {
  const Json outputs =
      Json::parse(R"({"shown": {"gibbs": [["110011"]], "st": [["101000", "000001"]]}})");
  Summary summary;
  add_images(outputs, {.rows = 2, .cols = 3}, "caption", summary);
  const auto& data = std::get<Figure>(summary.items().front()).data;
  const std::vector<std::vector<std::string>> runs = {{"gibbs", "0", "0", "0", "0", "2", "1"},
                                                      {"gibbs", "0", "0", "1", "1", "2", "1"},
                                                      {"st", "1", "0", "0", "0", "1", "1"},
                                                      {"st", "1", "0", "0", "2", "1", "1"},
                                                      {"st", "1", "1", "1", "2", "1", "1"}};
  CHECK(std::vector(data.begin() + 1, data.end()) == runs);
  // A level of 16 is a fifteenth; what is darker than black is black.
  const auto greys = [](const std::string&) {
    return std::vector<float>{0.02F, 0.2F, 0.22F, -1, 0.6F, 3};
  };
  Summary grey;
  add_images(outputs, {.rows = 2, .cols = 3, .picture = greys, .levels = 16, .images = 1},
             "caption", grey);
  const auto& darks = std::get<Figure>(grey.items().front()).data;
  REQUIRE(darks.size() == 1 + 2 * 3);  // one image of either sampler's only chain
  CHECK(darks[1] == std::vector<std::string>{"gibbs", "0", "0", "0", "1", "2", "0.2"});
  CHECK(darks[2] == std::vector<std::string>{"gibbs", "0", "0", "1", "1", "1", "0.6"});
  CHECK(darks[3] == std::vector<std::string>{"gibbs", "0", "0", "1", "2", "1", "1"});
}

TEST_CASE("features and pixels of a Gaussian machine are those worked out by hand") {
  Layer pixels{Unit::gaussian(), Eigen::Vector2d(0.5, -1), Eigen::Vector2d(2, 0.5)};
  Layer features{Unit::bernoulli(), Eigen::Vector2d(-1, 0.25), {}};
  const Layered rbm({pixels, features}, {(Eigen::Matrix2d() << 1, -2, 3, 4).finished()});
  // Inputs of case (1, 1): -1 + 1 + 3 = 3 and 0.25 - 2 + 4 = 2.25; of (0.7, 0): -0.3 and -1.15.
  Eigen::MatrixXf cases(2, 3);
  cases << 1, 0.7F, 0, 1, 0, 0;
  const Eigen::MatrixXf expected = (Eigen::MatrixXf(2, 3) << 1, 0, 0, 1, 0, 1).finished();
  CHECK(likeliest_features(rbm, cases) == expected);
  // 0.5 + 4 * -2 and -1 + 0.25 * 4.
  CHECK(mean_pixels(rbm, {0, 1}) == Eigen::Vector2d(-7.5, 0));
  CHECK(mean_pixels(rbm, {0, 0}) == Eigen::Vector2d(0.5, -1));
  CHECK_THROWS_AS(mean_pixels(rbm, {1}), InvalidArgument);
  CHECK_THROWS_AS(likeliest_features(rbm, Eigen::MatrixXf::Zero(3, 1)), InvalidArgument);
  const std::vector<int> sizes = {2, 2, 2};
  const Layered deep = initial_network(sizes, 1, make_key(1, "images"));
  CHECK_THROWS_AS(likeliest_features(deep, cases), InvalidArgument);
  CHECK_THROWS_AS(mean_pixels(deep, {1, 1}), InvalidArgument);
}

TEST_CASE("Fig. 5's categories are those of the grey pictures nearest in features") {
  // Digits and an RBM of theirs stand for the toys, which take long to render.
  const char *features = "../carlson2016/cd25-500", *cases = "mnist:test";
  const Json inputs = {{"model", "norb-toy-dbm"},
                       {"features", features},
                       {"cases", cases},
                       {"chains", kShownChains},
                       {"temperatures", 2},
                       {"lowest", 0.9},
                       {"factor", 10},
                       {"burn_in", 0},
                       {"steps", 1},
                       {"images", 20}};
  TrialContext context;
  context.key = make_key(1, "categories");
  const Json outputs = made::find_experiment("salakhutdinov2010/fig5").run(inputs, context);
  const Dataset grey = load_dataset(cases, {.kind = BinariseOptions::Kind::grey});
  const NearestLabels nearest(
      likeliest_features(committed_model(deep_model_file(features)), grey.values.matrix()),
      grey.labels);
  for (const char* sampler : {"gibbs", "st"})
    for (std::size_t c = 0; c < kShownChains; ++c)
      for (std::size_t i = 0; i < 20; ++i) {
        const std::string bits = outputs.at("shown").at(sampler)[c][i];
        const std::vector<float> state = black_where_on(bits);
        const Eigen::Map<const Eigen::VectorXf> column(state.data(), std::ssize(state));
        CHECK(nearest.classes(column).at(0) == outputs.at("classes").at(sampler)[c][i]);
      }
}

TEST_CASE("more levels make tempered transitions likelier, near b = 1 all are accepted") {
  const Experiment& experiment = made::find_experiment("salakhutdinov2010/acceptance");
  const auto mean = [&](std::vector<int> levels, double lowest) {
    const Json inputs = {
        {"model", "mnist-20-30"}, {"chains", 32}, {"levels", levels}, {"lowest", lowest}};
    const Json acceptance = experiment.run(inputs, TrialContext()).at("acceptance");
    std::vector<double> means;
    for (const Json& of_chains : acceptance) means.push_back(mean_of(numbers(of_chains)));
    return means;
  };
  CHECK(mean({2}, 0.99999)[0] > 0.99);
  const std::vector<double> more = mean({2, 20}, 0.9);
  CHECK(more[1] > more[0] + 0.2);
  CHECK(mean({20}, 0.5)[0] < 0.1);
}

// From the same states by the same ladder, draws that are shared would make the same transitions.
TEST_CASE("tempered transitions of each number of levels have draws of their own") {
  const Json inputs = {
      {"model", "mnist-20-30"}, {"chains", 16}, {"levels", {2, 2, 2}}, {"lowest", 0.9}};
  const Json acceptance = made::find_experiment("salakhutdinov2010/acceptance")
                              .run(inputs, TrialContext())
                              .at("acceptance");
  REQUIRE(acceptance.size() == 3);
  for (const auto& [a, b] : {std::pair{0, 1}, {0, 2}, {1, 2}}) {
    const std::vector<double> first = numbers(acceptance[a]), second = numbers(acceptance[b]);
    REQUIRE(first.size() == 16);
    CHECK(first != second);
  }
}

TEST_CASE(
    "no bound of the committed machine exceeds its likelihood, and it is tight but not exact") {
  const Experiment& experiment = made::find_experiment("salakhutdinov2010/tightness");
  const Json inputs = {{"model", "mnist-20-30"}, {"how", "exact"}, {"cases", 20}};
  const Json outputs = experiment.run(inputs, TrialContext());
  const std::vector<double> log_f = numbers(outputs.at("log_f")),
                            bound = numbers(outputs.at("bound"));
  REQUIRE(log_f.size() == 20);
  for (std::size_t c = 0; c < log_f.size(); ++c) {
    CHECK(bound[c] <= log_f[c] + 1e-9);
    CHECK(bound[c] > log_f[c] - 20);
  }
  CHECK(mean_of(bound) < mean_of(log_f) - 0.01);
}

TEST_CASE("an experiment on a model that is not there runs nothing and says so in a line") {
  for (const char* id : {"salakhutdinov2010/fig4", "salakhutdinov2010/acceptance"}) {
    const Summary summary = made::sum_up(id, {}, Profile::quick);
    REQUIRE(summary.items().size() == 1);
    CHECK_THAT(std::get<std::string>(summary.items().front()),
               Catch::Contains("mnist-500-1000-cast.npz is not here"));
    CHECK(summary.measures().empty());
  }
  CHECK_FALSE(has_model(deep_model_file("no-such-model")));
  CHECK_THROWS_AS(committed_model(deep_model_file("no-such-model")), DataError);
}

}  // namespace boltzmark::experiments

// Models whose log Z is known: held to enumeration, to a transfer matrix and to published values.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "verification/checks/known/known_model.hpp"

using namespace boltzmark;

namespace {

// log trace T^L, T the matrix from one row of spins to the next.
double transfer_log_z(int size, double coupling) {
  const int states = 1 << size;
  const auto spin = [](int row, int i) { return (row >> i & 1) != 0 ? 1 : -1; };
  Eigen::MatrixXd transfer(states, states);
  for (int a = 0; a < states; ++a)
    for (int b = 0; b < states; ++b) {
      int sum = 0;
      for (int i = 0; i < size; ++i)
        sum += spin(a, i) * spin(a, (i + 1) % size) + spin(a, i) * spin(b, i);
      transfer(a, b) = std::exp(coupling * (sum - 2.0 * size));
    }
  Eigen::MatrixXd power = transfer;
  for (int row = 1; row < size; ++row) power = power * transfer;
  return std::log(power.trace()) + 2.0 * coupling * size * size;
}

// Nats by which the states with half of the strong units on, or more, are ahead of all others. Units
// are told by the sizes of their weights. Visible units have no bias but what flipped hidden units
// left them, which is against those units' columns as the patterns are orthogonal.
double strong_ahead(const Layered& model, double strong_size) {
  const Eigen::MatrixXd& weights = model.weights(0);
  const Eigen::Index hidden = weights.cols();
  LogSum ahead, others;
  for (int state = 0; state < 1 << hidden; ++state) {
    Eigen::VectorXd h(hidden);
    int strong = 0, on = 0;
    for (Eigen::Index j = 0; j < hidden; ++j) {
      h[j] = state >> j & 1;
      if (std::abs(std::abs(weights(0, j)) - strong_size) > 1e-12) continue;
      ++strong;
      const bool flipped = model.bias(0).dot(weights.col(j)) < -1e-9;
      on += flipped ? h[j] == 0 : h[j] == 1;
    }
    double log_weight = model.bias(1).dot(h);
    const Eigen::VectorXd inputs = model.bias(0) + weights * h;
    for (const double input : inputs) log_weight += softplus(input);
    (2 * on >= strong ? ahead : others).add(log_weight);
  }
  return ahead.log() - others.log();
}

void check_by_enumeration(const KnownModel& made) {
  const ExactLogZ exact = exact_log_z(made.model);
  CHECK(std::abs(exact.log_z - made.known.log_z) <= exact.error_bound + made.known.error + 1e-12);
}

}  // namespace

TEST_CASE("the lattice's log Z is that of its states, below, at and above the critical coupling") {
  for (const double coupling : {0.05, 0.3, critical_coupling(), 0.6, 2.0}) {
    INFO(coupling);
    for (const int size : {4, 6})
      check_by_enumeration({ising_lattice(size, coupling), {ising_log_z(size, coupling), 0, ""}});
    CHECK(ising_log_z(8, coupling) == Approx(transfer_log_z(8, coupling)).epsilon(1e-12));
  }
  CHECK(critical_coupling() == Approx(0.44068679350977147).epsilon(1e-15));
  CHECK(ising_log_z(32, critical_coupling()) == Approx(952.648080).epsilon(0).margin(5e-7));
  // Free spins, and two frozen states.
  CHECK(ising_log_z(256, 1e-6) == Approx(65536 * std::log(2.0)).epsilon(1e-11));
  CHECK(ising_log_z(256, 10) == Approx(2 * 65536 * 10.0 + std::log(2.0)).epsilon(1e-14));
}

TEST_CASE("every spin of a lattice has four neighbours, and all are one piece") {
  const Layered model = ising_lattice(6, 0.5);
  const Eigen::MatrixXd& weights = model.weights(0);
  CHECK((weights.array() == 0.5).rowwise().count().isConstant(4));
  CHECK((weights.array() == 0.5).colwise().count().isConstant(4));
  CHECK((weights.array() != 0).count() == 72);
  // Two steps are a neighbour of the same colour: nine there, itself included.
  CHECK(((weights * weights.transpose()).array() != 0).rowwise().count().isConstant(9));
}

TEST_CASE("families that are enumerated say their own log Z, and every example is made") {
  for (const ModelFamily& family : model_families()) {
    INFO(family.form);
    const KnownModel made = make_known_model(family.example);
    CHECK(std::isfinite(made.known.log_z));
    CHECK_FALSE(made.known.by.empty());
    CHECK_FALSE(family.meaning.empty());
  }
  for (const char* text :
       {"random:9:4:1:3", "product:3:4:2:1:5", "well:20:6:3:2", "patterns:9:5:0.7:1",
        "tilted:6:5:0.4:2", "glass:7:5:0.6:1", "deep:6:4:5:0.8:2", "deep:3:9:2:1:2"}) {
    INFO(text);
    const KnownModel made = make_known_model(text);
    check_by_enumeration(made);
    CHECK(make_known_model(text).model.weights(0) == made.model.weights(0));
  }
  CHECK(make_known_model("deep:6:4:5:0.8:2").model.layers() == 3);
  // Of both layers beside the hidden one.
  CHECK_THROWS_WITH(make_known_model("deep:20:30:20:1:1"),
                    Catch::Contains("(VISIBLE + TOP) x HIDDEN = 40 x 30"));
  CHECK_THROWS_AS(make_known_model("deep:1:1:1:-1:1"), InvalidArgument);
  CHECK(make_known_model("random:9:4:1:3").model.weights(0) !=
        make_known_model("random:9:4:1:4").model.weights(0));
}

TEST_CASE("a planted well holds the mass that it is named by, and no neighbour leads to it") {
  const KnownModel made = make_known_model("well:30:8:4:7");
  // log f(h) of all hidden states: the deepest, its neighbours, and all others together.
  double deepest = -1e300, others = 0;
  int at = 0;
  std::vector<double> log_f;
  for (int h = 0; h < 256; ++h) {
    Eigen::VectorXd bits(8);
    for (int j = 0; j < 8; ++j) bits[j] = h >> j & 1;
    const Eigen::VectorXd inputs = made.model.weights(0) * bits + made.model.bias(0);
    double value = made.model.bias(1).dot(bits);
    for (const double x : inputs) value += std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
    log_f.push_back(value);
    if (value > deepest) deepest = value, at = h;
  }
  for (int h = 0; h < 256; ++h)
    if (h != at) others += std::exp(log_f[h] - deepest);
  CHECK(-std::log(others) == Approx(4).margin(0.5));
  for (int j = 0; j < 8; ++j)
    for (int k = 0; k < 8; ++k)
      CHECK(std::abs(log_f[at ^ (1 << j)] - log_f[at ^ (1 << j) ^ (1 << k)]) <
            (j == k ? 1e9 : 0.5));
}

TEST_CASE("each pattern is on by itself as often as off") {
  // f of all states with one unit on is e^bias prod_i (1 + e^w_i), with none 2^9.
  const Layered model = make_known_model("patterns:9:5:0.7:1").model;
  for (int j = 0; j < 5; ++j) {
    double on = model.bias(1)[j];
    for (int i = 0; i < 9; ++i) on += std::log1p(std::exp(model.weights(0)(i, j)));
    CHECK(on == Approx(9 * std::log(2.0)).epsilon(1e-12));
  }
  CHECK(model.bias(0).isZero(0));
}

TEST_CASE("two tilted modes are as far apart as asked") {
  const Layered model = make_known_model("tilted:20:6:0.5:1.5").model;
  const State on{Eigen::VectorXd::Ones(20), Eigen::VectorXd::Ones(6)},
      off{Eigen::VectorXd::Zero(20), Eigen::VectorXd::Zero(6)};
  CHECK(energy(model, off) - energy(model, on) == Approx(1.5));
}

TEST_CASE("parts of a product do not meet, and their units are shuffled") {
  const Layered model = make_known_model("product:5:4:3:1:2").model;
  const Eigen::MatrixXd& weights = model.weights(0);
  CHECK((weights.array() != 0).rowwise().count().isConstant(3));
  CHECK((weights.array() != 0).colwise().count().isConstant(4));
  CHECK((weights.topLeftCorner(4, 3).array() == 0).any());
}

TEST_CASE("models that cannot be are refused by the number that is wrong") {
  const auto refusal = [](const char* text) -> std::string {
    try {
      make_known_model(text);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  CHECK(refusal("ising:5:1").find("size = 5") == 0);
  CHECK(refusal("ising:4:0").find("COUPLING = 0 (must be a number from 1e-06 to 10)") == 0);
  CHECK(refusal("ising:4:1e-320").find("COUPLING = ") == 0);
  CHECK(refusal("ising:130:1").find("L = 130 (must be a number from 4 to 128)") == 0);
  CHECK(refusal("random:65536:26:1:1").find("VISIBLE x HIDDEN = 65536 x 26") == 0);
  CHECK(refusal("ising:4:nan").find("COUPLING = nan") == 0);
  CHECK(refusal("ising:4").find("model = ising:4 (must be ising:L:COUPLING") == 0);
  CHECK(refusal("random:0:4:1:1").find("VISIBLE = 0") == 0);
  CHECK(refusal("random:40:27:1:1").find("VISIBLE x HIDDEN = 40 x 27") == 0);
  CHECK(refusal("product:9:13:13:1:1").find("COUNT x VISIBLE x HIDDEN") == 0);
  CHECK(refusal("product:4096:5:5:1:1").find("COUNT x VISIBLE x HIDDEN") == 0);  // 20480 a side
  CHECK(refusal("product:4096:4:4:1:1").find("COUNT x VISIBLE x HIDDEN") == 0);  // 2^28 weights
  CHECK(refusal("votes:100:1000:1000:1:1").find("WEAK x STRONG = 1000 x 1000") == 0);
  CHECK(refusal("votes:65536:4000:1:1:1").find("VISIBLE x") == 0);  // 65536 x 4001 weights
  CHECK(refusal("stars:4096:16:1:1").find("COUNT x") == 0);         // 65536 x 4096 weights
  CHECK(refusal("well:9:4:-1:1").find("DEPTH = -1") == 0);
  CHECK(refusal("random:9:4:1:x").find("SEED = x") == 0);
  CHECK(refusal("potts:3").find("must be one of ising:L:COUPLING") != std::string::npos);
}

TEST_CASE("gates are enumerated to their log Z, what is behind one as far ahead as is asked") {
  for (const char* name : {"gate:4:0.5:1:1", "gate:3:-2:1:7", "gate:5:3:2:3", "gate:6:2:0:5"})
    check_by_enumeration(make_known_model(name));
  // What the gate's unit adds to log f summed over the pattern's units, whatever their encoding.
  const auto behind = [](const char* name) {
    const Layered model = make_known_model(name).model;
    double on = model.bias(1)[0], off = 0;
    for (int i = 0; i < model.size(0); ++i) {
      on += softplus(model.bias(0)[i] + model.weights(0)(i, 0));
      off += softplus(model.bias(0)[i]);
    }
    return std::abs(on - off);  // either may be behind the gate
  };
  CHECK(behind("gate:6:2:0:5") == Approx(2).epsilon(1e-12));
  CHECK(behind("gate:9:-3:0:2") == Approx(3).epsilon(1e-12));
  CHECK_THROWS_AS(make_known_model("gate:0:1:1:1"), InvalidArgument);
  CHECK_THROWS_AS(make_known_model("gate:4:1:513:1"), InvalidArgument);
  CHECK_THROWS_AS(make_known_model("gate:4:1:1"), InvalidArgument);
}

TEST_CASE(
    "stars have the log Z of a sum over 200,000 points of each, and of their peaks where these are sharp") {
  const auto log_phi = [](double x) {  // log of the integral of e^(x v) over [-1, 1]
    return x == 0 ? std::log(2.0)
                  : std::abs(x) + std::log(-std::expm1(-2 * std::abs(x)) / std::abs(x));
  };
  const auto log_f = [&](const Layered& model, int j, double h) {
    double sum = model.bias(1)[j] * h;
    for (int i = 0; i < model.size(0); ++i)
      if (const double w = model.weights(0)(i, j); w != 0) sum += log_phi(model.bias(0)[i] + w * h);
    return sum;
  };
  for (const char* name :
       {"stars:1:1:1:1", "stars:3:1:4:2", "stars:2:5:1.5:3", "stars:2:40:0.5:4"}) {
    const KnownModel made = make_known_model(name);
    CHECK(made.model.layer(0).unit == Unit::continuous());
    CHECK(made.model.layer(1).unit == Unit::continuous());
    CHECK(((made.model.weights(0).array() != 0).rowwise().count() == 1).all());
    constexpr int kPoints = 200000;  // Simpson's rule, off by its fourth power
    double log_z = 0;
    for (int j = 0; j < made.model.size(1); ++j) {
      LogSum sum;
      for (int k = 0; k <= kPoints; ++k)
        sum.add(std::log(k == 0 || k == kPoints ? 1
                         : k % 2 == 1           ? 4
                                                : 2) +
                log_f(made.model, j, -1 + 2.0 * k / kPoints));
      log_z += sum.log() + std::log(2.0 / kPoints / 3);
    }
    INFO(name);
    CHECK(made.known.log_z == Approx(log_z).epsilon(0).margin(1e-10));
    CHECK(std::abs(made.known.log_z - log_z) <= made.known.error + 1e-11);
    CHECK(made.known.error > 0);
    CHECK(made.known.error < 1e-8);
  }
  // Weights of zero: a side of 2 each.
  CHECK(make_known_model("stars:3:4:0:1").known.log_z == Approx(15 * std::log(2.0)).epsilon(1e-13));
  // Laplace's method at both ends, whose next term is the curvature over the slope's square.
  const KnownModel sharp = make_known_model("stars:1:400:100:1");
  LogSum ends;
  for (const double end : {-1.0, 1.0}) {
    const double step = 1e-7, at = log_f(sharp.model, 0, end);
    ends.add(at - std::log((at - log_f(sharp.model, 0, end * (1 - step))) / step));
  }
  CHECK(sharp.known.log_z == Approx(ends.log()).epsilon(0).margin(0.01));
  // So steep that all but e^-50 lies within a millionth of the ends.
  Stream draws(make_key(4), Purpose::test);
  const KnownModel sharpest = make_stars({.count = 1, .visible = 64, .strength = 1e6}, draws);
  LogSum sharp_ends;
  for (const double end : {-1.0, 1.0}) {
    const double step = 1e-7, at = log_f(sharpest.model, 0, end);
    sharp_ends.add(at - std::log((at - log_f(sharpest.model, 0, end * (1 - step))) / step));
  }
  CHECK(sharpest.known.log_z == Approx(sharp_ends.log()).epsilon(0).margin(1e-4));
  CHECK_THROWS_AS(make_known_model("stars:0:1:1:1"), InvalidArgument);
  CHECK_THROWS_AS(make_known_model("stars:4096:4096:1:1"), InvalidArgument);
  CHECK_THROWS_AS(make_known_model("stars:2:2:-1:1"), InvalidArgument);
}

TEST_CASE("votes are enumerated to their log Z, the strong pattern ahead by what is asked") {
  for (const char* name :
       {"votes:16:8:4:3:1", "votes:9:5:3:-2:2", "votes:4:1:1:0:3", "votes:40:9:1:20:4"})
    check_by_enumeration(make_known_model(name));
  Stream draws(make_key(1), Purpose::test);
  const KnownModel made = make_votes({.visible = 12, .weak = 5, .strong = 3, .ahead = 2.5}, draws);
  const Eigen::MatrixXd& weights = made.model.weights(0);
  const double strong_size = 2.5 / 3, weak_size = 5.0 / 5;
  int strong = 0, weak = 0;
  for (int j = 0; j < 8; ++j) {
    strong += (weights.col(j).array().abs() - strong_size).abs().maxCoeff() < 1e-12;
    weak += (weights.col(j).array().abs() - weak_size).abs().maxCoeff() < 1e-12;
  }
  CHECK(strong == 3);
  CHECK(weak == 5);
  // Odd and even numbers of strong units, from far ahead to far behind.
  for (const Votes& votes :
       {Votes{.visible = 12, .weak = 5, .strong = 3, .ahead = 2.5}, Votes{12, 5, 4, 0},
        Votes{8, 4, 1, 20}, Votes{12, 5, 3, -3}, Votes{16, 5, 3, -100}, Votes{12, 3, 2, -1000}}) {
    INFO(votes.strong << " strong units, " << votes.ahead << " nats ahead");
    const KnownModel one = make_votes(votes, draws);
    CHECK(strong_ahead(one.model, 2.5 / votes.strong) ==
          Approx(votes.ahead).epsilon(0).margin(1e-9));
    check_by_enumeration({one.model, one.known});
  }
  CHECK_THROWS_AS(make_votes({.visible = 12, .weak = 0, .strong = 3}, draws), InvalidArgument);
  CHECK_THROWS_AS(make_known_model("votes:100:40000:40000:1:1"), InvalidArgument);
}

TEST_CASE("parities are enumerated to their log Z, and one state meets all") {
  for (const char* name : {"parity:4:3:1", "parity:12:6:2", "parity:16:1.5:3", "parity:9:0:4"})
    check_by_enumeration(make_known_model(name));
  Stream draws(make_key(2), Purpose::test);
  const ParityModel made = make_parities({.visible = 60, .strength = 12}, draws);
  CHECK((made.model.weights(0).array() != 0).count() == 12 * 60);
  const auto log_f = [&](const Eigen::VectorXd& v) {
    const Eigen::VectorXd input = made.model.weights(0).transpose() * v + made.model.bias(1);
    double sum = 0;
    for (const double x : input) sum += softplus(x);
    return sum;
  };
  // A constraint that is met has 6 nats and some more; one flip breaks as many as have the unit.
  const double all = log_f(made.planted);
  CHECK(all == Approx(60 * 6.0025).epsilon(1e-5));
  for (int i = 0; i < 60; ++i) {
    Eigen::VectorXd other = made.planted;
    other[i] = 1 - other[i];
    const auto broken = (made.model.weights(0).row(i).array() != 0).count() / 4;
    CHECK(broken > 0);
    CHECK(log_f(other) == Approx(all - broken * 5.995).margin(0.01 * static_cast<double>(broken)));
  }
  CHECK_THROWS_AS(make_parities({.visible = 3, .strength = 1}, draws), InvalidArgument);
  CHECK_THROWS_AS(make_known_model("parity:60:-1:1"), InvalidArgument);
  CHECK_THROWS_AS(make_known_model("parity:4096:1:1"), InvalidArgument);
}

TEST_CASE(
    "strips of spins are enumerated to their log Z, and a chain of them has it in closed form") {
  for (const char* name : {"strip:3:4:1:0.3:1", "strip:1:7:1:1:2", "strip:4:5:2:0.5:3",
                           "strip:16:2:1:0.1:1", "strip:5:3:0:1:5"})
    check_by_enumeration(make_known_model(name));
  // Without fields a chain of n spins has Z = 2^n prod cosh J.
  Stream draws(make_key(3), Purpose::test);
  const KnownModel chain =
      make_strip({.width = 1, .length = 2000, .strength = 1.5, .field = 0}, draws);
  double log_z = 2000 * std::log(2.0);
  for (const double w : chain.model.weights(0).reshaped()) log_z += std::log(std::cosh(w));
  CHECK(chain.known.log_z == Approx(log_z).epsilon(1e-13));
  // Of spins that nothing holds Z = 2^n: roundings that all have one sign stay within the error told.
  for (const int width : {1, 2, 3, 5}) {
    const int length = width == 3 ? 4095 : 4096;
    const KnownLogZ free =
        make_strip({.width = width, .length = length, .strength = 0, .field = 0}, draws).known;
    INFO(width);
    CHECK(std::abs(free.log_z - width * length * std::log(2.0)) <= free.error);
    CHECK(free.error < 1e-9);
  }
  CHECK((chain.model.weights(0).array() != 0).count() == 1999);
  // Inner spins of a strip have four neighbours.
  const Layered strip = make_known_model("strip:5:9:1:0:1").model;
  CHECK((strip.weights(0).array() != 0).count() == 4 * 9 + 5 * 8);
  CHECK((strip.weights(0).array() != 0).rowwise().count().maxCoeff() == 4);
  CHECK_THROWS_AS(make_strip({.width = 17, .length = 2}, draws), InvalidArgument);
  CHECK_THROWS_AS(make_known_model("strip:16:4096:1:1:1"), InvalidArgument);
}

TEST_CASE(
    "conjunctions are enumerated to their log Z, which a sum along the line has from both ends") {
  for (const char* name :
       {"conjunctions:14:9:4:2:3:1", "conjunctions:16:30:5:3:8:2", "conjunctions:5:7:5:5:4:3",
        "conjunctions:9:4:1:1:2:4", "conjunctions:20:9:6:4:0:5", "conjunctions:1:1:1:1:7:6"})
    check_by_enumeration(make_known_model(name));
  for (const auto& [name, window] :
       {std::pair{"conjunctions:80:160:8:4:8:1", 8}, {"conjunctions:400:300:11:6:20:2", 11}}) {
    const KnownModel made = make_known_model(name);
    const Layered& model = made.model;
    const KnownLogZ back = sum_along_line(
        Layered::rbm(model.weights(0).colwise().reverse(), model.bias(0).reverse(), model.bias(1)),
        window);
    INFO(name);
    CHECK(made.known.error < 1e-9);
    CHECK(std::abs(back.log_z - made.known.log_z) <= back.error + made.known.error);
  }
}

TEST_CASE("a sum along a line is that by hand, of any weights within its window") {
  // Z = sum over v of 2^v1 3^v2 (1 + 2^v0 3^v1) (1 + 2 * 5^v1 / 2^v2) = 5 * 9 + 2 * 11 * 29.
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(3, 2);
  weights(0, 0) = std::log(2.0);
  weights(1, 0) = std::log(3.0);
  weights(1, 1) = std::log(5.0);
  weights(2, 1) = -std::log(2.0);
  const Layered model = Layered::rbm(weights, Eigen::Vector3d(0, std::log(2.0), std::log(3.0)),
                                     Eigen::Vector2d(0, std::log(2.0)));
  for (const int window : {2, 3, 5, 16}) {
    const KnownLogZ known = sum_along_line(model, window);
    CHECK(known.log_z == Approx(std::log(683.0)).epsilon(0).margin(1e-11));
    CHECK(std::abs(known.log_z - std::log(683.0)) <= known.error);
  }
  CHECK_THROWS_WITH(sum_along_line(model, 1), Catch::Contains("hidden unit 0 sees units 0 to 1"));
  CHECK_THROWS_AS(sum_along_line(model, 0), InvalidArgument);
  CHECK_THROWS_AS(sum_along_line(model, 17), InvalidArgument);
  CHECK_THROWS_AS(sum_along_line(make_known_model("glass:3:3:1:1").model, 3), InvalidArgument);
  CHECK_THROWS_AS(sum_along_line(make_known_model("deep:3:3:3:1:1").model, 3), InvalidArgument);
}

TEST_CASE("each conjunction is met where all of its members are right, and by nothing else") {
  const Layered model = make_known_model("conjunctions:40:60:7:3:8:1").model;
  CHECK(model.bias(0).cwiseAbs().minCoeff() > 0);
  CHECK(model.bias(0).cwiseAbs().maxCoeff() < 1.5);  // five times 0.3
  int on = 0;
  for (int j = 0; j < 60; ++j) {
    const Eigen::VectorXd weights = model.weights(0).col(j);
    int members = 0, first = 40, last = 0;
    double right = model.bias(1)[j];  // the input where all are
    for (int i = 0; i < 40; ++i) {
      if (weights[i] == 0) continue;
      CHECK(std::abs(weights[i]) == 12);
      ++members;
      on += weights[i] > 0;
      right += std::max(weights[i], 0.0);
      first = std::min(first, i);
      last = i;
    }
    CHECK(members == 3);
    CHECK(last - first < 7);
    CHECK(right == 8);  // and -4, -16 or -28 where one, two or three are wrong
  }
  // 180 values, each as often on as off: 6.7 is the standard deviation.
  CHECK(std::abs(on - 90) < 40);
}

TEST_CASE("conjunctions are of their seed, and those that cannot be are refused") {
  const auto make = [](const char* name) { return make_known_model(name).model; };
  const Layered one = make("conjunctions:30:20:6:3:5:1"), same = make("conjunctions:30:20:6:3:5:1"),
                other = make("conjunctions:30:20:6:3:5:2");
  CHECK(one.weights(0) == same.weights(0));
  CHECK(one.bias(0) == same.bias(0));
  CHECK(one.bias(1) == same.bias(1));
  CHECK(one.weights(0) != other.weights(0));
  CHECK(one.bias(0) != other.bias(0));
  for (const auto& [name, said] :
       {std::pair{"conjunctions:0:20:6:3:5:1", "VISIBLE = 0 (must be a number from 1 to 65536)"},
        {"conjunctions:30:0:6:3:5:1", "HIDDEN = 0"},
        {"conjunctions:30:20:17:3:5:1", "WINDOW = 17 (must be a number from 1 to 16)"},
        {"conjunctions:5:20:6:3:5:1", "WINDOW = 6 (must be a number from 1 to 5)"},
        {"conjunctions:30:20:6:7:5:1", "MEMBERS = 7 (must be a number from 1 to 6)"},
        {"conjunctions:30:20:6:0:5:1", "MEMBERS = 0"},
        {"conjunctions:30:20:6:3:-1:1", "STRENGTH = -1 (must be a number from 0 to 1000)"},
        {"conjunctions:30:20:6:3:5:-1", "SEED = -1"},
        {"conjunctions:30:20:6:3:5", "must be conjunctions:VISIBLE:HIDDEN:WINDOW:MEMBERS"},
        {"conjunctions:65536:4096:1:1:1:1", "VISIBLE x HIDDEN = 65536 x 4096"},
        {"conjunctions:1100:10:16:2:1:1", "VISIBLE + HIDDEN, WINDOW = 1100 + 10, 16"}}) {
    INFO(name);
    CHECK_THROWS_WITH(make_known_model(name), Catch::Contains(said));
  }
  Stream draws(make_key(1), Purpose::test);
  const Conjunctions few{.visible = 6, .hidden = 2, .window = 4, .members = 2, .strength = 1};
  CHECK_NOTHROW(make_conjunctions(few, draws));
  for (const Conjunctions& bad :
       {Conjunctions{3, 2, 4, 2, 1}, Conjunctions{6, 2, 4, 5, 1}, Conjunctions{6, 2, 4, 0, 1},
        Conjunctions{6, 0, 4, 2, 1}, Conjunctions{6, 2, 4, 2, -1}, Conjunctions{20, 2, 17, 2, 1}})
    CHECK_THROWS_AS(make_conjunctions(bad, draws), InvalidArgument);
}

TEST_CASE("a sum along a long line that nothing couples is off by no more than it says") {
  // Of free units log Z is a sum; roundings that all have one sign stay within the error told.
  for (const char* name : {"conjunctions:4096:40:3:2:0:1", "conjunctions:3000:500:9:2:0:2"}) {
    const KnownModel made = make_known_model(name);
    double log_z = made.model.size(1) * std::log(2.0);
    CompensatedSum below;
    for (const double bias : made.model.bias(0)) below.add(softplus(bias));
    log_z += below.value();
    INFO(name);
    CHECK(std::abs(made.known.log_z - log_z) <= made.known.error);
    CHECK(made.known.error < 1e-9);
  }
}

TEST_CASE("the error of a known log Z is no less than what its sums are rounded by") {
  // A part's sum of 2^5 products of 40 factors is off by more than 40 roundings.
  const KnownModel product = make_known_model("product:40:10:5:1:1");
  CHECK(product.known.error - 40e-15 * std::abs(product.known.log_z) > 40 * 50 * 0x1p-53);
  const KnownModel gate = make_known_model("gate:6:2:0:5");  // six weights of size 3
  CHECK(gate.known.error >= 1e-14 * (18 + std::abs(gate.known.log_z)));
  CHECK(make_known_model("parity:12:6:2").known.error == Approx(1e-14 * 12 * 7).epsilon(1e-9));
  // A sum along a line rounds each of its 160 hidden units' parts, of up to 8 nats, more than once.
  CHECK(make_known_model("conjunctions:80:160:8:4:8:1").known.error > 160 * 8 * 0x1p-52);
  const KnownModel lattice = make_known_model("ising:4:1");
  CHECK(lattice.known.error == Approx(1e-13 * std::abs(lattice.known.log_z)).epsilon(1e-9));
}

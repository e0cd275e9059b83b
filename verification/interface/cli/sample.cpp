#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>

#include "boltzmark/io/formats/npz.hpp"
#include "boltzmark/learn/phases/negative.hpp"
#include "boltzmark/sample/chains/persistent_chains.hpp"
#include "boltzmark/transition/sweep.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/cli/program.hpp"

namespace {

using namespace cli_test;

/// The numbers of an array, in the file's order.
template <class Number>
std::vector<Number> numbers_of(const boltzmark::Npz& file, const std::string& name) {
  const auto array = file.read(name);
  std::vector<Number> numbers(array.bytes.size() / sizeof(Number));
  std::memcpy(numbers.data(), array.bytes.data(), array.bytes.size());
  return numbers;
}

/// Bytes of the uint8 array of an .npz file.
std::vector<unsigned char> bytes_of(const std::string& path, const std::string& name) {
  return boltzmark::Npz(path).read(name).bytes;
}

/// The library's own sampler of 11 chains and 200 sweeps, as the command makes it of seed 3.
std::unique_ptr<boltzmark::Sampler> own_sampler(const boltzmark::Layered& model,
                                                const boltzmark::Negative& moves) {
  const auto key = boltzmark::make_key(3, "sample");
  boltzmark::Chains start(model, 11);
  start.randomise(key);
  return boltzmark::make_sampler(moves, {.model = model,
                                         .packing = {.chains = 11, .sweeps = 200},
                                         .key = key,
                                         .start = &start,
                                         .draws = std::make_shared<boltzmark::PhiloxDraws>(key)});
}

}  // namespace

TEST_CASE("samples are the same for one and two threads, and hold what the help says") {
  const io_test::Folder folder;
  const auto model = random_rbm(6, 3, 1, 9);
  const std::string path = saved(model, folder / "m.npz");
  const auto sample = [&](const std::string& out, const std::string& threads) {
    return run({"sample", path, "--rule", "flip", "--chains", "37", "--sweeps", "20", "--every",
                "7", "--seed", "3", "--threads", threads, "--out", folder / out, "--json"});
  };
  const Run one = sample("one.npz", "1");
  REQUIRE(one.code == 0);
  REQUIRE(sample("two.npz", "2").code == 0);
  CHECK(io_test::read_all(folder / "one.npz") == io_test::read_all(folder / "two.npz"));
  CHECK(Json::parse(one.out)["kept"] == 2);

  const boltzmark::Npz file(folder / "one.npz");
  using Shape = std::vector<std::uint64_t>;
  CHECK(file.read("visible").shape == Shape{2, 37, 6});
  CHECK(file.read("hidden").shape == Shape{2, 37, 3});
  CHECK(file.read("energy").shape == Shape{2, 37});
  CHECK(file.read("sweep").integers() == std::vector<std::int32_t>{7, 14});
  const auto visible = bytes_of(folder / "one.npz", "visible");
  const auto hidden = bytes_of(folder / "one.npz", "hidden");
  const Eigen::MatrixXd energies = file.read("energy").matrix();
  for (int k = 0; k < 2; ++k)
    for (int chain = 0; chain < 37; ++chain) {
      const int at = k * 37 + chain;
      Eigen::VectorXd v(6);
      Eigen::VectorXd h(3);
      for (int i = 0; i < 6; ++i) v[i] = visible[at * 6 + i];
      for (int j = 0; j < 3; ++j) h[j] = hidden[at * 3 + j];
      CHECK((v.array() * (1 - v.array()) == 0).all());
      // Sums of at most 27 terms below 1 in size, in double.
      CHECK(energies(k, chain) == Approx(-brute_log_weight(model, v, h)).margin(1e-12));
    }
}

TEST_CASE(
    "other samplers draw other states, and those that cannot sample a fixed model are refused") {
  const io_test::Folder folder;
  const std::string path = saved(random_rbm(6, 3, 1, 9), folder / "m.npz");
  const auto sample = [&](const Arguments& more) {
    Arguments all = {"sample", path,    "--chains",       "11",      "--sweeps",
                     "20",     "--out", folder / "s.npz", "--force", "--json"};
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  };
  const auto states = [&] { return bytes_of(folder / "s.npz", "visible"); };
  REQUIRE(sample({}).code == 0);
  const auto plain = states();
  const Run gibbs = sample({"--sampler", "gibbs"});
  CHECK(states() == plain);
  CHECK(Json::parse(gibbs.out)["sampler"] == "gibbs");
  for (const std::string sampler : {"tt:3:0.5", "pt:3:2", "pt:3:2:0.5"}) {
    INFO(sampler);
    REQUIRE(sample({"--sampler", sampler, "--threads", "1"}).code == 0);
    const auto one = states();
    REQUIRE(sample({"--sampler", sampler, "--threads", "2"}).code == 0);
    CHECK(states() == one);
    CHECK(one != plain);
    CHECK(boltzmark::Npz(folder / "s.npz").read("visible").shape ==
          std::vector<std::uint64_t>{1, 11, 6});
  }
  std::filesystem::remove(folder / "s.npz");
  const Arguments refused[] = {
      {"--sampler", "cd:1"},    {"--sampler", "fpcd:1"},   {"--sampler", "pcd:1"},
      {"--sampler", "gibbs:1"}, {"--sampler", "tt:1:0.5"}, {"--sampler", "tt:3:1"},
      {"--sampler", "tt:3"},    {"--sampler", "pt:3:3"},   {"--sampler", "pt:3:2", "--every", "5"}};
  for (const Arguments& options : refused) {
    const Run result = sample(options);
    INFO(options[1] << ": " << result.err);
    CHECK(result.code == 2);
    CHECK(lines(result.err) == 1);
    CHECK_FALSE(std::filesystem::exists(folder / "s.npz"));
  }
}

TEST_CASE("a sampler's rungs and adaptive weights are kept as the library's own run has them") {
  const io_test::Folder folder;
  const auto model = random_rbm(6, 3, 1, 9);
  const std::string path = saved(model, folder / "m.npz");
  for (const std::string sampler : {"gibbs", "tt:3:0.5", "pt:4:2", "st:3:0.5"}) {
    INFO(sampler);
    REQUIRE(run({"sample", path, "--sampler", sampler, "--chains", "11", "--sweeps", "200",
                 "--every", "40", "--seed", "3", "--out", folder / "s.npz", "--force"})
                .code == 0);
    const auto own = own_sampler(model, boltzmark::parse_sampler(sampler));
    std::vector<std::int32_t> rungs;
    std::vector<double> log_weights;
    for (int kept = 0; kept < 5; ++kept) {
      own->advance(40);
      for (const int rung : own->rungs()) rungs.push_back(rung);
      if (const auto* pt = dynamic_cast<const boltzmark::PersistentLadders*>(own.get()))
        for (int bundle = 0; bundle < 11; ++bundle) {
          const int chain = 4 * bundle + rungs.end()[bundle - 11];
          CHECK(pt->ladders().rung(chain) == 3);  // which is at b = 1 now
        }
      for (const double weight : own->log_weights()) log_weights.push_back(weight);
    }
    const boltzmark::Npz file(folder / "s.npz");
    CHECK(file.contains("rung") == (sampler != "gibbs"));
    CHECK(file.contains("log_weights") == (sampler == "st:3:0.5"));
    if (!file.contains("rung")) continue;
    using Shape = std::vector<std::uint64_t>;
    CHECK(file.read("rung").shape == Shape{5, 11});
    CHECK(numbers_of<std::int32_t>(file, "rung") == rungs);
    const int top = sampler == "pt:4:2" ? 3 : 2;
    CHECK((*std::min_element(rungs.begin(), rungs.end()) < top) == (sampler != "tt:3:0.5"));
    CHECK(*std::max_element(rungs.begin(), rungs.end()) == top);
    if (!file.contains("log_weights")) continue;
    CHECK(file.read("log_weights").shape == Shape{5, 11, 3});
    CHECK(numbers_of<double>(file, "log_weights") == log_weights);
    CHECK(log_weights[2] == 0);  // relative to b = 1
    std::set<std::vector<double>> chains;
    for (std::size_t at = 0; at < log_weights.size(); at += 3)
      chains.insert({log_weights.begin() + static_cast<std::ptrdiff_t>(at),
                     log_weights.begin() + static_cast<std::ptrdiff_t>(at) + 3});
    CHECK(chains.size() > 5);  // more than one chain's of five times
  }
}

TEST_CASE("sample takes the factor of adaptive tempering, which vanishes where none is given") {
  const io_test::Folder folder;
  const auto model = random_rbm(6, 3, 1, 9);
  const std::string path = saved(model, folder / "m.npz");
  const auto sampled = [&](const Arguments& more) {
    const Json told =
        json_of(with({"sample", path, "--sampler", "st:3:0.5", "--chains", "11", "--sweeps", "200",
                      "--seed", "3", "--out", folder / "s.npz", "--force"},
                     more));
    const boltzmark::Npz file(folder / "s.npz");
    CHECK(told["warnings"].size() == (more == Arguments{"--factor", "constant:2"} ? 1 : 0));
    return std::pair(told["sampler"], numbers_of<double>(file, "log_weights"));
  };
  const auto by_hand = [&](boltzmark::AdaptingFactor factor) {
    boltzmark::Negative moves = boltzmark::Negative::st(3, 0.5);
    moves.factor = factor;
    const auto own = own_sampler(model, moves);
    own->advance(200);
    return own->log_weights();
  };
  const auto [plain, vanishing] = sampled({});
  CHECK(plain == "st:3:0.5");
  CHECK(vanishing == by_hand({.vanishing = true, .size = 10}));
  const auto [name, constant] = sampled({"--factor", "constant:2"});
  CHECK(name == "st:3:0.5 --factor constant:2");
  CHECK(constant == by_hand({.size = 2}));
  CHECK(constant != vanishing);
  CHECK(sampled({"--factor", "vanishing:10"}).second == vanishing);
  const Arguments sample = {"sample", path, "--out", folder / "x.npz", "--factor"};
  check_refused(run(with(sample, {"constant:10"})),
                {"--factor is given (must come with --sampler"});
  check_refused(run(with(sample, {"constant:10", "--sampler", "pt:3:1"})), {"--factor is given"});
  check_refused(run(with(sample, {"constant:0", "--sampler", "st:3:0.5"})),
                {"--factor = constant:0 (must be"});
  check_refused(run(with(sample, {"constant:10", "--given", "bas"})), {"--factor is given"});
  CHECK_FALSE(std::filesystem::exists(folder / "x.npz"));
}

// What a piece of a run draws follows from how many sweeps were made before it.
TEST_CASE("states kept on the way are those of one unbroken run, and no two are alike") {
  const io_test::Folder folder;
  const auto model = random_rbm(6, 3, 1, 9);
  const std::string path = saved(model, folder / "m.npz");
  const auto key = boltzmark::make_key(3, "sample");
  const auto kept = [&](const Arguments& more) {
    Arguments all = {"sample", path,    "--chains",       "37",     "--sweeps", "12", "--seed",
                     "3",      "--out", folder / "s.npz", "--force"};
    all.insert(all.end(), more.begin(), more.end());
    REQUIRE(run(all).code == 0);
    return std::pair(bytes_of(folder / "s.npz", "visible"), bytes_of(folder / "s.npz", "hidden"));
  };
  for (const char* rule : {"gibbs", "flip", "blend:0.5"}) {
    INFO(rule);
    const auto [visible, hidden] = kept({"--rule", rule, "--every", "1"});
    std::set<std::vector<unsigned char>> different;
    for (int sweeps = 1; sweeps <= 12; ++sweeps) {
      boltzmark::Chains chains(model, 37);
      chains.randomise(key);
      const boltzmark::PhiloxDraws draws(key);
      boltzmark::sweep(boltzmark::PackedModel(model, {.chains = 37, .sweeps = 12}), chains, draws,
                       {.rule = boltzmark::parse_rule(rule), .sweeps = sweeps});
      std::vector<unsigned char> v, h;
      for (int chain = 0; chain < 37; ++chain) {
        for (int i = 0; i < 6; ++i) v.push_back(chains.get(0, i, chain) != 0 ? 1 : 0);
        for (int j = 0; j < 3; ++j) h.push_back(chains.get(1, j, chain) != 0 ? 1 : 0);
      }
      const std::ptrdiff_t at = sweeps - 1;
      CHECK(std::equal(v.begin(), v.end(), visible.begin() + at * 37 * 6));
      CHECK(std::equal(h.begin(), h.end(), hidden.begin() + at * 37 * 3));
      different.insert(v);
    }
    CHECK(different.size() == 12);
  }
  for (const char* sampler : {"gibbs", "pt:4:1", "tt:3:0.5", "st:3:0.5"}) {
    INFO(sampler);
    const auto whole = kept({"--sampler", sampler});
    const auto parts = kept({"--sampler", sampler, "--every", "4"});
    const auto last = [](const std::vector<unsigned char>& states) {
      return std::vector<unsigned char>(
          states.end() - static_cast<std::ptrdiff_t>(states.size() / 3), states.end());
    };
    CHECK(last(parts.first) == whole.first);
    CHECK(last(parts.second) == whole.second);
    CHECK(last(parts.first) !=
          std::vector<unsigned char>(parts.first.begin(), parts.first.begin() + 37 * 6));
  }
}

TEST_CASE("chains that start at cases of a data set keep them where every unit is frozen") {
  const io_test::Folder folder;
  // Two copies of each case, then the first again: case after case. Biases of +-40 would move the
  // units; a visible layer tied to hidden units that it fully decides does not change.
  const int n = 4;
  const Eigen::MatrixXd weights = 100 * Eigen::MatrixXd::Identity(n, n);
  const auto model = boltzmark::Layered::rbm(weights, Eigen::VectorXd::Constant(n, -50),
                                             Eigen::VectorXd::Constant(n, -50));
  const std::string path = saved(model, folder / "m.npz");
  const std::string data = folder.write("d.csv", "0,1,0,1\n1,1,1,0\n");
  for (const std::string sampler : {"gibbs", "tt:2:0.9"}) {
    INFO(sampler);
    REQUIRE(run({"sample", path, "--sampler", sampler, "--start", data, "--chains", "3", "--sweeps",
                 "5", "--out", folder / "s.npz", "--force"})
                .code == 0);
    CHECK(bytes_of(folder / "s.npz", "visible") ==
          std::vector<unsigned char>{0, 1, 0, 1, 1, 1, 1, 0, 0, 1, 0, 1});
  }
}

TEST_CASE("grey levels that chains start at or are given are made bits as --binarise says") {
  const io_test::Folder folder;
  const int n = 6;  // a hidden unit each, which follows its visible one
  const auto model =
      boltzmark::Layered::rbm(100 * Eigen::MatrixXd::Identity(n, n),
                              Eigen::VectorXd::Constant(n, -50), Eigen::VectorXd::Constant(n, -50));
  const std::string path = saved(model, folder / "m.npz");
  // Two images of 2 x 3 bytes.
  std::string idx{0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3};
  for (const int level : {0, 100, 200, 100, 0, 30, 200, 100, 60, 10, 0, 255})
    idx += static_cast<char>(level);
  const std::string data = folder.write("i.idx", idx), out = folder / "s.npz",
                    hidden = folder / "h.npy";
  const std::vector<unsigned char> above_50 = {0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1};
  REQUIRE(run({"sample", path, "--start", data, "--binarise", "threshold:50", "--chains", "2",
               "--sweeps", "5", "--out", out})
              .code == 0);
  CHECK(bytes_of(out, "visible") == above_50);
  REQUIRE(
      run({"sample", path, "--given", data, "--binarise", "threshold:50", "--out", hidden}).code ==
      0);
  const Eigen::MatrixXf drawn = boltzmark::experiments::load_dataset(hidden).values.matrix();
  REQUIRE(drawn.size() == 12);
  CHECK(std::equal(drawn.data(), drawn.data() + 12, above_50.begin()));
}

TEST_CASE("the mean energy that sample tells is that of the states that it kept") {
  const io_test::Folder folder;
  const std::string path = saved(random_rbm(6, 3, 1, 9), folder / "m.npz"), out = folder / "s.npz";
  const Json told =
      json_of({"sample", path, "--chains", "7", "--sweeps", "12", "--every", "4", "--out", out});
  CHECK(told["kept"] == 3);
  CHECK(told["mean_energy"].get<double>() ==
        Approx(boltzmark::Npz(out).read("energy").matrix().mean()).epsilon(1e-12));
}

TEST_CASE("sample tells of a ladder that is never run") {
  const io_test::Folder folder;
  const std::string path = saved(random_rbm(6, 3, 2, 9), folder / "m.npz");
  const auto told = [&](const char* sampler, const char* sweeps) {
    const Run done = run({"sample", path, "--sampler", sampler, "--sweeps", sweeps, "--chains", "2",
                          "--out", folder / "s.npz", "--force"});
    CHECK(done.code == 0);
    return done.err.find("does not run its ladder") != std::string::npos;
  };
  CHECK(told("st:3:0.2", "49"));
  CHECK_FALSE(told("st:3:0.2", "50"));
  CHECK_FALSE(told("tt:3:0.2", "1"));
  CHECK_FALSE(told("gibbs", "1"));
}

TEST_CASE("the mean energy of st is that of the states that follow the model") {
  const io_test::Folder folder;
  const std::string path = saved(random_rbm(6, 3, 2, 9), folder / "m.npz"), out = folder / "s.npz";
  const Json told = json_of({"sample", path, "--sampler", "st:3:0.2", "--chains", "50", "--sweeps",
                             "200", "--every", "100", "--out", out});
  const boltzmark::Npz file(out);
  const auto energies = numbers_of<double>(file, "energy");
  const auto rungs = numbers_of<std::int32_t>(file, "rung");
  double top = 0, count = 0;
  for (std::size_t i = 0; i < energies.size(); ++i)
    if (rungs[i] == 2) top += energies[i], ++count;
  REQUIRE(count > 0);
  REQUIRE(count < 100);
  CHECK(told["mean_energy"].get<double>() == Approx(top / count).epsilon(1e-12));
}

// Whatever the visible units are: of X(4) the values -1, -1/2, 0, 1/2 and 1.
TEST_CASE("hidden units given cases are bytes where they are bits, and floats where not") {
  const io_test::Folder folder;
  const std::string of_bits = folder.write("d.csv", "0,1\n1,1\n1,0\n0,0\n0,1\n1,1\n"),
                    of_values = folder.write("v.csv", "-1,1\n1,1\n0,-0.5\n0.5,0\n");
  const auto drawn = [&](boltzmark::Unit visible, boltzmark::Unit hidden) {
    const boltzmark::Layered model(
        {{visible, Eigen::VectorXd::Zero(2), {}}, {hidden, Eigen::VectorXd::Zero(20), {}}},
        {Eigen::MatrixXd::Zero(2, 20)});
    json_of({"sample", saved(model, folder / "m.npz"), "--given",
             visible.is_bernoulli() ? of_bits : of_values, "--out", folder / "h.npy", "--force"});
    return io_test::read_all(folder / "h.npy");
  };
  const auto bits = boltzmark::Unit::bernoulli(), five = boltzmark::Unit::multivalued(4);
  CHECK_THAT(drawn(bits, bits), Catch::Contains("|u1"));
  CHECK_THAT(drawn(five, bits), Catch::Contains("|u1"));
  CHECK_THAT(drawn(bits, five), Catch::Contains("<f4"));
  const Eigen::MatrixXf values =
      boltzmark::experiments::load_dataset(folder / "h.npy").values.matrix();
  CHECK((values.array() == -0.5F).any());
  CHECK((values.array() == 0.5F).any());
}

TEST_CASE("samples of units on [-1, 1] are scored as they are, where none of them is negative") {
  // Each unit has the density 50 e^(50 (x - 1)): its log has the mean log 50 - 1 and the variance 1.
  const io_test::Folder folder;
  using boltzmark::Unit;
  const std::string model = saved({{{Unit::continuous(), Eigen::VectorXd::Constant(3, 50), {}},
                                    {Unit::bernoulli(), Eigen::VectorXd::Zero(1), {}}},
                                   {Eigen::MatrixXd::Zero(3, 1)}},
                                  folder / "m.npz");
  REQUIRE(
      run({"sample", model, "--chains", "4000", "--sweeps", "2", "--out", folder / "s.npz"}).code ==
      0);
  const double mean = json_of({"score", model, folder / "s.npz"})["mean_log_likelihood"];
  CHECK(std::abs(mean - 3 * (std::log(50.0) - 1)) < 6 * std::sqrt(3.0 / 4000));
  // Values in between may be meant as they are: what is made of them is said, once one is.
  const auto said = [&](const char* text) {
    return run({"score", model, folder.write("v.csv", text)}).err.find("taken for 2 x - 1") !=
           std::string::npos;
  };
  CHECK(said("0.2,1,0\n"));
  CHECK_FALSE(said("0.2,1,-1\n"));
  CHECK_FALSE(said("0,1,0\n"));
  const auto said_of = [&](int steps) {
    const std::string few = saved({{{Unit::multivalued(steps), Eigen::VectorXd::Zero(3), {}},
                                    {Unit::bernoulli(), Eigen::VectorXd::Zero(1), {}}},
                                   {Eigen::MatrixXd::Zero(3, 1)}},
                                  folder / "few.npz");
    return run({"score", few, folder.write("v.csv", "0,1,0\n")}).err.find("taken for 2 x - 1") !=
           std::string::npos;
  };
  CHECK(said_of(2));  // -1, 0 and 1
  CHECK_FALSE(said_of(1));
  CHECK_FALSE(said_of(3));
  // Bits of other files stand for both ends.
  const Json bits = json_of({"score", model, folder.write("b.csv", "1,1,0\n"), "--quiet"});
  CHECK(bits["mean_log_likelihood"].get<double>() == Approx(3 * std::log(50.0) - 100));
}

TEST_CASE("sample warns of parameters that single precision does not resolve") {
  const io_test::Folder folder;
  const auto warned = [&](double scale) {
    Eigen::MatrixXd weights(3, 1);
    weights << scale, 1, -scale;
    std::vector<boltzmark::Layer> layers(2);
    layers[0].bias = Eigen::Vector3d(4 * scale, 0, 4 * scale);
    layers[1].bias = Eigen::VectorXd::Zero(1);
    const std::string path = saved(boltzmark::Layered(layers, {weights}), folder / "m.npz");
    return json_of(
        {"sample", path, "--sweeps", "2", "--out", folder / "s.npz", "--force"})["warnings"];
  };
  CHECK(warned(1000).empty());
  CHECK_THAT(warned(0x1p26).at(0),
             Catch::StartsWith("parameters are so large that single precision"));
}

#include "verification/checks/known/known_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/number.hpp"
#include "boltzmark/core/numeric.hpp"
#include "boltzmark/exact/log_z.hpp"

namespace boltzmark {

Eigen::MatrixXd normal_parameters(int rows, int cols, double sd, Stream& draws) {
  return Eigen::MatrixXd::NullaryExpr(rows, cols, [&] { return sd * draws.normal(); });
}

namespace {

constexpr int kMostUnits = 1 << 16;        // of a layer
constexpr int kMostEnumerated = 26;        // seconds, for 784 units of the other side
constexpr double kMostTerms = 0x1p38;      // of an enumeration: a few times as long
constexpr int kMostEnumeratedOfPart = 12;  // thousands of parts
constexpr double kMostWeights = 0x1p27;    // 1 GiB

template <class Number>
Number parse_field(const char* name, const std::string& text, Number low, Number high) {
  const auto value = parse_number<Number>(text);
  if (!value || !(*value >= low && *value <= high))
    throw InvalidArgument(
        fmt::format("{} = {} (must be a number from {} to {})", name, text, low, high));
  return *value;
}

// Two sides of so many units.
void need_enumerable(const char* names, int one, int other) {
  if (std::min(one, other) > kMostEnumerated)
    throw InvalidArgument(
        fmt::format("{} = {} x {} (must have a side of at most {} units, to be enumerated)", names,
                    one, other, kMostEnumerated));
  if (std::ldexp(std::max(one, other), std::min(one, other)) > kMostTerms)
    throw InvalidArgument(fmt::format("{} = {} x {} (must be fewer, to be enumerated in a minute)",
                                      names, one, other));
}

Stream seeded(const std::string& seed, std::string_view family) {
  return {make_key(parse_field<std::uint64_t>("SEED", seed, 0, INT64_MAX), "known model", family),
          Purpose::data};
}

/// The shape of an RBM that is enumerated, its one number and the seed of its parameters.
struct RbmFields {
  int visible, hidden;
  double number;
  Stream draws;

  RbmFields(std::span<const std::string> fields, const char* name, double low, double high,
            std::string_view family)
      : visible(parse_field("VISIBLE", fields[0], 1, kMostUnits)),
        hidden(parse_field("HIDDEN", fields[1], 1, kMostUnits)),
        number(parse_field(name, fields[2], low, high)),
        draws(seeded(fields.size() > 3 ? fields[3] : "0", family)) {
    need_enumerable("VISIBLE x HIDDEN", visible, hidden);
  }
};

Eigen::MatrixXd signs(int rows, int cols, double size, Stream& draws) {
  return Eigen::MatrixXd::NullaryExpr(rows, cols,
                                      [&] { return draws.bernoulli(0.5) ? size : -size; });
}

KnownModel enumerated(Layered model) {
  const ExactLogZ exact = exact_log_z(model);
  return {std::move(model), {exact.log_z, exact.error_bound, "enumeration"}};
}

KnownModel make_ising(std::span<const std::string> fields) {
  const int size = parse_field("L", fields[0], 4, kMostLattice);
  const double coupling = fields[1] == "critical" ? critical_coupling()
                                                  : parse_field("COUPLING", fields[1], 1e-6, 10.0);
  Layered lattice = ising_lattice(size, coupling);
  const double log_z = ising_log_z(size, coupling);
  return {std::move(lattice), {log_z, 1e-13 * std::abs(log_z), "Kaufman's formula"}};
}

Layered random_rbm(int visible, int hidden, double sd, Stream& draws) {
  Eigen::MatrixXd weights = normal_parameters(visible, hidden, sd, draws);
  Eigen::VectorXd below = normal_parameters(visible, 1, sd, draws),
                  above = normal_parameters(hidden, 1, sd, draws);
  return Layered::rbm(std::move(weights), std::move(below), std::move(above));
}

KnownModel make_random(std::span<const std::string> fields) {
  RbmFields of(fields, "SD", 0, 100, "random");
  return enumerated(random_rbm(of.visible, of.hidden, of.number, of.draws));
}

// Parts that do not meet: log Z is the sum of theirs, whatever the order of the units.
KnownModel make_product(std::span<const std::string> fields) {
  const int count = parse_field("COUNT", fields[0], 1, 4096);
  RbmFields of(fields.subspan(1), "SD", 0, 100, "product");
  if (std::min(of.visible, of.hidden) > kMostEnumeratedOfPart ||
      count * std::max(of.visible, of.hidden) > kMostUnits / 4 ||
      1.0 * count * of.visible * count * of.hidden > kMostWeights)
    throw InvalidArgument(fmt::format(
        "COUNT x VISIBLE x HIDDEN = {} x {} x {} (must be parts of a "
        "side of at most {} units, of {} units a side and {} weights in all)",
        count, of.visible, of.hidden, kMostEnumeratedOfPart, kMostUnits / 4, kMostWeights));
  const std::vector<int> rows = permutation(count * of.visible, of.draws),
                         cols = permutation(count * of.hidden, of.draws);
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(count * of.visible, count * of.hidden);
  Eigen::VectorXd below(count * of.visible), above(count * of.hidden);
  KnownLogZ known{.by = fmt::format("enumeration of {} independent parts", count)};
  for (int part = 0; part < count; ++part) {
    const Layered model = random_rbm(of.visible, of.hidden, of.number, of.draws);
    const ExactLogZ exact = exact_log_z(model);
    known.log_z += exact.log_z;
    known.error += exact.error_bound;
    for (int i = 0; i < of.visible; ++i) {
      const int row = rows[part * of.visible + i];
      below[row] = model.bias(0)[i];
      for (int j = 0; j < of.hidden; ++j)
        weights(row, cols[part * of.hidden + j]) = model.weights(0)(i, j);
    }
    for (int j = 0; j < of.hidden; ++j) above[cols[part * of.hidden + j]] = model.bias(1)[j];
  }
  known.error += 1e-15 * count * std::abs(known.log_z);
  return {Layered::rbm(std::move(weights), std::move(below), std::move(above)), known};
}

// Some visible units, gates, are on only where every hidden unit is as planted: f is flat around
// the well, and chains find it by chance.
KnownModel make_well(std::span<const std::string> fields) {
  constexpr double kStep = 8;  // of a gate's input, from one wrong hidden unit to the next
  RbmFields of(fields, "DEPTH", 0, 1000, "well");
  const double gain = of.number + of.hidden * std::log(2.0);  // over all other states together
  const int gates = std::clamp(static_cast<int>(std::lround(2 * gain / kStep)), 1, of.visible);
  const double step = 2 * gain / gates;
  Layered plain = random_rbm(of.visible, of.hidden, 0.01, of.draws);
  Eigen::MatrixXd weights = plain.weights(0);
  Eigen::VectorXd below = plain.bias(0);
  const std::vector<int> rows = permutation(of.visible, of.draws),
                         cols = permutation(of.hidden, of.draws);
  const int on = (of.hidden + 1) / 2;
  for (int g = 0; g < gates; ++g) {
    for (int j = 0; j < of.hidden; ++j) weights(rows[g], cols[j]) = j < on ? step : -step;
    below[rows[g]] = -step * (on - 0.5);
  }
  return enumerated(Layered::rbm(std::move(weights), std::move(below), plain.bias(1)));
}

// Each hidden unit stands for a pattern and is on by itself as often as off.
KnownModel make_patterns(std::span<const std::string> fields) {
  RbmFields of(fields, "STRENGTH", 0, 100, "patterns");
  Eigen::MatrixXd weights = signs(of.visible, of.hidden, of.number, of.draws);
  Eigen::VectorXd above(of.hidden);
  for (int j = 0; j < of.hidden; ++j)
    above[j] = of.visible * std::log(2.0) -
               weights.col(j).unaryExpr([](double w) { return softplus(w); }).sum();
  return enumerated(
      Layered::rbm(std::move(weights), Eigen::VectorXd::Zero(of.visible), std::move(above)));
}

// All units on against all off.
KnownModel make_tilted(std::span<const std::string> fields) {
  RbmFields of(fields.first(3), "STRENGTH", 0, 100, "tilted");
  const double tilt = parse_field("TILT", fields[3], -1000.0, 1000.0);
  return enumerated(Layered::rbm(
      Eigen::MatrixXd::Constant(of.visible, of.hidden, of.number),
      Eigen::VectorXd::Constant(of.visible, -of.number * of.hidden / 2),
      Eigen::VectorXd::Constant(of.hidden, -of.number * of.visible / 2 + tilt / of.hidden)));
}

KnownModel make_glass(std::span<const std::string> fields) {
  RbmFields of(fields, "STRENGTH", 0, 100, "glass");
  const auto layer = [](int units) {
    return Layer{.unit = Unit::multivalued(1), .bias = Eigen::VectorXd::Zero(units), .sigma0 = {}};
  };
  return enumerated(Layered({layer(of.visible), layer(of.hidden)},
                            {signs(of.visible, of.hidden, of.number, of.draws)}));
}

KnownModel make_votes_of(std::span<const std::string> fields) {
  constexpr double kMostSums = 0x1p24;  // a hundred times as many terms in seconds
  const Votes votes{.visible = parse_field("VISIBLE", fields[0], 4, kMostUnits),
                    .weak = parse_field("WEAK", fields[1], 1, kMostUnits / 2),
                    .strong = parse_field("STRONG", fields[2], 1, kMostUnits / 2),
                    .ahead = parse_field("AHEAD", fields[3], -1000.0, 1000.0)};
  if ((votes.weak + 1.0) * (votes.strong + 1.0) > kMostSums / 100)
    throw InvalidArgument(fmt::format("WEAK x STRONG = {} x {} (must be fewer, to be summed over)",
                                      votes.weak, votes.strong));
  if (double{1} * votes.visible * (votes.weak + votes.strong) > kMostWeights)
    throw InvalidArgument(fmt::format("VISIBLE x HIDDEN = {} x {} (must be at most {:.0f} weights)",
                                      votes.visible, votes.weak + votes.strong, kMostWeights));
  Stream draws = seeded(fields[4], "votes");
  return make_votes(votes, draws);
}

KnownModel make_strip_of(std::span<const std::string> fields) {
  const Strip strip{.width = parse_field("WIDTH", fields[0], 1, 16),
                    .length = parse_field("LENGTH", fields[1], 2, kMostUnits / 16),
                    .strength = parse_field("STRENGTH", fields[2], 0.0, 100.0),
                    .field = parse_field("FIELD", fields[3], 0.0, 100.0)};
  if (std::pow(strip.width * strip.length / 2.0, 2) > kMostWeights)
    throw InvalidArgument(
        fmt::format("WIDTH x LENGTH = {} x {} (must be fewer spins: at most {:.0f} "
                    "weights)",
                    strip.width, strip.length, kMostWeights));
  Stream draws = seeded(fields[4], "strip");
  return make_strip(strip, draws);
}

KnownModel make_conjunctions_of(std::span<const std::string> fields) {
  constexpr double kMostStates = 0x1p26;  // of all units' windows: some ten seconds
  Conjunctions of{.visible = parse_field("VISIBLE", fields[0], 1, kMostUnits),
                  .hidden = parse_field("HIDDEN", fields[1], 1, kMostUnits)};
  of.window = parse_field("WINDOW", fields[2], 1, std::min(16, of.visible));
  of.members = parse_field("MEMBERS", fields[3], 1, of.window);
  of.strength = parse_field("STRENGTH", fields[4], 0.0, 1000.0);
  if (double{1} * of.visible * of.hidden > kMostWeights)
    throw InvalidArgument(fmt::format("VISIBLE x HIDDEN = {} x {} (must be at most {:.0f} weights)",
                                      of.visible, of.hidden, kMostWeights));
  if (std::ldexp(of.visible + of.hidden, of.window) > kMostStates)
    throw InvalidArgument(
        fmt::format("VISIBLE + HIDDEN, WINDOW = {} + {}, {} (must be fewer, to be summed over)",
                    of.visible, of.hidden, of.window));
  Stream draws = seeded(fields[5], "conjunctions");
  return make_conjunctions(of, draws);
}

KnownModel make_parities_of(std::span<const std::string> fields) {
  constexpr int kMost = 2048;  // of the elimination
  const Parities parities{.visible = parse_field("VISIBLE", fields[0], 4, kMost),
                          .strength = parse_field("STRENGTH", fields[1], 0.0, 1000.0)};
  Stream draws = seeded(fields[2], "parity");
  return make_parities(parities, draws);
}

KnownModel make_gate_of(std::span<const std::string> fields) {
  constexpr int kMost = 512;  // wells
  const Gate gate{.visible = parse_field("VISIBLE", fields[0], 1, 4096),
                  .ahead = parse_field("AHEAD", fields[1], -1000.0, 1000.0),
                  .wells = parse_field("WELLS", fields[2], 0, kMost)};
  Stream draws = seeded(fields[3], "gate");
  return make_gate(gate, draws);
}

KnownModel make_stars_of(std::span<const std::string> fields) {
  const Stars stars{.count = parse_field("COUNT", fields[0], 1, 4096),
                    .visible = parse_field("VISIBLE", fields[1], 1, 4096),
                    .strength = parse_field("STRENGTH", fields[2], 0.0, 100.0)};
  const double visible = double{1} * stars.count * stars.visible;
  if (visible > kMostUnits || visible * stars.count > kMostWeights)
    throw InvalidArgument(fmt::format(
        "COUNT x VISIBLE = {} x {} (must be at most {} visible units, and {:.0f} weights)",
        stars.count, stars.visible, kMostUnits, kMostWeights));
  Stream draws = seeded(fields[3], "stars");
  return make_stars(stars, draws);
}

// Two hidden layers. The odd one is a side by itself, the layers beside it are the other.
KnownModel make_deep(std::span<const std::string> fields) {
  const int visible = parse_field("VISIBLE", fields[0], 1, kMostUnits),
            hidden = parse_field("HIDDEN", fields[1], 1, kMostUnits),
            top = parse_field("TOP", fields[2], 1, kMostUnits);
  const double sd = parse_field("SD", fields[3], 0.0, 100.0);
  need_enumerable("(VISIBLE + TOP) x HIDDEN", visible + top, hidden);
  Stream draws = seeded(fields[4], "deep");
  const auto layer = [&](int units) {
    return Layer{
        .unit = Unit::bernoulli(), .bias = normal_parameters(units, 1, sd, draws), .sigma0 = {}};
  };
  std::vector<Eigen::MatrixXd> weights = {normal_parameters(visible, hidden, sd, draws),
                                          normal_parameters(hidden, top, sd, draws)};
  std::vector<Layer> layers = {layer(visible)};
  layers.push_back(layer(hidden));
  layers.push_back(layer(top));
  return enumerated(Layered(std::move(layers), std::move(weights)));
}

constexpr ModelFamily kFamilies[] = {
    {"ising:L:COUPLING",
     "square Ising lattice of L x L spins, periodic, L even; COUPLING a number or `critical`",
     "ising:16:critical", make_ising},
    {"product:COUNT:VISIBLE:HIDDEN:SD:SEED",
     "independent random RBMs as one, their units shuffled: of any size, with many modes",
     "product:40:10:5:1:1", make_product},
    {"well:VISIBLE:HIDDEN:DEPTH:SEED",
     "one hidden state holds some e^DEPTH times the mass of all others, on flat ground",
     "well:100:12:5:1", make_well},
    {"patterns:VISIBLE:HIDDEN:STRENGTH:SEED",
     "a random pattern of the visible units for each hidden one, about as likely as none",
     "patterns:100:12:0.5:1", make_patterns},
    {"tilted:VISIBLE:HIDDEN:STRENGTH:TILT", "two modes, all units on and all off, TILT nats apart",
     "tilted:40:12:0.2:2", make_tilted},
    {"glass:VISIBLE:HIDDEN:STRENGTH:SEED", "spins with couplings of random sign: frustrated",
     "glass:40:12:0.3:1", make_glass},
    {"random:VISIBLE:HIDDEN:SD:SEED",
     "normal weights and biases: gentle with an SD of 0.1, spiky with one above 1",
     "random:100:12:0.1:1", make_random},
    {"votes:VISIBLE:WEAK:STRONG:AHEAD:SEED",
     "a pattern that few strong hidden units hold, AHEAD nats before one by many weak ones",
     "votes:200:60:8:10:1", make_votes_of},
    {"strip:WIDTH:LENGTH:STRENGTH:FIELD:SEED",
     "a strip of spins with normal couplings and fields: frustrated, of any length",
     "strip:8:40:1:0.1:1", make_strip_of},
    {"conjunctions:VISIBLE:HIDDEN:WINDOW:MEMBERS:STRENGTH:SEED",
     "hidden units that reward values of MEMBERS of WINDOW neighbours on a line: many modes",
     "conjunctions:80:160:8:4:8:1", make_conjunctions_of},
    {"parity:VISIBLE:STRENGTH:SEED",
     "parities of random triples, met by one planted state: what holds the mass is hard to find",
     "parity:60:6:1", make_parities_of},
    {"gate:VISIBLE:AHEAD:WELLS:SEED",
     "a pattern that one hidden unit holds, AHEAD nats before none, beside wells of two states each",
     "gate:60:2.5:12:1", make_gate_of},
    {"stars:COUNT:VISIBLE:STRENGTH:SEED",
     "continuous units, VISIBLE around each of COUNT: two peaks each where STRENGTH is large",
     "stars:8:30:1:1", make_stars_of},
    {"deep:VISIBLE:HIDDEN:TOP:SD:SEED",
     "two hidden layers, a deep Boltzmann machine: normal weights and biases",
     "deep:60:12:20:0.5:1", make_deep},
};

std::vector<std::string> split_fields(std::string_view text) {
  std::vector<std::string> fields(1);
  for (const char c : text)
    if (c == ':')
      fields.emplace_back();
    else
      fields.back() += c;
  return fields;
}

}  // namespace

std::span<const ModelFamily> model_families() { return kFamilies; }

KnownModel make_known_model(std::string_view text) {
  const std::vector<std::string> fields = split_fields(text);
  std::string forms;
  for (const ModelFamily& family : kFamilies) {
    forms += fmt::format("{}{}", forms.empty() ? "" : ", ", family.form);
    if (fields.front() != family.name()) continue;
    if (fields.size() != split_fields(family.form).size())
      throw InvalidArgument(
          fmt::format("model = {} (must be {}, such as {})", text, family.form, family.example));
    return family.make(std::span(fields).subspan(1));
  }
  throw InvalidArgument(fmt::format("model = {} (must be one of {})", text, forms));
}

}  // namespace boltzmark

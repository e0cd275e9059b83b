// Spectra to the last bit: those of one process as they were, and those of ranks as those of one
// process.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "boltzmark/exact/spectrum/connectivity.hpp"
#include "boltzmark/exact/spectrum/spectrum_krylov.hpp"
#include "verification/exact/support/spectrum_cases.hpp"
#include "verification/exact/support/thread_ranks.hpp"
#include "verification/exact/support/transition_models.hpp"

using namespace boltzmark;
using thread_ranks::on_ranks;

namespace {

// The numbers of a spectrum.
struct SpectrumBits {
  double slem, second, residual, stationarity;
};

// Of spectrum_cases::cases(), from the code before ranks shared a space; those of larger weights since the double
// law keeps the digits of an unlikely value.
constexpr SpectrumBits kRecord[] = {
    {0x1.1310b5e0e4c47p-1, 0x1.2176bc2a56822p-2, 0x1.607b5b337099cp-45, 0x1.4f29b3ca2cp-51},
    {0x1.e845a78e32bc1p-1, 0x1.e845a78e32bc1p-1, 0x1.fe0dc61c52988p-49, 0x1.bc65e4d1b4p-53},
    {0x1.2cd6a031b815ep-2, 0x1.3f7b525701886p-4, 0x1.291a6601ff114p-43, 0x1.323850edep-51},
    {0x1.ee364c9bc9fd2p-1, 0x1.ee364c9bc9fd2p-1, 0x1.e36cd431adcf9p-50, 0x1.ab549082p-53},
    {0x1.c9a3676405cb8p-3, 0x1.c9a3676405cb8p-3, 0x0p+0, 0x1.438a17453ep-51},
    {0x1.ef08fd11529f2p-1, 0x1.ef08fd11529f2p-1, 0x1.025d6140ba92ap-43, 0x1.a5015b67dcp-53},
    {0x1.9098bf9978b84p-2, 0x1.2ff566e5b8639p-3, 0x1.c1c8485ea592ep-49, 0x1.7fa752e18p-51},
    {0x1.e9290c490c4f6p-1, 0x1.e9290c490c4f6p-1, 0x1.ea45ace2e100fp-50, 0x1.12648ac4p-52},
    {0x1.24070e3720a74p-1, 0x1.24070e3720a74p-1, 0x1.f7201cb3dd044p-51, 0x1.61457baep-51},
    {0x1.f33ba08bb3018p-1, 0x1.f33ba08bb3018p-1, 0x1.4d38d1615857ap-49, 0x1.be9bc018p-53},
    {0x1.2832ad00c8c83p-1, 0x1.34c0f67c2bb26p-2, 0x1.af5296aaada88p-46, 0x1.d21015ap-52},
    {0x1.dcde00a1cd4eep-1, 0x1.dcde00a1cd4eep-1, 0x1.2d38c9f2d25f5p-48, 0x1.6351fe8p-53},
    {0x1.da5ca37047d4ep-1, 0x1.7f476121e33e7p-1, 0x1.7d1e37abf9f8cp-45, 0x1.fc9b1cp-52},
    {0x1.dbe25bc5faf23p-1, 0x1.dbe25bc5faf23p-1, 0x1.196ea56edb643p-43, 0x1.ce3658p-53},
};

// The functions of the C library differ in a last bit between CPUs with and without FMA.
std::uint64_t arithmetic() {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (int i = 1; i <= 300; ++i)
    for (const double value : {std::exp(-i / 17.0), std::log(i / 17.0), std::log1p(1.0 / i)})
      hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 0x100000001b3ULL;
  return hash;
}
constexpr std::uint64_t kRecordedOn = 0x102d0df943cc5f9bULL;

bool equal(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

void require_equal(const Spectrum& found, const Spectrum& expected) {
  REQUIRE(found.states == expected.states);
  REQUIRE(equal(found.slem, expected.slem));
  REQUIRE(equal(found.second_eigenvalue, expected.second_eigenvalue));
  REQUIRE(found.relaxation_time == expected.relaxation_time);
  REQUIRE(equal(found.stationarity_error, expected.stationarity_error));
  REQUIRE(equal(found.residual, expected.residual));
  REQUIRE(found.irreducible == expected.irreducible);
  REQUIRE(found.aperiodic == expected.aperiodic);
  REQUIRE(found.converged == expected.converged);
  REQUIRE(found.method == expected.method);
}

}  // namespace

TEST_CASE("spectra keep their bits") {
  const std::vector<spectrum_cases::Case> cases = spectrum_cases::cases();
  REQUIRE(cases.size() == std::size(kRecord));
  const bool same_arithmetic = arithmetic() == kRecordedOn;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& [name, model, rule, scan] = cases[i];
    CAPTURE(name, i, same_arithmetic);
    const Spectrum found = spectrum(model, rule, scan);
    REQUIRE(found.converged);
    REQUIRE(std::abs(found.slem - kRecord[i].slem) < 1e-8);
    REQUIRE(std::abs(found.second_eigenvalue - kRecord[i].second) < 1e-8);
    if (!same_arithmetic) continue;
    REQUIRE(equal(found.slem, kRecord[i].slem));
    REQUIRE(equal(found.second_eigenvalue, kRecord[i].second));
    REQUIRE(equal(found.residual, kRecord[i].residual));
    REQUIRE(equal(found.stationarity_error, kRecord[i].stationarity));
  }
}

TEST_CASE("a spectrum on several ranks has the bits of one process, at every rank") {
  int ranks = 1;
  for (const auto& [name, model, rule, scan] : spectrum_cases::cases()) {
    ranks = ranks % 5 + 1 + (ranks == 5);
    CAPTURE(name, ranks);
    const Spectrum alone = spectrum(model, rule, scan);
    const auto found =
        on_ranks(ranks, [&, model = &model, rule = &rule, scan = scan](const Ranks& r) {
          return spectrum(*model, *rule, scan, {}, r);
        });
    for (const Spectrum& one : found) require_equal(one, alone);
  }
}

TEST_CASE("a spectrum of more than 2^16 states is sought alike on several ranks and on one") {
  const Unit bit = Unit::bernoulli();
  const Layered model = spectrum_cases::uniform_network({bit, bit}, {9, 8});
  const auto begun = [&](const Ranks& ranks) {
    return spectrum(model, Rule::blended(0.5), Scan::periodic, {.max_restarts = 0}, ranks);
  };
  const Spectrum alone = begun(Ranks::serial());
  for (const Spectrum& one : on_ranks(2, begun)) require_equal(one, alone);
}

TEST_CASE("what ranks know of a space is what one process knows, and no more than their share") {
  for (const auto& [name, model, rule, scan] : spectrum_cases::cases()) {
    const StateSpace whole(model);
    for (const int count : {2, 3, 5}) {
      CAPTURE(name, count);
      const auto spaces = on_ranks(count, [model = &model](const Ranks& ranks) {
        const StateSpace space(*model, ranks);
        return std::pair(space.log_p(), space.log_z());
      });
      Eigen::Index at = 0;
      for (const auto& [log_p, log_z] : spaces) {
        REQUIRE(log_z == whole.log_z());
        REQUIRE(log_p == whole.log_p().segment(at, log_p.size()));
        // Whole chunks: one more than the mean at most.
        REQUIRE(log_p.size() <= whole.log_p().size() / count + Rows::kChunk);
        at += log_p.size();
      }
      REQUIRE(at == whole.log_p().size());
    }
  }
}

TEST_CASE("ranks judge components and period as one process does") {
  std::vector<Layered> models = {transition_models::zero_rbm(5, 8),
                                 transition_models::tied_network({5, 8}, 1),
                                 transition_models::tied_network({3, 6, 4}, 2)};
  int reducible = 0, periodic = 0;
  for (const Layered& model : models)
    for (const Rule& rule : transition_models::all_rules())
      for (const Scan scan : {Scan::periodic, Scan::random}) {
        const Connectivity alone = connectivity(StateSpace(model), rule, scan);
        for (const int count : {2, 3, 5}) {
          CAPTURE(rule.name(), model.layers(), count);
          for (const Connectivity& found : on_ranks(count, [&](const Ranks& ranks) {
                 return connectivity(StateSpace(model, ranks), rule, scan);
               })) {
            REQUIRE(found.irreducible == alone.irreducible);
            REQUIRE(found.period == alone.period);
            REQUIRE(found.aperiodic == alone.aperiodic);
          }
        }
        reducible += alone.irreducible ? 0 : 1;
        periodic += alone.period > 1 ? 1 : 0;
      }
  REQUIRE(reducible > 0);
  REQUIRE(periodic > 0);
}

// As of more than 2^24 states: a part is several chunks.
TEST_CASE("a Krylov space of few parts finds the same bits on any number of ranks") {
  constexpr std::size_t kStates = 30'001;
  const auto edge = [](const Ranks& ranks, std::size_t most_parts) {
    const Rows rows(kStates, ranks, most_parts);
    // A diagonal whose outermost entry stands apart.
    Eigen::VectorXd diagonal = Eigen::VectorXd::LinSpaced(kStates, -0.5, 0.5);
    diagonal[20'000] = 0.9;
    const Eigen::VectorXd own =
        diagonal.segment(static_cast<Eigen::Index>(rows.first()), rows.own());
    const auto apply = [&own](Eigen::Ref<Eigen::VectorXd> x) { x.array() *= own.array(); };
    return edge_eigenvalue({rows, false, apply}, Edge::modulus, {.columns = 12});
  };
  for (const std::size_t most_parts : {1, 4, 8192}) {
    const EdgeEigenvalue alone = edge(Ranks::serial(), most_parts);
    REQUIRE(alone.converged);
    REQUIRE(std::abs(alone.value - 0.9) < 1e-11);
    for (const int count : {2, 3, 5})
      for (const EdgeEigenvalue& found :
           on_ranks(count, [&](const Ranks& ranks) { return edge(ranks, most_parts); })) {
        CAPTURE(most_parts, count);
        REQUIRE(equal(found.value.real(), alone.value.real()));
        REQUIRE(equal(found.residual, alone.residual));
      }
  }
}

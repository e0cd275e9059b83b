// The enumerated target against sums over every state of its model.
#include "verification/checks/laws/table_target.hpp"

#include <tbb/task_arena.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/exact/state_space.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/exact/support/noting_target.hpp"

using namespace boltzmark;

namespace {

struct TableCase {
  Layered model;
  Base base;
};

TableCase draw_table_case(Stream& stream) {
  const Layered model = draw_check_model(stream, 3);
  Base base = Base::uniform(model);
  for (Eigen::VectorXd& logits : base.logits)
    for (double& logit : logits) logit = stream.uniform(-2, 2);
  return {model, base};
}

// log f_b of every joint state, with log Z_0 = 0.
Eigen::VectorXd joint_log_densities(const TableCase& c, double b) {
  const StateSpace full(c.model), start(tempered(c.model, c.base, 0));
  return b * (full.log_p().array() + full.log_z()) + (1 - b) * start.log_p().array();
}

}  // namespace

TEST_CASE("the table's densities are sums over the joint states") {
  for (std::uint64_t i = 0; i < 20; ++i) {
    Stream stream(make_key(i, "table target"), Purpose::test);
    const TableCase c = draw_table_case(stream);
    const TableTarget target(c.model, c.base);
    const double b = stream.uniform();
    const Eigen::VectorXd log_f = joint_log_densities(c, b);
    const Eigen::VectorXd ratio = joint_log_densities(c, 1) - joint_log_densities(c, 0);
    const double size = 1 + log_f.cwiseAbs().maxCoeff() + ratio.cwiseAbs().maxCoeff();
    for (std::uint32_t x = 0; x < target.states(); ++x) {
      LogSum marginal;
      for (std::uint32_t y = 0; y < target.states(); ++y)
        if (((x ^ y) & target.marginal_mask()) == 0) marginal.add(log_f[y]);
      CAPTURE(i, x);
      // Sums of at most 20 terms of that size, each rounded to 2^-53.
      REQUIRE(std::abs(target.log_ratio(x) - ratio[x]) <= 1e-13 * size);
      REQUIRE(std::abs(target.log_density(x, b) - marginal.log()) <= 1e-13 * size);
    }
  }
}

TEST_CASE("chains are grouped by threads in whole blocks of 16, each chain in one group") {
  for (const int threads : {1, 2, 3, 4, 7})
    for (const int chains : {1, 16, 17, 75, 80, 1000}) {
      CAPTURE(threads, chains);
      int next = 0, draws = 0;
      std::vector<std::vector<float>> moves;
      tbb::task_arena arena(threads);  // as many, whatever this machine has
      arena.execute([&] {
        const ThreadLimit limit(threads);
        const Populations groups(chains, [&](int first, int count) {
          CHECK(first == next);
          CHECK(first % 16 == 0);
          CHECK(count > 0);
          next = first + count;
          return std::make_unique<Noting>(count, moves, draws);
        });
        CHECK(groups.groups() == std::min(threads, (chains + 15) / 16));
      });
      CHECK(next == chains);
    }
}

TEST_CASE("chains of a table do not depend on how they are grouped") {
  Stream stream(make_key(3, "table target"), Purpose::test);
  const TableCase c = draw_table_case(stream);
  const TableTarget target(c.model, c.base);
  const auto run = [&](int threads) {
    const ThreadLimit limit(threads);
    Populations populations(target, 50, make_key(4));
    populations.for_each([](Population& population, int) {
      population.draw_base();
      population.move(std::vector<float>(population.chains(), 0.5F));
    });
    std::vector<std::uint32_t> states;
    for (int g = 0; g < populations.groups(); ++g) {
      const auto& population = dynamic_cast<const TablePopulation&>(populations.group(g));
      for (int i = 0; i < population.chains(); ++i) states.push_back(population.state(i));
    }
    return states;
  };
  const std::vector<std::uint32_t> one = run(1);
  CHECK(one.size() == 50);
  CHECK(one == run(2));
}

TEST_CASE("a table of a model that is too large or not binary is refused") {
  const auto rbm = [](int visible, int hidden) {
    return Layered::rbm(Eigen::MatrixXd::Zero(visible, hidden), Eigen::VectorXd::Zero(visible),
                        Eigen::VectorXd::Zero(hidden));
  };
  CHECK_THROWS_AS(TableTarget(rbm(15, 6), Base::uniform(rbm(15, 6))), InvalidArgument);
  CHECK_THROWS_AS(TableTarget(rbm(2, 2), Base::uniform(rbm(2, 3))), InvalidArgument);
}

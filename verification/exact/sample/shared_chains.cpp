// Chains that several processes share: each anneals its blocks, and all have the weights of one process.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "verification/exact/support/enumeration_models.hpp"

using namespace enumeration_test;

namespace {

/// What the processes of a run tell each other.
class Processes {
 public:
  /// Runs each process twice: first to hear its values, and then to tell it those of all.
  template <class Run>
  void run(int ranks, const Run& run) {
    for (const bool told : {false, true})
      for (int rank = 0; rank < ranks; ++rank) {
        const SharedChains shared{
            .rank = rank,
            .ranks = ranks,
            .exchange = [&, rank, told](Eigen::VectorXd& values, const ChainRange& own,
                                        const std::string& failure) {
              failures_[rank] = failure;
              own_[rank] = {own, values.segment(own.first, own.count)};
              for (const auto& [from, said] : own_)
                if (told) values.segment(said.first.first, said.first.count) = said.second;
            }};
        run(shared, told);
      }
  }
  const std::map<int, std::pair<ChainRange, Eigen::VectorXd>>& own() const { return own_; }
  const std::map<int, std::string>& failures() const { return failures_; }

 private:
  std::map<int, std::pair<ChainRange, Eigen::VectorXd>> own_;
  std::map<int, std::string> failures_;
};

AnnealingOptions shared_run_of(int chains) {
  return {.ladder = Ladder::linear(11), .chains = chains, .sweeps = 20, .key = make_key(8)};
}

}  // namespace

TEST_CASE("chains are shared in whole blocks of 16, in the order of ranks, each by one") {
  for (const int chains : {1, 2, 15, 16, 17, 33, 100, 1600})
    for (const int ranks : {1, 2, 3, 5, 64, 1000}) {
      CAPTURE(chains, ranks);
      int next = 0, most = 0, least = chains;
      for (int rank = 0; rank < ranks; ++rank) {
        const ChainRange range = SharedChains{.rank = rank, .ranks = ranks}.range(chains);
        CHECK(range.first == next);
        CHECK((range.first % 16 == 0 || range.count == 0));
        next += range.count;
        most = std::max(most, (range.count + 15) / 16);
        least = std::min(least, (range.count + 15) / 16);
      }
      CHECK(next == chains);
      CHECK(most - least <= 1);
    }
}

TEST_CASE("processes that share the chains of AIS and RAISE have the weights of one process") {
  const Layered model = random_rbm(7, 5, 1.0, 3);
  const LayeredTarget target(model, Base::uniform(model));
  const Eigen::MatrixXf cases = Eigen::MatrixXf::NullaryExpr(
      7, 100, [](Eigen::Index i, Eigen::Index c) { return static_cast<float>((i * 3 + c) % 2); });
  const SetStates start = [&](Population& population, int first) {
    population.observe(cases.middleCols(first, population.chains()));
  };
  const ThreadLimit limit(3);
  for (const int chains : {2, 16, 17, 100})
    for (const int ranks : {1, 2, 5}) {
      CAPTURE(chains, ranks);
      TopStates whole_top(target, chains, make_key(1));
      AnnealingOptions options = shared_run_of(chains);
      const Eigen::VectorXd down = reverse_annealing(target, options, start).log_weights;
      options.top_states = &whole_top;
      const AnnealingResult up = annealed_importance_sampling(target, options);
      Processes().run(ranks, [&](const SharedChains& shared, bool told) {
        AnnealingOptions part = shared_run_of(chains);
        part.shared = &shared;
        const AnnealingResult result = reverse_annealing(target, part, start);
        if (told) CHECK(result.log_weights == down);
      });
      Processes().run(ranks, [&](const SharedChains& shared, bool told) {
        TopStates top(target, chains, make_key(1));
        AnnealingOptions part = shared_run_of(chains);
        part.top_states = &top;
        part.shared = &shared;
        const AnnealingResult result = annealed_importance_sampling(target, part);
        if (!told) return;
        CHECK(result.log_weights == up.log_weights);
        CHECK(result.estimate.std_error == up.estimate.std_error);
        CHECK(top.visits == whole_top.visits);  // of all chains, whoever made them
        const ChainRange own = shared.range(chains);
        if (own.count > 0) CHECK(top.states.chains() == own.count);
      });
    }
}

TEST_CASE(
    "each process tells the progress of its own chains, after one sweep of 18 an eighteenth") {
  const Layered model = random_rbm(7, 5, 1.0, 3);
  const LayeredTarget target(model, Base::uniform(model));
  const ThreadLimit limit(1);
  Processes().run(3, [&](const SharedChains& shared, bool) {
    double first = 0;
    AnnealingOptions part = shared_run_of(100);
    part.shared = &shared;
    part.progress = [&](double share) { first = first == 0 ? share : first; };
    annealed_importance_sampling(target, part);
    CHECK(first == 1 / 18.0);  // of 20 the two of the highest rung are not made
  });
}

TEST_CASE("what goes wrong with the chains of one process is told to the others") {
  const Layered model = random_rbm(7, 5, 1.0, 3);
  const LayeredTarget target(model, Base::uniform(model));
  const SetStates start = [](Population&, int first) {
    if (first == 16) throw Error("no such cases");
  };
  const ThreadLimit limit(1);
  Processes processes;
  processes.run(2, [&](const SharedChains& shared, bool) {
    AnnealingOptions part = shared_run_of(32);
    part.shared = &shared;
    reverse_annealing(target, part, start);
  });
  CHECK(processes.failures().at(0).empty());
  CHECK(processes.failures().at(1) == "no such cases");
}

// Spectra on the ranks of mpirun: the bytes of one process.
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "boltzmark/io/model_file.hpp"
#include "verification/exact/support/spectrum_cases.hpp"
#include "verification/ranks/launched.hpp"

namespace ranks_test {
namespace {

using boltzmark::Layered;
using boltzmark::Unit;
using spectrum_cases::uniform_network;

StudyRun spectrum_on(int ranks, const std::string& model, const std::vector<std::string>& options) {
  std::vector<std::string> words = {BOLTZMARK_PROGRAM, "spectrum", model};
  words.insert(words.end(), options.begin(), options.end());
  return run_to_end(ranks, words);
}

TEST_CASE("spectrum on 2 to 5 ranks prints the bytes of one process, of every scan and unit") {
  const Folder folder;
  const Unit bit = Unit::bernoulli(), three = Unit::multivalued(2), four = Unit::multivalued(3);
  const std::pair<Layered, std::string> models[] = {
      {uniform_network({bit, bit}, {7, 9}), "blend:0.5"},
      {uniform_network({three, four}, {6, 3}), "flip"},
      {uniform_network({bit, bit, three, bit}, {4, 3, 2, 3}), "flip"}};
  int ranks = 1;
  const std::string path = folder / "model.npz";
  for (const auto& [model, rule] : models) {
    write_model(model, path);
    for (const char* scan : {"periodic", "random"}) {
      ranks = ranks % 5 + 1 + (ranks == 5);
      CAPTURE(rule, scan, ranks);
      std::vector<std::string> options = {"--rule", rule, "--scan", scan};
      if (scan[0] == 'p') options.push_back("--json");
      const StudyRun alone = spectrum_on(1, path, options),
                     found = spectrum_on(ranks, path, options);
      INFO(found.err);
      REQUIRE(alone.code == 0);
      REQUIRE(found.code == 0);
      CHECK(found.out == alone.out);
    }
  }
}

TEST_CASE(
    "spectrum of 2^16 states prints the same bytes on any number of ranks, whoever owns which rows") {
  const Folder folder;
  const std::string path = folder / "model.npz";
  write_model(uniform_network({Unit::bernoulli(), Unit::bernoulli()}, {8, 8}), path);
  for (const char* rule : {"flip", "gibbs"})
    for (const char* scan : {"periodic", "random"}) {
      const std::vector<std::string> options = {"--rule", rule, "--scan", scan, "--threads", "1"};
      const StudyRun alone = spectrum_on(1, path, options);
      REQUIRE(alone.code == 0);
      for (int ranks = 2; ranks <= 5; ranks += rule[0] == 'f' && scan[0] == 'p' ? 1 : 3) {
        CAPTURE(rule, scan, ranks);
        CHECK(spectrum_on(ranks, path, options).out == alone.out);
      }
    }
}

TEST_CASE("what ranks cannot hold is refused by one rank, in one line and with exit code 2") {
  const Folder folder;
  const Unit bit = Unit::bernoulli();
  const std::string many = folder / "many.npz", large = folder / "large.npz";
  write_model(uniform_network({bit, bit}, {17, 16}), many);
  write_model(uniform_network({bit, bit}, {16, 16}), large);
  const std::pair<std::string, std::string> all[] = {{many, "32 binary units"},
                                                     // 3 * 8 (25 * 2^32 / 3 + 5 * 21846 * 2^16)
                                                     {large, "on 3 ranks = 960 GiB"},
                                                     {folder / "none.npz", "none.npz"}};
  for (const auto& [path, text] : all) {
    const StudyRun run = spectrum_on(3, path, {"--rule", "flip"});
    INFO(run.err);
    CHECK(run.code == 2);
    CHECK(run.out.find("SLEM") == std::string::npos);
    const auto first = run.err.find("boltzmark: ");
    REQUIRE(first != std::string::npos);
    CHECK(run.err.find("boltzmark: ", first + 1) == std::string::npos);
    CHECK_THAT(run.err, Catch::Contains(text));
  }
}

}  // namespace
}  // namespace ranks_test

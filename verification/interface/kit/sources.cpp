// What invalidates a stored trial: the sources that its numbers come from, and no others.
#include "experiments/kit/sources.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <regex>

#include "experiments/kit/files.hpp"
#include "experiments/kit/subprocess.hpp"
#include "verification/interface/experiments/made_trials.hpp"

namespace boltzmark::experiments {
namespace {

namespace fs = std::filesystem;

/// A copy of the sources, whose list of hashes is made by the build's own script.
class SourceTree {
 public:
  SourceTree() {
    for (const char* folder : {"lib", "experiments", "verification/checks", "tools/boltzmark"}) {
      fs::create_directories(fs::path(root() + "/" + folder).parent_path());
      fs::copy(source_path(folder), root() + "/" + folder, fs::copy_options::recursive);
    }
  }

  /// What the script writes.
  std::string list(const std::string& version = "1") const {
    const std::string path = folder_.path() + "/hashes.cpp";
    const auto run =
        run_program({"cmake", "-Droot=" + root(), "-Doutput=" + path, "-Dcompiler=x",
                     "-Dversion=" + version, "-P", source_path("cmake/source_hashes.cmake")});
    REQUIRE(run.status == 0);
    return read_text(path);
  }

  std::vector<SourceFile> hashes() const {
    const std::string text = list();
    const std::regex line("\\{\"([^\"]+)\", \"([0-9a-f]{64})\"\\}");
    std::vector<SourceFile> files;
    for (std::sregex_iterator one(text.begin(), text.end(), line), end; one != end; ++one)
      files.push_back({.path = (*one)[1], .sha256 = (*one)[2]});
    return files;
  }

  /// Adds a comment to a file for as long as `look` runs.
  void with_comment(const std::string& file, const std::function<void()>& look) const {
    const std::string path = root() + "/" + file, before = read_text(path);
    std::ofstream(path, std::ios::app) << "// A comment.\n";
    look();
    std::ofstream(path) << before;
  }

  std::string root() const { return folder_.path() + "/tree"; }

 private:
  TemporaryFolder folder_;
};

TEST_CASE("a trial's key changes with the sources that its numbers come from, and no others") {
  const SourceTree tree;
  const Experiment& fig3 = made::find_experiment("carlson2016/fig3");
  const Experiment& other_paper = made::find_experiment("bruegge2013/fig1");
  const std::string key = sources_hash(fig3, tree.hashes());
  const std::string other_key = sources_hash(other_paper, tree.hashes());
  for (const char* file :
       {"lib/boltzmark/core/numeric.hpp", "lib/boltzmark/sample/sample_store.cpp",
        "lib/boltzmark/transition/kernels/unit_kernels.hpp",
        "lib/boltzmark/exact/enumeration/fast_sum.cpp", "verification/checks/known/planted.cpp",
        "experiments/kit/datasets/dataset_sources.cpp", "experiments/kit/statistics/bootstrap.cpp",
        "experiments/kit/errors.cpp"})
    tree.with_comment(file, [&] {
      INFO(file);
      CHECK(sources_hash(fig3, tree.hashes()) != key);
      CHECK(sources_hash(other_paper, tree.hashes()) != other_key);
    });
  for (const char* file :
       {"experiments/carlson2016/fig3.cpp", "experiments/carlson2016/support/error_curves.cpp"})
    tree.with_comment(file, [&] {
      INFO(file);
      CHECK(sources_hash(fig3, tree.hashes()) != key);
      CHECK(sources_hash(other_paper, tree.hashes()) == other_key);
    });
  for (const char* file :
       {"verification/checks/verifier.cpp", "experiments/carlson2016/fig4.cpp",
        "experiments/kit/report/plot.cpp", "experiments/bruegge2013/support/classes.cpp"})
    tree.with_comment(file, [&] {
      INFO(file);
      CHECK(sources_hash(fig3, tree.hashes()) == key);
    });
  CHECK(sources_hash(fig3, tree.hashes()) == key);
  const Experiment& theory = made::find_experiment("carlson2016/theory");
  const std::string theory_key = sources_hash(theory, tree.hashes());
  for (const char* file :
       {"verification/checks/check_integration.cpp", "experiments/kit/evidence.cpp"})
    tree.with_comment(file, [&] {
      INFO(file);
      CHECK(sources_hash(theory, tree.hashes()) != theory_key);
      CHECK(sources_hash(fig3, tree.hashes()) == key);
    });
}

TEST_CASE("ranks are told apart by anything that their program is made of") {
  const SourceTree tree;
  const auto program = [&](const std::string& version = "1") {
    const std::string text = tree.list(version);
    std::smatch found;
    REQUIRE(std::regex_search(text, found,
                              std::regex("program_hash\\(\\) \\{ return \"([0-9a-f]{16})\"")));
    return found[1].str();
  };
  const std::string hash = program();
  CHECK(program() == hash);
  CHECK(program("2") != hash);
  for (const char* file : {"lib/boltzmark/core/numeric.hpp", "experiments/kit/ranks/rank_link.hpp",
                           "experiments/kit/run/runner.cpp", "tools/boltzmark/program.cpp",
                           "verification/checks/verifier.cpp"})
    tree.with_comment(file, [&] {
      INFO(file);
      CHECK(program() != hash);
    });
  CHECK(program() == hash);
}

TEST_CASE("a tree that has gone on is not the one that was built") {
  const SourceTree tree;
  const std::vector<SourceFile> built = tree.hashes();
  CHECK(sources_stand(tree.root(), built));
  tree.with_comment("lib/boltzmark/core/numeric.hpp",
                    [&] { CHECK_FALSE(sources_stand(tree.root(), built)); });
  CHECK(sources_stand(tree.root(), built));
  CHECK_FALSE(sources_stand(tree.root() + "/lib", built));
}

TEST_CASE("the build hashed the sources as they stand") {
  const SourceTree tree;
  const std::vector<SourceFile> now = tree.hashes(), built = source_files();
  REQUIRE(now.size() == built.size());
  for (std::size_t i = 0; i < now.size(); ++i) {
    INFO(now[i].path);
    CHECK(now[i].path == built[i].path);
    CHECK(now[i].sha256 == built[i].sha256);
  }
}

}  // namespace
}  // namespace boltzmark::experiments

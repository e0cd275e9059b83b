// Deep models on the command line: trained, resumed, pretrained.
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <memory>
#include <thread>
#include <tuple>

#include "boltzmark/io/sha256.hpp"
#include "boltzmark/learn/cases/case_source.hpp"
#include "boltzmark/learn/pretraining.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/cli/program.hpp"

namespace {

using namespace cli_test;

boltzmark::Layered deep_start(std::uint64_t seed) {
  return boltzmark::initial_network(std::vector{16, 3, 2}, 0.01, boltzmark::make_key(seed));
}

}  // namespace

TEST_CASE("a deep model is trained, resumed, described, evaluated and trained on from a file") {
  const io_test::Folder folder;
  const auto arguments = [&](const std::string& out, const std::string& updates, Arguments more) {
    Arguments all = {"train",        "bas",   "--hidden",   "6",     "--hidden",       "4",
                     "--negative",   "pcd:1", "--updates",  updates, "--out",          folder / out,
                     "--rate-decay", "500",   "--momentum", "0.5",   "--weight-decay", "0.0001",
                     "--mean-field", "3",     "--json"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const Run whole = run(arguments("whole.npz", "400", {"--evaluate", "400"}));
  INFO(whole.err);
  REQUIRE(whole.code == 0);
  const Json trained = Json::parse(whole.out);
  CHECK(trained["layers"] == Json({16, 6, 4}));
  CHECK(trained["hidden"] == 6);
  REQUIRE(run(arguments("half.npz", "150", {"--checkpoint", folder / "c"})).code == 0);
  const Run rest = run(arguments("rest.npz", "400", {"--checkpoint", folder / "c"}));
  REQUIRE(rest.code == 0);
  CHECK(Json::parse(rest.out)["resumed_at"] == 150);
  CHECK(io_test::read_all(folder / "rest.npz") == io_test::read_all(folder / "whole.npz"));
  // One input changed at a time makes other bytes.
  for (const Arguments& other : {Arguments{"--mean-field", "4"},
                                 {"--momentum", "0.4"},
                                 {"--rate-decay", "400"},
                                 {"--weight-decay", "0.001"},
                                 {"--negative", "pcd:2"}}) {
    INFO(other.front());
    Arguments changed = arguments("other.npz", "400", {"--force"});
    for (std::size_t i = 0; i + 1 < changed.size(); ++i)
      if (changed[i] == other[0]) changed[i + 1] = other[1];
    REQUIRE(run(changed).code == 0);
    CHECK(io_test::read_all(folder / "other.npz") != io_test::read_all(folder / "whole.npz"));
  }
  const double last = trained["evaluations"].back()["mean_log_likelihood"];
  const Json score = Json::parse(run({"score", folder / "whole.npz", "bas", "--json"}).out);
  CHECK(score["mean_log_likelihood"].get<double>() == Approx(last).margin(1e-9));
  CHECK(run({"describe", folder / "whole.npz"}).out.find("16") != std::string::npos);
  // No update: the start itself, byte for byte.
  REQUIRE(run(arguments("same.npz", "0", {"--start", folder / "whole.npz"})).code == 0);
  CHECK(io_test::read_all(folder / "same.npz") == io_test::read_all(folder / "whole.npz"));
  const Run other_shape = run({"train", "bas", "--hidden", "6", "--hidden", "5", "--start",
                               folder / "whole.npz", "--out", folder / "x.npz"});
  CHECK(other_shape.code == 2);
  CHECK(other_shape.err.find("is of 16-6-4 units (must be of 16-6-5") != std::string::npos);
  const Run other_units = run({"train", "bas", "--hidden", "6", "--hidden", "4", "--hidden-units",
                               "2", "--start", folder / "whole.npz", "--out", folder / "x.npz"});
  CHECK(other_units.code == 2);
  CHECK(other_units.err.find("has Bernoulli units in layer 1 (must have X(2)") !=
        std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "x.npz"));
}

TEST_CASE("pretraining has a rate of its own, a tenth of it where units are no bits") {
  const io_test::Folder folder;
  const auto key = boltzmark::derive_key(boltzmark::make_key(1, "train"), "pretraining");
  for (const auto& [units, unit, rate] :
       {std::tuple("bernoulli", boltzmark::Unit::bernoulli(), 0.05),
        std::tuple("4", boltzmark::Unit::multivalued(4), 0.005)}) {
    INFO(units);
    REQUIRE(run({"train", "bas", "--hidden", "5", "--hidden", "4", "--hidden-units", units,
                 "--pretrain", "2,2", "--updates", "0", "--out", folder / "m.npz", "--force"})
                .code == 0);
    const auto bits = boltzmark::Unit::bernoulli();
    boltzmark::Pretraining own({16, 5, 4}, {bits, unit},
                               std::make_shared<boltzmark::GivenCases>(
                                   boltzmark::experiments::load_dataset("bas").values, bits),
                               {.epochs = {2, 2}, .batch = 32, .learning_rate = rate}, key);
    while (!own.finished()) own.step();
    CHECK(boltzmark::read_model(folder / "m.npz").weights() == own.model().weights());
  }
}

TEST_CASE("persistent chains of a model that training starts from begin at cases") {
  const io_test::Folder folder;
  const boltzmark::Layered model = random_rbm(16, 5, 0.5, 3);
  REQUIRE(run({"train", "bas", "--hidden", "5", "--start", saved(model, folder / "start.npz"),
               "--negative", "pcd:1", "--batch", "8", "--updates", "1", "--out", folder / "m.npz"})
              .code == 0);
  const auto trained = [&](bool at_cases) {
    boltzmark::Trainer own(model, boltzmark::experiments::load_dataset("bas").values,
                           {.negative = boltzmark::Negative::pcd(1),
                            .batch = 8,
                            .start_at_cases = at_cases,
                            .updates = 1},
                           boltzmark::make_key(1, "train"));
    own.run(1, [](const boltzmark::Trainer&) {});
    return own.model().weights();
  };
  CHECK(boltzmark::read_model(folder / "m.npz").weights() == trained(true));
  CHECK(trained(true) != trained(false));
}

TEST_CASE("a deep model is trained by coupled chains, and resumed between two lags") {
  const io_test::Folder folder;
  const auto train = [&](const std::string& out, const std::string& updates, Arguments more) {
    Arguments all = {"train",      "bas",        "--hidden", "6",     "--hidden",
                     "4",          "--updates",  updates,    "--out", folder / out,
                     "--negative", "cast:3:0.2", "--lag",    "7",     "--json"};
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  };
  const Run whole = train("whole.npz", "200", {});
  INFO(whole.err);
  REQUIRE(whole.code == 0);
  CHECK(Json::parse(whole.out)["negative"] == "cast:3:0.2 --lag 7");
  REQUIRE(train("half.npz", "101", {"--checkpoint", folder / "c"}).code == 0);
  REQUIRE(train("rest.npz", "200", {"--checkpoint", folder / "c", "--threads", "1"}).code == 0);
  CHECK(io_test::read_all(folder / "rest.npz") == io_test::read_all(folder / "whole.npz"));
  for (const Arguments& other : {Arguments{"--swap", "each"},
                                 {"--factor", "constant:0.1"},
                                 {"--weights", "shared"},
                                 {"--chains", "10"}}) {
    INFO(other.front());
    REQUIRE(train("other.npz", "200", other).code == 0);
    CHECK(io_test::read_all(folder / "other.npz") != io_test::read_all(folder / "whole.npz"));
    std::filesystem::remove(folder / "other.npz");
    Arguments stranger = other;
    stranger.insert(stranger.end(), {"--checkpoint", folder / "c"});
    CHECK(train("other.npz", "300", stranger).code == 2);  // another run's checkpoint
    CHECK_FALSE(std::filesystem::exists(folder / "other.npz"));
  }
}

TEST_CASE("a deep model is pretrained, stopped at any time and gone on with to the same bytes") {
  const io_test::Folder folder;
  const auto arguments = [&](const std::string& out, const std::string& updates, Arguments more) {
    Arguments all = {"train",      "bas",    "--hidden",  "6",     "--hidden", "4",
                     "--hidden",   "3",      "--batch",   "8",     "--out",    folder / out,
                     "--pretrain", "6,21,2", "--updates", updates, "--json"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const auto bytes = [&](const std::string& out) { return io_test::read_all(folder / out); };
  const Run whole = run(arguments("whole.npz", "60", {"--checkpoint", folder / "whole"}));
  INFO(whole.err);
  REQUIRE(whole.code == 0);
  CHECK(Json::parse(whole.out)["updates"] == 60);
  CHECK(Json::parse(whole.out)["resumed_at"] == 0);
  REQUIRE(run(arguments("one.npz", "60", {"--threads", "1"})).code == 0);
  CHECK(bytes("one.npz") == bytes("whole.npz"));
  // From the end of pretraining on: nothing of it is done again.
  REQUIRE(run(arguments("start.npz", "0", {"--checkpoint", folder / "c"})).code == 0);
  CHECK(bytes("start.npz") != bytes("whole.npz"));
  const Run rest = run(arguments("rest.npz", "60", {"--checkpoint", folder / "c"}));
  REQUIRE(rest.code == 0);
  CHECK(bytes("rest.npz") == bytes("whole.npz"));
  const Run again = run(arguments("again.npz", "60", {"--checkpoint", folder / "c"}));
  REQUIRE(again.code == 0);
  CHECK(Json::parse(again.out)["resumed_at"] == 60);
  CHECK(bytes("again.npz") == bytes("whole.npz"));
  // Chains start at cases, as they do of a model that was pretrained elsewhere.
  REQUIRE(run({"train", "bas", "--hidden", "6", "--hidden", "4", "--hidden", "3", "--batch", "8",
               "--out", folder / "from.npz", "--start", folder / "start.npz", "--updates", "60"})
              .code == 0);
  CHECK(bytes("from.npz") == bytes("whole.npz"));
  const Run other = run({"train", "bas", "--hidden", "6", "--hidden", "4", "--hidden", "3",
                         "--batch", "8", "--out", folder / "x.npz", "--pretrain", "6,21,3",
                         "--updates", "60", "--checkpoint", folder / "c"});
  CHECK(other.code == 2);
  CHECK(lines(other.err) == 1);
  CHECK(other.err.find("--pretrain") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "x.npz"));
}

// By hand, of 16-16-16 units, batches of 16 and one thread, in seconds of the constants that stand at
// TrainingWork: an update takes 16 (2 512 2e-11 + 48e-9) + 16 16 512 2e-11 + 512 3e-9 = 5.25312e-6, one of
// an RBM by CD-k 16 (k 4.224e-8 + 2.048e-8) + 256 3e-9; 20,000 epochs of two updates take k = 1 .. 1,000,
// each 20 times. Pretraining holds the stack, 8 512 bytes, the trainer of an RBM, 8 16 32 + 48 256, and
// a copy, packed too, of the RBM below, 16 256: 24 KiB.
TEST_CASE("a run that pretrains states first what both parts take, and once") {
  const io_test::Folder folder;
  const auto arguments = [&](const Arguments& more) {
    return with({"train", "bas", "--hidden", "16", "--hidden", "16", "--batch", "16", "--threads",
                 "1", "--out", folder / "m.npz", "--force"},
                more);
  };
  const auto stopped = [](Process& process) {
    process.signal(SIGINT);
    const std::string err = process.wait().err, said = "of memory";
    CHECK(err.find(said) == err.rfind(said));
    return err.substr(0, err.find('\n'));
  };
  const auto plan = [&](const Arguments& more) {
    Process process(arguments(with({"--updates", "10000000"}, more)));
    REQUIRE(process.wait_for_message("of memory"));
    return stopped(process);
  };
  const auto bytes = [](const std::string& line) {
    CHECK_THAT(line, Catch::EndsWith(" KiB of memory"));
    return std::stod(line.substr(line.rfind("and ") + 4));
  };
  REQUIRE(run(arguments({"--updates", "0"})).code == 0);
  std::filesystem::copy_file(folder / "m.npz", folder / "start.npz");
  const std::string alone = plan({}), from = plan({"--start", folder / "start.npz"}),
                    both = plan({"--pretrain", "1,20000"});
  const std::string training = "10 000 000 updates of a 16-16-16 Boltzmann machine by pcd:1";
  CHECK_THAT(alone, Catch::StartsWith("boltzmark: " + training + "; about 52.5 s and "));
  CHECK(from == alone);
  CHECK_THAT(both, Catch::StartsWith("boltzmark: 40 002 updates of pretraining (13.6 s), then " +
                                     training + " (52.5 s); about 1 min 6 s and "));
  CHECK(bytes(both) - bytes(alone) == Approx(24).margin(0.11));  // of three digits each
  // Not again after it, which the first evaluation tells.
  Process process(
      arguments({"--pretrain", "1,1", "--updates", "10000000", "--evaluate", "10000000"}));
  REQUIRE(process.wait_for("\n         0  "));
  CHECK_THAT(stopped(process), Catch::StartsWith("boltzmark: 4 updates of pretraining ("));
  // What goes on past it takes the training alone.
  const Arguments kept = {"--pretrain", "1,1", "--checkpoint", folder / "c"};
  REQUIRE(run(arguments(with({"--updates", "0"}, kept))).code == 0);
  CHECK(plan(kept) == alone);
}

TEST_CASE("a checkpoint of another start is refused with the options of both") {
  const io_test::Folder folder;
  const std::string start = saved(deep_start(1), folder / "start.npz"),
                    other = saved(deep_start(2), folder / "other.npz");
  const auto sha256_of = [](const std::string& file) {
    const std::string bytes = io_test::read_all(file);
    return boltzmark::sha256(bytes.data(), bytes.size());
  };
  const auto train = [&](const std::string& out, const Arguments& more) {
    return run(with({"train", "bas", "--hidden", "3", "--hidden", "2", "--updates", "2", "--out",
                     folder / out, "--checkpoint", folder / "c"},
                    more));
  };
  const std::vector<std::pair<Arguments, std::string>> starts = {
      {{}, "--initial-sd 0.01"},
      {{"--initial-sd", "0.02"}, "--initial-sd 0.02"},
      {{"--initial", "xavier"}, "--initial xavier"},
      {{"--start", start}, "--start of SHA-256 " + sha256_of(start)},
      {{"--start", other}, "--start of SHA-256 " + sha256_of(other)},
      {{"--pretrain", "1,2"}, "--pretrain 1,2"},
      {{"--pretrain", "2,1"}, "--pretrain 2,1"}};
  for (const auto& [made, theirs] : starts) {
    std::filesystem::remove(folder / "c");
    REQUIRE(train("made.npz", with(made, {"--force"})).code == 0);
    const std::string kept = io_test::read_all(folder / "c");
    for (const auto& [asked, ours] : starts) {
      if (asked == made) continue;
      check_refused(train("x.npz", asked), {folder / "c: checkpoint: of another start: " + ours +
                                            " (must be " + theirs + ")\n"});
      CHECK(io_test::read_all(folder / "c") == kept);
      CHECK_FALSE(std::filesystem::exists(folder / "x.npz"));
    }
  }
  // Another kind of model, and what is no heading.
  check_refused(run({"train", folder.write("d.csv", "0,1\n1,0\n"), "--labels",
                     folder.write("l.csv", "0\n1\n"), "--discriminative", "--hidden", "3", "--out",
                     folder / "x.npz", "--checkpoint", folder / "c"}),
                {"--discriminative (must be --pretrain 2,1)"});
  folder.write("c", "boltzmark train 1, initial luck\n");
  check_refused(train("x.npz", {}), {"c: is no checkpoint (must be written by --checkpoint)"});
}

TEST_CASE("pretraining that Ctrl-C ends goes on to the same bytes") {
  const io_test::Folder folder;
  const auto arguments = [&](const std::string& out, const std::string& checkpoint) {
    return Arguments{"train",        "artificial-modes-0.1",
                     "--hidden",     "30",
                     "--hidden",     "30",
                     "--pretrain",   "40,40",
                     "--updates",    "50",
                     "--out",        folder / out,
                     "--checkpoint", folder / checkpoint};
  };
  REQUIRE(run(arguments("whole.npz", "whole.part")).code == 0);
  Process process(arguments("stopped.npz", "stopped.part"));
  // Most often in the midst of pretraining; whenever it is, the bytes must be the same.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  process.signal(SIGINT);
  const Run stopped = process.wait();
  INFO(stopped.err);
  const bool written = std::filesystem::exists(folder / "stopped.npz");
  REQUIRE((stopped.code != 0 || written));
  // A signal after the last update may find the model written: then it is whole.
  if (written)
    CHECK(io_test::read_all(folder / "whole.npz") == io_test::read_all(folder / "stopped.npz"));
  std::filesystem::remove(folder / "stopped.npz");
  REQUIRE(run(arguments("stopped.npz", "stopped.part")).code == 0);
  CHECK(io_test::read_all(folder / "whole.npz") == io_test::read_all(folder / "stopped.npz"));
}

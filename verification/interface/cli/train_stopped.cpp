// Training that is told to stop by Ctrl-C, or that its terminal is closed.
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/program.hpp"

using namespace cli_test;

TEST_CASE("training that nohup started goes on when the terminal is closed") {
  const io_test::Folder folder;
  Process process({"train", "artificial-modes-0.1", "--hidden", "12", "--updates", "6000",
                   "--evaluate", "1500", "--out", folder / "whole.npz"},
                  {}, {}, "trap '' HUP");
  REQUIRE(process.wait_for("\n         0  "));
  process.signal(SIGHUP);
  CHECK(process.wait().code == 0);
  CHECK(std::filesystem::exists(folder / "whole.npz"));
}

TEST_CASE("Ctrl-C during training saves a checkpoint, and going on gives the same bytes") {
  for (const std::string negative : {"pcd:1", "pt:2:1", "cast:3:0.2"}) {
    const io_test::Folder folder;
    const auto arguments = [&](const std::string& out, const std::string& checkpoint) {
      return Arguments{"train",        "artificial-modes-0.1",
                       "--hidden",     "12",
                       "--negative",   negative,
                       "--updates",    "6000",
                       "--evaluate",   "1500",
                       "--out",        folder / out,
                       "--checkpoint", folder / checkpoint};
    };
    REQUIRE(run(arguments("whole.npz", "whole.part")).code == 0);
    Process process(arguments("stopped.npz", "stopped.part"));
    REQUIRE(process.wait_for("\n         0  "));  // the first evaluation: training has begun
    process.signal(negative == "pcd:1" ? SIGHUP : SIGINT);  // a terminal that is closed, too
    const Run stopped = process.wait();
    CHECK(stopped.code == 1);
    CHECK(lines(stopped.err) == 1);
    CHECK_FALSE(std::filesystem::exists(folder / "stopped.npz"));
    REQUIRE(std::filesystem::exists(folder / "stopped.part"));
    CHECK(listing(folder / "").size() == 3);

    Arguments resumed = arguments("stopped.npz", "stopped.part");
    resumed.emplace_back("--json");
    const Run finished = run(resumed);
    REQUIRE(finished.code == 0);
    const int resumed_at = Json::parse(finished.out)["resumed_at"];
    CHECK(resumed_at > 0);
    CHECK(resumed_at < 6000);
    CHECK(io_test::read_all(folder / "whole.npz") == io_test::read_all(folder / "stopped.npz"));
  }
}

TEST_CASE("a trained model is kept where the last checkpoint cannot be written") {
  // 20,000 chains make the checkpoint larger than a file may become; the model is small.
  const io_test::Folder folder;
  const Arguments arguments = {"train",      folder.write("d.csv", "0,1,0,1\n1,0,1,0\n1,1,0,0\n"),
                               "--hidden",   "30",
                               "--updates",  "2",
                               "--negative", "pcd:1",
                               "--chains",   "20000"};
  const auto train = [&](const char* limit, const std::string& model, const std::string& part) {
    return run_under(limit,
                     with(arguments, {"--out", folder / model, "--checkpoint", folder / part}));
  };
  REQUIRE(train("true", "whole.npz", "whole.part").code == 0);
  const Run full = train("trap '' XFSZ; ulimit -f 64", "full.npz", "full.part");
  INFO(full.err);
  CHECK(full.code == 1);
  CHECK(lines(full.err) == 1);
  CHECK(full.err.find("full.part: cannot be written") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "full.part"));
  CHECK(io_test::read_all(folder / "full.npz") == io_test::read_all(folder / "whole.npz"));
  // Where neither can be written, both are told, in fewer than 512 bytes.
  const Run neither = train("trap '' XFSZ; ulimit -f 1", "none.npz", "none.part");
  INFO(neither.err);
  CHECK(neither.code == 1);
  CHECK(neither.err.find("none.npz: cannot be written") != std::string::npos);
  CHECK(neither.err.find("none.part: cannot be written") != std::string::npos);
}

TEST_CASE("training goes on where a checkpoint on its way cannot be written, and saves the next") {
  const io_test::Folder folder;
  const std::string kept = folder / "kept", checkpoint = kept + "/c";
  std::filesystem::create_directory(kept);
  Process process({"train", "bas", "--hidden", "12", "--updates", "2000000000", "--evaluate",
                   "1000000000", "--out", folder / "m.npz", "--checkpoint", checkpoint});
  REQUIRE(process.wait_for("\n         0  "));
  std::filesystem::remove_all(kept);
  process.signal(SIGSTOP);  // it is saved every 30 s, which need no work
  std::this_thread::sleep_for(std::chrono::seconds(31));
  process.signal(SIGCONT);
  CHECK(process.wait_for_message("c: cannot be written: No such file"));
  std::filesystem::create_directory(kept);
  process.signal(SIGINT);
  const Run stopped = process.wait();
  INFO(stopped.err);
  CHECK(stopped.code == 1);
  CHECK(lines(stopped.err) == 3);  // the first foretells the time
  CHECK(stopped.err.find("the work goes on") != std::string::npos);
  CHECK(stopped.err.find("is saved in " + checkpoint) != std::string::npos);
  CHECK(std::filesystem::exists(checkpoint));
}

TEST_CASE("training goes on from a pretrained start that no checkpoint could be written of") {
  // 20,000 chains make the checkpoint larger than a file may become; that of pretraining is small.
  const io_test::Folder folder;
  const std::string data = folder.write("d.csv", "0,1,0,1\n1,0,1,0\n1,1,0,0\n");
  const auto training = [&](const std::string& updates, const std::string& name) {
    return Arguments{"train",        data,
                     "--hidden",     "3",
                     "--hidden",     "2",
                     "--updates",    updates,
                     "--pretrain",   "1,8000",
                     "--chains",     "20000",
                     "--out",        folder / (name + ".npz"),
                     "--checkpoint", folder / name};
  };
  REQUIRE(run(training("2", "whole")).code == 0);
  // Stopped as it begins to pretrain, which is what the file holds then.
  for (const int wait : {20, 100, 400}) {  // soon, but not before the program listens
    Process process(training("2000000000", "full"));
    REQUIRE(process.wait_for_message("of memory"));
    std::this_thread::sleep_for(std::chrono::milliseconds(wait));
    process.signal(SIGINT);
    REQUIRE(process.wait().code == 1);
    if (std::filesystem::exists(folder / "full")) break;
  }
  CHECK(io_test::read_all(folder / "full").starts_with("boltzmark train 1, pretraining 1,8000"));
  const Run full = run_under("trap '' XFSZ; ulimit -f 64", training("2", "full"));
  INFO(full.err);
  CHECK(full.code == 1);
  const std::string said = "full: cannot be written: File too large (must fit on the disk)";
  CHECK(lines(full.err) == 3);  // it goes on, where pretraining ends, and at the end
  CHECK(full.err.find(said + ": the work goes on") != std::string::npos);
  CHECK(full.err.ends_with(said + "\n"));
  CHECK(io_test::read_all(folder / "full.npz") == io_test::read_all(folder / "whole.npz"));
}

TEST_CASE("Ctrl-C during training without a checkpoint leaves nothing") {
  const io_test::Folder folder;
  Process process({"train", "bas", "--hidden", "12", "--updates", "2000000000", "--evaluate",
                   "1000000000", "--out", folder / "m.npz"});
  REQUIRE(process.wait_for("\n         0  "));
  process.signal(SIGINT);
  const Run stopped = process.wait();
  CHECK(stopped.code == 1);
  CHECK(listing(folder / "").empty());
}

TEST_CASE("Ctrl-C ends an evaluation that takes minutes, at the update that it is of") {
  // 2^40 states.
  const io_test::Folder folder;
  std::string cases;
  for (int i = 0; i < 100; ++i) cases += i == 0 ? "1" : ",0";
  const std::string checkpoint = folder / "c";
  Process process({"train", folder.write("d.csv", cases + "\n"), "--hidden", "40", "--updates", "5",
                   "--evaluate", "1", "--out", folder / "m.npz", "--checkpoint", checkpoint});
  REQUIRE(process.wait_for_message("5 updates of a"));
  std::this_thread::sleep_for(std::chrono::seconds(1));  // the evaluation has begun
  process.signal(SIGINT);
  const Run stopped = process.wait();
  CHECK(stopped.code == 1);
  CHECK(stopped.err.find("interrupted: update 0 is saved in " + checkpoint) != std::string::npos);
  CHECK(listing(folder / "").size() == 2);
}

// No command writes over a file that it reads, whatever the file is called there.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/cli/program.hpp"
#include "verification/interface/kit/faulty_system.hpp"

using namespace cli_test;

namespace {

/// The lock in whose calls a signal falls, if any; and what its handler found.
std::string watched_lock;
volatile std::sig_atomic_t signals_told, locks_left;

void on_watched_signal(int) {
  boltzmark::experiments::FileLock::remove_all();
  signals_told = signals_told + 1;
  if (access(watched_lock.c_str(), F_OK) == 0) locks_left = locks_left + 1;
}

void check_two_files(const Arguments& arguments, const std::string& first,
                     const std::string& second) {
  Arguments forced = arguments;
  if (arguments.front() != "exact") forced.emplace_back("--force");
  const Run refused = run(forced);
  INFO(fmt::format("{}: {}", arguments.front(), refused.err));
  CHECK(refused.code == 2);
  CHECK(refused.out.empty());
  CHECK(lines(refused.err) == 1);
  CHECK(refused.err.find("is both " + first + " and " + second) != std::string::npos);
}

}  // namespace

TEST_CASE("files are written with the rights of any new file, as the umask leaves them") {
  const io_test::Folder folder;
  const std::string model = folder / "m.npz", data = folder.write("d.csv", "0,1,0\n1,0,1\n");
  boltzmark::write_model(random_rbm(3, 2, 1, 1), model);
  const mode_t before = ::umask(0);
  for (const mode_t mask : {0022, 0027, 0077, 0002}) {
    ::umask(mask);
    const std::string out = folder / fmt::format("{:o}", mask);
    std::filesystem::create_directory(out);
    std::filesystem::permissions(out, std::filesystem::perms::owner_all);
    CHECK(run({"sample", model, "--sweeps", "5", "--out", out + "/s.npz"}).code == 0);
    CHECK(run({"exact", model, "--checkpoint", out + "/part"}).code == 0);
    CHECK(run({"estimate", model, "--sweeps", "50", "--dump", out + "/d.npz"}).code == 0);
    CHECK(run({"train", data, "--hidden", "2", "--updates", "5", "--checkpoint", out + "/c",
               "--out", out + "/t.npz"})
              .code == 0);
    for (const auto& file : std::filesystem::directory_iterator(out)) {
      INFO(file.path() << " " << fmt::format("{:o}", mask));
      CHECK(static_cast<mode_t>(file.status().permissions()) == (0666 & ~mask));
    }
    CHECK(listing(out).size() == 5);
  }
  ::umask(before);
}

TEST_CASE("a command refuses to write over a file that it reads, by any name of it") {
  const io_test::Folder folder;
  const std::string model = folder / "m.npz", labels = folder.write("l.csv", "0\n1\n"),
                    data = folder.write("d.csv", "0,1,0\n1,0,1\n"), linked = folder / "hard.npz",
                    symbolic = folder / "soft.npz";
  boltzmark::write_model(random_rbm(3, 2, 1, 1), model);
  std::filesystem::create_hard_link(model, linked);
  std::filesystem::create_symlink(model, symbolic);
  const std::string before = io_test::read_all(model);
  for (const std::string& name : {model, linked, symbolic, folder / "./m.npz"}) {
    check_two_files({"convert", model, name}, "OUT", "IN");
    check_two_files({"sample", model, "--sweeps", "5", "--out", name}, "--out", "MODEL");
    check_two_files({"estimate", model, "--sweeps", "5", "--dump", name}, "--dump", "MODEL");
    check_two_files({"exact", model, "--checkpoint", name}, "--checkpoint", "MODEL");
    check_two_files({"train", data, "--hidden", "2", "--start", model, "--out", name}, "--out",
                    "--start");
    check_two_files({"train", data, "--hidden", "2", "--out", folder / "o.npz", "--start", model,
                     "--checkpoint", name},
                    "--checkpoint", "--start");
  }
  check_two_files({"score", model, data, "--labels", labels, "--predictions", data},
                  "--predictions", "DATASET");
  check_two_files({"score", model, data, "--labels", labels, "--predictions", labels},
                  "--predictions", "--labels");
  check_two_files({"score", model, data, "--labels", labels, "--predictions", model},
                  "--predictions", "MODEL");
  const std::string ladder = folder.write("ladder.npz", "0\n0.5\n1\n");
  check_two_files(
      {"estimate", model, "--sweeps", "5", "--ladder", folder / "./ladder.npz", "--dump", ladder},
      "--dump", "--ladder");
  check_two_files({"train", data, "--hidden", "2", "--out", folder / "n.npz", "--checkpoint",
                   folder / "./n.npz"},
                  "--out", "--checkpoint");
  CHECK(io_test::read_all(model) == before);
  CHECK(io_test::read_all(data) == "0,1,0\n1,0,1\n");
  CHECK(io_test::read_all(labels) == "0\n1\n");
  CHECK(io_test::read_all(ladder) == "0\n0.5\n1\n");
  CHECK(folder.entries() == 6);
  // A number is no name, and what is only like an input is another file.
  const Run fine = run({"train", data, "--hidden", "2", "--updates", "3", "--out",
                        folder / "m2.npz", "--start", model, "--json"});
  INFO(fine.err);
  CHECK(fine.code == 0);
}

TEST_CASE("a comparison does not write over a file of its own folder that it reads") {
  const io_test::Folder folder;
  const std::string model = folder / "m.npz", out = folder / "o";
  boltzmark::write_model(random_rbm(3, 2, 1, 1), model);
  std::filesystem::create_directory(out);
  const std::string data = folder.write("o/compare.csv", "0,1,0\n1,0,1\n");
  const Run refused = run({"compare", model, "--base", data, "--out", out, "--sweeps", "20"});
  CHECK(refused.code == 2);
  CHECK(refused.err.find("compare.csv: is both --out and --base") != std::string::npos);
  CHECK(io_test::read_all(data) == "0,1,0\n1,0,1\n");
}

TEST_CASE("a name that is no file may be the name of one to be written") {
  const io_test::Folder folder;
  const std::string data = folder.write("d.csv", "0,1,0\n1,0,1\n");
  const Arguments arguments = {"train",     data, "--hidden", "2",
                               "--updates", "2",  "--out",    folder / "m.npz"};
  Arguments units = arguments;
  units.insert(units.end(), {"--hidden-units", "4", "--checkpoint", folder / "4"});
  CHECK(run(units).code == 0);
}

TEST_CASE("two runs cannot write one file, and a lock goes with its holder") {
  const io_test::Folder folder;
  const std::string data = folder.write("d.csv", "0,1,0\n1,0,1\n");
  const auto training = [&](const std::string& out, const std::string& updates) {
    return Arguments{"train", data,         "--hidden",     "2",          "--updates",  updates,
                     "--out", folder / out, "--checkpoint", folder / "c", "--evaluate", "1000000"};
  };
  {
    Process first(training("m.npz", "2000000000"));
    REQUIRE(first.wait_for("mean log-likelihood"));
    const Run other = run(training("other.npz", "5"));
    CHECK(other.code == 2);
    CHECK(other.err.find("c: is being written by another run") != std::string::npos);
    const Run same = run({"train", data, "--hidden", "2", "--out", folder / "./m.npz"});
    CHECK(same.code == 2);
    CHECK(same.err.find("m.npz: is being written by another run") != std::string::npos);
    CHECK(run({"train", data, "--hidden", "2", "--updates", "5", "--out", folder / "third.npz"})
              .code == 0);
    first.signal(SIGKILL);
    first.wait();
  }
  CHECK(std::filesystem::exists(folder / ".m.npz.lock"));  // nobody holds it
  REQUIRE(run({"train", data, "--hidden", "2", "--updates", "5", "--out", folder / "m.npz",
               "--checkpoint", folder / "c2"})
              .code == 0);
  CHECK_FALSE(std::filesystem::exists(folder / ".m.npz.lock"));
  CHECK_FALSE(std::filesystem::exists(folder / ".c2.lock"));
}

TEST_CASE("of runs that enumerate with one checkpoint one goes on, and the others say why not") {
  const io_test::Folder folder;
  const std::string model = folder / "m.npz", part = folder / "part";
  boltzmark::write_model(random_rbm(30, 25, 0.5, 1), model);
  const Arguments arguments = {"exact", model, "--checkpoint", part, "--json", "--quiet"};
  const double log_z = json_of({"exact", model})["log_z"];
  std::vector<std::unique_ptr<Process>> all;
  for (int i = 0; i < 4; ++i) all.push_back(std::make_unique<Process>(arguments));
  int done = 0;
  for (const auto& process : all) {
    const Run result = process->wait();
    INFO(result.code << " " << result.err);
    if (result.code != 0) {
      check_refused(result, {part + ": is being written by another run"});
      continue;
    }
    ++done;
    CHECK(Json::parse(result.out)["log_z"] == log_z);
  }
  CHECK(done >= 1);
  // One that is held for certain is refused, and nothing of it changes.
  const boltzmark::experiments::FileLock held(part);
  const std::string kept = io_test::read_all(part);
  check_refused(run(arguments), {part + ": is being written by another run"});
  CHECK(io_test::read_all(part) == kept);
}

TEST_CASE("a signal that falls on the making or the end of a lock leaves no lock behind") {
  const io_test::Folder folder;
  const auto before =
      std::pair(std::signal(SIGTERM, on_watched_signal), std::signal(SIGINT, on_watched_signal));
  watched_lock = folder / ".d.npz.lock";
  signals_told = 0;
  locks_left = 0;
  {
    before_flock = [] { raise(SIGTERM); };
    const boltzmark::experiments::FileLock made(folder / "d.npz");
    CHECK(signals_told == 1);
    CHECK(locks_left == 0);
    std::ofstream{watched_lock};  // it goes on, which no command does
    before_unlink = [] { raise(SIGINT); };
  }
  std::signal(SIGTERM, before.first);
  std::signal(SIGINT, before.second);
  CHECK(signals_told == 2);
  CHECK(locks_left == 0);
  CHECK_FALSE(std::filesystem::exists(watched_lock));
}

TEST_CASE("cases that a data folder has are not written over, by whichever name they are read") {
  const io_test::Folder folder;
  const std::string cases = folder.write("mine.csv", "0,1,0\n1,0,1\n"),
                    before = io_test::read_all(cases);
  check_refused(
      run({"train", "mine.csv", "--hidden", "2", "--updates", "1", "--out", cases, "--force"},
          {{"BOLTZMARK_DATA", folder / ""}}),
      {"mine.csv: is both --out and DATASET"});
  CHECK(io_test::read_all(cases) == before);
}

TEST_CASE("a folder where a file is to be written is refused as one") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(3, 2, 1, 1), folder / "m.npz");
  const std::string here = folder / "";
  const auto before = listing(here);
  for (const Arguments& arguments :
       {Arguments{"exact", model, "--checkpoint", here},
        {"estimate", model, "--sweeps", "50", "--dump", here},
        {"sample", model, "--sweeps", "5", "--out", here},
        {"train", "bas", "--hidden", "2", "--updates", "1", "--out", here}})
    check_refused(run(arguments), {here + ": is a folder (must be a file for --"});
  CHECK(listing(here) == before);
}

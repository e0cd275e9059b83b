#include <catch2/catch.hpp>
#include <limits>

#include "boltzmark/io/formats/npz.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/cli/program.hpp"

namespace {

using namespace cli_test;
using boltzmark::NpzWriter;

std::string npz(const std::string& path, const Eigen::MatrixXd& w, const Eigen::VectorXd& b,
                const Eigen::VectorXd& c) {
  NpzWriter file(path);
  file.add("W", w);
  file.add("b", b);
  file.add("c", c);
  file.commit();
  return path;
}

/// A folder with one sound model and many unsound files.
struct Files {
  io_test::Folder folder;
  std::string good = saved(random_rbm(6, 3, 1, 1), folder / "good.npz");
  std::string wide = saved(random_rbm(41, 41, 0.1, 1), folder / "wide.npz");
  std::string deep = saved(zero_dbm({16, 41, 42}), folder / "deep.npz");
  std::string data = folder.write("data.csv", "0,1,0,1,0,1\n1,1,1,0,0,0\n");

  std::string truncated() {
    const std::string bytes = io_test::read_all(good);
    return folder.write("truncated.npz", bytes.substr(0, bytes.size() / 2));
  }
  std::string not_finite() {
    Eigen::MatrixXd w = Eigen::MatrixXd::Zero(3, 2);
    w(1, 1) = std::numeric_limits<double>::quiet_NaN();
    return npz(folder / "nan.npz", w, Eigen::VectorXd::Zero(3), Eigen::VectorXd::Zero(2));
  }
  std::string mismatched() {
    return npz(folder / "mismatch.npz", Eigen::MatrixXd::Zero(3, 2), Eigen::VectorXd::Zero(3),
               Eigen::VectorXd::Zero(4));
  }
  std::string empty_layer() {
    return npz(folder / "layer0.npz", Eigen::MatrixXd::Zero(3, 0), Eigen::VectorXd::Zero(3),
               Eigen::VectorXd::Zero(0));
  }
  std::string no_weights() {
    NpzWriter file(folder / "keyless.npz");
    file.add("b", Eigen::VectorXd(Eigen::VectorXd::Zero(3)));
    file.commit();
    return folder / "keyless.npz";
  }
};

}  // namespace

TEST_CASE("bad input exits 2 with one line naming file and reason, and leaves nothing behind") {
  Files files;
  const io_test::Folder& folder = files.folder;
  struct Case {
    Arguments arguments;
    std::string file;    ///< named in the message
    std::string reason;  ///< a word of the reason
  };
  const std::string missing = folder / "missing.npz";
  const std::string out = folder / "out.npz";
  const std::string nowhere = folder / "no-such-folder/out.npz";
  const std::string empty = folder.write("empty.npz", "");
  const std::string words = folder.write("words.npz", "these are words\n");
  const std::string ragged = folder.write("ragged.csv", "0,1,0\n1,0\n");
  const std::string narrow = folder.write("narrow.csv", "0,1,0\n1,0,1\n");
  const std::string grey = folder.write("grey.csv", "0,0.5,0,1,0,1\n");
  const std::string infinite = folder.write("infinite.csv", "0,1,inf,1,0,1\n");
  const std::string partial = folder.write("run.part", "not a checkpoint");
  const std::string idx = folder.write("huge.idx", std::string("\0\0\x08\x03\x7f\xff\xff\xff"
                                                               "\x7f\xff\xff\xff\x7f\xff\xff\xff",
                                                               16));
  const std::string exists = folder.write("exists.npz", "mine");
  std::filesystem::create_directory(folder / "taken.npz");
  const std::vector<Case> cases = {
      {{"exact", missing}, missing, "must"},
      {{"exact", folder / ""}, folder / "", "folder"},
      {{"exact", empty}, empty, "empty"},
      {{"exact", words}, words, "must"},
      {{"exact", files.truncated()}, "truncated.npz", "must"},
      {{"exact", files.not_finite()}, "nan.npz", "finite"},
      {{"exact", files.mismatched()}, "mismatch.npz", "must"},
      {{"exact", files.empty_layer()}, "layer0.npz", "must"},
      {{"exact", files.no_weights()}, "keyless.npz", "W"},
      {{"exact", files.wide}, files.wide, "41"},
      {{"exact", files.good, "--checkpoint", partial}, partial, "must"},
      {{"exact", files.good, "--checkpoint", folder / "no-such-folder/part"},
       "no-such-folder",
       "must"},
      {{"score", files.wide, "bas"}, "bas", "41"},
      {{"score", files.deep, "bas", "--method", "exact"},
       files.deep,
       "units = 41 (must be at most 40"},
      {{"score", files.good, "no-such-set"}, "no-such-set", "must"},
      {{"score", files.good, "mnist:nosplit"}, "mnist", "nosplit"},
      {{"score", files.good, ragged}, ragged, "must"},
      {{"score", files.good, narrow}, narrow, "6"},
      {{"score", files.good, grey}, grey, "must"},
      {{"score", files.good, infinite}, infinite, "must"},
      {{"score", files.good, idx}, idx, "must"},
      {{"score", files.good, files.data, "--method", "rts", "--data", files.data},
       "--data (must be left out",
       "climbs from the cases of " + files.data},
      {{"score", files.good, files.data, "--binarise", "often"}, "binarise", "often"},
      {{"score", files.good, files.data, "--binarise", "fresh"}, "binarise", "training alone"},
      {{"train", files.data, "--hidden", "2", "--out", out, "--binarise", "fresh"},
       files.data,
       "has no grey levels"},
      {{"train", files.data, "--hidden", "2", "--out", out, "--binarise", "fresh",
        "--discriminative"},
       "--binarise fresh",
       "--discriminative"},
      {{"spectrum", files.wide, "--rule", "gibbs"}, files.wide, "24 binary units"},
      {{"describe", missing}, missing, "must"},
      {{"describe", folder / ""}, folder / "", "folder"},
      {{"convert", files.good, nowhere}, nowhere, "must"},
      {{"convert", files.good, folder / "out.txt"}, "out.txt", ".npz or .mat"},
      {{"convert", files.good, files.good}, files.good, "two files"},
      {{"convert", files.good, exists}, exists, "exists"},
      {{"convert", files.good, folder / "taken.npz"}, "taken.npz", "must"},
      {{"convert", files.good, "/proc/out.npz"}, "/proc/out.npz", "must"},
      {{"convert", missing, out}, missing, "must"},
      {{"train", "no-such-set", "--hidden", "2", "--out", out}, "no-such-set", "must"},
      {{"train", ragged, "--hidden", "2", "--out", out}, ragged, "must"},
      {{"train", files.data, "--hidden", "2", "--out", nowhere}, nowhere, "must"},
      {{"train", files.data, "--hidden", "2", "--out", exists}, exists, "exists"},
      {{"train", files.data, "--hidden", "2", "--out", folder / "m.h5"}, "m.h5", ".npz"},
      {{"train", files.data, "--hidden", "2", "--out", out, "--batch", "3"}, "--batch = 3", "2"},
      {{"train", files.data, "--hidden", "2", "--out", out, "--negative", "cd:0"}, "cd:0", "must"},
      {{"train", files.data, "--hidden", "2", "--out", out, "--negative", "xyz"}, "xyz", "must"},
      {{"train", files.data, "--hidden", "2", "--out", out, "--learning-rate", "0"},
       "--learning-rate = 0",
       "above 0"},
      {{"train", files.data, "--hidden", "2", "--out", out, "--learning-rate", "nan"},
       "--learning-rate = nan",
       "must"},
      {{"train", files.data, "--hidden", "2", "--out", out, "--initial-sd", "-1"},
       "--initial-sd = -1",
       "must"},
      {{"train", files.data, "--hidden", "2", "--out", out, "--updates", "-1"},
       "--updates = -1",
       "must"},
      {{"train", files.data, "--hidden", "2", "--out", out, "--checkpoint", partial},
       partial,
       "must"},
      {{"train", files.data, "--hidden", "2", "--out", out, "--checkpoint", out}, out, "two files"},
      {{"sample", missing, "--out", out}, missing, "must"},
      {{"sample", files.good, "--out", folder / "s.csv"}, "s.csv", ".npz"},
      {{"sample", files.good, "--out", files.good, "--force"}, files.good, "two files"},
      {{"sample", files.good, "--out", nowhere}, nowhere, "must"},
      {{"sample", files.good, "--out", out, "--start", narrow}, narrow, "6"},
      {{"sample", files.good, "--out", out, "--start", grey}, grey, "must"},
      {{"estimate", files.good, "--method", "raise", "--data", grey}, grey, "must be a state"},
      {{"sample", files.good, "--out", out, "--chains", "0"}, "--chains = 0", "must"},
      {{"report", "--out", folder / "no-such-folder"}, "no-such-folder", "must"},
  };
  const auto before = listing(folder / "");
  for (const Case& bad : cases) {
    check_refused(run(bad.arguments), {bad.file, bad.reason});
    CHECK(listing(folder / "") == before);
  }
}

TEST_CASE("a model whose smaller side has 40 units or fewer is not refused for its larger side") {
  const io_test::Folder folder;
  const std::string path = saved(random_rbm(60, 4, 0.5, 2), folder / "tall.npz");
  CHECK(run({"exact", path, "--json"}).code == 0);
}

TEST_CASE("more temperatures than single precision tells apart are refused by their option") {
  const Files files;
  for (const char* ladder : {"linear", "adaptive"})
    check_refused(run({"estimate", files.good, "--temperatures", "20000000", "--ladder", ladder}),
                  {"--temperatures"});
}

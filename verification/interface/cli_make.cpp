// Models that carry their log Z: made, described, compared by, and dropped where parameters change.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "boltzmark/io/formats/npz.hpp"
#include "cli_json.hpp"
#include "cli_program.hpp"

using namespace cli_test;

TEST_CASE("a made model carries its log Z, which describe shows and compare scores by") {
  const io_test::Folder folder;
  const std::string path = folder / "m.npz";
  const Json made = json_of({"make", "random:12:6:0.2:3", "--out", path});
  CHECK(keys(made) ==
        Keys{"out", "family", "layers", "log_z", "log_z_error", "log_z_by", "seconds"});
  CHECK(made["layers"] == Json{12, 6});
  const double log_z = made["log_z"];
  CHECK(log_z == Approx(json_of({"exact", path})["log_z"].get<double>()).epsilon(1e-13));
  const Json described = json_of({"describe", path});
  CHECK(described["log_z"] == log_z);
  CHECK(described["log_z_by"] == "enumeration");
  CHECK(run({"describe", path}).out.find("known log Z") != std::string::npos);
  CHECK(run({"make", "random:12:6:0.2:3", "--out", path}).code == 2);

  // What cannot be enumerated is compared by what its file says.
  const std::string big = folder / "big.npz";
  const double known = json_of({"make", "product:10:10:5:0.5:1", "--out", big})["log_z"];
  const Json compared = json_of({"compare", big, "--methods", "ais", "--sweeps", "50", "--repeats",
                                 "2", "--chains", "16", "--out", folder / "c"});
  CHECK(compared["truth"] == known);
}

TEST_CASE("changed parameters drop the log Z that a file says, and a damaged one is refused") {
  const io_test::Folder folder;
  const std::string path = folder / "m.npz", changed = folder / "changed.npz";
  run({"make", "random:12:6:0.2:3", "--out", path});
  const boltzmark::Npz file(path);
  const auto copy = [&](const std::string& to, double shift, double log_z) {
    boltzmark::NpzWriter out(to);
    for (const std::string name : {"W", "b", "c"}) {
      const boltzmark::Array array = file.read(name);
      if (name == "W") {
        out.add(name, array.matrix());
      } else {
        Eigen::VectorXd values = array.vector();
        if (name == "c") values[2] += shift;
        out.add(name, values);
      }
    }
    out.add("log_z", Eigen::VectorXd(Eigen::VectorXd::Constant(1, log_z)));
    out.add("log_z_error", Eigen::VectorXd(Eigen::VectorXd::Zero(1)));
    out.add("log_z_by", std::vector<std::uint8_t>{'m', 'e'}, {2});
    const boltzmark::Array of = file.read("log_z_of");
    std::vector<std::int64_t> digest(1);
    std::memcpy(digest.data(), of.bytes.data(), sizeof digest[0]);
    out.add("log_z_of", digest, {1});
    out.commit();
  };
  copy(folder / "same.npz", 0, 5);
  CHECK(json_of({"describe", folder / "same.npz"})["log_z"] == 5.0);
  CHECK(json_of({"describe", folder / "same.npz"})["log_z_by"] == "me");
  copy(changed, 1e-12, 5);
  CHECK(json_of({"describe", changed})["log_z"].is_null());
  copy(folder / "nan.npz", 0, NAN);
  const Run refused = run({"describe", folder / "nan.npz"});
  CHECK(refused.code == 2);
  CHECK(refused.err.find("log_z") != std::string::npos);
  // Single precision has other parameters.
  REQUIRE(run({"convert", path, folder / "float.npz", "--precision", "float"}).code == 0);
  CHECK(json_of({"describe", folder / "float.npz"})["log_z"].is_null());
}

TEST_CASE("a model that cannot be made leaves nothing behind") {
  const io_test::Folder folder;
  for (const Arguments& bad : {Arguments{"make", "ising:5:1", "--out", folder / "m.npz"},
                               {"make", "ising:4:critical", "--out", folder / "m.mat"},
                               {"make", "nothing", "--out", folder / "m.npz"},
                               {"make", "ising:4:critical"}}) {
    const Run refused = run(bad);
    CHECK(refused.code == 2);
    CHECK(lines(refused.err) == 1);
  }
  CHECK(folder.entries() == 0);
}

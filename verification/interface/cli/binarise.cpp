// What becomes of values that are no bits: nothing in silence.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/cli/program.hpp"

using namespace cli_test;

namespace {

// A .npy file of bytes, as NumPy writes it.
std::string npy_of_bytes(const std::string& shape, const std::string& bytes) {
  std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize(117, ' ');
  header += '\n';
  std::string file = "\x93NUMPY";
  file += {1, 0, 118, 0};
  return file + header + bytes;
}

std::string counted_bytes(int count, int step) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(i * step % 256);
  return bytes;
}

Arguments training_of(const std::string& data, const std::string& out, const Arguments& more = {}) {
  Arguments all = {"train", data, "--hidden", "2", "--updates", "3", "--out", out, "--force"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

TEST_CASE(
    "small counts are not taken for grey levels, and are refused where units have no such value") {
  const io_test::Folder folder;
  const std::string counts = npy_of_bytes("4, 3", {0, 1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 0});
  const std::string data = folder.write("u8.npy", counts), out = folder / "m.npz";
  const Json described = json_of({"describe", data});
  CHECK(described["mean_activity"] == 2.5);
  CHECK(described["binary"] == false);
  for (const Arguments& more : {Arguments{}, Arguments{"--visible-units", "5"}}) {
    const Run refused = run(training_of(data, out, more));
    CHECK(refused.code == 2);
    CHECK(refused.err.find("u8.npy: holds values up to 5") != std::string::npos);
    CHECK(refused.err.find("--binarise") != std::string::npos);
  }
  CHECK(folder.entries() == 1);
  // Asked for, a threshold is taken: 8 of 12 values pass 1.
  CHECK(json_of({"describe", data, "--binarise", "threshold:1"})["mean_activity"].get<double>() ==
        Approx(8.0 / 12).epsilon(1e-6));
  CHECK(run(training_of(data, out, {"--binarise", "threshold:1"})).code == 0);
}

TEST_CASE(
    "shares in [0, 1] are made bits as bytes of 255 times as much are, where it is asked for") {
  const io_test::Folder folder;
  std::string levels, shares;
  for (int c = 0; c < 40; ++c)
    for (int i = 0; i < 5; ++i) {
      const int level = (c * 53 + i * 91) % 256;
      levels += std::to_string(level) + (i < 4 ? "," : "\n");
      shares += fmt::format("{:.9g}{}", level / 255.0, i < 4 ? "," : "\n");
    }
  const std::string bytes = folder.write("b.csv", levels), floats = folder.write("s.csv", shares),
                    bits = folder.write("bits.csv", "0,1,1\n1,0,0\n"),
                    model = saved(random_rbm(5, 3, 1, 4), folder / "m.npz");
  for (const char* way : {"threshold:127", "threshold:100", "sample:1", "sample:2"}) {
    const Json of_bytes = json_of({"score", model, bytes, "--binarise", way}),
               of_shares = json_of({"score", model, floats, "--binarise", way});
    INFO(way);
    CHECK(of_shares["mean_log_likelihood"] == of_bytes["mean_log_likelihood"]);
  }
  CHECK(json_of({"score", model, floats, "--binarise", "sample:1"})["mean_log_likelihood"] !=
        json_of({"score", model, floats, "--binarise", "sample:2"})["mean_log_likelihood"]);
  CHECK(run(training_of(floats, folder / "t.npz", {"--binarise", "fresh"})).code == 0);
  CHECK(run(training_of(bytes, folder / "u.npz", {"--binarise", "fresh"})).code == 0);
  CHECK(run({"convert", folder / "t.npz", folder / "t.mat"}).code == 0);
  CHECK(json_of({"describe", floats})["binary"] == false);  // nobody asked
  check_refused(run({"score", model, floats}), {"s.csv", "data value = "});
  check_refused(run({"describe", bits, "--binarise", "sample:1"}),
                {"bits.csv: has no grey levels (must have some, bytes or shares in [0, 1]"});
  const std::string negative = folder.write("n.csv", "-0.5,0.2,1\n0,1,0.5\n"),
                    large = folder.write("l.csv", "1.5,0.2,1\n0,1,0.5\n");
  for (const std::string& other : {negative, large})
    check_refused(run({"describe", other, "--binarise", "threshold:127"}), {"has no grey levels"});
}

TEST_CASE("a threshold that leaves every case without an edge is refused") {
  const io_test::Folder folder;
  const std::string data =
      folder.write("dark.npy", npy_of_bytes("20, 2, 3", counted_bytes(120, 1)));  // 0 .. 119
  for (const Arguments& more : {Arguments{}, Arguments{"--binarise", "threshold:127"}}) {
    const Run refused = run(training_of(data, folder / "m.npz", more));
    CHECK(refused.code == 2);
    CHECK(refused.err.find("dark.npy") != std::string::npos);
    CHECK(refused.err.find("threshold:127 20 of 20 cases have all units alike") !=
          std::string::npos);
  }
  // 117 and above: the last case alone has an edge, 95 % have none; at 113 the same share remains.
  CHECK(run({"describe", data, "--binarise", "threshold:116"}).code == 0);
  CHECK(run({"describe", data, "--binarise", "threshold:119"}).code == 2);
  CHECK(run({"describe", data, "--binarise", "grey"}).code == 0);
  // No threshold: what is drawn may have no edge. Nor has a case of one unit any.
  const std::string black = folder.write("black.npy",
                                         npy_of_bytes("20, 2, 3", std::string(119, '\0') + '\xC8')),
                    one = folder.write("one.npy", npy_of_bytes("20, 1, 1", counted_bytes(20, 12)));
  CHECK(run({"describe", black, "--binarise", "sample:1"}).code == 0);
  CHECK(run({"describe", one, "--binarise", "threshold:127"}).code == 0);
}

TEST_CASE("grey levels in text are binarised where it is asked for, bits never are") {
  const io_test::Folder folder;
  const std::string grey = folder.write("g.csv", "0,200,90\n255,10,130\n");
  CHECK(json_of({"describe", grey})["binary"] == false);
  const Json bits = json_of({"describe", grey, "--binarise", "threshold:100"});
  CHECK(bits["binary"] == true);
  CHECK(bits["mean_activity"] == 0.5);
  CHECK(run(training_of(grey, folder / "m.npz", {"--binarise", "fresh"})).code == 0);
  const std::string plain = folder.write("b.csv", "0,1,0\n1,0,1\n");
  for (const char* kind : {"threshold:127", "sample:1", "grey"}) {
    const Run refused = run({"describe", plain, "--binarise", kind});
    INFO(refused.err);
    CHECK(refused.code == 2);
    CHECK(refused.err.find("has no grey levels") != std::string::npos);
  }
}

TEST_CASE("images of grey levels keep their threshold of 127") {
  const io_test::Folder folder;
  const std::string data =
      folder.write("i.npy", npy_of_bytes("4, 8, 8", counted_bytes(256, 37)));  // each of 0 .. 255
  const Json plain = json_of({"describe", data}),
             asked = json_of({"describe", data, "--binarise", "threshold:127"});
  CHECK(plain["mean_activity"] == 0.5);
  CHECK(asked["mean_activity"] == 0.5);
  // The same bytes without the shape of images stay.
  const std::string flat = folder.write("f.npy", npy_of_bytes("4, 64", counted_bytes(256, 37)));
  CHECK(json_of({"describe", flat})["mean_activity"] == 127.5);
}

TEST_CASE("values between those of the units are means to train, which is said") {
  const io_test::Folder folder;
  const auto warnings = [&](const std::string& name, const std::string& cases,
                            const Arguments& more) {
    Arguments all = {"train", folder.write(name, cases), "--hidden", "2", "--updates", "5",
                     "--out", folder / (name + ".npz")};
    all.insert(all.end(), more.begin(), more.end());
    return json_of(all)["warnings"];
  };
  const std::string spins = "-1,1\n1,-1\n1,1\n-1,-1\n";
  const auto are_means = [](const Json& told, const char* unit) {
    REQUIRE(told.size() == 1);
    CHECK_THAT(told[0].get<std::string>(),
               Catch::StartsWith(
                   fmt::format("values between those of {} units are taken as means", unit)));
  };
  CHECK(warnings("s.csv", spins, {"--visible-units", "1"}).empty());
  are_means(warnings("o.csv", spins + "0,1\n", {"--visible-units", "1"}), "X(1)");
  CHECK(warnings("z.csv", spins + "0,1\n", {"--visible-units", "2"}).empty());
  are_means(warnings("q.csv", spins + "0.5,1\n", {"--visible-units", "2"}), "X(2)");
  CHECK(warnings("c.csv", spins + "0.5,1\n", {"--visible-units", "continuous"}).empty());
  CHECK(warnings("b.csv", "0,1\n1,0\n", {}).empty());
  are_means(warnings("m.csv", "0,1\n1,0.25\n", {}), "Bernoulli");
}

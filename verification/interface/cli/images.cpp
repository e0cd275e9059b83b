// What sample, describe and modes draw, and that states written are read again as data.
#include <zlib.h>

#include <catch2/catch.hpp>

#include "boltzmark/io/formats/npz.hpp"
#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/cli/program.hpp"

namespace {

using namespace cli_test;

/// A grey picture, as a reader of the format of PGM or PNG finds it.
struct Drawn {
  int width = 0, height = 0;
  std::vector<int> pixels;

  int at(int x, int y) const { return pixels.at(static_cast<std::size_t>(y * width + x)); }
  bool operator==(const Drawn&) const = default;
};

Drawn read_pgm(const std::string& path) {
  std::istringstream in(io_test::read_all(path));
  std::string magic;
  int most = 0;
  Drawn drawn;
  in >> magic >> drawn.width >> drawn.height >> most;
  REQUIRE((magic == "P5" && most == 255));
  in.get();
  for (char c = 0; in.get(c);) drawn.pixels.push_back(static_cast<unsigned char>(c));
  REQUIRE(static_cast<int>(drawn.pixels.size()) == drawn.width * drawn.height);
  return drawn;
}

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i)
    number = number << 8 | static_cast<unsigned char>(bytes.at(at + i));
  return number;
}

// Checks every chunk's checksum on the way.
Drawn parse_png(const std::string& bytes) {
  REQUIRE(bytes.starts_with("\x89PNG\r\n\x1a\n"));
  Drawn drawn;
  std::vector<std::string> chunks;
  std::string packed;
  for (std::size_t at = 8; at < bytes.size();) {
    const std::uint32_t size = number_at(bytes, at);
    const std::string body = bytes.substr(at + 4, size + 4);
    CHECK(number_at(bytes, at + 8 + size) ==
          crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size())));
    chunks.push_back(body.substr(0, 4));
    if (chunks.back() == "IHDR") {
      drawn.width = static_cast<int>(number_at(body, 4));
      drawn.height = static_cast<int>(number_at(body, 8));
      CHECK(body.substr(12) == std::string("\x08\0\0\0\0", 5));
    }
    if (chunks.back() == "IDAT") packed = body.substr(4);
    at += 12 + size;
  }
  CHECK(chunks == std::vector<std::string>{"IHDR", "IDAT", "IEND"});
  std::vector<Bytef> rows(static_cast<std::size_t>((drawn.width + 1) * drawn.height));
  uLongf size = rows.size();
  REQUIRE(uncompress(rows.data(), &size, reinterpret_cast<const Bytef*>(packed.data()),
                     packed.size()) == Z_OK);
  for (std::size_t i = 0; i < size; ++i)
    if (i % static_cast<std::size_t>(drawn.width + 1) == 0)
      CHECK(rows[i] == 0);  // no filter
    else
      drawn.pixels.push_back(rows[i]);
  return drawn;
}

std::string from_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0, held = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<unsigned>(digits.find(c));
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 255U);
  }
  return bytes;
}

// What an SVG embeds, which is a PNG.
Drawn parse_svg(const std::string& text) {
  const std::string before = "data:image/png;base64,";
  const std::size_t at = text.find(before) + before.size();
  return parse_png(from_base64(text.substr(at, text.find('"', at) - at)));
}

}  // namespace

TEST_CASE("PNG and SVG hold the picture that PGM holds") {
  const io_test::Folder folder;
  for (const int visible : {1, 4, 9}) {
    const std::string model = saved(random_rbm(visible, 5, 2, 3), folder / "m.npz");
    const auto draw = [&](const std::string& name) {
      REQUIRE(run({"describe", model, "--image", folder / name, "--force"}).code == 0);
      return folder / name;
    };
    const Drawn pgm = read_pgm(draw("w.pgm"));
    CHECK(parse_png(io_test::read_all(draw("w.png"))) == pgm);
    CHECK(parse_svg(io_test::read_all(draw("w.svg"))) == pgm);
  }
}

TEST_CASE("describe draws each hidden unit's weights in the visible units' shape, grey being 0") {
  const io_test::Folder folder;
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(6, 2);
  weights(1, 0) = 2;   // row 0, column 1 of the first image
  weights(3, 1) = -2;  // row 1, column 0 of the second
  weights(5, 1) = 1;
  const std::string model =
      saved(boltzmark::Layered::rbm(weights, Eigen::VectorXd::Zero(6), Eigen::VectorXd::Zero(2)),
            folder / "m.npz");
  REQUIRE(run({"describe", model, "--image", folder / "w.pgm", "--image-shape", "2x3"}).code == 0);
  const Drawn drawn = read_pgm(folder / "w.pgm");
  CHECK(drawn.width == 9);
  CHECK(drawn.height == 4);
  CHECK(drawn.at(2, 1) == 255);
  CHECK(drawn.at(5, 2) == 0);
  CHECK(drawn.at(7, 2) == 191);  // 3/4
  CHECK(drawn.at(1, 1) == 128);
  CHECK(drawn.at(6, 1) == 128);
}

TEST_CASE("describe draws cases in the rows and columns of their data set's images") {
  const io_test::Folder folder;
  // Two images of 3 x 4 bytes, 0, 10, .., 230: those above 127 are white.
  REQUIRE(run({"describe", io_test::fixture("u1_cube.npy"), "--image", folder / "d.pgm"}).code ==
          0);
  const Drawn drawn = read_pgm(folder / "d.pgm");
  CHECK(drawn.width == 11);
  REQUIRE(drawn.height == 5);
  for (int i = 0; i < 24; ++i)
    CHECK(drawn.at(1 + i / 12 * 5 + i % 4, 1 + i % 12 / 4) == (10 * i > 127 ? 255 : 0));
}

TEST_CASE("sample draws the states that it writes: chains, or chains along the kept sweeps") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(4, 3, 1, 5), folder / "m.npz");
  const auto states = [&](const std::string& every, const std::string& chains,
                          const std::string& sweeps = "4") {
    REQUIRE(run({"sample", model, "--out", folder / "s.npz", "--image", folder / "s.pgm",
                 "--sweeps", sweeps, "--every", every, "--chains", chains, "--force"})
                .code == 0);
    return boltzmark::Npz(folder / "s.npz").read("visible").bytes;
  };
  const auto shows = [&](const Drawn& drawn, int x, int y, const std::vector<unsigned char>& all,
                         int first) {
    for (int u = 0; u < 4; ++u)
      CHECK(drawn.at(1 + 3 * x + u % 2, 1 + 3 * y + u / 2) == 255 * all.at(first + u));
  };
  const auto last = states("4", "12");
  const Drawn chains = read_pgm(folder / "s.pgm");
  CHECK(chains.width == 31);
  CHECK(chains.height == 7);
  for (int chain = 0; chain < 12; ++chain) shows(chains, chain % 10, chain / 10, last, 4 * chain);
  const auto all = states("2", "3");
  const Drawn times = read_pgm(folder / "s.pgm");
  CHECK(times.width == 7);
  CHECK(times.height == 10);
  for (int chain = 0; chain < 3; ++chain)
    for (int kept = 0; kept < 2; ++kept) shows(times, kept, chain, all, 4 * (3 * kept + chain));
  // Of 24 kept sweeps ten, from the first to the last.
  const auto many = states("1", "3", "24");
  const Drawn tenths = read_pgm(folder / "s.pgm");
  CHECK(tenths.width == 31);
  for (int image = 0; image < 10; ++image)
    shows(tenths, image, 1, many, 4 * (3 * (image * 23 / 9) + 1));
}

TEST_CASE("describe and score take what sample writes as a data set, every kept state a case") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(4, 3, 1, 5), folder / "m.npz");
  const std::string states = folder / "s.npz";
  REQUIRE(run({"sample", model, "--out", states, "--sweeps", "6", "--every", "2", "--chains", "5"})
              .code == 0);
  const auto bytes = boltzmark::Npz(states).read("visible").bytes;
  std::string rows;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    rows += std::to_string(bytes[i]) + (i % 4 == 3 ? "\n" : ",");
  const std::string same = folder.write("s.csv", rows);
  CHECK(json_of({"score", model, states})["mean_log_likelihood"] ==
        json_of({"score", model, same})["mean_log_likelihood"]);
  const Json described = json_of({"describe", states, "--image", folder / "s.pgm"});
  CHECK(described["kind"] == "dataset");
  CHECK(described["cases"] == 15);
  CHECK(described["units"] == 4);
  CHECK(described["sha256"].get<std::string>().size() == 64);
  CHECK(described["mean_activity"] == json_of({"describe", same})["mean_activity"]);
  CHECK(json_of({"describe", model})["kind"] == "model");
  check_refused(run({"score", model, model}), {"is no data set", "states as `sample`"});
}

TEST_CASE("what is no image, or has no name of one, is refused before anything is written") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(6, 3, 1, 5), folder / "m.npz");
  const std::string out = folder / "s.npz", image = folder / "s.png";
  const auto sampled = [&](const Arguments& more) {
    Arguments all = {"sample", model, "--out", out, "--sweeps", "2"};
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  };
  check_refused(sampled({"--image", image}), {"--image (must go with a square", "not 6)"});
  check_refused(run({"describe", model, "--image", image}), {"--image (must go with a square"});
  for (const char* shape : {"2x4", "2", "x", "2x3x1", "02x3", "-2x-3", "3X2"})
    check_refused(sampled({"--image", image, "--image-shape", shape}),
                  {"--image-shape = " + std::string(shape), "ROWSxCOLUMNS of 6 units"});
  check_refused(sampled({"--image-shape", "2x3"}),
                {"--image-shape is given (must come with --image)"});
  check_refused(sampled({"--image", folder / "s.jpg", "--image-shape", "2x3"}),
                {"s.jpg", ".pgm, .png or .svg"});
  check_refused(sampled({"--image", folder / "none/s.png", "--image-shape", "2x3"}), {"none"});
  check_refused(
      run({"sample", model, "--given", model, "--out", folder / "h.npy", "--image", image}),
      {"--image is given (must not be, with --given)"});
  CHECK(folder.entries() == 1);
  folder.write("s.png", "mine");
  check_refused(sampled({"--image", image, "--image-shape", "2x3"}), {"s.png"});
  CHECK(io_test::read_all(image) == "mine");
  CHECK(folder.entries() == 2);
}

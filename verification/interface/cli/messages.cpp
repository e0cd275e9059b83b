// What a refusal says, and what is accepted instead: types, names, headers, ends of lines.
#include <fmt/format.h>
#include <zlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "boltzmark/io/formats/npz.hpp"
#include "tools/boltzmark/outcomes.hpp"
#include "tools/boltzmark/pace.hpp"
#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/cli/program.hpp"

using namespace cli_test;

namespace {

std::string little(std::uint64_t value, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i) bytes.push_back(static_cast<char>(i < 8 ? value >> (8 * i) : 0));
  return bytes;
}

/// Lays out a zip file of members that are stored as they are.
std::string zip_of(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string file, directory;
  for (const auto& [name, content] : members) {
    const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
    const std::string common = little(0, 8) + little(crc, 4) + little(content.size(), 4) +
                               little(content.size(), 4) + little(name.size(), 2) + little(0, 2);
    directory += "PK\x01\x02" + little(20, 2) + little(20, 2) + common + little(0, 10) +
                 little(file.size(), 4) + name;
    file += "PK\x03\x04" + little(20, 2) + common + name + content;
  }
  return file + directory + "PK\x05\x06" + little(0, 4) + little(members.size(), 2) +
         little(members.size(), 2) + little(directory.size(), 4) + little(file.size(), 4) +
         little(0, 2);
}

std::string zeros_npy(const std::vector<std::uint64_t>& shape) {
  std::size_t count = 1;
  for (const std::uint64_t size : shape) count *= size;
  return boltzmark::npy_header(boltzmark::ElementType::float64, shape) +
         std::string(count * sizeof(double), '\0');
}

/// An array of any type, without elements: it is to be refused before they are read.
std::string npy_of(const std::string& type, const std::string& shape) {
  const std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}}}", type, shape);
  return std::string("\x93NUMPY\x01\x00", 8) + little(header.size(), 2) + header;
}

}  // namespace

TEST_CASE("an array is refused by the name of its type and by the types that its reader takes") {
  const io_test::Folder folder;
  using Types = std::vector<std::pair<std::string, std::string>>;
  const std::string w = zeros_npy({3, 2}), b = zeros_npy({3}), c = zeros_npy({2});
  const std::string floats = " (must be float32 or float64)";
  for (const auto& [type, told] : Types{{"<f2", "float16" + floats},
                                        {"<f16", "float128" + floats},
                                        {">f2", "big-endian float16" + floats},
                                        {">f4",
                                         "big-endian float32 (must be little endian, as "
                                         ".astype('<f4') of NumPy makes it)"},
                                        {"<i4", "int32" + floats},
                                        {">i4", "big-endian int32" + floats},
                                        {"|u1", "uint8" + floats},
                                        {">u1", "uint8" + floats},  // one byte has no order
                                        {"|b1", "bool" + floats},
                                        {"<c8", "complex64" + floats},
                                        {"<U8", "text, '<U8'" + floats},
                                        {"|O", "Python objects, '|O'" + floats},
                                        {"<M8[ns]", "dates, '<M8[ns]'" + floats},
                                        {"<f999999999999", "type '<f999999999999'" + floats},
                                        {"=f4", "type '=f4'" + floats},  // no file's order
                                        {"=", "type '='" + floats}})
    check_refused(
        run({"exact",
             folder.write("m.npz", zip_of({{"W", npy_of(type, "(3, 2)")}, {"b", b}, {"c", c}}))}),
        {"m.npz: W holds " + told});
  for (const auto& [type, told] : Types{{"<f8", "float64"}, {"<f2", "float16"}})
    check_refused(
        run({"exact",
             folder.write(
                 "u.npz",
                 zip_of({{"W", w}, {"b", b}, {"c", c}, {"units", npy_of(type, "(2,)")}}))}),
        {"u.npz: units holds " + told + " (must hold integers)"});
  const std::string numbers = " (must be float32, float64, bool or integers)";
  for (const auto& [type, told] : Types{{"<f2", "float16" + numbers},
                                        {"<c16", "complex128" + numbers},
                                        {">i4",
                                         "big-endian int32 (must be little endian, as "
                                         ".astype('<i4') of NumPy makes it)"}})
    check_refused(run({"describe", folder.write("d.npy", npy_of(type, "(4, 3)"))}),
                  {"d.npy: holds " + told});
  check_refused(
      run({"train", folder.write("d.csv", "0,1\n1,0\n"), "--hidden", "2", "--discriminative",
           "--labels", folder.write("l.npy", npy_of("<f4", "(2,)")), "--out", folder / "o.npz"}),
      {"l.npy: holds float32 (must hold integers)"});
}

TEST_CASE("weights of float16 and of integers are each refused by their name") {
  const io_test::Folder folder;
  const std::string path = folder / "m.npz";
  const auto write = [&](auto values) {
    boltzmark::NpzWriter file(path);
    file.add("W", std::span<const typename decltype(values)::value_type>(values), {3, 2});
    file.add("b", Eigen::VectorXd(Eigen::VectorXd::Zero(3)));
    file.add("c", Eigen::VectorXd(Eigen::VectorXd::Zero(2)));
    file.commit();
  };
  write(std::vector<std::int64_t>(6));
  check_refused(run({"exact", path}), {"W holds int64 (must be float32 or float64)"});
  write(std::vector<float>(6));
  std::string half = io_test::read_all(path);
  half.replace(half.find("<f4"), 3, "<f2");
  folder.write("m.npz", half);
  check_refused(run({"exact", path}), {"W holds float16 (must be float32 or float64)"});
}

TEST_CASE("resumed work is as fast as what was done since, and lasts as long as that says") {
  const auto pace = boltzmark::cli::pace_of(95, 90, 100, 10);
  CHECK(pace.rate == 0.5);
  CHECK(pace.seconds_left == 10);
}

TEST_CASE("what is done every half minute is due then, and again half a minute after it was") {
  boltzmark::cli::NowAndThen saving(30);
  double now = 0;
  int done = 0;
  const auto done_at = [&](double time) {
    now = time;
    saving.do_if_due([&] { return now; },
                     [&] {
                       ++done;
                       if (done == 1) now = 80;  // it took longer than what is between
                     });
    return done;
  };
  CHECK(done_at(1) == 0);
  CHECK(done_at(29) == 0);
  CHECK(done_at(40) == 1);
  CHECK(done_at(81) == 1);
  CHECK(done_at(109) == 1);
  CHECK(done_at(110) == 2);
  CHECK(done_at(139) == 2);
  CHECK(done_at(200) == 3);
}

TEST_CASE("a model too large to enumerate is pointed to estimate") {
  const io_test::Folder folder;
  const std::string path = saved(random_rbm(300, 310, 0.01, 1), folder / "m.npz");
  check_refused(run({"exact", path}), {path, "enumerated_units = 300", "at most 40",
                                       "`boltzmark estimate` has no limit"});
}

TEST_CASE("a model of 41 to 56 units is pointed to --max-units, which takes no more") {
  const io_test::Folder folder;
  const std::string path = saved(random_rbm(41, 50, 0.01, 1), folder / "m.npz");
  // 2^41 states of 50 units: 0.06 us each on a core with 784.
  check_refused(
      run({"exact", path, "--threads", "1"}),
      {path, "enumerated_units = 41", "at most 40", "--max-units 41 would take about 2 h 20 min"});
  check_refused(run({"exact", path, "--max-units", "30"}), {"enumerated_units = 41", "at most 30"});
  const std::string long_lasting = saved(random_rbm(46, 50, 0.01, 1), folder / "l.npz");
  check_refused(run({"exact", long_lasting, "--threads", "1"}),
                {"--max-units 46 would take about 3.12 days"});  // 32 times as long
  const std::string wide = saved(random_rbm(57, 60, 0.01, 1), folder / "w.npz");
  const std::string wider = saved(random_rbm(113, 113, 0.01, 1), folder / "v.npz");
  for (const char* units : {"57", "0", "many"})
    check_refused(run({"exact", wider, "--max-units", units}),
                  {"--max-units = " + std::string(units), "an integer from 1 to 56"});
  const Run refused = run({"exact", wide, "--max-units", "56"});
  check_refused(refused, {"enumerated_units = 57", "at most 56"});
  CHECK(refused.err.find("would take") == std::string::npos);
}

TEST_CASE("describe foretells an enumeration by the kinds of the units") {
  const io_test::Folder folder;
  const auto seconds = [&](boltzmark::Unit visible) {
    boltzmark::Layer layers[2];
    layers[0].bias = Eigen::VectorXd::Zero(64);
    layers[0].unit = visible;
    layers[1].bias = Eigen::VectorXd::Zero(30);
    const std::string path =
        saved({{layers[0], layers[1]}, {Eigen::MatrixXd::Zero(64, 30)}}, folder / "m.npz");
    return json_of({"describe", path, "--threads", "1"})["estimated_seconds"].get<double>();
  };
  // 2^30 states of 64 units: 0.06 us each on a core with 784 binary ones, 87 ns a unit of X(9).
  CHECK(seconds(boltzmark::Unit::bernoulli()) == Approx(5.26).epsilon(0.01));
  CHECK(seconds(boltzmark::Unit::multivalued(9)) == Approx(6000).epsilon(0.01));
}

TEST_CASE("a model of few units of many values is told that its states are too many") {
  const io_test::Folder folder;
  boltzmark::Layer layer;
  layer.bias = Eigen::VectorXd::Zero(30);
  layer.unit = boltzmark::Unit::multivalued(4);
  const std::string path =
      saved({{layer, layer}, {Eigen::MatrixXd::Zero(30, 30)}}, folder / "m.npz");
  check_refused(run({"exact", path}), {path, "2^69.7 states", "at most 2^62", "estimate"});  // 5^30
}

TEST_CASE("an array that a file has by two names is refused") {
  const io_test::Folder folder;
  const std::string w = zeros_npy({3, 2}), b = zeros_npy({3}), c = zeros_npy({2});
  const std::string path =
      folder.write("m.npz", zip_of({{"W", w}, {"b.npy", b}, {"c.npy", c}, {"W.npy", w}}));
  check_refused(run({"exact", path}), {path, "has both W and W.npy (must hold one array W)"});
  folder.write("m.npz", zip_of({{"W", w}, {"b.npy", b}, {"c.npy", c}}));
  CHECK(run({"exact", path}).code == 0);
}

TEST_CASE("an unknown option is answered with the nearest one, if one is near") {
  const std::vector<std::pair<Arguments, std::string>> near = {
      {{"train", "bas", "--optimizer", "adam"}, "--optimiser"},
      {{"train", "bas", "--optimizer=adam"}, "--optimiser"},
      {{"estimate", "m.npz", "--chain", "3"}, "--chains"},
      {{"estimate", "m.npz", "--temperature", "3"}, "--temperatures"},
      {{"sample", "m.npz", "--outt", "x.npz"}, "--out"},
      {{"describe", "m.npz", "--jsn"}, "--json"}};
  for (const auto& [arguments, option] : near) {
    INFO(option);
    check_refused(run(arguments), {"unknown option", "(must be " + option + ", or another one of"});
  }
  check_refused(run({"exact", "m.npz", "--frobnicate"}), {"--frobnicate (must be one of"});
}

TEST_CASE("a file whose name is like an option's is said to come after --") {
  const io_test::Folder folder;
  folder.write("-m.npz", "");
  const auto said = [&](const char* name) {
    return run_under("cd '" + folder.path() + "'", {"exact", name}).err;
  };
  CHECK_THAT(said("-m.npz"), Catch::Contains("; a file of that name after --)"));
  CHECK_THAT(said("-n.npz"), !Catch::Contains("after --"));
}

TEST_CASE("a CSV file may begin with a byte order mark and with a line of names, which is said") {
  const io_test::Folder folder;
  const auto described = [&](const std::string& text) {
    const std::string path = folder.write("d.csv", text);
    const Run result = run({"describe", path, "--json"});
    INFO(result.err);
    REQUIRE(result.code == 0);
    Json json = Json::parse(result.out);
    json.erase("sha256");
    return std::pair(json.dump(), result.err);
  };
  const auto [plain, nothing] = described("0,1,0\n1,0,1\n0,0,1\n");
  CHECK(nothing.empty());
  const std::string mark = "\xEF\xBB\xBF";
  CHECK(described(mark + "0,1,0\n1,0,1\n0,0,1\n") == std::pair(plain, std::string()));
  for (const std::string& header :
       {std::string("a,b,c\n"), mark + "a,b,c\r\n", std::string("\"p0\", \"p1\", \"p2\"\n"),
        std::string("\n_x,y1,z\n"), std::string("info,nanometers,inflow\n")}) {
    const auto [same, said] = described(header + "0,1,0\n1,0,1\r\n0,0,1\n");
    CHECK(same == plain);
    CHECK(lines(said) == 1);
    CHECK_THAT(said, Catch::Contains("its first line is taken for a header: "));
  }
  for (const char* commented : {"# by numpy.savetxt, a,b\n0,1,0\n1,0,1\n0,0,1\n#\n",
                                "#\r\n#1,1,1\n0,1,0\n#,\n1,0,1\n0,0,1\n# end"})
    CHECK(described(commented) == std::pair(plain, std::string()));
  const auto refused = [&](const std::string& text, const std::string& said) {
    INFO(text);
    const std::string path = folder.write("d.csv", text);
    check_refused(run({"describe", path}), {path, said});
  };
  refused(",a,b,c\n0,0,1,0\n", "row 1, column 1: '' is empty (must be a number; pandas");
  refused("0,1,0\n1,#,0\n", "row 2, column 2: '#' is no number");
  refused("# 0,1,0\n", "holds no values");
  refused("a,1,c\n0,1,0\n", "row 1, column 1: 'a' is no number");
  refused("nan,nan,inf\n0,1,0\n", "is not finite");
  refused("a,b,c\n", "row 1, column 1: 'a' is no number");
  refused("a,b\n0,1,0\n", "row 2 holds 3 values");
  refused("a,b,c\nd,e,f\n0,1,0\n", "row 2, column 1: 'd' is no number");
  refused("0,1,0\na,b,c\n", "row 2, column 1: 'a' is no number");
  // Spaces separate no names.
  const std::string amat = folder.write("d.amat", mark + "# 1 1\n0 1 0\n1 0 1\n0 0 1\n");
  CHECK(Json::parse(run({"describe", amat, "--json"}).out)["cases"] == 3);
  check_refused(run({"describe", folder.write("h.amat", "a b c\n0 1 0\n")}), {"'a' is no number"});
}

TEST_CASE("lines that end in a carriage return alone are refused as such, not read as one") {
  const io_test::Folder folder;
  for (const char* name : {"d.csv", "d.amat"})
    for (const std::string text : {"0 1\r1 0\r", "0,1\r1,0\r", "0,1\r", "0 1\n1 0\r0 1\n"}) {
      const bool commas = text.find(',') != std::string::npos;
      if (commas != (std::string(name) == "d.csv")) continue;
      const std::string path = folder.write(name, text);
      const char* row = text.size() > 6 && text[3] == '\n' ? "row 2 ends" : "row 1 ends";
      check_refused(run({"describe", path}), {path, row, "ends in a carriage return alone",
                                              "must have lines that end in LF or CR LF"});
    }
  CHECK(run({"describe", folder.write("d.csv", "0,1\r\n1,0\r\n")}).code == 0);
}

TEST_CASE("a class that there is not is refused by the file of labels") {
  const io_test::Folder folder;
  const std::string data = folder.write("d.csv", "0,1,0\n1,0,1\n0,0,1\n"),
                    labels = folder.write("l.csv", "0\n1\n1\n"),
                    bad = folder.write("bad.csv", "0\n7\n1\n"), model = folder / "m.npz";
  REQUIRE(run({"train", data, "--discriminative", "--labels", labels, "--hidden", "2", "--updates",
               "2", "--out", model})
              .code == 0);
  CHECK(run({"score", model, data, "--labels", labels}).code == 0);
  check_refused(run({"score", model, data, "--labels", bad}),
                {bad + ": label of case 2 = 7 (must be 0..1)"});
  // A name before them is no class, and one that stands for a class would be missed.
  CHECK(run({"score", model, data, "--labels", folder.write("x.csv", "class\n0\n1\n1\n")}).code ==
        0);
  check_refused(run({"score", model, data, "--labels", folder.write("y.csv", "zero\n1\n1\n")}),
                {"y.csv", "has 2 classes (must have 3"});
}

TEST_CASE("a file that the system will not open is refused with the system's reason") {
  const io_test::Folder folder;
  const std::string data = folder.write("d.csv", "0,1,0\n1,0,1\n");
  const Arguments training = {"train",     data, "--hidden", "2",
                              "--updates", "2",  "--out",    folder / "o.npz"};
  int told = 0;
  for (int files = 3; files <= 7 && !kSanitized; ++files) {  // UBSan opens files of its own
    const Run result = run_under(fmt::format("ulimit -n {}", files), training);
    INFO(files << ": " << result.err);
    CHECK((result.code == 0 || lines(result.err) == 1));
    told += result.err.find("Too many open files") != std::string::npos ? 1 : 0;
  }
  CHECK((told > 0 || kSanitized));
  CHECK_THAT(io_test::data_error([&] { boltzmark::experiments::read_text(folder / "none"); }),
             Catch::Contains("none: cannot be read: No such file or directory"));
  CHECK_THAT(io_test::data_error([&] { boltzmark::experiments::read_text(folder / ""); }),
             Catch::Contains(": is a folder"));
}

TEST_CASE("no link beside a checkpoint leads the checkpoint elsewhere") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(6, 5, 1, 1), folder / "m.npz"),
                    victim = folder.write("victim", "precious"), part = folder / "part";
  std::filesystem::create_symlink(victim, part + ".partial");
  REQUIRE(run({"exact", model, "--checkpoint", part}).code == 0);
  CHECK(io_test::read_all(victim) == "precious");
  CHECK(std::filesystem::is_regular_file(std::filesystem::symlink_status(part)));
  CHECK(run({"exact", model, "--checkpoint", part}).code == 0);
  // Nor beside a file of results.
  const std::string text = folder / "report.md";
  std::filesystem::create_symlink(victim, fmt::format("{}.{}.tmp", text, getpid()));
  boltzmark::experiments::write_text(text, "new");
  CHECK(io_test::read_all(victim) == "precious");
  CHECK(io_test::read_all(text) == "new");
}

TEST_CASE("checks that do not hold are counted and end verify with 3, whatever the last one says") {
  struct Checked {
    struct {
      bool holds = true;
    } outcome;
  };
  const auto ends = [](std::vector<Checked> rows) {
    return std::pair(boltzmark::cli::count_failed(rows), boltzmark::cli::exit_code_of(rows));
  };
  CHECK(ends({{{true}}, {{true}}}) == std::pair(0, 0));
  CHECK(ends({{{false}}, {{true}}}) == std::pair(1, 3));
  CHECK(ends({{{false}}, {{true}}, {{false}}}) == std::pair(2, 3));
}

TEST_CASE("eigenvalues whose solver did not converge are refused with the residual they have") {
  boltzmark::Spectrum result;
  result.residual = 1e-3;
  CHECK_THROWS_WITH(boltzmark::cli::require_converged(result, "m.npz"),
                    "m.npz: the eigenvalue solver did not converge (residual 0.001)");
  result.converged = true;
  CHECK_NOTHROW(boltzmark::cli::require_converged(result, "m.npz"));
}

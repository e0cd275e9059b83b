// Files as other tools write them, and signals as batch systems send them.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <thread>

#include "boltzmark/core/atomic_file.hpp"
#include "boltzmark/io/formats/mat.hpp"
#include "boltzmark/io/formats/npz.hpp"
#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/io/files.hpp"

using namespace cli_test;

namespace {

void check_told(const Arguments& arguments, const std::string& text) {
  const Run found = run(arguments);
  INFO(found.err);
  CHECK(found.code == 2);
  CHECK(lines(found.err) == 1);
  CHECK_THAT(found.err, Catch::Contains(text));
}

int lock_files(const std::string& folder) {
  int locks = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    locks += entry.path().extension() == ".lock" ? 1 : 0;
  return locks;
}

}  // namespace

TEST_CASE("a deep model's matrices are refused, not read as its bottom RBM") {
  const io_test::Folder folder;
  const auto write = [&](const std::string& name, const std::vector<std::string>& more) {
    const std::string path = folder / name;
    boltzmark::AtomicFile file(path);
    boltzmark::write_mat_header(file);
    const auto type = boltzmark::ElementType::float64;
    boltzmark::write_mat_matrix(file, "vishid", Eigen::MatrixXd::Zero(4, 3), type);
    boltzmark::write_mat_matrix(file, "visbiases", Eigen::MatrixXd::Zero(1, 4), type);
    boltzmark::write_mat_matrix(file, "hidbiases", Eigen::MatrixXd::Zero(1, 3), type);
    for (const std::string& matrix : more)
      boltzmark::write_mat_matrix(file, matrix, Eigen::MatrixXd::Zero(3, 2), type);
    file.commit(boltzmark::Durability::system);
    return path;
  };
  CHECK(json_of({"exact", write("rbm.mat", {})})["log_z"].get<double>() ==
        Approx(7 * std::log(2.0)));
  CHECK(run({"exact", write("others.mat", {"epoch"})}).code == 0);
  for (const char* matrix : {"hidpen", "penbiases", "labhid", "labpen"})
    check_told({"estimate", write("dbm.mat", {matrix})}, fmt::format("a matrix {}", matrix));
}

TEST_CASE("biases of MATLAB that are as many as the weights do not say are refused, in any shape") {
  const io_test::Folder folder;
  const auto write = [&](int rows, int cols) {
    boltzmark::AtomicFile file(folder / "m.mat");
    boltzmark::write_mat_header(file);
    const auto type = boltzmark::ElementType::float64;
    boltzmark::write_mat_matrix(file, "vishid", Eigen::MatrixXd::Zero(4, 3), type);
    boltzmark::write_mat_matrix(file, "visbiases", Eigen::MatrixXd::Zero(rows, cols), type);
    boltzmark::write_mat_matrix(file, "hidbiases", Eigen::MatrixXd::Zero(1, 3), type);
    file.commit(boltzmark::Durability::system);
    return folder / "m.mat";
  };
  CHECK(run({"exact", write(1, 4)}).code == 0);
  CHECK(run({"exact", write(4, 1)}).code == 0);
  for (const auto& [rows, cols] : {std::pair(1, 5), {1, 3}, {5, 1}, {2, 2}})
    check_told({"exact", write(rows, cols)},
               fmt::format("has shape ({}, {}) (must be 1 x 4, as vishid says)", rows, cols));
}

TEST_CASE("a sigma without its layer's number and Units are refused, not left unread") {
  const io_test::Folder folder;
  const auto write = [&](const char* extra) {
    const std::string path = folder / "m.npz";
    std::filesystem::remove(path);
    boltzmark::NpzWriter file(path);
    file.add("W", Eigen::MatrixXd(Eigen::MatrixXd::Zero(2, 1)));
    file.add("b", Eigen::VectorXd(Eigen::VectorXd::Zero(2)));
    file.add("c", Eigen::VectorXd(Eigen::VectorXd::Zero(1)));
    if (*extra != '\0') file.add(extra, Eigen::VectorXd(Eigen::VectorXd::Ones(2)));
    file.commit();
    return path;
  };
  CHECK(run({"exact", write("")}).code == 0);
  CHECK(run({"exact", write("epochs")}).code == 0);
  for (const char* extra : {"sigma", "Sigma", "Units", "unit", "W1"})
    check_told({"exact", write(extra)}, fmt::format("has an array {}", extra));
}

TEST_CASE("a first row of values that are quoted or no numbers is no header") {
  const io_test::Folder folder;
  for (const char* row : {"\"1\",\"0\"", "True,False", "NA,NA", "'1','0'"})
    check_told({"describe", folder.write("d.csv", fmt::format("{}\n1,0\n0,1\n", row))},
               "is no number");
  const Run named = run({"describe", folder.write("d.csv", "\"x1\",\"x2\"\n1,0\n0,1\n"), "--json"});
  CHECK(Json::parse(named.out)["cases"] == 2);
  CHECK_THAT(named.err, Catch::Contains("taken for a header: \"x1\",\"x2\"\n"));
}

TEST_CASE("comments neither part a text nor hide what follows, and names may have any letters") {
  const io_test::Folder folder;
  const auto check_cases = [&](const char* name, const std::string& text) {
    INFO(text.substr(0, 60));
    const Run found =
        run({"describe", folder.write(name, text), "--json"});  // which may tell of a header
    REQUIRE(found.code == 0);
    const Json data = Json::parse(found.out);
    CHECK(data["cases"] == 2);
    CHECK(data["units"] == 3);
  };
  check_cases("a.txt", "# by foo, version 2\n0 1 0\n1 0 1\n");
  check_cases("b.txt", "\n # indented, too\n#, more\n0 1 0\n1 0 1\n");
  check_cases("c.txt", "#" + std::string(600, 'x') + "\n0,1,0\n1,0,1\n");
  check_cases("d.csv", " # indented\n0,1,0\n1,0,1\n");
  check_cases("e.csv", "état,größe,日本\n0,1,0\n1,0,1\n");
  check_cases("f.csv", "# Größe\n0,1,0\n1,0,1\n");
  // A letter that the first bytes cut.
  check_cases("g.csv", "#" + std::string(510, 'x') + "é\n0,1,0\n1,0,1\n");
  check_told({"describe", folder.write("h.csv",
                                       "gr\xf6\xdf"
                                       "e,b,c\n0,1,0\n1,0,1\n")},
             "is no data set");
}

TEST_CASE("a data set is described though there is a folder of its name") {
  const io_test::Folder folder;
  std::filesystem::create_directory(folder / "bas");
  const std::string before = std::filesystem::current_path();
  std::filesystem::current_path(folder / "");
  const Run found = run({"describe", "bas", "--json"});
  std::filesystem::current_path(before);
  REQUIRE(found.code == 0);
  CHECK(Json::parse(found.out)["units"] == 16);
}

TEST_CASE("a first case that counts its columns is told of, as pandas names them") {
  const io_test::Folder folder;
  const auto said = [&](const char* text) {
    return run({"describe", folder.write("d.csv", text)}).err;
  };
  CHECK_THAT(said("0,1,2\n0.5,3,1\n"), Catch::Contains("header=False"));
  CHECK(said("0,1\n1,0\n").empty());  // two binary units
  CHECK(said("0,1,2\n").empty());     // all that there is
  CHECK(said("0,1,1\n0,1,2\n").empty());
}

TEST_CASE("SIGTERM ends a command like Ctrl-C, with a line, exit code 1 and no lock left behind") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(300, 200, 0.1, 1), folder / "m.npz");
  for (const int number : {SIGTERM, SIGINT}) {
    Process process({"estimate", model, "--sweeps", "2000000", "--dump", folder / "d.npz"});
    while (lock_files(folder / "") == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    process.signal(number);
    const Run ended = process.wait();
    CHECK(ended.code == 1);
    CHECK_THAT(ended.err, Catch::Contains("boltzmark: interrupted"));
    CHECK(lock_files(folder / "") == 0);
  }
}

TEST_CASE("a link that leads nowhere is there, and is not replaced") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(3, 2, 1, 1), folder / "m.npz"),
                    link = folder / "l.npz";
  std::filesystem::create_symlink(folder / "nowhere", link);
  check_told({"convert", model, link}, "exists already");
  CHECK(std::filesystem::is_symlink(link));
}

TEST_CASE("what a link leads to is replaced where --force allows it, and the link stays") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(3, 2, 1, 1), folder / "m.npz"),
                    other = saved(random_rbm(4, 2, 1, 2), folder / "far.npz"),
                    link = folder / "l.npz", new_link = folder / "n.npz";
  std::filesystem::create_symlink("far.npz", link);  // from the link's own folder
  std::filesystem::create_symlink(folder / "new.npz", new_link);
  const std::string before = io_test::read_all(other);
  check_told({"convert", model, link}, "exists already");
  CHECK(io_test::read_all(other) == before);
  for (const auto& [out, file] :
       {std::pair(link, other), std::pair(new_link, folder / "new.npz")}) {
    REQUIRE(run({"convert", model, out, "--force"}).code == 0);
    CHECK(std::filesystem::is_symlink(out));
    CHECK(boltzmark::read_model(file).size(0) == 3);
  }
}

TEST_CASE("a file of a ladder may have comments, and its values be parted by blanks or commas") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(4, 3, 1, 1), folder / "m.npz");
  const auto log_z = [&](const char* name, const char* text) -> double {
    return json_of(
        {"estimate", model, "--sweeps", "100", "--ladder", folder.write(name, text)})["log_z"];
  };
  const double plain = log_z("a.txt", "0 0.25 0.5 1\n");
  CHECK(log_z("b.txt", "# from 0 to 1\n0, 0.25 # 0.3\n\n0.5,1\n") == plain);
  CHECK(log_z("c.txt", "0 0.3 0.5 1\n") != plain);
  check_told({"estimate", model, "--ladder", folder.write("d.txt", "# nothing\n")}, "not a ladder");
}

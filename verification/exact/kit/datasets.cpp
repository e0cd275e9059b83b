#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/io/binarise.hpp"
#include "boltzmark/io/formats/array.hpp"
#include "boltzmark/io/model_file.hpp"
#include "experiments/kit/datasets/data_folders.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "verification/skip.hpp"

namespace boltzmark::experiments {

namespace {

std::vector<int> counts(const std::vector<int>& labels) {
  std::vector<int> counts;
  for (const int label : labels) {
    if (label >= static_cast<int>(counts.size())) counts.resize(label + 1);
    ++counts[label];
  }
  return counts;
}

std::string bits(const Dataset& data, Eigen::Index c) {
  std::string text;
  for (Eigen::Index i = 0; i < data.values.rows(); ++i) text += data.values(i, c) == 1 ? '1' : '0';
  return text;
}

bool is_binary(const Eigen::MatrixXf& values) {
  return (values.array() == 0 || values.array() == 1).all();
}

}  // namespace

TEST_CASE("Bars and Stripes holds 30 patterns, all-0 and all-1 twice, with the known ceiling") {
  const Dataset data = load_dataset("bas");
  std::map<std::string, int> patterns;
  for (Eigen::Index c = 0; c < data.values.cols(); ++c) ++patterns[bits(data, c)];
  CHECK(data.values.cols() == 32);
  CHECK(patterns.size() == 30);
  CHECK(patterns.at(std::string(16, '0')) == 2);
  CHECK(patterns.at(std::string(16, '1')) == 2);
  CHECK(patterns.contains("1111000000001111"));
  CHECK(patterns.contains("1001100110011001"));
  double ceiling = 0;
  for (const auto& [pattern, count] : patterns) ceiling += count / 32.0 * std::log(count / 32.0);
  CHECK(ceiling == Approx(-3.379093).margin(5e-7));  // the published digits
  CHECK(load_dataset("bas:test").values.matrix() == data.values.matrix());
  CHECK(data.sha256 == "03116e6919ea83a5f91260a30a8c53dfc651729d88dde73e089016e225c45888");
}

TEST_CASE("Artificial Modes holds 2,500 noisy copies of each mode, the same on every machine") {
  const Dataset data = load_dataset("artificial-modes-0.1");
  CHECK(data.values.cols() == 10000);
  CHECK(counts(data.labels) == std::vector<int>{2500, 2500, 2500, 2500});
  const std::string modes[] = {"0000000000000000", "1111111111111111", "0000000011111111",
                               "1111111100000000"};
  int flips = 0;
  for (Eigen::Index c = 0; c < data.values.cols(); ++c) {
    const std::string text = bits(data, c), &mode = modes[data.labels[c]];
    for (int i = 0; i < 16; ++i) flips += text[i] != mode[i];
  }
  // 160,000 draws at 0.1: 6.1 standard deviations of 120.
  CHECK(std::abs(flips - 16000) < 6.1 * 120);
  CHECK(data.sha256 == "ae5e88cd240572718ee5baecc4f044522517d3e6530a8648d07ee581cc44ba00");
  CHECK(load_dataset("artificial-modes-0.01").sha256 ==
        "2e6b76c20b6b32d0479f5e22b01389f5aa7203fb78413be946fdc3eb480f96fa");
  CHECK(load_dataset("artificial-modes-0.1:test").sha256 ==
        "18fd9d3d7a4004c83784fcf3964fd3011a4bbb78ce96caf44c1baf7d497d4ec0");
  CHECK(load_dataset("artificial-modes-0.01:test").sha256 ==
        "40df2207fdfa715721e143dccbbfb71e5293df11869dc86905a23889ef84a5a0");
  CHECK(load_dataset("artificial-modes-0.1:valid").values.matrix() ==
        data.values.matrix().rightCols(2000));
  CHECK(load_dataset("artificial-modes-0.1:fit").values.matrix() == data.values.leftCols(8000));
  CHECK(bits(load_dataset("artificial-modes-0"), 3) == modes[3]);
}

TEST_CASE("MNIST has its published class counts, and its splits are parts of one another") {
  const Dataset test = load_dataset("mnist:test"), train = load_dataset("mnist");
  // Class counts as LeCun's page and every copy of the set give them.
  CHECK(counts(test.labels) ==
        std::vector<int>{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009});
  CHECK(counts(train.labels) ==
        std::vector<int>{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949});
  CHECK(train.values.rows() == 784);
  CHECK(train.values.cols() == 60000);
  CHECK(train.rows == 28);
  CHECK(is_binary(test.values.matrix()));
  const Dataset valid = load_dataset("mnist:valid");
  CHECK(valid.values.matrix() == train.values.matrix().rightCols(10000));
  CHECK(valid.labels == std::vector<int>(train.labels.end() - 10000, train.labels.end()));
  const Dataset fit = load_dataset("mnist:fit");
  CHECK(fit.values.matrix() == train.values.leftCols(50000));
  CHECK(fit.name == "mnist:fit");
}

TEST_CASE("MNIST is binarised at > 127, by sampling, or left grey, pixel by pixel") {
  const Dataset grey = load_dataset("mnist:test", {.kind = BinariseOptions::Kind::grey});
  const Dataset sharp = load_dataset("mnist", {}, "test");
  CHECK(sharp.values.matrix() ==
        (grey.values.matrix().array() > 127.5F / 255).cast<float>().matrix());
  const BinariseOptions options = parse_binarise("sample:7");
  const Dataset sampled = load_dataset("mnist:test", options);
  CHECK(is_binary(sampled.values.matrix()));
  CHECK(load_dataset("mnist:test", options).values.matrix() == sampled.values.matrix());
  CHECK(load_dataset("mnist:test", parse_binarise("sample:8")).values.matrix() !=
        sampled.values.matrix());
  // Levels 0 and 255 are never and always on.
  CHECK((grey.values.matrix().array() == 0).select(sampled.values.matrix(), 0).isZero(0));
  CHECK(
      (grey.values.matrix().array() == 1).select(1 - sampled.values.matrix().array(), 0).isZero(0));
  // The sum of 7.84 million Bernoulli draws: false alarm below 1e-9 at 6.1 standard deviations.
  const Eigen::ArrayXXd p = grey.values.matrix().cast<double>().array();
  const double sigma = std::sqrt((p * (1 - p)).sum());
  CHECK(std::abs(sampled.values.matrix().cast<double>().sum() - p.sum()) < 6.1 * sigma);
}

TEST_CASE("grey levels are sampled by draws of the seed and of the set, each case by its own") {
  Array levels;
  levels.type = ElementType::uint8;
  levels.shape = {4, 64};
  levels.bytes.assign(4 * 64, 128);
  const auto sampled = [&](const char* seed, const char* set) {
    return binarise(levels, {0, 4}, parse_binarise(seed), set).matrix();
  };
  const Eigen::MatrixXf first = sampled("sample:1", "train");
  CHECK(sampled("sample:1", "train") == first);
  CHECK(sampled("sample:2", "train") != first);
  CHECK(sampled("sample:1", "test") != first);
  CHECK(first.col(0) != first.col(1));
  // No two of many: by chance 3e-14.
  levels.shape = {1100, 64};
  levels.bytes.assign(1100 * 64, 128);
  const Eigen::MatrixXf many =
      binarise(levels, {0, 1100}, parse_binarise("sample:1"), "s").matrix();
  std::set<std::vector<float>> different;
  for (const auto& c : many.colwise()) different.emplace(c.begin(), c.end());
  CHECK(different.size() == 1100);
}

TEST_CASE("a sampled case is the same in every split") {
  const BinariseOptions options = parse_binarise("sample:3");
  CHECK(load_dataset("mnist:valid", options).values.matrix() ==
        load_dataset("mnist:train", options).values.matrix().rightCols(10000));
}

TEST_CASE("dna has its published class counts and splits") {
  const Dataset train = load_dataset("dna"), test = load_dataset("dna:test");
  REQUIRE(train.values.rows() == 180);
  CHECK(train.values.cols() == 2000);
  CHECK(test.values.cols() == 1186);
  // StatLog: training 464 ei, 485 ie, 1051 n; test 303, 280, 603.
  CHECK(counts(train.labels) == std::vector<int>{464, 485, 1051});
  CHECK(counts(test.labels) == std::vector<int>{303, 280, 603});
  CHECK(is_binary(train.values.matrix()));
  CHECK(load_dataset("dna:valid").values.matrix() == train.values.matrix().rightCols(600));
  CHECK(load_dataset("dna:fit").values.matrix() == train.values.leftCols(1400));
}

TEST_CASE("binarise options read back as they are written, and others are refused") {
  for (const auto* text : {"threshold:127", "threshold:0", "sample:18446744073709551615", "grey"}) {
    CHECK(binarise_text(parse_binarise(text)) == text);
  }
  for (const auto* text : {"", "threshold", "threshold:255", "threshold:-1", "sample:", "sample:x",
                           "grey:1", "sample:18446744073709551616"}) {
    CHECK_THROWS_AS(parse_binarise(text), InvalidArgument);
  }
}

TEST_CASE("cases are spread evenly over the classes, or over the data set where there are none") {
  Dataset data;
  data.values = Eigen::MatrixXf::Zero(2, 7);
  data.labels = {0, 0, 0, 0, 1, 1, 2};
  // The class of one case gives it, that of two both of its share, the largest what is left.
  CHECK(spread_cases(data, 3) == std::vector<int>{2, 5, 6});
  CHECK(spread_cases(data, 5) == std::vector<int>{1, 3, 4, 5, 6});
  CHECK(spread_cases(data, 7) == std::vector<int>{0, 1, 2, 3, 4, 5, 6});
  CHECK_THROWS_AS(spread_cases(data, 8), InvalidArgument);
  CHECK_THROWS_AS(spread_cases(data, 0), InvalidArgument);
  data.labels.clear();
  CHECK(spread_cases(data, 1) == std::vector<int>{3});
  CHECK(spread_cases(data, 2) == std::vector<int>{1, 5});
}

TEST_CASE("every registered data set says its sizes truly") {
  for (const DatasetInfo& info : registered_datasets()) {
    CAPTURE(info.name);
    REQUIRE((info.available || info.name == "norb"));  // which users have or have not
    if (info.name.starts_with("norb")) continue;       // norb.cpp
    const Dataset train = load_dataset(info.name), test = load_dataset(info.name, {}, "test");
    CHECK(train.values.rows() == info.units);
    CHECK(train.values.cols() == info.train_cases);
    CHECK(test.values.cols() == info.test_cases);
  }
}

TEST_CASE("the published CD25 model is read as 784 x 500") {
  const auto path = find_data_file("models", "mnistvh_CD25.mat");
  if (!path) return skip("mnistvh_CD25.mat is in no folder of BOLTZMARK_DATA");
  const Layered model = read_model(*path);
  CHECK(model.size(0) == 784);
  CHECK(model.size(1) == 500);
  CHECK(model.is_binary());
}

}  // namespace boltzmark::experiments

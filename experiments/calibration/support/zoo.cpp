#include "experiments/calibration/support/zoo.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "boltzmark/core/error.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/io/model_file.hpp"
#include "experiments/kit/datasets/data_folders.hpp"

namespace boltzmark::experiments {
namespace {

constexpr const char* kTrained[] = {"mnist-10", "mnist-20", "mnist-20-peaked"};
constexpr const char* kTrainedLater[] = {"mnist-25", "mnist-10-pt/00", "mnist-10-pt/01",
                                         "mnist-10-pt/02"};
constexpr const char* kTrainedDeep[] = {"salakhutdinov2010/mnist-20-30"};
constexpr const char* kTrainedPrefix = "trained:";

// Seeds from 101 on: no default was set by a look at these models.
constexpr int kFirstSeed = 101;

std::string trained_file(const std::string& model) {
  const bool in_folder = model.find('/') != std::string::npos;
  const bool has_paper = model.starts_with("salakhutdinov2010/");
  const char* paper = has_paper ? "" : in_folder ? "bruegge2013/" : "carlson2016/";
  return fmt::format("models/{}{}.npz", paper, model);
}

/// Models of one family by their parameters, in turn for training and held out; a seed each where
/// the family takes one.
class Zoo {
 public:
  void add(const char* family, const std::vector<std::string>& parameters, bool seeded = true) {
    for (const std::string& text : parameters) {
      std::string name = fmt::format("{}:{}", family, text);
      if (seeded) name += fmt::format(":{}", kFirstSeed + models_.size());
      models_.push_back({.name = std::move(name), .training = training_});
      training_ = !training_;
    }
  }
  void add_unfindable(const std::vector<std::string>& parameters) {
    add("well", parameters);
    for (std::size_t i = models_.size() - parameters.size(); i < models_.size(); ++i)
      models_[i].unfindable = true;
  }
  void count_as_mended(const std::vector<std::string>& names) {
    for (ZooModel& model : models_)
      if (std::find(names.begin(), names.end(), model.name) != names.end())
        model.mended = model.training = true;
  }
  std::vector<ZooModel> models() const { return models_; }

 private:
  std::vector<ZooModel> models_;
  bool training_ = true;
};

std::vector<ZooModel> make_zoo() {
  Zoo zoo;
  zoo.add("ising",
          {"8:0.3", "8:0.35", "8:critical", "10:critical", "8:0.6", "10:0.55", "16:0.3", "14:0.35",
           "16:critical", "14:critical"},
          false);
  zoo.add("product", {"4:10:5:1", "5:10:5:1", "10:10:5:0.5", "12:10:5:0.5", "10:8:4:1.5",
                      "12:8:4:1.5", "20:10:5:1", "24:10:5:1", "8:12:8:1", "9:12:8:1"});
  zoo.add("well", {"60:8:2", "80:8:2", "100:8:5", "80:8:6", "100:10:2", "90:10:3", "100:10:5",
                   "90:10:8", "100:12:5", "120:12:4"});
  zoo.add("patterns", {"60:8:0.5", "70:8:0.5", "100:8:0.3", "90:8:0.35", "60:12:0.5", "70:12:0.5",
                       "100:12:0.3", "90:12:0.4", "60:12:1", "50:12:1"});
  zoo.add("tilted",
          {"40:12:0.1:1", "36:12:0.12:1", "40:12:0.2:2", "36:12:0.22:2", "40:12:0.3:-3",
           "44:12:0.28:-2", "60:10:0.2:0", "56:10:0.2:0"},
          false);
  zoo.add("glass", {"40:12:0.1", "44:12:0.1", "40:12:0.3", "36:12:0.35", "40:12:0.6", "36:12:0.6",
                    "60:14:0.4", "50:14:0.4"});
  zoo.add("random", {"100:12:0.1", "80:12:0.1", "100:12:0.5", "80:12:0.6", "60:12:1", "70:12:1",
                     "50:12:2", "40:12:2"});
  zoo.add("trained", {std::begin(kTrained), std::end(kTrained)}, false);
  zoo.add_unfindable({"100:18:4", "90:18:4", "100:20:3", "90:20:3"});
  // Later ones last, for the others' seeds are their places.
  zoo.add("votes",
          {"200:60:8:10", "180:50:8:8", "300:60:8:4", "240:30:6:1", "150:40:6:-3", "400:80:10:15"});
  zoo.add("strip", {"4:50:1:0.1", "6:30:0.5:0", "8:40:1:0.1", "2:150:2:0.05", "1:200:2.5:0.05",
                    "8:30:0.8:0.5"});
  zoo.add("parity", {"40:6", "50:6", "80:5", "70:5", "60:7", "50:7", "60:7.5", "70:7.5", "80:7",
                     "80:7.5", "80:8", "70:8"});
  zoo.add("gate", {"60:3:8", "80:3.5:10", "100:5:12", "60:-3:8", "90:8:12", "60:0:8"});
  zoo.add("trained", {std::begin(kTrainedLater), std::end(kTrainedLater)}, false);
  zoo.add("stars", {"28:1:3", "32:1:2.5", "40:1:1", "36:1:1.5", "10:10:1", "12:10:1", "6:40:0.5",
                    "5:40:0.6", "6:40:1.5", "8:30:1", "1:200:0.3", "1:150:0.4", "20:5:2", "24:5:2",
                    "6:40:5", "12:60:2"});
  zoo.add("deep", {"60:10:20:0.3", "50:12:20:0.3", "40:12:30:0.7", "50:14:20:0.7", "60:12:12:1.2",
                   "50:12:16:1.2", "30:14:20:2", "40:14:16:2"});
  zoo.add("trained", {std::begin(kTrainedDeep), std::end(kTrainedDeep)}, false);
  zoo.count_as_mended({"parity:60:7.5:190", "votes:300:60:8:4:174", "gate:100:5:12:198"});
  return zoo.models();
}

}  // namespace

const std::vector<ZooModel>& zoo() {
  static const std::vector<ZooModel> all = make_zoo();
  return all;
}

const ZooModel& find_zoo_model(const std::string& name) {
  const auto found = std::find_if(zoo().begin(), zoo().end(),
                                  [&](const ZooModel& model) { return model.name == name; });
  if (found == zoo().end())
    throw InvalidArgument(fmt::format("model = {} (must be of the zoo)", name));
  return *found;
}

KnownModel make_zoo_model(const std::string& name) {
  if (!name.starts_with(kTrainedPrefix)) return make_known_model(name);
  const std::string file = trained_file(name.substr(name.find(':') + 1));
  const auto path = find_data_file("", file);
  if (!path) throw DataError(fmt::format("{}: missing (must be in a data folder)", file));
  Layered model = read_model(*path);
  const ExactLogZ exact = exact_log_z(model);
  return {std::move(model), {exact.log_z, exact.error_bound, "enumeration"}};
}

std::vector<std::string> zoo_data() {
  std::vector<std::string> files;
  for (const char* model : kTrained) files.push_back(trained_file(model));
  for (const char* model : kTrainedLater) files.push_back(trained_file(model));
  for (const char* model : kTrainedDeep) files.push_back(trained_file(model));
  return files;
}

}  // namespace boltzmark::experiments

#include "experiments/carlson2016/support/models.hpp"

#include <cmath>
#include <map>
#include <mutex>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/simd.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/io/model_file.hpp"
#include "experiments/kit/datasets/data_folders.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"

namespace boltzmark::experiments {
namespace {

constexpr double kMinibatches = 600;  // B, of 100 images each
constexpr double kCount = 5;          // per minibatch

std::string own_file(const std::string& name) {
  return (name == "cd25" ? "cd25-500" : name) + ".npz";
}

std::string find_model(const std::string& name) {
  if (name == "cd25" && has_published_cd25()) return *find_data_file("", kPublishedCd25File);
  const std::string file = "models/carlson2016/" + own_file(name);
  if (const auto path = find_data_file("", file)) return *path;
  throw DataError(file + ": not found (must be in datasets/ or a folder of BOLTZMARK_DATA)");
}

/// What is made once in a process, by the file that it is made from.
template <class Value>
class Memo {
 public:
  template <class Make>
  const Value& get(const std::string& key, const Make& make) {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find(key);
    return found != values_.end() ? found->second : values_.emplace(key, make()).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Value> values_;
};

}  // namespace

bool has_published_cd25() { return find_data_file("", kPublishedCd25File).has_value(); }

std::string carlson_model_file(const std::string& name) {
  return name == "cd25" && has_published_cd25() ? kPublishedCd25File : own_file(name);
}

Layered load_carlson_model(const std::string& name) { return read_model(find_model(name)); }

std::vector<std::string> carlson_data(const std::vector<std::string>& names) {
  std::vector<std::string> files = {"mnist/train-images-idx3-ubyte.gz"};
  for (const std::string& name : names) files.push_back("models/carlson2016/" + own_file(name));
  return files;
}

Base carlson_base(const std::string& model, const std::string& base) {
  const Layered layered = load_carlson_model(model);
  Base result = Base::uniform(layered);
  if (base == "uniform") return result;
  const BinariseOptions::Kind kind =
      base == "grey" ? BinariseOptions::Kind::grey : BinariseOptions::Kind::threshold;
  const Dataset data = load_dataset("mnist:train", {.kind = kind});
  const double count = kCount * kMinibatches;
  if (base == "grey") return Base::from_data(layered, data.values, 1e-3);
  if (model != "cd25") return Base::from_data(layered, data.values, count);
  // Asymmetric: a pixel that is always on would have the rate 1, but none is.
  const auto cases = static_cast<double>(data.values.cols());
  const Eigen::VectorXd sums = data.values.matrix().rowwise().sum().cast<double>();
  result.logits[0] = (sums.array() + count).log() - (cases - sums.array()).log();
  return result;
}

double sweep_cost(const std::string& model) {
  return 60 + (model == "cd25" ? 500 : std::stod(model.substr(model.find('-') + 1)));
}

const LayeredTarget& carlson_target(const std::string& model, const std::string& base) {
  static Memo<LayeredTarget> targets;  // a model is packed for the path in force
  return targets.get(find_model(model) + " " + base + " " + simd_path(), [&] {
    return LayeredTarget(load_carlson_model(model), carlson_base(model, base));
  });
}

double exact_carlson_log_z(const std::string& model) {
  static Memo<double> known;
  return known.get(find_model(model), [&] { return exact_log_z(load_carlson_model(model)).log_z; });
}

Eigen::VectorXd exact_log_z_of_rungs(const LayeredTarget& target, const Ladder& ladder) {
  const TemperedModel& model = target.tempered_model();
  Eigen::VectorXd log_z(ladder.rungs());
  // tempered() drops the factor (1 - b) log N of the normalised p1.
  for (int k = 0; k < ladder.rungs(); ++k)
    log_z[k] = exact_log_z(tempered(model.model, model.base, ladder[k])).log_z -
               (1 - ladder[k]) * model.packed.log_base();
  return log_z;
}

Eigen::VectorXd unit_log_z_hat(const LayeredTarget& target, const Ladder& ladder) {
  Eigen::VectorXd log_z_hat(ladder.rungs());
  for (int k = 0; k < ladder.rungs(); ++k)
    log_z_hat[k] = ladder[k] * target.tempered_model().packed.log_base();
  return log_z_hat;
}

}  // namespace boltzmark::experiments

#include "store_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/io/formats/npz.hpp"
#include "input.hpp"

namespace boltzmark::cli {
namespace {

using RowMajor = Eigen::Matrix<std::int32_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Array read_array(const Npz& file, const char* name) {
  if (!file.contains(name))
    throw DataError(
        fmt::format("{}: has no array {} (must be written by estimate --dump)", file.path(), name));
  return file.read(name);
}

double read_number(const Npz& file, const char* name) {
  const Eigen::VectorXd values = read_array(file, name).vector();
  if (values.size() != 1 || !std::isfinite(values[0]))
    throw DataError(fmt::format("{}: {} is no number (must be one, finite)", file.path(), name));
  return values[0];
}

Eigen::MatrixXi read_rungs(const Npz& file, Eigen::Index sweeps, Eigen::Index chains) {
  Array array = read_array(file, "rung");
  const std::vector<std::uint64_t> shape = {static_cast<std::uint64_t>(sweeps),
                                            static_cast<std::uint64_t>(chains)};
  if (array.shape != shape)
    throw DataError(fmt::format("{}: rung has shape {} (must be that of D, {})", file.path(),
                                shape_text(array.shape), shape_text(shape)));
  array.shape = {shape[0] * shape[1]};
  const std::vector<std::int32_t> values = array.integers();
  return Eigen::Map<const RowMajor>(values.data(), sweeps, chains);
}

}  // namespace

void save_store(const StoredRun& run, const std::string& path) {
  const SampleStore& store = run.store;
  NpzWriter file(path);
  const auto sweeps = static_cast<std::uint64_t>(store.sweeps());
  const auto chains = static_cast<std::uint64_t>(store.chains());
  const auto rungs = static_cast<std::uint64_t>(store.rungs());
  Eigen::VectorXd beta(store.rungs());
  for (int k = 0; k < store.rungs(); ++k) beta[k] = store.ladder[k];
  const RowMajor rung = store.rung;
  file.add("D", store.log_ratio);
  file.add("rung", std::span(rung.data(), static_cast<std::size_t>(rung.size())), {sweeps, chains});
  file.add("beta", beta);
  file.add("log_prior", store.log_prior);
  file.add("log_z_hat", store.log_z_hat);
  const std::int32_t random = store.random_rungs ? 1 : 0;
  file.add("random_rungs", std::span(&random, 1), {1});
  if (std::isfinite(run.bound.log_z)) {
    file.add("lower_bound", std::span(&run.bound.log_z, 1), {1});
    file.add("lower_bound_error", std::span(&run.bound.error_bound, 1), {1});
  }
  if (!store.log_f.empty()) file.add("log_f", std::span(store.log_f), {sweeps, chains, rungs});
  file.commit();
}

StoredRun load_store(const std::string& path) {
  const Npz file(path);
  return about_file(path, [&] {
    const Eigen::VectorXd beta = read_array(file, "beta").vector();
    SampleStore store{.ladder = Ladder(std::vector<double>(beta.begin(), beta.end()))};
    store.log_prior = read_array(file, "log_prior").vector();
    store.log_z_hat = read_array(file, "log_z_hat").vector();
    store.log_ratio = read_array(file, "D").matrix();
    store.rung = read_rungs(file, store.sweeps(), store.chains());
    if (file.contains("random_rungs"))
      store.random_rungs = read_array(file, "random_rungs").integers().at(0) != 0;
    if (file.contains("log_f")) {
      Array array = file.read("log_f");
      array.shape = {array.count()};
      const Eigen::VectorXd values = array.vector();
      store.log_f.assign(values.begin(), values.end());
    }
    store.check();
    StoredRun run{.store = std::move(store)};
    if (file.contains("lower_bound"))
      run.bound = {.log_z = read_number(file, "lower_bound"),
                   .error_bound = read_number(file, "lower_bound_error")};
    return run;
  });
}

}  // namespace boltzmark::cli

#include "experiments/salakhutdinov2010/support/committed_rbms.hpp"

#include <fmt/format.h>

#include "boltzmark/core/error.hpp"
#include "boltzmark/io/data_folders.hpp"
#include "boltzmark/io/model_file.hpp"

namespace boltzmark::experiments {
namespace {

constexpr const char* kRbmFolder = "models/bruegge2013";

std::string rbm_name(int index) { return fmt::format("modes-0.01-pt/{:02}.npz", index); }

}  // namespace

std::vector<std::string> committed_rbm_files() {
  std::vector<std::string> all;
  for (int i = 0; i < kCommittedRbms; ++i)
    all.push_back(fmt::format("{}/{}", kRbmFolder, rbm_name(i)));
  return all;
}

Layered committed_rbm(int index) {
  const auto path = find_data_file(kRbmFolder, rbm_name(index));
  if (!path)
    throw DataError(
        fmt::format("{}/{}: missing (must be in a data folder)", kRbmFolder, rbm_name(index)));
  return read_model(*path);
}

}  // namespace boltzmark::experiments

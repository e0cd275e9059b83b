#include "experiments/salakhutdinov2010/support/committed_rbms.hpp"

#include <fmt/format.h>

#include "experiments/salakhutdinov2010/support/committed_models.hpp"

namespace boltzmark::experiments {
namespace {

std::string rbm_file(int index) {
  return fmt::format("models/bruegge2013/modes-0.01-pt/{:02}.npz", index);
}

}  // namespace

std::vector<std::string> committed_rbm_files() {
  std::vector<std::string> all;
  for (int i = 0; i < kCommittedRbms; ++i) all.push_back(rbm_file(i));
  return all;
}

Layered committed_rbm(int index) { return committed_model(rbm_file(index)); }

}  // namespace boltzmark::experiments

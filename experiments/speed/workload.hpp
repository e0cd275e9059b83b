#pragma once

#include <memory>
#include <string>
#include <vector>

#include "boltzmark/model/layered.hpp"
#include "experiments/speed/eigen_baseline.hpp"

namespace boltzmark::speed {

/// The size of an RBM and of its group of chains.
struct Size {
  int visible = 784;
  int hidden = 500;
  int chains = 100;
  std::string name() const;  ///< "784x500, 100 chains"
  /// Counts the multiply-adds of so many sweeps, of two products each.
  double multiply_adds(int sweeps) const { return 2.0 * visible * hidden * chains * sweeps; }
};

/// Makes an RBM with normal weights of standard deviation 0.1 and zero biases.
Layered random_rbm(const Size& size);
/// Makes the same in the baseline's form.
std::shared_ptr<baseline::Rbm> baseline_rbm(const Size& size);

/// The numbers of threads that are timed: one, and all cores.
std::vector<int> thread_counts();

/// Registers NumPy on a line of numpy_baseline.py, with one thread and with all, if it is there.
void add_numpy(const std::string& work, const std::string& line);

}  // namespace boltzmark::speed

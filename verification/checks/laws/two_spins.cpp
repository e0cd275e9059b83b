#include "verification/checks/laws/two_spins.hpp"

namespace boltzmark {

Partition two_spin_partition() {
  const Layer spin{.unit = Unit::multivalued(1), .bias = Eigen::VectorXd::Zero(1), .sigma0 = {}};
  return Partition(Layered({spin, spin}, {Eigen::MatrixXd::Constant(1, 1, 5)}), {3, 2, 1, 0});
}

}  // namespace boltzmark

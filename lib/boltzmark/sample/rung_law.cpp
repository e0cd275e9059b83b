#include "boltzmark/sample/rung_law.hpp"

#include "boltzmark/core/error.hpp"
#include "boltzmark/sample/mixing.hpp"

namespace boltzmark {

RungLaw::RungLaw(const SampleStore& store, States states)
    : store_(store), states_(states), inverse_temperatures_(store.rungs()) {
  store.check();
  need_random_rungs(store);
  if (states == States::collapsed && store.log_f.empty())
    throw InvalidArgument("store (must hold log_f: collapsed states)");
  log_weight_ = store.log_prior - store.log_z_hat;
  for (int k = 0; k < store.rungs(); ++k) inverse_temperatures_[k] = store.ladder[k];
}

void RungLaw::operator()(Eigen::Index place, Eigen::VectorXd& out) const {
  if (states_ == States::joint) {
    out = inverse_temperatures_ * store_.log_ratio.data()[place];
  } else {
    const Eigen::Index sweep = place % store_.sweeps(), chain = place / store_.sweeps();
    const double* from = store_.log_f.data() + (sweep * store_.chains() + chain) * store_.rungs();
    out = Eigen::Map<const Eigen::VectorXd>(from, store_.rungs());
  }
  rung_probabilities(out, log_weight_, out);
}

RungSums sum_soft(const SampleStore& store, States states) {
  store.check();
  need_random_rungs(store);
  return states == States::joint ? sum_by_rung(store, Assignment::soft) : sum_collapsed(store);
}

}  // namespace boltzmark

#pragma once

#include "boltzmark/estimate/held/switches.hpp"
#include "boltzmark/sample/estimate.hpp"

namespace boltzmark {

/// Refuses the estimate of a run that never switched units that together surely hold more than a tenth of such a Z:
/// each by its own may be too small to be met. Where a unit's switch adds m to such a Z, n right samples never meet
/// it with probability (1 + m)^-n. What was not met, four errors of the ratios less, is more than that leaves out in
/// the mean, and as much by chance with probability 10^-4 at most [Chernoff 1952; counts of disjoint states are
/// negatively associated]; so is what of those not all moved was not met. Masses above e^5 count as e^5. Those that n
/// right samples meet up to 1/2, 2, 8 or 32 times, all or more than a smaller one of these, are also held to how often
/// any of them was met, as one mass, likewise.
/// A smaller excess is missing from Z, which none of the samples tells. It adds to the error (Estimate::add_missing)
/// as far as it is more than `told`, which was added before.
/// Units  told, a share of such a Z     Status  not_converged
void hold_to_switches(const Switches& switches, double told, Estimate& estimate);

}  // namespace boltzmark

#include "boltzmark/estimate/places/places.hpp"

#include <algorithm>
#include <numeric>

#include "boltzmark/exact/modes/fixed_points.hpp"
#include "boltzmark/exact/modes/mean_field.hpp"

namespace boltzmark {
namespace {

Chains candidates(const Layered& model, const Modes& modes, int most) {
  const int others = modes.others ? std::min(modes.others->chains(), most) : 0;
  const int count = std::min(modes.count(), most);
  Chains states(model, count + others);
  for (int c = 0; c < count; ++c) states.copy_chain(c, modes.states, c);
  for (int c = 0; c < others; ++c) states.copy_chain(count + c, *modes.others, c);
  return states;
}

}  // namespace

Places find_places(const Layered& model, const Modes& modes, int most) {
  constexpr int kUpdates = 5;
  const Chains states = candidates(model, modes, most);
  Chains means = states;
  const std::vector<MeanFieldBound> bounds =
      mean_field(model, list_side(model, modes.parity), modes.parity, kUpdates, means);
  std::vector<int> order(bounds.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return bounds[static_cast<std::size_t>(a)].log_z > bounds[static_cast<std::size_t>(b)].log_z;
  });
  const Eigen::MatrixXf all = all_values(means);
  std::vector<int> different;
  for (const int c : order)
    if (std::all_of(different.begin(), different.end(), [&](int other) {
          return (all.col(c) - all.col(other)).squaredNorm() > kSamePlace;
        }))
      different.push_back(c);
  const auto count = std::ssize(different);
  Places places{Chains(model, static_cast<int>(count)), Eigen::MatrixXf(model.units(), count), {}};
  for (Eigen::Index c = 0; c < count; ++c) {
    const int from = different[static_cast<std::size_t>(c)];
    places.states.copy_chain(static_cast<int>(c), states, from);
    places.means.col(c) = all.col(from);
    places.log_z.push_back(bounds[static_cast<std::size_t>(from)].log_z);
  }
  return places;
}

}  // namespace boltzmark

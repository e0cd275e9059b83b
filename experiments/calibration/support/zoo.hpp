#pragma once

#include <string>
#include <vector>

#include "verification/checks/known/known_model.hpp"

namespace boltzmark::experiments {

/// A model of known log Z that estimators are judged on.
struct ZooModel {
  std::string name;  ///< "well:100:12:5:101" as make_known_model takes it, or "trained:mnist-20"
  /// Where statuses may be tuned; the claims are about the others.
  bool training = false;
  /// It was held out, until a false ok of it was seen and mended: of the training half since.
  bool mended = false;
  /// A well that is declared, before any run, to be beyond what a search of seconds finds.
  bool unfindable = false;

  std::string family() const { return name.substr(0, name.find(':')); }
};

/// Lists the models: of every family as many for training as held out, but for three of which a false ok was
/// seen and mended: they count as training since.
const std::vector<ZooModel>& zoo();

/// Finds a model of the zoo.  Throws  InvalidArgument if there is none of that name
const ZooModel& find_zoo_model(const std::string& name);

/// Makes a model with its log Z, by enumeration, by parts, by quadrature or by Kaufman's formula.
KnownModel make_zoo_model(const std::string& name);

/// The committed models that the zoo holds, relative to datasets/.
std::vector<std::string> zoo_data();

}  // namespace boltzmark::experiments

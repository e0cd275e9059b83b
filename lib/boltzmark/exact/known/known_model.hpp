#pragma once

#include <span>
#include <string>
#include <string_view>

#include "boltzmark/model/layered.hpp"

namespace boltzmark {

/// A model, and its log Z, which is known however many units there are.
struct KnownModel {
  Layered model;
  KnownLogZ known;
};

/// A family of such models, by the numbers that name one of them.
struct ModelFamily {
  std::string_view form;     ///< "ising:L:COUPLING"
  std::string_view meaning;  ///< in a line
  std::string_view example;  ///< one that make_known_model takes
  KnownModel (*make)(std::span<const std::string> fields);

  std::string_view name() const { return form.substr(0, form.find(':')); }
};

/// Lists the families.
std::span<const ModelFamily> model_families();

/// Makes a model from FAMILY:PARAMETERS.
/// Randomness  that of a seed in the text, by family
/// Throws      InvalidArgument naming the forms there are, or the parameter outside its range
KnownModel make_known_model(std::string_view text);

}  // namespace boltzmark

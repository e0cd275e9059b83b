#pragma once

#include <string_view>

#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/model/layered.hpp"

namespace boltzmark {

/// Computes about how many bytes a method needs: its chains, its ladder, and what it keeps of every
/// sweep, of which the collapsed densities (settings.keep_log_f) are 8 bytes a rung.
/// Throws  InvalidArgument if there is no such method
double method_bytes(std::string_view method, const MethodSettings& settings, const Layered& model);

}  // namespace boltzmark

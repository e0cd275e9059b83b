#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "boltzmark/core/simd.hpp"
#include "verification/exact/support/tile_emulator.hpp"

/// Runs body once on each SIMD path of this CPU, and on AMX's wherever it can be emulated.
template <class Body>
void on_every_path(const Body& body) {
  const TileEmulator emulator;
  if (TileEmulator::possible()) REQUIRE(boltzmark::simd_paths().front() == "amx");
  for (const std::string& path : boltzmark::simd_paths()) {
    INFO(path);
    const boltzmark::ForcedSimdPath forced(path);
    body();
  }
}

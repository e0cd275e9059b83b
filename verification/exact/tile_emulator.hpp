#pragma once

#include <csignal>

/// Runs AMX's instructions for bf16 tiles in software while it lives, on x86-64 under Linux with
/// AVX-512, so that every such machine verifies the path "amx". The instructions that the CPU lacks
/// raise SIGILL; its handler decodes and carries them out as their description says, rounding as
/// the CPU does.           [Intel 64 and IA-32 Architectures Software Developer's Manual, Vol. 2]
/// Where the CPU has AMX, or lacks AVX-512, it does nothing.
class TileEmulator {
 public:
  TileEmulator();
  ~TileEmulator();
  TileEmulator(const TileEmulator&) = delete;
  TileEmulator& operator=(const TileEmulator&) = delete;

 private:
  bool works_ = false;
  struct sigaction before_ = {};
};

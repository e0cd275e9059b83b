#pragma once

/// Runs AMX's instructions for bf16 tiles in software while it lives, on x86-64 under Linux with
/// AVX-512, so that every such machine verifies the path "amx". The instructions that the CPU lacks
/// raise SIGILL; its handler decodes and carries them out as their description says, rounding as
/// the CPU does.           [Intel 64 and IA-32 Architectures Software Developer's Manual, Vol. 2]
/// What a CPU refuses (registers without a shape, shapes that do not fit, reserved bytes that are
/// not 0) ends the program, as there. Where the CPU has AMX, or lacks AVX-512, it does nothing.
class TileEmulator {
 public:
  /// True on x86-64 under Linux with AVX-512: AMX's path is then there while an emulator lives.
  static bool possible();

  TileEmulator();
  ~TileEmulator();
  TileEmulator(const TileEmulator&) = delete;
  TileEmulator& operator=(const TileEmulator&) = delete;

 private:
  bool works_ = false;
};

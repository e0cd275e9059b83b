#include "verification/exact/support/tile_emulator.hpp"

#include <algorithm>

#include "boltzmark/core/simd.hpp"

#if defined(__x86_64__) && defined(__linux__)
#include <immintrin.h>
#include <ucontext.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstring>

namespace {

constexpr int kRows = 16, kRowBytes = 64, kRegisters = 8;

struct Tile {
  alignas(64) std::array<std::array<std::uint8_t, kRowBytes>, kRows> rows;
};
struct Shape {
  int rows = 0, bytes = 0;
};

// A thread's tile registers.
thread_local std::array<Tile, kRegisters> tiles;
thread_local std::array<Shape, kRegisters> tile_shapes;

// What the general registers hold, in the order of their numbers in instructions.
std::uint64_t general_register(const mcontext_t& machine, int number) {
  constexpr std::array kOrder = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                 REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                 REG_R12, REG_R13, REG_R14, REG_R15};
  return static_cast<std::uint64_t>(machine.gregs[kOrder[static_cast<std::size_t>(number)]]);
}

// What the machine's registers hold is a number; here it is the address of a byte.
std::uint8_t* bytes_at(std::uint64_t address) {
  return reinterpret_cast<std::uint8_t*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// A VEX instruction of the map 0F 38 in its three-byte form, with its operands.
struct Instruction {
  int prefix = 0;  // 0 none, 1 66, 2 F3, 3 F2
  int opcode = 0;
  int mod = 0, reg = 0, rm = 0, third = 0;
  std::uint64_t address = 0, stride = 0;  // of an operand in memory
  std::uint64_t next = 0;                 // the address of the instruction after it
};

template <class Number>
Number take(const std::uint8_t*& at) {
  Number number;
  std::memcpy(&number, at, sizeof number);
  at += sizeof number;
  return number;
}

// Reads the operand in memory: base + displacement, and index times scale as the stride of rows.
void read_address(const mcontext_t& machine, bool long_base, bool long_index,
                  const std::uint8_t*& at, Instruction& found) {
  std::uint64_t base = 0;
  bool relative = false, base_is_displacement = false;
  if (found.rm == 4) {
    const auto sib = take<std::uint8_t>(at);
    const int index = (sib >> 3 & 7) | (long_index ? 8 : 0);
    if (index != 4) found.stride = general_register(machine, index) << (sib >> 6);
    base_is_displacement = (sib & 7) == 5 && found.mod == 0;
    if (!base_is_displacement) base = general_register(machine, (sib & 7) | (long_base ? 8 : 0));
  } else if (found.rm == 5 && found.mod == 0) {
    relative = true;
  } else {
    base = general_register(machine, found.rm | (long_base ? 8 : 0));
  }
  std::int64_t displacement = 0;
  if (found.mod == 1)
    displacement = take<std::int8_t>(at);  // NOLINT(bugprone-signed-char-misuse): it is signed
  else if (found.mod == 2 || relative || base_is_displacement)
    displacement = take<std::int32_t>(at);
  if (relative) base = reinterpret_cast<std::uint64_t>(at);
  found.address = base + static_cast<std::uint64_t>(displacement);
}

bool decode(const mcontext_t& machine, Instruction& found) {
  const auto* at = bytes_at(static_cast<std::uint64_t>(machine.gregs[REG_RIP]));
  constexpr int kVex3 = 0xC4, kMap0F38 = 2;
  if (take<std::uint8_t>(at) != kVex3) return false;
  const auto first = take<std::uint8_t>(at), second = take<std::uint8_t>(at);
  if ((first & 31) != kMap0F38 || (second & 0x84) != 0) return false;  // W and L are 0
  found.prefix = second & 3;
  found.third = ~(second >> 3) & 15;
  found.opcode = take<std::uint8_t>(at);
  const auto operands = take<std::uint8_t>(at);
  found.mod = operands >> 6;
  found.reg = (operands >> 3 & 7) | ((first & 0x80) == 0 ? 8 : 0);
  found.rm = operands & 7;
  if (found.mod != 3) read_address(machine, (first & 0x20) == 0, (first & 0x40) == 0, at, found);
  found.next = reinterpret_cast<std::uint64_t>(at);
  return true;
}

// Shapes as the 64 bytes of ldtilecfg give them: bytes of a row from byte 16, rows from byte 48, of
// eight registers each; all others but the palette, 1, are 0.
bool configure(const std::uint8_t* memory) {
  std::array<Shape, kRegisters> given;
  for (std::size_t t = 0; t < kRegisters; ++t) {
    std::uint16_t bytes = 0;
    std::memcpy(&bytes, memory + 16 + 2 * t, sizeof bytes);
    given[t] = {memory[48 + t], bytes};
    if (given[t].rows > kRows || bytes > kRowBytes || (given[t].rows == 0) != (bytes == 0))
      return false;
  }
  const auto is_zero = [](std::uint8_t byte) { return byte == 0; };
  if (memory[0] != 1 || !std::all_of(memory + 1, memory + 16, is_zero) ||
      !std::all_of(memory + 32, memory + 48, is_zero) ||
      !std::all_of(memory + 56, memory + 64, is_zero))
    return false;
  tile_shapes = given;
  tiles = {};
  return true;
}

std::uint8_t* row_at(const Instruction& found, int row) {
  return bytes_at(found.address + found.stride * static_cast<std::uint64_t>(row));
}

void load(const Instruction& found) {
  const auto t = static_cast<std::size_t>(found.reg);
  tiles[t] = {};
  for (int r = 0; r < tile_shapes[t].rows; ++r)
    std::memcpy(tiles[t].rows[static_cast<std::size_t>(r)].data(), row_at(found, r),
                static_cast<std::size_t>(tile_shapes[t].bytes));
}

void store(const Instruction& found) {
  const auto t = static_cast<std::size_t>(found.reg);
  for (int r = 0; r < tile_shapes[t].rows; ++r)
    std::memcpy(row_at(found, r), tiles[t].rows[static_cast<std::size_t>(r)].data(),
                static_cast<std::size_t>(tile_shapes[t].bytes));
}

// Fused multiply-adds of the first and of the second numbers of pairs, each in order, then both
// sums added to the destination; numbers below 2^-126 count as 0.
__attribute__((target("avx512f"))) void add_product(Tile& sum, const Shape& sum_shape,
                                                    const Tile& a, const Tile& b, int pairs) {
  constexpr unsigned kFlushAndZeros = 0x8040, kMasked = 0x1f80;
  const unsigned before = _mm_getcsr();
  _mm_setcsr(kFlushAndZeros | kMasked);
  const __m512i high = _mm512_set1_epi32(static_cast<int>(0xffff0000U));
  for (std::size_t m = 0; m < static_cast<std::size_t>(sum_shape.rows); ++m) {
    __m512 first = _mm512_setzero_ps(), second = _mm512_setzero_ps();
    for (std::size_t k = 0; k < static_cast<std::size_t>(pairs); ++k) {
      std::int32_t pair = 0;
      std::memcpy(&pair, a.rows[m].data() + 4 * k, sizeof pair);
      const __m512i left = _mm512_set1_epi32(pair), right = _mm512_load_si512(b.rows[k].data());
      first = _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_slli_epi32(left, 16)),
                              _mm512_castsi512_ps(_mm512_slli_epi32(right, 16)), first);
      second = _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_and_si512(left, high)),
                               _mm512_castsi512_ps(_mm512_and_si512(right, high)), second);
    }
    float* out = reinterpret_cast<float*>(sum.rows[m].data());
    _mm512_store_ps(out, _mm512_add_ps(_mm512_load_ps(out), _mm512_add_ps(first, second)));
  }
  _mm_setcsr(before);
}

bool has_shape(int tile) {
  return tile < kRegisters && tile_shapes[static_cast<std::size_t>(tile)].rows > 0;
}

// C [m x n] += A [m x k] B [k x n], three registers.
bool multiply(const Instruction& found) {
  const int c = found.reg, a = found.rm, b = found.third;
  if (!has_shape(a) || !has_shape(b) || !has_shape(c) || a == b || a == c || b == c) return false;
  const auto at = [](int tile) { return static_cast<std::size_t>(tile); };
  const Shape &of_a = tile_shapes[at(a)], &of_b = tile_shapes[at(b)], &of_c = tile_shapes[at(c)];
  if (of_a.rows != of_c.rows || of_b.bytes != of_c.bytes || of_a.bytes != 4 * of_b.rows)
    return false;
  add_product(tiles[at(c)], of_c, tiles[at(a)], tiles[at(b)], of_b.rows);
  return true;
}

// Carries out one instruction; false if a CPU would refuse it or the engine does not use it.
bool execute(const Instruction& found) {
  constexpr int kNone = 0, kF3 = 2, kF2 = 3, kWithStride = 4;
  const bool memory = found.mod != 3;
  if (found.opcode == 0x5C && found.prefix == kF3 && !memory) return multiply(found);  // tdpbf16ps
  if (found.third != 0) return false;
  if (found.opcode == 0x49 && found.prefix == kNone && memory)  // ldtilecfg
    return configure(bytes_at(found.address));
  if (found.opcode == 0x49 && found.prefix == kNone) {  // tilerelease
    tile_shapes = {};
    return true;
  }
  if (found.opcode != 0x4B || !memory || found.rm != kWithStride || !has_shape(found.reg))
    return false;
  if (found.prefix == kF2) load(found);   // tileloadd
  if (found.prefix == kF3) store(found);  // tilestored
  return found.prefix == kF2 || found.prefix == kF3;
}

struct sigaction handler_before;

void on_illegal_instruction(int /*signal*/, siginfo_t* /*info*/, void* context) {
  mcontext_t& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  Instruction found;
  if (decode(machine, found) && execute(found))
    machine.gregs[REG_RIP] = static_cast<greg_t>(found.next);
  else
    sigaction(SIGILL, &handler_before, nullptr);  // a real one is raised again
}

bool lists(const char* path) {
  const std::vector<std::string> paths = boltzmark::simd_paths();
  return std::find(paths.begin(), paths.end(), path) != paths.end();
}

}  // namespace

bool TileEmulator::possible() { return lists("avx512"); }

TileEmulator::TileEmulator() : works_(lists("avx512") && !lists("amx")) {
  if (!works_) return;
  struct sigaction action = {};
  action.sa_sigaction = on_illegal_instruction;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGILL, &action, &handler_before);
  boltzmark::set_tiles_emulated(true);
}

TileEmulator::~TileEmulator() {
  if (!works_) return;
  boltzmark::set_tiles_emulated(false);
  sigaction(SIGILL, &handler_before, nullptr);
}
#else
bool TileEmulator::possible() { return false; }
TileEmulator::TileEmulator() = default;
TileEmulator::~TileEmulator() = default;
#endif

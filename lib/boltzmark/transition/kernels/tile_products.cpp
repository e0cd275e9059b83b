#include "boltzmark/transition/kernels/tile_products.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "boltzmark/transition/chains.hpp"

namespace boltzmark {

// Cut, not rounded: each part takes the 8 bits that are left in front, and none can overflow.
std::array<Bfloat16, kWeightParts> split_weight(float weight) {
  std::array<Bfloat16, kWeightParts> parts{};
  for (Bfloat16& part : parts) {
    part = static_cast<Bfloat16>(std::bit_cast<std::uint32_t>(weight) >> 16U);
    weight -= std::bit_cast<float>(static_cast<std::uint32_t>(part) << 16U);
  }
  return parts;
}

#if defined(__x86_64__)
namespace {

// The registers' shapes while they are in use: all are 16 rows of 64 bytes.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::array<std::uint8_t, 14> reserved{};
  std::array<std::uint16_t, 16> row_bytes{};
  std::array<std::uint8_t, 16> rows{};
};
constexpr int kTileRegisters = 8;
constexpr long kRowBytes = 64;

// Assembly, since the compiler's own intrinsics let it move stores past the loads of tiles.
class TileRegisters {
 public:
  TileRegisters() {
    TileShapes shapes;
    std::fill_n(shapes.row_bytes.begin(), kTileRegisters, std::uint16_t{kRowBytes});
    std::fill_n(shapes.rows.begin(), kTileRegisters, std::uint8_t{16});
    asm volatile("ldtilecfg %0" : : "m"(shapes) : "memory");
  }
  ~TileRegisters() { asm volatile("tilerelease" : : : "memory"); }
  TileRegisters(const TileRegisters&) = delete;
  TileRegisters& operator=(const TileRegisters&) = delete;

  template <int tile>
  void load(const void* from) const {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2"
                 :
                 : "r"(from), "r"(kRowBytes), "i"(tile)
                 : "memory");
  }
  template <int tile>
  void store(void* to) const {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)"
                 :
                 : "r"(to), "r"(kRowBytes), "i"(tile)
                 : "memory");
  }
  template <int sum, int a, int b>
  void add_product() const {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(sum), "i"(a), "i"(b));
  }
};

// Registers: a sum for each of up to four blocks, a weight's parts, the states.
constexpr int kSums = 4;
constexpr int kParts = kSums, kStates = kSums + kWeightParts;
constexpr int kSumTile = kTileUnits * kChainBlock;

template <int block>
void add_block(const TileRegisters& registers, const std::uint32_t* states) {
  registers.load<kStates>(states);
  registers.add_product<block, kParts, kStates>();
  registers.add_product<block, kParts + 1, kStates>();
  registers.add_product<block, kParts + 2, kStates>();
}

template <int... block>
void add_blocks(const TileProducts& job, std::integer_sequence<int, block...> /*blocks*/) {
  const TileRegisters registers;
  (registers.load<block>(job.inputs + block * kSumTile), ...);
  const std::size_t stride = static_cast<std::size_t>(job.tiles) * kStateTile;
  const Bfloat16* weights = job.weights;
  const std::uint32_t* states = job.states;
  for (int tile = 0; tile < job.tiles; ++tile) {
    registers.load<kParts>(weights);
    registers.load<kParts + 1>(weights + kWeightTile);
    registers.load<kParts + 2>(weights + 2 * kWeightTile);
    (add_block<block>(registers, states + block * stride), ...);
    weights += kWeightParts * kWeightTile;
    states += kStateTile;
  }
  (registers.store<block>(job.inputs + block * kSumTile), ...);
}

}  // namespace

void add_tile_products(const TileProducts& job) {
  static_assert(kChainBlock == 16 && kTileUnits == 16 && kWeightParts == 3);
  TileProducts rest = job;
  while (rest.blocks > 0) {
    const int blocks = std::min(rest.blocks, kSums);
    if (blocks == 4) add_blocks(rest, std::make_integer_sequence<int, 4>());
    if (blocks == 3) add_blocks(rest, std::make_integer_sequence<int, 3>());
    if (blocks == 2) add_blocks(rest, std::make_integer_sequence<int, 2>());
    if (blocks == 1) add_blocks(rest, std::make_integer_sequence<int, 1>());
    rest.blocks -= blocks;
    rest.states += static_cast<std::size_t>(blocks) * job.tiles * kStateTile;
    rest.inputs += blocks * kSumTile;
  }
}
#else
void add_tile_products(const TileProducts& /*job*/) {}  // takes_tiles() is false
#endif

}  // namespace boltzmark

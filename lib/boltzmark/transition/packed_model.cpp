#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/simd.hpp"
#include "boltzmark/transition/kernels/panel.hpp"
#include "boltzmark/transition/kernels/tile_products.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {
namespace {

std::size_t panels(int units) { return static_cast<std::size_t>(panels_of(units)); }

// The largest magnitude that float32 can hold after rounding.
constexpr double kLargest = 3.4028235677973362e38;

template <class Values>
void check_range(const Values& values) {
  if (values.size() == 0 || values.cwiseAbs().maxCoeff() < kLargest) return;
  throw InvalidArgument(fmt::format("parameter = {} (must be within the range of float32)",
                                    values.cwiseAbs().maxCoeff()));
}

void fill_padded(const Eigen::VectorXd& values, std::vector<float>& padded) {
  padded.resize(row_stride(static_cast<int>(values.size())), 0.0F);
  for (Eigen::Index i = 0; i < values.size(); ++i) padded[i] = static_cast<float>(values[i]);
}

// W / s [neighbours x units] into [panel][neighbour][unit in panel].
void fill_from_columns(const Eigen::MatrixXd& weights, double inverse_scale, float* panels_out) {
  const Eigen::Index neighbours = weights.rows();
  for (Eigen::Index unit = 0; unit < weights.cols(); ++unit) {
    const double* column = weights.data() + unit * neighbours;
    float* out = panels_out + unit / kPanel * neighbours * kPanel + unit % kPanel;
    for (Eigen::Index j = 0; j < neighbours; ++j)
      out[j * kPanel] = static_cast<float>(column[j] * inverse_scale);
  }
}

// W / s [units x neighbours] into [panel][neighbour][unit in panel].
void fill_from_rows(const Eigen::MatrixXd& weights, double inverse_scale, float* panels_out) {
  const Eigen::Index units = weights.rows(), neighbours = weights.cols();
  for (Eigen::Index first = 0; first < units; first += kPanel) {
    const Eigen::Index rows = std::min<Eigen::Index>(kPanel, units - first);
    for (Eigen::Index j = 0; j < neighbours; ++j) {
      const double* column = weights.data() + j * units + first;
      float* out = panels_out + first * neighbours + j * kPanel;
      for (Eigen::Index r = 0; r < rows; ++r)
        out[r] = static_cast<float>(column[r] * inverse_scale);
    }
  }
}

// Writes what four neighbours add in each of their joint states, the first neighbour in the lowest
// bit: all at their lower values, and one weight more for each that is at its higher one.
void fill_table(const std::array<double, kTableUnits>& weights, double low, double spacing,
                float* table) {
  std::array<double, kTableEntries> sums{};
  for (const double w : weights) sums[0] += low * w;
  for (unsigned e = 1; e < kTableEntries; ++e)
    sums[e] = sums[e & (e - 1)] + spacing * weights[static_cast<std::size_t>(std::countr_zero(e))];
  for (int e = 0; e < kTableEntries; ++e) table[e] = static_cast<float>(sums[e]);
}

// weight(neighbour, unit) into [panel][group][unit in panel][entry].
template <class Weight>
void fill_tables(Unit neighbour, int neighbours, int units, const Weight& weight, float* tables) {
  const double low = neighbour.value(0), spacing = neighbour.value(1) - low;
  for (int panel = 0; panel * kPanel < units; ++panel)
    for (int group = 0; group < table_groups(neighbours); ++group)
      for (int r = 0; r < kPanel; ++r, tables += kTableEntries) {
        const int unit = panel * kPanel + r;
        if (unit >= units) continue;
        std::array<double, kTableUnits> weights{};
        for (int k = 0, j = group * kTableUnits; k < kTableUnits && j < neighbours; ++k, ++j)
          weights[static_cast<std::size_t>(k)] = weight(j, unit);
        fill_table(weights, low, spacing, tables);
      }
}

// weight(neighbour, unit) / s into [neighbour][unit].
template <class Weight>
void fill_rows(int neighbours, int units, const Weight& weight, double inverse_scale, float* rows) {
  for (int j = 0; j < neighbours; ++j, rows += row_stride(units))
    for (int i = 0; i < units; ++i) rows[i] = static_cast<float>(weight(j, i) * inverse_scale);
}

// weight(neighbour, unit) / s into [stripe][tile][part][unit in stripe][neighbour in tile].
template <class Weight>
void fill_tiles(int neighbours, int units, const Weight& weight, double inverse_scale,
                Bfloat16* tiles) {
  for (int i = 0; i < units; ++i) {
    Bfloat16* unit = tiles +
                     static_cast<std::size_t>(i / kTileUnits) * tiles_of(neighbours) *
                         kWeightParts * kWeightTile +
                     i % kTileUnits * kTileTerms;
    for (int j = 0; j < neighbours; ++j) {
      Bfloat16* out = unit + static_cast<std::size_t>(j / kTileTerms) * kWeightParts * kWeightTile +
                      j % kTileTerms;
      for (const Bfloat16 part : split_weight(static_cast<float>(weight(j, i) * inverse_scale))) {
        *out = part;
        out += kWeightTile;
      }
    }
  }
}

// What a layer's own parameters give its units' inputs: of Gaussian units, which they draw to a, the
// slope of -(x - a)^2 / (2 sigma^2) at 0.
Eigen::VectorXd own_input(const Layer& layer) {
  if (!layer.unit.has_scale()) return layer.bias;
  return layer.bias.cwiseQuotient(layer.sigma0.cwiseAbs2());
}

void fill_scales(const Layer& layer, std::vector<float>& scale) {
  if (layer.unit.has_scale()) return fill_padded(layer.sigma0, scale);
  scale.assign(row_stride(static_cast<int>(layer.bias.size())), 1.0F);
}

// The weights of layer l's couplings: from below W [neighbours x units], from above its transpose.
void fill_layer(const Layered& model, int l, PackedModel::PackedLayer& layer) {
  fill_padded(own_input(model.layer(l)), layer.bias);
  fill_scales(model.layer(l), layer.scale);
  for (PackedModel::Coupling& coupling : layer.couplings) {
    const bool below = coupling.neighbour < l;
    const Eigen::MatrixXd& w = model.weights(below ? l - 1 : l);
    const auto weight = [&](int j, int i) { return below ? w(j, i) : w(i, j); };
    const Unit unit = model.layer(coupling.neighbour).unit;
    const double inverse_scale = 1.0 / static_cast<double>(unit.state_scale());
    float* out = coupling.weights.data();
    if (layer.form == PackedModel::Form::tables)
      fill_tables(unit, coupling.neighbour_size, layer.size, weight, out);
    else if (layer.form == PackedModel::Form::tiles)
      fill_tiles(coupling.neighbour_size, layer.size, weight, inverse_scale, coupling.tiles.data());
    else if (layer.form == PackedModel::Form::rows)
      fill_rows(coupling.neighbour_size, layer.size, weight, inverse_scale, out);
    else if (below)
      fill_from_columns(w, inverse_scale, out);
    else
      fill_from_rows(w, inverse_scale, out);
  }
}

// Rows serve one chain each. Tables hold four times the floats of weights and are read by several
// blocks of chains each: if they are used often, and from cache, they are made when packing.
constexpr std::uint64_t kManySweeps = 30;
constexpr int kTableBlocks = 3;
constexpr double kTableBytes = 0x1p26;
constexpr int kRowChains = 4;

// How many neighbours a layer's units have; 0 if some have more values than these.
int neighbours_within(const Layered& model, int l, int values) {
  int neighbours = 0;
  for (const int n : {l - 1, l + 1}) {
    if (n < 0 || n >= model.layers()) continue;
    const Unit unit = model.layer(n).unit;
    if (!unit.is_discrete() || unit.values() > values) return 0;
    neighbours += model.size(n);
  }
  return neighbours;
}

PackedModel::Form choose_form(const Layered& model, int l, const Packing& packing) {
  using Form = PackedModel::Form;
  const bool often = packing.sweeps >= kManySweeps;
  if (often && packing.chains <= kRowChains) return Form::rows;
  const bool many = packing.chains > (kTableBlocks - 1) * kChainBlock;
  if (!many || !packing.values || !takes_avx512()) return Form::products;
  constexpr int kBfloat16Values = 257;  // of X(256): the integers from -256 to 256
  if (often && takes_tiles() && neighbours_within(model, l, kBfloat16Values) > 0)
    return Form::tiles;
  const double neighbours = neighbours_within(model, l, 2);
  if (neighbours == 0) return Form::products;
  const double bytes = neighbours * model.size(l) * 4 * sizeof(float);
  return often && bytes <= kTableBytes ? Form::tables : Form::fresh_tables;
}

PackedModel::Coupling make_coupling(const Layered& model, int neighbour, int l,
                                    PackedModel::Form form) {
  PackedModel::Coupling coupling{.neighbour = neighbour, .neighbour_size = model.size(neighbour)};
  const std::size_t units = panels(model.size(l)) * kPanel;
  if (form == PackedModel::Form::tables)
    coupling.weights.resize(units * table_groups(coupling.neighbour_size) * kTableEntries);
  else if (form == PackedModel::Form::tiles)
    coupling.tiles.resize(static_cast<std::size_t>(row_stride(model.size(l))) * kWeightParts *
                          tiles_of(coupling.neighbour_size) * kTileTerms);
  else if (form == PackedModel::Form::rows)
    coupling.weights.resize(static_cast<std::size_t>(row_stride(model.size(l))) *
                            coupling.neighbour_size);
  else
    coupling.weights.resize(units * coupling.neighbour_size);
  return coupling;
}

}  // namespace

PackedModel::PackedModel(const Layered& model, const Packing& packing)
    : takes_means_(!packing.values) {
  for (int l = 0; l < model.layers(); ++l) {
    if (l > 0 && model.layer(l).unit.has_scale() && model.layer(l - 1).unit.has_scale())
      throw InvalidArgument(
          fmt::format("units of layers {} and {} = Gaussian (must be others in one)", l - 1, l));
    PackedLayer& layer = layers_.emplace_back();
    layer.size = model.size(l);
    layer.unit = model.layer(l).unit;
    layer.base_logit.resize(row_stride(layer.size), 0.0F);
    layer.form = choose_form(model, l, packing);
    for (const int n : {l - 1, l + 1})
      if (n >= 0 && n < model.layers())
        layer.couplings.push_back(make_coupling(model, n, l, layer.form));
  }
  if (!model.has_scales()) log_base_ = log_normaliser(model, Base::uniform(model));
  update(model);
}

PackedModel::PackedModel(const Layered& model, const Base& base, const Packing& packing)
    : PackedModel(model, packing) {
  log_base_ = log_normaliser(model, base);
  for (int l = 0; l < model.layers(); ++l) {
    check_range(base.logits[l]);
    fill_padded(base.logits[l], layers_[l].base_logit);
  }
}

void PackedModel::update(const Layered& model) {
  bool same = model.layers() == layers();
  for (int l = 0; same && l < layers(); ++l)
    same = model.size(l) == size(l) && model.layer(l).unit == layers_[l].unit;
  if (!same) throw InvalidArgument("model (must have the packed model's layers, sizes and units)");
  for (const Eigen::MatrixXd& weights : model.weights()) check_range(weights);
  for (int l = 0; l < layers(); ++l) {
    check_range(own_input(model.layer(l)));
    check_range(model.layer(l).sigma0);
    check_range(model.layer(l).sigma0.cwiseInverse());
  }
  for (int l = 0; l < layers(); ++l) fill_layer(model, l, layers_[l]);
}

double input_rounding(const Layered& model) {
  constexpr double kHalfPlace = 0x1p-24, kDeviations = 6;
  // The largest values: Gaussian units meet none of their kind, and follow the others.
  std::vector<Eigen::VectorXd> most;
  for (int l = 0; l < model.layers(); ++l) most.emplace_back(Eigen::VectorXd::Ones(model.size(l)));
  const auto input = [&](int l) {
    Eigen::VectorXd sum = own_input(model.layer(l)).cwiseAbs();
    if (l > 0) sum += model.weights(l - 1).cwiseAbs().transpose() * most[l - 1];
    if (l + 1 < model.layers()) sum += model.weights(l).cwiseAbs() * most[l + 1];
    return sum;
  };
  for (int l = 0; l < model.layers(); ++l) {
    if (!model.layer(l).unit.has_scale()) continue;
    const Eigen::ArrayXd sigma = model.layer(l).sigma0.array();
    most[l] = (sigma.square() * input(l).array() + kDeviations * sigma).matrix();
  }
  double largest = 0;
  for (int l = 0; l < model.layers(); ++l) {
    Eigen::ArrayXd of_units = input(l).array();
    if (model.layer(l).unit.has_scale()) of_units *= model.layer(l).sigma0.array();
    largest = std::max(largest, of_units.maxCoeff());
  }
  return kHalfPlace * largest;
}

}  // namespace boltzmark

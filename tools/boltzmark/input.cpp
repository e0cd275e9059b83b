#include "input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>

#include "boltzmark/core/atomic_file.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/io/formats/file_kind.hpp"
#include "boltzmark/io/model_file.hpp"
#include "boltzmark/model/sides.hpp"
#include "boltzmark/transition/chains.hpp"
#include "experiments/kit/datasets/data_folders.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "experiments/kit/printable.hpp"
#include "output.hpp"
#include "progress.hpp"

namespace boltzmark::cli {
namespace {

int units_of(const Layered& model, int parity, int first_layer) {
  int units = 0;
  for (int l = first_layer; l < model.layers(); ++l) units += l % 2 == parity ? model.size(l) : 0;
  return units;
}

EnumerationPlan plan_layers(const Layered& model, int first_layer,
                            int max_units = kMostEnumeratedUnits) {
  const int side = smaller_side(model, first_layer);
  const double bits = log2_states(model, side, first_layer);
  EnumerationPlan plan;
  if (std::isinf(bits)) return plan;
  plan.bits = bits;
  plan.side = side_name(model, side);
  plan.units = units_of(model, side, first_layer);
  plan.possible = plan.units <= max_units && bits <= kMostEnumeratedBits;
  if (!plan.possible) {
    const bool units = plan.units > max_units;
    plan.excess =
        units ? fmt::format("{} units", plan.units) : fmt::format("2^{:.1f} states", bits);
    plan.most = units ? fmt::format("{}", max_units) : fmt::format("2^{}", kMostEnumeratedBits);
    return plan;
  }
  plan.states = static_cast<std::uint64_t>(std::llround(std::exp2(bits)));
  plan.bytes = 16.0 * model.units() * 4096 * thread_count();
  return plan;
}

}  // namespace

bool is_model_file(const std::string& path) {
  std::error_code error;
  // A folder may have the name of a data set.
  if (!std::filesystem::exists(path, error) || std::filesystem::is_directory(path, error))
    return false;
  const FileKind kind = file_kind(path);
  return (kind == FileKind::zip && !holds_states(path)) || kind == FileKind::matlab;
}

Layered load_model(const std::string& path) {
  return about_file(path, [&] { return read_model(path); });
}

void require_tempered(const Layered& model, const std::string& path) {
  if (model.has_scales())
    throw DataError(
        path +
        ": has a Gaussian layer, which is neither tempered nor searched (must have none; `boltzmark "
        "exact` sums over the other layers)");
}

Layered load_tempered_model(const std::string& path) {
  Layered model = load_model(path);
  require_tempered(model, path);
  return model;
}

std::optional<KnownLogZ> load_known_log_z(const std::string& path, const Layered& model) {
  return about_file(path, [&] { return read_known_log_z(path, model); });
}

double told_slack(const KnownLogZ& known) {
  const double told = std::isfinite(known.error) ? 5 * known.error : 0;
  return std::max(told, 1e-6 * std::max(1.0, std::abs(known.log_z)));
}

std::string known_text(const KnownLogZ& known) {
  std::string text =
      fmt::format("{:.6f} nats by {}", known.log_z,
                  known.by.empty() ? "what the file says" : experiments::printable_line(known.by));
  if (std::isfinite(known.error)) text += ", within " + short_number(known.error);
  return text;
}

std::optional<std::string> text_of(const std::optional<BinariseOptions>& binarise) {
  return binarise ? std::optional(binarise_text(*binarise)) : std::nullopt;
}

std::string inputs_text(const std::optional<BinariseOptions>& binarise) {
  return binarise ? "grey levels of images by " + binarise_text(*binarise) : "values as they are";
}

std::vector<int> layer_sizes(const Layered& model) {
  std::vector<int> sizes;
  for (int l = 0; l < model.layers(); ++l) sizes.push_back(model.size(l));
  return sizes;
}

std::string layer_name(const Layered& model, int layer) {
  if (layer == 0) return "visible";
  return model.is_rbm() ? "hidden" : fmt::format("hidden{}", layer);
}

void save_model(const Layered& model, const std::string& path) {
  about_file(path, [&] { write_model(model, path); });
}

Dataset load_cases(const std::string& spec, const std::string& binarise,
                   const std::string& default_split, Unit unit) {
  BinariseOptions options;
  if (unit.has_scale()) options.kind = BinariseOptions::Kind::grey;
  if (!binarise.empty()) options = parse_binarise(binarise);
  Dataset data = experiments::load_dataset(spec, options, default_split);
  say_header(data);
  if (!binarise.empty()) require_grey_levels(data, binarise);
  return data;
}

void say_header(const Dataset& data) {
  if (data.numbered)
    complain(fmt::format(
        "{}: its first case is 0, 1, 2, .., as pandas writes column names: header=False "
        "leaves them out",
        data.name));
  if (!data.header.empty())
    complain(fmt::format("{}: its first line is taken for a header: {}", data.name,
                         data.header.substr(0, 60)));
}

void require_grey_levels(const Dataset& data, const std::string& binarise) {
  if (!data.grey_levels)
    throw DataError(
        fmt::format("{}: has no grey levels (must have some, bytes or shares in "
                    "[0, 1], for --binarise {})",
                    data.name, binarise));
}

void fit_values(Unit unit, Dataset& data) {
  if (unit.has_scale()) return;
  const auto highest = static_cast<double>(unit.highest());
  if (const double most = data.values.maxCoeff(); most > highest)
    throw DataError(
        fmt::format("{}: holds values up to {} (must be at most {} for {} units; "
                    "--binarise is for grey levels)",
                    data.name, most, highest, unit.name()));
  // Bits stand for spins, but not where values are those of a model's units.
  if (unit.lowest() == 0 || data.states || data.values.minCoeff() < 0) return;
  // Of a file's bits, too, if each is one of few values of the unit as it is.
  const bool doubtful =
      unit.is_discrete() && unit.holds(0, 0) && std::filesystem::exists(data.name);
  if (doubtful || !data.values.all([](float x) { return x == 0 || x == 1; }))
    complain(fmt::format(
        "{}: its values are all in [0, 1], and taken for 2 x - 1 of {} units on [-1, 1] (a file with a "
        "negative value is read as it is)",
        data.name, unit.name()));
  data.values = data.values.mapped([](float x) { return 2 * x - 1; });
}

void require_resolution(const Dataset& data, const Eigen::VectorXd& scales) {
  constexpr double kMost = 0.01, kSpacing = 0x1p-23;
  Eigen::VectorXd largest = Eigen::VectorXd::Zero(data.values.rows());
  for (Eigen::Index c = 0; c < data.values.cols(); ++c)
    largest = largest.cwiseMax(data.values.col(c).cast<double>().cwiseAbs());
  for (Eigen::Index i = 0; i < largest.size(); ++i)
    if (!(kSpacing * largest[i] <= kMost * scales[i]))
      throw DataError(fmt::format(
          "{}: unit {} has values up to {:.8g}, which single precision holds to {:.2g}: too little for a "
          "spread of {:.3g} (must be nearer to 0: take an offset off)",
          data.name, i + 1, largest[i], kSpacing * largest[i], scales[i]));
  // Half a spacing of each value that fills its digits, times the slope three spreads from a mean.
  constexpr double kNats = 0.001, kSlope = 3;
  const auto fills = [](float x) { return (std::bit_cast<std::uint32_t>(x) & 0xF) != 0; };
  double most = 0;  // of a case
  for (Eigen::Index c = 0; c < data.values.cols(); ++c) {
    const Eigen::VectorXf values = data.values.col(c);
    double sum = 0;
    for (Eigen::Index i = 0; i < values.size(); ++i)
      if (fills(values[i])) sum += std::abs(static_cast<double>(values[i])) / scales[i];
    most = std::max(most, sum);
  }
  const double off = kSlope * kSpacing / 2 * most;
  if (off > kNats)
    complain(fmt::format(
        "{}: single precision holds its values, far from 0 beside their spread: log densities may be off by "
        "{:.2g} nats a case (an offset may be taken off)",
        data.name, off));
}

Dataset load_cases_of(const Layered& model, const std::string& spec, const std::string& binarise,
                      const std::string& default_split) {
  const Unit unit = model.layer(0).unit;
  Dataset data = load_cases(spec, binarise, default_split, unit);
  if (data.values.rows() != model.size(0))
    throw DataError(fmt::format("{}: has {} units (must be the model's {} visible units)",
                                data.name, data.values.rows(), model.size(0)));
  fit_values(unit, data);
  if (unit.has_scale()) require_resolution(data, model.layer(0).sigma0);
  return data;
}

Dataset load_states(const Layered& model, const std::string& spec, const std::string& binarise) {
  Dataset data = load_cases_of(model, spec, binarise);
  about_file(data.name, [&] { require_states(model.layer(0).unit, data.values.matrix()); });
  return data;
}

Dataset load_labelled(const std::string& spec, const std::string& labels,
                      const BinariseOptions& binarise, const std::string& default_split,
                      bool needed) {
  Dataset data = experiments::load_dataset(spec, binarise, default_split);
  say_header(data);
  if (!labels.empty()) data.labels = read_labels(experiments::find_in_data_folders(labels));
  if (data.labels.empty() && !needed) return data;
  if (data.labels.empty())
    throw DataError(data.name + ": has no classes (must have labels, or --labels FILE)");
  if (static_cast<Eigen::Index>(data.labels.size()) != data.values.cols())
    throw DataError(fmt::format("{}: has {} classes (must have {}, one per case of {})", labels,
                                data.labels.size(), data.values.cols(), data.name));
  return data;
}

EnumerationPlan plan_enumeration(const Layered& model, int max_units) {
  EnumerationPlan plan = plan_layers(model, 0, max_units);
  if (plan.possible) plan.seconds = exact_log_z_seconds(model, max_units) / thread_count();
  return plan;
}

EnumerationPlan plan_hidden_enumeration(const Layered& model) { return plan_layers(model, 1); }

ExactLogZ enumerate_log_z(const Layered& model, const Session& session) {
  const auto states = static_cast<double>(plan_enumeration(model).states);
  Progress progress(session, "exact log Z", states, "states");
  ExactOptions options;
  options.progress = [&](double fraction) { progress.show(fraction * states); };
  return exact_log_z(model, options);
}

void check_output(const std::string& path, bool replace) {
  std::error_code error;
  // A link that leads nowhere is there too.
  if (!replace && std::filesystem::exists(std::filesystem::symlink_status(path, error)) &&
      !std::filesystem::is_directory(path, error))
    throw DataError(path + ": exists already (must be a new file, or give --force)");
  const AtomicFile probe(path);
}

void check_model_name(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension != ".npz" && extension != ".mat")
    throw DataError(path + ": its name does not say the format (must end in .npz or .mat)");
}

}  // namespace boltzmark::cli

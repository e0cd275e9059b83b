#include "store_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/estimate/held/held.hpp"
#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/io/formats/npz.hpp"
#include "input.hpp"

namespace boltzmark::cli {
namespace {

using RowMajor = Eigen::Matrix<std::int32_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

void require_array(const Npz& file, const char* name) {
  if (!file.contains(name))
    throw DataError(
        fmt::format("{}: has no array {} (must be written by estimate --dump)", file.path(), name));
}

Array read_array(const Npz& file, const char* name) {
  require_array(file, name);
  return file.read(name);
}

using Shape = std::vector<std::uint64_t>;

// Reads an array of a shape that others of the file say, as a vector of all its values.
Array read_shaped(const Npz& file, const char* name, const Shape& shape, const char* must) {
  require_array(file, name);
  const Array header = file.describe(name);
  if (header.shape != shape)
    header.place.refuse("has shape " + shape_text(header.shape),
                        fmt::format("must be {}, {}", shape_text(shape), must));
  Array array = file.read(name);
  array.shape = {array.count()};
  return array;
}

double read_number(const Npz& file, const char* name) {
  return read_shaped(file, name, {1}, "one number").vector()[0];
}

double read_size(const Npz& file, const char* name) {
  const double size = read_number(file, name);
  if (!(size >= 0))
    throw InvalidArgument(fmt::format("{} = {} (must not be negative)", name, size));
  return size;
}

bool read_flag(const Npz& file, const char* name) {
  const std::int64_t flag = read_shaped(file, name, {1}, "one").integers()[0];
  if (flag != 0 && flag != 1)
    throw InvalidArgument(fmt::format("{} = {} (must be 0 or 1)", name, flag));
  return flag == 1;
}

void require_shares(const Eigen::VectorXd& log_prior) {
  constexpr double kRounding = 1e-6;
  const double sum = log_prior.array().exp().sum();
  if (!(std::abs(sum - 1) <= kRounding))
    throw InvalidArgument(
        fmt::format("log_prior has shares that add up to {:.8g} (must be 1)", sum));
}

void read_visited(const Npz& file, LowerBound& bound) {
  const Eigen::VectorXd visited =
      read_shaped(file, "visited", {3}, "searched, met, visits").vector();
  if (!(visited.allFinite() && visited[1] >= 0 && visited[1] <= 1 && visited[2] > 0))
    throw InvalidArgument(fmt::format("visited = {}, {}, {} (must be finite, a share and positive)",
                                      visited[0], visited[1], visited[2]));
  bound.searched = visited[0];
  bound.met = visited[1];
  bound.visits = visited[2];
}

template <class Number>
void add_one(NpzWriter& file, const std::string& name, const Number& number) {
  file.add(name, std::span(&number, 1), {1});
}

// A number that does not exist, or the log of no mass: files hold neither NaN nor infinity.
constexpr double kNoNumber = std::numeric_limits<double>::lowest();

// Of phases that annealing found: "phase_log_masses", ..; of groups of what is near all places "place_..".
void add_masses(const MetMasses& masses, const std::string& of, NpzWriter& file) {
  const Eigen::VectorXd log_masses = masses.log_masses.cwiseMax(kNoNumber),
                        log_least = masses.log_least.cwiseMax(kNoNumber);
  file.add(of + "_log_masses", log_masses);
  if (log_least.size() > 0) file.add(of + "_log_least", log_least);
  file.add(of + "_errors", masses.errors);
  file.add(of + "_shares", masses.shares);
  add_one(file, of + "_visits", masses.visits);
}

MetMasses read_masses(const Npz& file, const std::string& of) {
  const Shape shape = file.describe(of + "_log_masses").shape;
  const Shape parts = {shape.empty() || shape.back() == 0 ? 1 : shape.back()};
  const auto read = [&](const char* name, const char* must) {
    return read_shaped(file, (of + name).c_str(), parts, must).vector();
  };
  MetMasses masses{
      {read("_log_masses", "a vector"), read("_errors", "one a part"),
       file.contains(of + "_log_least") ? read("_log_least", "one a part") : Eigen::VectorXd()},
      read("_shares", "one a part"),
      read_number(file, (of + "_visits").c_str())};
  const auto require = [&](bool holds, const char* name, double value, const char* must) {
    if (!holds) throw InvalidArgument(fmt::format("{}{} = {} (must be {})", of, name, value, must));
  };
  for (const double x : masses.log_masses) require(std::isfinite(x), "_log_masses", x, "finite");
  for (const double x : masses.log_least) require(std::isfinite(x), "_log_least", x, "finite");
  for (const double x : masses.errors)
    require(x >= 0 && std::isfinite(x), "_errors", x, "finite, not negative");
  for (const double x : masses.shares) require(x >= 0 && x <= 1, "_shares", x, "a share");
  require(masses.visits >= 0, "_visits", masses.visits, "not negative");
  return masses;
}

std::shared_ptr<const MetPhases> read_phases(const Npz& file) {
  MetPhases phases{read_masses(file, "phase")};
  if (file.contains("place_log_masses")) phases.small = read_masses(file, "place");
  return std::make_shared<const MetPhases>(std::move(phases));
}

// Of units that the run hardly switched: "switch_log_masses" beside Z, .. of those that were moved, and
// "unmoved_switches" of the others; "switch_visits" of either.
void add_switches(const Switches& switches, NpzWriter& file) {
  const auto count = std::ssize(switches.units);
  const Eigen::VectorXd none(count);
  MetMasses masses{{none, none, none}, none, switches.visits};
  for (Eigen::Index k = 0; k < count; ++k) {
    const UnitSwitch& of = switches.units[static_cast<std::size_t>(k)];
    masses.log_masses[k] = of.log_ratio + std::log(of.share);
    masses.log_least[k] = of.log_least + std::log(of.share);
    masses.errors[k] = of.error;
    masses.shares[k] = of.met;
  }
  Eigen::MatrixXd unmoved(std::ssize(switches.unmoved), 8);
  for (Eigen::Index k = 0; k < unmoved.rows(); ++k) {
    const UnmovedSwitches& of = switches.unmoved[static_cast<std::size_t>(k)];
    unmoved.row(k) << of.most, of.mass, of.error, of.met, of.unmet, of.by_chance, of.unmet_error,
        of.of_one;
  }
  if (unmoved.rows() > 0) file.add("unmoved_switches", unmoved);
  if (count > 0)
    add_masses(masses, "switch", file);
  else if (unmoved.rows() > 0)
    add_one(file, "switch_visits", switches.visits);
}

Switches read_switches(const Npz& file) {
  Switches switches{.visits = read_size(file, "switch_visits")};
  if (file.contains("switch_log_masses")) {
    const MetMasses masses = read_masses(file, "switch");
    for (Eigen::Index k = 0; k < masses.shares.size(); ++k)
      switches.units.push_back(
          {.share = 1,
           .met = masses.shares[k],
           .log_ratio = masses.log_masses[k],
           .error = masses.errors[k],
           .log_least = k < masses.log_least.size() ? masses.log_least[k] : kNoNumber});
  }
  if (!file.contains("unmoved_switches")) return switches;
  Eigen::MatrixXd unmoved = read_array(file, "unmoved_switches").matrix();
  const bool is_earlier = unmoved.cols() == 4;
  if ((!is_earlier && unmoved.cols() != 8) || !unmoved.allFinite() || (unmoved.array() < 0).any() ||
      (unmoved.col(3).array() > 1).any())
    throw InvalidArgument(
        "unmoved_switches must have rows of eight finite numbers (or four), none negative, the "
        "fourth a share");
  if (is_earlier) {
    unmoved.conservativeResize(Eigen::NoChange, 8);
    unmoved.rightCols(4).setZero();
  }
  for (const auto& row : unmoved.rowwise())
    switches.unmoved.push_back({row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7]});
  return switches;
}

// Of chains that began at b = 1, where there were such.
void add_reverse(const Estimate& reverse, NpzWriter& file) {
  double numbers[] = {reverse.log_z, reverse.std_error};
  for (double& number : numbers)
    if (!std::isfinite(number)) number = kNoNumber;
  file.add("reverse", std::span<const double>(numbers), {2});
  add_one(file, "reverse_status", static_cast<std::int32_t>(reverse.status));
}

Estimate read_reverse(const Npz& file) {
  constexpr auto kGravest = static_cast<std::int64_t>(Status::below_bound);
  const Eigen::VectorXd numbers = read_shaped(file, "reverse", {2}, "log Z and its error").vector();
  const auto status = read_shaped(file, "reverse_status", {1}, "one").integers()[0];
  if (numbers[1] < 0 && numbers[1] != kNoNumber)
    throw InvalidArgument(
        fmt::format("reverse has an error of {} (must not be negative)", numbers[1]));
  if (status < 0 || status > kGravest)
    throw InvalidArgument(
        fmt::format("reverse_status = {} (must be from 0 to {})", status, kGravest));
  const auto number = [&](int i) { return numbers[i] == kNoNumber ? Estimate::kNone : numbers[i]; };
  return {.log_z = number(0), .std_error = number(1), .status = static_cast<Status>(status)};
}

}  // namespace

void save_store(const StoredRun& run, const std::string& path) {
  const SampleStore& store = run.store;
  NpzWriter file(path);
  const auto sweeps = static_cast<std::uint64_t>(store.sweeps());
  const auto chains = static_cast<std::uint64_t>(store.chains());
  const auto rungs = static_cast<std::uint64_t>(store.rungs());
  Eigen::VectorXd beta(store.rungs());
  for (int k = 0; k < store.rungs(); ++k) beta[k] = store.ladder[k];
  const RowMajor rung = store.rung;
  file.add("D", store.log_ratio);
  file.add("rung", std::span(rung.data(), static_cast<std::size_t>(rung.size())), {sweeps, chains});
  file.add("beta", beta);
  file.add("log_prior", store.log_prior);
  file.add("log_z_hat", store.log_z_hat);
  add_one(file, "random_rungs", std::int32_t{store.random_rungs});
  if (store.exchanged_rungs) add_one(file, "exchanged_rungs", std::int32_t{1});
  if (std::isfinite(run.bound.log_z)) {
    add_one(file, "lower_bound", run.bound.log_z);
    add_one(file, "lower_bound_error", run.bound.error_bound);
    add_one(file, "input_rounding", run.bound.input_rounding);
    add_one(file, "log_f_rounding", run.bound.log_f_rounding);
  }
  if (!run.resolved) add_one(file, "unresolved", std::int32_t{1});
  if (std::isfinite(run.bound.searched) && run.bound.visits > 0) {
    const double visited[] = {run.bound.searched, run.bound.met, run.bound.visits};
    file.add("visited", std::span(visited), {3});
  }
  if (run.phases) add_masses(*run.phases, "phase", file);
  if (run.phases && run.phases->small.log_masses.size() > 0)
    add_masses(run.phases->small, "place", file);
  if (!run.switches.units.empty() || !run.switches.unmoved.empty())
    add_switches(run.switches, file);
  if (run.reverse) add_reverse(*run.reverse, file);
  if (!store.log_f.empty()) file.add("log_f", std::span(store.log_f), {sweeps, chains, rungs});
  file.commit();
}

StoredRun load_store(const std::string& path) {
  const Npz file(path);
  return about_file(path, [&] {
    const Eigen::VectorXd beta = read_array(file, "beta").vector();
    SampleStore store{.ladder = Ladder(std::vector<double>(beta.begin(), beta.end()))};
    store.log_ratio = read_array(file, "D").matrix();
    const auto sweeps = static_cast<std::uint64_t>(store.sweeps()),
               chains = static_cast<std::uint64_t>(store.chains()),
               rungs = static_cast<std::uint64_t>(store.rungs());
    store.log_prior = read_shaped(file, "log_prior", {rungs}, "one a rung, as beta").vector();
    store.log_z_hat = read_shaped(file, "log_z_hat", {rungs}, "one a rung, as beta").vector();
    const auto rung = read_shaped(file, "rung", {sweeps, chains}, "that of D").integers();
    store.rung = Eigen::Map<const RowMajor>(rung.data(), store.sweeps(), store.chains());
    require_shares(store.log_prior);
    if (file.contains("random_rungs")) store.random_rungs = read_flag(file, "random_rungs");
    if (file.contains("exchanged_rungs"))
      store.exchanged_rungs = read_flag(file, "exchanged_rungs");
    if (file.contains("log_f")) {
      const Eigen::VectorXd values =
          read_shaped(file, "log_f", {sweeps, chains, rungs}, "that of D and beta").vector();
      store.log_f.assign(values.begin(), values.end());
    }
    check_collapsed(store);
    StoredRun run{.store = std::move(store)};
    if (file.contains("lower_bound"))
      run.bound = {.log_z = read_number(file, "lower_bound"),
                   .error_bound = read_size(file, "lower_bound_error")};
    if (file.contains("input_rounding"))
      run.bound.input_rounding = read_size(file, "input_rounding");
    if (file.contains("log_f_rounding"))
      run.bound.log_f_rounding = read_size(file, "log_f_rounding");
    run.resolved =
        !file.contains("unresolved") && !(run.store.log_ratio.cwiseAbs().maxCoeff() >= kUnresolved);
    if (file.contains("visited")) read_visited(file, run.bound);
    if (file.contains("phase_log_masses")) run.phases = read_phases(file);
    if (file.contains("switch_visits")) run.switches = read_switches(file);
    if (file.contains("reverse")) run.reverse = read_reverse(file);
    return run;
  });
}

}  // namespace boltzmark::cli

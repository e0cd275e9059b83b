#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/io/dataset.hpp"
#include "boltzmark/model/layered.hpp"
#include "command.hpp"

namespace boltzmark::cli {

/// Tells whether a file is a model's by its content; false if there is none.
bool is_model_file(const std::string& path);

/// Reads a model file.  Throws  DataError naming the file
Layered load_model(const std::string& path);

/// Throws  DataError naming the file if a model to be tempered has a Gaussian layer
void require_tempered(const Layered& model, const std::string& path);
/// Reads a model file for what tempers the model.  Throws  DataError naming the file, also as require_tempered
Layered load_tempered_model(const std::string& path);

/// Reads what a model file says of its log Z.  Throws  DataError naming the file
std::optional<KnownLogZ> load_known_log_z(const std::string& path, const Layered& model);

/// Tells by how much log Z may be off what is told: five of its errors, or 1e-6 relative, for a number that a
/// person wrote has few digits.  Units  nats
double told_slack(const KnownLogZ& known);

/// Writes it for people: "12.345678 nats by enumeration, within 1e-12".
std::string known_text(const KnownLogZ& known);

/// Writes a model file in double precision.  Throws  DataError naming the file
void save_model(const Layered& model, const std::string& path);

/// Writes how grey levels became inputs, as files do; none where there were none.
std::optional<std::string> text_of(const std::optional<BinariseOptions>& binarise);
/// Writes it for people: "grey levels of images by threshold:127", "values as they are".
std::string inputs_text(const std::optional<BinariseOptions>& binarise);

/// Counts the units of each layer, the visible one first.
std::vector<int> layer_sizes(const Layered& model);

/// Names a layer as files of states do: visible, hidden; of deeper models hidden1, hidden2, ..
std::string layer_name(const Layered& model, int layer);

/// Calls `work`; what it refuses about a value becomes a refusal of the file that the value is
/// from.
template <class Work>
auto about_file(const std::string& path, Work&& work) -> decltype(work()) {
  try {
    return std::forward<Work>(work)();
  } catch (const InvalidArgument& error) {
    throw DataError(path + ": " + error.what());
  }
}

/// Loads cases for visible units of a kind; `binarise` is --binarise as given, or empty: images of
/// grey levels are left grey for Gaussian units then, and on above 127 for others.
/// Throws  DataError if it is given and there are no grey levels
Dataset load_cases(const std::string& spec, const std::string& binarise,
                   const std::string& default_split, Unit unit = Unit::bernoulli());

/// Says on stderr which line of names, if any, a data set's file began with.
void say_header(const Dataset& data);

/// Refuses data without grey levels, for which --binarise is given.  Throws  DataError
void require_grey_levels(const Dataset& data, const std::string& binarise);

/// What a command says --binarise is, before what it has of its own.
inline constexpr const char* kBinariseHelp =
    "How grey levels, bytes or shares in [0, 1], become values: threshold:LEVEL, sample:SEED or grey "
    "(default: threshold:127 for images, grey for Gaussian units, nothing for other numbers).";

/// Carries cases in [0, 1] to the range of the visible units: x to 2x - 1 for units on [-1, 1].
/// Cases that have a negative value are there already, and stay.
/// Throws  DataError if there are values above the unit's highest, as grey levels are
void fit_values(Unit unit, Dataset& data);

/// Refuses cases of units with scales of which single precision, in which they are held, tells a hundredth
/// of a scale no more.  Shapes  scales [units]     Throws  DataError
void require_resolution(const Dataset& data, const Eigen::VectorXd& scales);

/// Loads cases of a model's visible units, as load_cases, fitted to their range.
/// Throws  DataError if they have another number of units
Dataset load_cases_of(const Layered& model, const std::string& spec, const std::string& binarise,
                      const std::string& default_split = "train");
/// Loads cases that are states.  Throws  DataError also if they are not
Dataset load_states(const Layered& model, const std::string& spec, const std::string& binarise);

/// Loads cases with their classes; `labels` names a file of these for a set that has none.
/// Throws  DataError if there are no labels though they are needed, or not one per case
Dataset load_labelled(const std::string& spec, const std::string& labels,
                      const BinariseOptions& binarise, const std::string& default_split,
                      bool needed = true);

/// The most units that are enumerated unless more are asked for, and the most that can be.
inline constexpr int kMostEnumeratedUnits = 40, kMostUnitsOfAll = 56, kMostEnumeratedBits = 62;

/// What an exact log Z of a model would enumerate, and the time and memory it would take here.
struct EnumerationPlan {
  bool possible = false;    ///< a discrete side of few enough units
  std::string side = {};    ///< "hidden", "visible", "odd layers", "even layers"; empty if neither
  int units = 0;            ///< of that side
  double bits = 0;          ///< log2 of its states
  std::string excess = {};  ///< where it is not possible: "41 units", "2^69.7 states"
  std::string most = {};    ///< then what is: "40", "2^62"
  std::uint64_t states = 0;
  double seconds = 0;  ///< not told of the hidden layers alone
  double bytes = 0;
};
EnumerationPlan plan_enumeration(const Layered& model, int max_units = kMostEnumeratedUnits);

/// Plans the same of the hidden layers given the visible one: what log f(v) of a case enumerates,
/// nothing for an RBM.
EnumerationPlan plan_hidden_enumeration(const Layered& model);

/// Enumerates log Z in double precision, with a progress line.
/// Throws  InvalidArgument if neither side can be enumerated
ExactLogZ enumerate_log_z(const Layered& model, const Session& session);

/// Refuses an output file before the work that makes it: one that exists (unless it may be
/// replaced), or whose folder cannot be written.
/// Throws  DataError
void check_output(const std::string& path, bool replace);

/// Refuses a name that no model file can have.  Throws  DataError
void check_model_name(const std::string& path);

}  // namespace boltzmark::cli

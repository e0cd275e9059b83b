#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "boltzmark/io/model_file.hpp"
#include "experiments/kit/datasets/norb_toy.hpp"
#include "tools/boltzmark/input.hpp"
#include "tools/boltzmark/output.hpp"
#include "tools/boltzmark/program.hpp"

namespace boltzmark::cli {
namespace {

struct ConvertArguments {
  std::string in;
  std::string out;
  std::string precision;  ///< empty: double
  bool force = false;
};

// Writes norb-toy in small NORB's files.
int convert_toy(const ConvertArguments& arguments, int side, const Session& session) {
  const std::string split =
      arguments.in.substr(std::min(arguments.in.find(':'), arguments.in.size()));
  if (!split.empty() && split != ":train" && split != ":test")
    throw DataError(arguments.in + ": is a part of a file (must be of train or test)");
  if (!arguments.precision.empty())
    throw InvalidArgument("--precision is given (must come with a model)");
  if (!arguments.out.ends_with(".mat"))
    throw DataError(arguments.out + ": is no name of a binary matrix (must end in .mat)");
  const std::array<std::string, 3> files = experiments::norb_files(arguments.out);
  for (const std::string& file : files) check_output(file, arguments.force);
  const experiments::NorbSet set = experiments::render_norb_toy(split == ":test", side);
  experiments::write_norb(set, arguments.out);
  if (session.json)
    print(JsonObject()
              .set("in", arguments.in)
              .set("out", arguments.out)
              .set("files", std::vector<std::string>(files.begin(), files.end()))
              .set("shape", std::vector<int>{experiments::kNorbPairs, 2, side, side}));
  else
    print(
        fmt::format("{}: wrote {} stereo pairs of {} x {} pixels, a stand-in for small NORB; "
                    "categories in {}, poses in {}\n",
                    files[0], grouped(experiments::kNorbPairs), side, side, files[1], files[2]));
  return 0;
}

int run(const ConvertArguments& arguments, const Session& session) {
  const std::string name = arguments.in.substr(0, arguments.in.find(':'));
  if (const auto side = experiments::norb_toy_side(name))
    return convert_toy(arguments, *side, session);
  const Layered model = load_model(arguments.in);
  check_model_name(arguments.out);
  check_output(arguments.out, arguments.force);
  const FilePrecision precision =
      arguments.precision == "float" ? FilePrecision::float32 : FilePrecision::float64;
  // What is known of a model goes with it, where the file can say it and the parameters are the same.
  const auto known = load_known_log_z(arguments.in, model);
  const bool keeps = precision == FilePrecision::float64 && arguments.out.ends_with(".npz");
  about_file(arguments.out, [&] {
    if (known && keeps)
      write_known_model(model, *known, arguments.out);
    else
      write_model(model, arguments.out, precision);
  });
  if (known && !keeps && !session.quiet)
    complain(fmt::format("{}: without the log Z that {} says (an .npz of doubles has it)",
                         arguments.out, arguments.in));
  const std::vector<int> sizes = layer_sizes(model);
  if (session.json)
    print(JsonObject().set("in", arguments.in).set("out", arguments.out).set("layers", sizes));
  else
    print(fmt::format("{}: wrote the {} model of {}\n", arguments.out, fmt::join(sizes, "-"),
                      arguments.in));
  return 0;
}

}  // namespace

void add_convert(Program& program) {
  const auto arguments = std::make_shared<ConvertArguments>();
  Command& command = program.command({
      .name = "convert",
      .summary = "copy a model into another file format, or norb-toy into files",
      .about = "Reads a model file, recognised by its content, and writes it as the name of OUT "
               "says: .npz (NumPy; any layered model) or .mat (MATLAB; binary RBMs). Of the data "
               "sets norb-toy and norb-toy-96, stand-ins for small NORB, writes the three files "
               "that small NORB has: images as OUT, categories and poses beside it.",
      .notes = "JSON keys: in, out, layers (sizes); of a data set: in, out, files, shape.",
      .examples = {"boltzmark convert mnistvh.mat mnistvh.npz",
                   "boltzmark convert rbm.npz rbm.mat --precision float",
                   "boltzmark convert norb-toy:train toys-dat.mat"},
  });
  command.positional(&arguments->in, "IN",
                     "The model file to read, or norb-toy[-96][:train|test].");
  command.positional(&arguments->out, "OUT", "The file to write (.npz or .mat).");
  command.choice(&arguments->precision, "--precision P", {"double", "float"},
                 "Precision of the numbers in OUT; double keeps every bit (default: double).");
  command.flag(&arguments->force, "--force", "Replace OUT if it exists.");
  command.writes({"OUT"});
  command.reads_models("IN");
  command.action([arguments](const Session& session) { return run(*arguments, session); });
}

}  // namespace boltzmark::cli

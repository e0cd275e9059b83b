#include <fmt/format.h>

#include <memory>

#include "boltzmark/io/model_file.hpp"
#include "input.hpp"
#include "output.hpp"
#include "program.hpp"

namespace boltzmark::cli {
namespace {

struct ConvertArguments {
  std::string in;
  std::string out;
  std::string precision = "double";
  bool force = false;
};

int run(const ConvertArguments& arguments, const Session& session) {
  const Layered model = load_model(arguments.in);
  check_model_name(arguments.out);
  check_output(arguments.out, arguments.force);
  const FilePrecision precision =
      arguments.precision == "float" ? FilePrecision::float32 : FilePrecision::float64;
  about_file(arguments.out, [&] { write_model(model, arguments.out, precision); });
  if (session.json) {
    std::vector<int> sizes;
    for (int l = 0; l < model.layers(); ++l) sizes.push_back(model.size(l));
    print(JsonObject().set("in", arguments.in).set("out", arguments.out).set("layers", sizes));
  } else {
    std::string sizes;
    for (int l = 0; l < model.layers(); ++l)
      sizes += fmt::format("{}{}", l == 0 ? "" : "-", model.size(l));
    print(fmt::format("{}: wrote the {} model of {}\n", arguments.out, sizes, arguments.in));
  }
  return 0;
}

}  // namespace

void add_convert(Program& program) {
  const auto arguments = std::make_shared<ConvertArguments>();
  Command& command = program.command({
      .name = "convert",
      .summary = "copy a model into another file format",
      .about = "Reads a model file, recognised by its content, and writes it as the name of OUT "
               "says: .npz (NumPy; any layered model) or .mat (MATLAB; binary RBMs).",
      .notes = "JSON keys: in, out, layers (sizes).",
      .examples = {"boltzmark convert mnistvh.mat mnistvh.npz",
                   "boltzmark convert rbm.npz rbm.mat --precision float"},
  });
  command.positional(&arguments->in, "IN", "The model file to read.");
  command.positional(&arguments->out, "OUT", "The file to write (.npz or .mat).");
  command.choice(&arguments->precision, "--precision P", {"double", "float"},
                 "Precision of the numbers in OUT; double keeps every bit (default: double).");
  command.flag(&arguments->force, "--force", "Replace OUT if it exists.");
  command.writes({"OUT"});
  command.action([arguments](const Session& session) { return run(*arguments, session); });
}

}  // namespace boltzmark::cli

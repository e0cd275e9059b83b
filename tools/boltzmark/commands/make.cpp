#include <fmt/format.h>

#include <memory>

#include "boltzmark/core/error.hpp"
#include "boltzmark/io/model_file.hpp"
#include "tools/boltzmark/input.hpp"
#include "tools/boltzmark/output.hpp"
#include "tools/boltzmark/program.hpp"
#include "tools/boltzmark/progress.hpp"
#include "verification/checks/known/known_model.hpp"

namespace boltzmark::cli {
namespace {

struct MakeArguments {
  std::string text;
  std::string out;
  bool force = false;
};

int run(const MakeArguments& arguments, const Session& session) {
  if (!arguments.out.ends_with(".npz"))
    throw DataError(arguments.out + ": cannot hold what is known of a model (must end in .npz)");
  check_output(arguments.out, arguments.force);
  const Stopwatch watch;
  const KnownModel made = make_known_model(arguments.text);
  about_file(arguments.out, [&] { write_known_model(made.model, made.known, arguments.out); });
  const std::vector<int> sizes = layer_sizes(made.model);
  if (session.json) {
    print(JsonObject()
              .set("out", arguments.out)
              .set("family", arguments.text)
              .set("layers", sizes)
              .set("log_z", made.known.log_z)
              .set("log_z_error", made.known.error)
              .set("log_z_by", made.known.by)
              .set("seconds", watch.seconds()));
    return 0;
  }
  FactList facts;
  facts.add("wrote", arguments.out);
  facts.add("model",
            fmt::format("{} {} units", fmt::join(sizes, "-"), made.model.layer(0).unit.name()));
  facts.add("log Z", known_text(made.known));
  print(facts.text());
  return 0;
}

}  // namespace

void add_make(Program& program) {
  const auto arguments = std::make_shared<MakeArguments>();
  Command& command = program.command({
      .name = "make",
      .summary = "a model whose log Z is known, of any size",
      .about = "Makes a model of a family whose log Z is known in closed form or by enumerating "
               "its parts, and writes it with that log Z, which `describe` shows, `estimate` "
               "compares itself to and `compare` scores by. `boltzmark list models` names the "
               "families.",
      .notes = "JSON keys: out, family, layers (sizes), log_z, log_z_error, log_z_by, seconds.",
      .examples = {"boltzmark make ising:32:critical --out ising.npz",
                   "boltzmark make well:100:12:5:1 --out well.npz && boltzmark estimate well.npz"},
  });
  std::vector<std::string> forms;
  for (const ModelFamily& family : model_families()) forms.emplace_back(family.form);
  command.positional(&arguments->text, "FAMILY:PARAMETERS", join_or(forms) + ".");
  command.required_text(&arguments->out, "--out FILE", "The model file to write (.npz).");
  command.flag(&arguments->force, "--force", "Replace FILE if it exists.");
  command.writes({"--out"});
  command.action([arguments](const Session& session) { return run(*arguments, session); });
}

}  // namespace boltzmark::cli

#include <catch2/catch.hpp>
#include <filesystem>

#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/cli/program.hpp"

namespace {

using namespace cli_test;

const std::vector<std::string> kCommands = {"reproduce", "report",  "verify", "exact", "spectrum",
                                            "estimate",  "compare", "score",  "train", "sample",
                                            "describe",  "convert", "list",   "doctor"};

}  // namespace

TEST_CASE("the program's help names every command") {
  const Run help = run({"--help"});
  CHECK(help.code == 0);
  CHECK(help.err.empty());
  for (const std::string& command : kCommands)
    CHECK(help.out.find("\n  " + command + " ") != std::string::npos);
  CHECK(run({"help"}).out == help.out);
  CHECK(run({"-h"}).out == help.out);
}

TEST_CASE("every command has a help with usage, options and examples, 96 columns wide at most") {
  for (const std::string& command : kCommands) {
    const Run help = run({command, "--help"});
    INFO(command);
    CHECK(help.code == 0);
    CHECK(help.err.empty());
    CHECK(help.out.starts_with("boltzmark " + command));
    for (const char* part : {"\nOptions\n", "\nExamples\n", "--threads N", "--json", "--help"})
      CHECK(help.out.find(part) != std::string::npos);
    std::istringstream text(help.out);
    for (std::string line; std::getline(text, line);) {
      INFO(line);
      const bool example = line.find("boltzmark ") != std::string::npos;
      CHECK((example || line.size() <= 96));
    }
    CHECK(run({"help", command}).out == help.out);
  }
}

TEST_CASE("help has a command's arguments before its options") {
  for (const auto& [command, argument] : {std::pair{"exact", "MODEL"}, std::pair{"list", "WHAT"}}) {
    const std::string text = run({command, "--help"}).out;
    const std::size_t at = text.find(std::string("\nArguments\n  ") + argument + " ");
    INFO(text);
    CHECK(at < text.find("\nOptions\n"));
  }
}

TEST_CASE("help wins over missing and wrong arguments") {
  CHECK(run({"exact", "--help"}).code == 0);
  CHECK(run({"train", "bas", "--hidden", "none", "-h"}).code == 0);
}

TEST_CASE("the version alone is what --version prints") {
  const Run version = run({"--version"});
  CHECK(version.code == 0);
  CHECK(version.out.starts_with("boltzmark 0."));
  CHECK(lines(version.out) == 1);
}

TEST_CASE("bad usage exits 2 with one line that says what is wrong") {
  struct Case {
    Arguments arguments;
    std::string said;
  };
  const std::vector<Case> cases = {
      {{}, "no command"},
      {{"estimat", "m.npz"}, "estimat: unknown command"},
      {{"estimate"}, "MODEL is missing"},
      {{"estimate", "m.npz", "--method", "rst"}, "--method = rst (must be"},
      {{"estimate", "m.npz", "--chains", "1"}, "--chains = 1"},
      {{"estimate", "m.npz", "--method", "exact", "--data", "bas"},
       "--data (must be left out: nothing reads it with exact)"},
      {{"estimate", "m.npz", "--method", "ais", "--states", "joint"}, "--states (must be left out"},
      {{"estimate", "m.npz", "--method", "ss", "--prior", "exp:2"}, "--prior (must be left out"},
      {{"estimate", "m.npz", "--method", "exact", "--sweeps", "5"}, "--sweeps (must be left out"},
      {{"estimate", "m.npz", "--method", "bar", "--sampler", "parallel", "--prior", "exp:2"},
       "nothing reads it with bar and --sampler parallel"},
      {{"estimate", "m.npz", "--states", "joint", "--summed", "even"},
       "nothing reads it with rts and --states joint"},
      {{"estimate", "m.npz", "--method", "bar", "--sampler", "parallel", "--summed", "even"},
       "nothing reads it with bar and --sampler parallel"},
      {{"estimate", "m.npz", "--method", "ss", "--data", "d.csv", "--prior", "exp:2"},
       "nothing reads it with ss)"},
      {{"estimate", "m.npz", "--method", "raise", "--data", "d.csv", "--prior", "exp:2"},
       "nothing reads it with raise and --data"},
      {{"reproduce", "yokoyama2019/fig1", "--profile", "smoke", "--keep"},
       "--keep (must go with --profile paper, not smoke"},
      {{"help", "exact", "estimate"}, "help: unexpected argument estimate"},
      {{"estimate", "m.npz", "--method", "wang-landau", "--states", "joint"},
       "--states (must be left"},
      {{"estimate", "m.npz", "--force"}, "--force is given (must come with --dump)"},
      {{"describe", "m.npz", "--force"}, "--force is given (must come with --image)"},
      {{"modes", "m.npz", "--force"}, "--force is given (must come with --out or --image)"},
      {{"score", "m.npz", "d", "--force"}, "--force is given (must come with --predictions)"},
      {{"sample", "m.npz", "--out", "s.npz", "--binarise", "grey"},
       "--binarise is given (must come with --start or --given)"},
      {{"sample", "m.npz", "--out", "s.npz", "--start", "random", "--binarise", "grey"},
       "--binarise (must go with --start DATASET)"},
      {{"estimate", "m.npz", "--binarise", "threshold:9"},
       "--binarise (must go with --data or --base"},
      {{"compare", "m.npz", "--binarise", "threshold:9"},
       "--binarise (must go with --data or --base"},
      {{"estimate", "m.npz", "--base-smoothing", "3"}, "--base-smoothing (must go with --base"},
      {{"compare", "m.npz", "--methods", "ais,ss", "--prior", "exp:2"}, "reads it with ais, ss"},
      {{"estimate", "m.npz", "--temperatures", "1"}, "--temperatures = 1"},
      {{"estimate", "m.npz", "--target-error", "0"}, "--target-error = 0"},
      {{"estimate", "m.npz", "--from", "s.npz"}, "--from (must go without MODEL"},
      {{"estimate", "--from", "s.npz", "--method", "ais"},
       "--method = ais (must be one that reads"},
      {{"estimate", "--from", "s.npz"}, "s.npz: is missing"},
      {{"estimate", "m.npz", "--dump", "s.txt"}, "s.txt: not a name of a sample store"},
      {{"compare"}, "MODEL is missing"},
      {{"compare", "m.npz", "--methods", "rts,rts"}, "--methods = rts,rts (must name rts once)"},
      {{"compare", "m.npz", "--methods", "rts,"}, "method = "},
      {{"compare", "m.npz", "--methods", "rst"}, "method = rst (must be rts, ts,"},
      {{"compare", "m.npz", "--sweeps", "100,many"}, "--sweeps = 100,many"},
      {{"--frobnicate"}, "--frobnicate has no command before it"},
      {{"list", "estimates"}, "WHAT = estimates"},
      {{"list", "rules", "datasets"}, "unexpected argument datasets"},
      {{"exact"}, "MODEL is missing"},
      {{"exact", "--precision", "half", "m.npz"}, "--precision = half (must be double or float)"},
      {{"exact", "m.npz", "--frobnicate"}, "unknown option --frobnicate"},
      {{"exact", "m.npz", "--frobnicate=3"}, "unknown option --frobnicate"},
      {{"exact", "m.npz", "-x"}, "unknown option -x"},
      {{"exact", "m.npz", "--json=false"},
       "exact: --json=false has a value (must be --json alone)"},
      {{"sample", "m.npz", "--out", "s.npz", "--force=no"},
       "sample: --force=no has a value (must be --force alone)"},
      {{"exact", "m.npz", "--checkpoint"}, "--checkpoint has no value"},
      {{"exact", "m.npz", "--checkpoint", "--json"}, "--checkpoint has no value"},
      {{"exact", "m.npz", "--checkpoint", ""}, "--checkpoint"},
      {{"exact", "m.npz", "--threads", "0"}, "--threads = 0 (must be an integer from 1"},
      {{"exact", "m.npz", "--threads", "-2"}, "--threads = -2"},
      {{"exact", "m.npz", "--threads", "two"}, "--threads = two"},
      {{"exact", "m.npz", "--threads", "1.5"}, "--threads = 1.5"},
      {{"exact", "m.npz", "--threads", "1", "--threads", "2"}, "--threads is given 2 times"},
      {{"exact", "m.npz", "n.npz"}, "unexpected argument n.npz"},
      {{"exact", "m.npz", "--", "n.npz"}, "unexpected argument n.npz"},
      {{"verify", "--cases", "-1"}, "--cases = -1"},
      {{"verify", "--cases", "0"}, "--cases = 0"},
      {{"verify", "no-such-check"}, "no-such-check"},
      {{"verify", "--seed", "-1"}, "--seed = -1"},
      {{"verify", "--seed", "9223372036854775808"}, "--seed = 9223372036854775808"},
      {{"spectrum", "m.npz", "--rule", "metroplis"}, "rule = metroplis"},
      {{"spectrum", "m.npz", "--rule", "blend:2"}, "blend:2"},
      {{"spectrum", "m.npz", "--rule", "flip", "--scan", "zigzag"}, "--scan = zigzag"},
      {{"score", "m.npz", "bas", "--method", "sia"}, "--method = sia (must be exact"},
      {{"reproduce", "--profile", "huge"}, "--profile = huge"},
      {{"reproduce", "--jobs", "0"}, "--jobs = 0"},
      {{"reproduce", "--max-seconds", "-5"}, "--max-seconds = -5"},
      {{"reproduce", "--shard", "2/2"}, "--shard = 2/2 (must be K/N, with 0 <= K < N)"},
      {{"reproduce", "--shard", "1"}, "--shard = 1 (must be K/N"},
      {{"reproduce", "no-such-paper"}, "no-such-paper"},
      {{"reproduce", "bruegge2013/fig3-top", "--only", "colour=red"}, "whose keys are c, "},
      {{"train", "bas", "--out", "m.npz"}, "--hidden N is missing"},
      {{"train", "bas", "--hidden", "4", "--hidden", "3", "--negative", "cd:2", "--out", "m.npz"},
       "--negative = cd:2 (must be of another kind"},
      {{"train", "bas", "--hidden", "4", "--negative", "pt:1:1:0.5", "--out", "m.npz"},
       "negative = pt:1:1:0.5: lowest = 0.5 (must be 0 of one temperature)"},
      {{"train", "bas", "--hidden", "4", "--hidden", "3", "--out", "m.mat"},
       "m.mat: cannot hold a deep model"},
      {{"train", "bas", "--hidden", "4", "--mean-field", "3", "--out", "m.npz"},
       "--mean-field is given (must come with two --hidden"},
      {{"train", "bas", "--hidden", "4", "--momentum", "1", "--out", "m.npz"}, "--momentum = 1"},
      {{"train", "bas", "--hidden", "4", "--momentum", "0.5", "--optimiser", "adam", "--out",
        "m.npz"},
       "--momentum is given (must come with sgd"},
      {{"train", "bas", "--hidden", "4", "--rate-decay", "0", "--out", "m.npz"},
       "--rate-decay = 0"},
      {{"train", "bas", "--hidden", "4", "--weight-decay", "-1", "--out", "m.npz"},
       "--weight-decay = -1"},
      {{"train", "bas", "--hidden", "4", "--start", "s.npz", "--initial", "xavier", "--out",
        "m.npz"},
       "--initial is given (must not be, with --start)"},
      {{"train", "mnist", "--discriminative", "--hidden", "4", "--hidden", "3", "--out", "m.npz"},
       "--hidden more than once is given"},
      {{"train", "bas", "--hidden", "0", "--out", "m.npz"},
       "--hidden = 0 (must be an integer from 1 to 1048576)"},
      {{"train", "bas", "--hidden", "1048577", "--out", "m.npz"}, "--hidden = 1048577 (must be"},
      {{"train", "bas", "--hidden", "4"}, "--out MODEL is missing"},
      {{"train", "bas", "--hidden", "4", "--rule", "metropolis", "--out", "m.npz"},
       "--rule metropolis (must be gibbs"},
      {{"sample", "m.npz"}, "--out FILE is missing"},
      {{"sample", "m.npz", "--out", "s.npz", "--sweeps", "4", "--every", "5"}, "--every = 5"},
  };
  Arguments deepest = {"train", "bas", "--out", "m.npz"};
  for (int l = 0; l < 10; ++l) deepest.insert(deepest.end(), {"--hidden", "2"});
  const io_test::Folder folder;
  const auto before = listing(folder / "");
  for (const Case& bad : cases) check_refused(run(bad.arguments), {bad.said});
  check_refused(run(deepest), {"--hidden is given 10 times (must be at most 9)"});
  CHECK(listing(folder / "") == before);
}

TEST_CASE("an option that takes no value is refused with one, be it empty or a truth") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(3, 2, 1, 1), folder / "m.npz");
  for (const char* flag : {"--json", "--quiet", "--help", "--strict"})
    for (const char* value : {"=", "=1", "=0", "=true", "=false", "=yes", "=a b"})
      check_refused(
          run({"score", model, "bas", std::string(flag) + value}),
          {std::string("score: ") + flag + value + " has a value (must be " + flag + " alone)"});
  // It is no option behind `--`.
  check_refused(run({"describe", model, "--", "--json=1"}), {"unexpected argument --json=1"});
}

TEST_CASE("what follows -- is no option, be it the name of a file that begins like one") {
  const io_test::Folder folder;
  const std::string path = saved(random_rbm(5, 4, 1, 2), folder / "m.npz");
  std::filesystem::copy_file(path, folder / "-m.npz");
  const auto there = [&](const Arguments& arguments) {
    return Process(arguments, {}, {}, "cd '" + folder.path() + "'").wait();
  };
  const Run named = there({"exact", "--json", "--", "-m.npz"});
  INFO(named.err);
  REQUIRE(named.code == 0);
  CHECK(Json::parse(named.out)["log_z"] == json_of({"exact", path})["log_z"]);
  CHECK_THAT(there({"exact", "-m.npz"}).err, Catch::Contains("unknown option -m.npz"));
  CHECK_THAT(there({"exact", "m.npz", "--", "--json"}).err,
             Catch::Contains("unexpected argument --json"));
  CHECK_THAT(there({"exact", "m.npz", "--", "--"}).err, Catch::Contains("unexpected argument --"));
  CHECK_THAT(there({"exact", "--jsn", "--", "m.npz"}).err,
             Catch::Contains("unknown option --jsn (must be --json"));
}

TEST_CASE("a SIMD path that there is not is refused before any work") {
  check_refused(run({"list", "rules"}, {{"BOLTZMARK_SIMD", "mmx"}}), {"BOLTZMARK_SIMD = mmx"});
}

TEST_CASE("output that cannot be written exits 1 with one line") {
  Process process({"list", "rules"}, {}, "/dev/full");
  const Run result = process.wait();
  CHECK(result.code == 1);
  CHECK(lines(result.err) == 1);
}

// Options and values that nobody means, drawn for every command: whatever comes, the program ends by
// itself, says one line where it refuses, leaves nothing behind then, and calls nothing ok that is not
// a number.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "boltzmark/random/stream.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/cli/program.hpp"

namespace {

using namespace cli_test;

constexpr int kSetsPerCommand = 30;

/// Options as --help lists them: "--sweeps N", "--json".
std::vector<std::string> option_forms(const std::string& command) {
  std::istringstream help(run({command, "--help"}).out);
  std::vector<std::string> forms;
  for (std::string line; std::getline(help, line);) {
    if (!line.starts_with("  --")) continue;
    const std::string form = line.substr(2, line.find("  ", 4) - 2);
    if (form != "--help" && form != "--quiet") forms.push_back(form);
  }
  return forms;
}

/// Models and data, sound and unsound, and values that an option may be given.
class Pool {
 public:
  Pool() {
    models_ = {saved(random_rbm(4, 3, 1, 1), folder_ / "rbm.npz"),
               saved(random_rbm(1, 1, 1, 2), folder_ / "one.npz"),
               saved(random_rbm(4, 3, 1e9, 3), folder_ / "huge.npz"),
               saved(random_rbm(4, 3, 0, 4), folder_ / "zero.npz"),
               saved(zero_dbm({4, 3, 2}), folder_ / "deep.npz"),
               folder_.write("garbage.npz", "PK\x03\x04 no archive"),
               folder_.write("empty.npz", ""),
               folder_ / "missing.npz",
               folder_ / ""};
    data_ = {folder_.write("data.csv", "0,1,0,1\n1,1,0,0\n0,0,1,1\n"),
             folder_.write("wide.csv", "0,1,0,1,1\n1,1,0,0,0\n"),
             folder_.write("text.csv", "a,b\n\"c\n"),
             "bas",
             "bas:nowhere",
             folder_ / "missing.csv"};
    values_ = {"0",     "1",     "2",         "3",          "-1",    "0.5",
               "1e400", "nan",   "inf",       "-inf",       "",      " ",
               "'",     "\"",    "$(true)",   "a\nb",       "\xff",  "..",
               "auto",  "ais",   "exact",     "uniform",    "gibbs", "flip",
               "rts",   "pcd:2", "3:3",       "sample:1",   "grey",  "exp:1",
               "x.npz", "joint", "collapsed", "linear",     "2x2",   "99999999999999999999",
               "even",  "x.csv", "nowhere/x", "fresh:sure", "float", std::string(5000, 'x')};
  }

  const io_test::Folder& folder() const { return folder_; }
  /// The first are sound, and are taken more often.
  const std::string& model(boltzmark::Stream& draws) const {
    return draws.below(2) == 0 ? models_[draws.below(5)] : one_of(models_, draws);
  }
  const std::string& data(boltzmark::Stream& draws) const {
    return draws.below(2) == 0 ? data_.front() : one_of(data_, draws);
  }
  /// A value of any option; files of a name go into the folder.
  std::string value(boltzmark::Stream& draws) const {
    const std::uint64_t kind = draws.below(12);
    if (kind == 0) return model(draws);
    if (kind == 1) return data(draws);
    if (kind < 6) return std::to_string(1 + draws.below(3));
    const std::string& value = one_of(values_, draws);
    const bool file = value.starts_with("x.") || value.starts_with("nowhere") || value == "..";
    return file ? folder_ / value : value;
  }

 private:
  static const std::string& one_of(const std::vector<std::string>& all, boltzmark::Stream& draws) {
    return all[draws.below(all.size())];
  }

  io_test::Folder folder_;
  std::vector<std::string> models_, data_, values_;
};

/// What a command takes first, and what keeps a run of it short.
struct HostileCommand {
  std::string name;
  bool model = true, data = false;
  Arguments few;
  std::string out = "";  ///< its last argument
};

const std::vector<HostileCommand> kHostile = {
    {.name = "exact", .few = {}},
    {.name = "spectrum", .few = {"--rule", "flip"}},
    {.name = "estimate", .few = {"--sweeps", "40"}},
    {.name = "modes", .few = {"--starts", "3"}},
    {.name = "compare", .few = {"--sweeps", "20", "--repeats", "2"}},
    {.name = "score", .data = true, .few = {}},
    {.name = "train", .model = false, .data = true, .few = {"--hidden", "3", "--updates", "5"}},
    {.name = "sample", .few = {"--sweeps", "5"}},
    {.name = "describe", .few = {}},
    {.name = "convert", .few = {}, .out = "y.npz"}};

bool is_given(const Arguments& arguments, const std::string& option) {
  return std::find(arguments.begin(), arguments.end(), option) != arguments.end();
}

Arguments hostile_arguments(const HostileCommand& command, const std::vector<std::string>& forms,
                            const Pool& pool, boltzmark::Stream& draws) {
  Arguments arguments = {command.name};
  if (command.model && draws.below(12) > 0) arguments.push_back(pool.model(draws));
  if (command.data && draws.below(12) > 0) arguments.push_back(pool.data(draws));
  if (!command.out.empty() && draws.below(12) > 0) arguments.push_back(command.out);
  for (std::uint64_t n = draws.below(3); n > 0; --n) {
    const std::string& form = forms[draws.below(forms.size())];
    const std::size_t blank = form.find(' ');
    arguments.push_back(form.substr(0, blank));
    if (blank != std::string::npos) arguments.push_back(pool.value(draws));
  }
  for (std::size_t k = 0; k < command.few.size(); k += 2)
    if (!is_given(arguments, command.few[k]))
      arguments.insert(arguments.end(), {command.few[k], command.few[k + 1]});
  const bool writes = is_given(forms, "--out FILE") || is_given(forms, "--out MODEL") ||
                      is_given(forms, "--out DIR");
  if (writes && !is_given(arguments, "--out") && draws.below(4) > 0)
    arguments.insert(arguments.end(), {"--out", pool.folder() / "out.npz"});
  if (draws.below(2) == 0 && !is_given(arguments, "--json")) arguments.emplace_back("--json");
  return arguments;
}

/// What the command takes from anybody.
Arguments plain_arguments(const HostileCommand& command, const Pool& pool) {
  Arguments arguments = {command.name};
  if (command.model) arguments.push_back(pool.folder() / "rbm.npz");
  if (command.data) arguments.push_back(pool.folder() / "data.csv");
  if (!command.out.empty()) arguments.push_back("plain.npz");
  arguments.insert(arguments.end(), command.few.begin(), command.few.end());
  for (const char* writing : {"train", "sample"})
    if (command.name == writing) arguments.insert(arguments.end(), {"--out", "plain.npz"});
  return arguments;
}

std::string shown(const Arguments& arguments) {
  std::string text;
  for (const std::string& word : arguments) text += "[" + word.substr(0, 200) + "] ";
  return text;
}

void check_refusal(const Run& result) {
  CHECK(result.out.empty());
  CHECK(lines(result.err) == 1);
  CHECK(result.err.starts_with("boltzmark: "));
  const std::string line = result.err.substr(0, result.err.find('\n'));
  CHECK(
      std::none_of(line.begin(), line.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }));
}

/// One object, and no `ok` without a log Z.
void check_object(const std::string& out) {
  CHECK(lines(out) == 1);
  const auto object = nlohmann::json::parse(out, nullptr, false);
  REQUIRE(object.is_object());
  if (object.contains("status") && object["status"] == "ok")
    for (const char* key : {"log_z", "std_error"})
      if (object.contains(key)) CHECK(object[key].is_number());
}

void check_hostile(const HostileCommand& command, std::uint64_t index) {
  const Pool pool;
  const std::vector<std::string> forms = option_forms(command.name);
  REQUIRE(forms.size() > 2);
  const Run plain = run_under("cd " + (pool.folder() / ""), plain_arguments(command, pool));
  INFO(command.name << ": " << plain.err);
  CHECK(plain.code == 0);
  boltzmark::Stream draws(boltzmark::make_key(1, "hostile"), boltzmark::Purpose::test, index);
  int refused = 0, done = 0;
  for (int n = 0; n < kSetsPerCommand; ++n) {
    const Arguments arguments = hostile_arguments(command, forms, pool, draws);
    const auto before = listing(pool.folder() / "");
    const Run result = run_under("cd " + (pool.folder() / ""), arguments);
    INFO(shown(arguments) << "-> " << result.code << "\n" << result.err);
    REQUIRE((result.code == 0 || result.code == 2 || result.code == 4));
    if (result.code == 2) {
      ++refused;
      check_refusal(result);
      CHECK(listing(pool.folder() / "") == before);
    } else {
      ++done;
      if (is_given(arguments, "--json")) check_object(result.out);
    }
  }
  INFO(command.name << ": " << done << " done, " << refused << " refused");
  CHECK(refused >= kSetsPerCommand / 4);
}

}  // namespace

TEST_CASE(
    "300 sets of options that nobody means end in a result or in one line, for every command") {
  for (std::size_t c = 0; c < kHostile.size(); ++c) check_hostile(kHostile[c], c);
}

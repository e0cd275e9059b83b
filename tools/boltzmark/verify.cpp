#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>
#include <set>

#include "boltzmark/core/error.hpp"
#include "output.hpp"
#include "program.hpp"
#include "progress.hpp"
#include "verification/checks/verifier.hpp"

namespace boltzmark::cli {
namespace {

struct VerifyArguments {
  std::vector<std::string> names;
  int cases = 20;
  std::uint64_t seed = 1;
};

// A value that is not finite, which JSON cannot hold, becomes null.
std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

struct Row {
  const Check* check;
  CheckOutcome outcome;
};

JsonObject json_row(const Row& row) {
  JsonObject object;
  object.set("name", row.check->name)
      .set("subject", row.check->subject)
      .set("statement", row.check->statement);
  if (row.check->claim.empty())
    object.set_null("claim");
  else
    object.set("claim", row.check->claim);
  return object.set("cases", row.outcome.cases)
      .set("value", finite(row.outcome.value))
      .set("bound", finite(row.outcome.bound))
      .set("holds", row.outcome.holds)
      .set("detail", row.outcome.detail);
}

void print_rows(const std::vector<Row>& rows, int failed, double seconds, const Session& session) {
  if (session.json) {
    std::vector<JsonObject> checks;
    for (const Row& row : rows) checks.push_back(json_row(row));
    print(JsonObject()
              .set("holds", failed == 0)
              .set("failed", failed)
              .set("seconds", seconds)
              .set("checks", checks));
    return;
  }
  TextTable table({"check", "subject", "claim", ">cases", ">value", ">bound", "holds"});
  for (const Row& row : rows)
    table.add({row.check->name, row.check->subject,
               row.check->claim.empty() ? "-" : row.check->claim,
               fmt::format("{}", row.outcome.cases), short_number(row.outcome.value),
               short_number(row.outcome.bound), row.outcome.holds ? "yes" : "NO"});
  std::string text = table.text() + "\n";
  for (const Row& row : rows)
    if (!row.outcome.holds)
      text += wrap(fmt::format("{} of {} does not hold: {}. {}", row.check->name,
                               row.check->subject, row.check->statement, row.outcome.detail),
                   kColumns, 0) +
              "\n";
  text += fmt::format("{} of {} checks hold ({})\n", rows.size() - failed, rows.size(),
                      human_seconds(seconds));
  print(text);
}

// Refuses a name that no check has.
void check_names(const std::vector<std::string>& names) {
  std::set<std::string> known;
  for (const Check& check : registered_checks())
    known.insert({check.name, check.subject, check.claim});
  for (const std::string& name : names)
    if (name.empty() || !known.contains(name))
      throw InvalidArgument(
          fmt::format("verify: NAME = {} (must be a check or what it is about, as 'boltzmark "
                      "verify' lists them, "
                      "or the claim that one decides; experiments decide the others)",
                      name));
}

int run(const VerifyArguments& arguments, const Session& session) {
  check_names(arguments.names);
  const std::vector<Check> checks = select_checks(arguments.names);
  const Stopwatch watch;
  std::vector<Row> rows;
  int failed = 0;
  {
    Progress progress(session, "verify", static_cast<double>(checks.size()), "checks");
    for (const Check& check : checks) {
      progress.show(static_cast<double>(rows.size()));
      rows.push_back({&check, check.run(arguments.cases, arguments.seed)});
      failed += rows.back().outcome.holds ? 0 : 1;
    }
  }
  print_rows(rows, failed, watch.seconds(), session);
  return failed == 0 ? 0 : 3;
}

}  // namespace

void add_verify(Program& program) {
  const auto arguments = std::make_shared<VerifyArguments>();
  Command& command = program.command({
      .name = "verify",
      .summary = "every exact check on rules and samplers, as a table",
      .about =
          "Enumerates small random models and checks what must hold exactly: detailed balance, "
          "stationarity, ergodicity, gradients, and the theorems of the papers. The value is "
          "the worst over all cases. Without names, every check runs.",
      .notes =
          "Exit code 3 if a check does not hold.\n"
          "JSON keys: holds, failed, seconds, checks [name, subject, statement, claim, cases,\n"
          "value, bound, holds, detail].",
      .examples = {"boltzmark verify", "boltzmark verify flip --cases 100",
                   "boltzmark verify B01 B04 --json"},
  });
  command.positionals(&arguments->names, "NAME",
                      "A check, a subject (such as the rule flip) or a claim (such as B01).");
  command.integer(&arguments->cases, "--cases N", 1, "Random models per check (default: 20).");
  command.integer(&arguments->seed, "--seed S", "Seed of the random models (default: 1).");
  command.action([arguments](const Session& session) { return run(*arguments, session); });
}

}  // namespace boltzmark::cli

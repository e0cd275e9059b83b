#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "boltzmark/core/error.hpp"
#include "experiments/kit/claims.hpp"
#include "tools/boltzmark/outcomes.hpp"
#include "tools/boltzmark/output.hpp"
#include "tools/boltzmark/program.hpp"
#include "tools/boltzmark/progress.hpp"
#include "verification/checks/verifier.hpp"

namespace boltzmark::cli {
namespace {

struct VerifyArguments {
  std::vector<std::string> names;
  int cases = 20;
  std::uint64_t seed = 1;
};

// "name/subject" of each check that claims rest on, and their ids; none of them where the claims'
// files cannot be read, since checks hold without them.
const std::map<std::string, std::vector<std::string>>& claims_of_checks() {
  static const auto all = [] {
    std::map<std::string, std::vector<std::string>> found;
    try {
      for (const experiments::ClaimFile& file : experiments::read_all_claims())
        for (const experiments::Claim& claim : file.claims)
          for (const std::string& check : claim.checks) found[check].push_back(claim.id);
    } catch (const DataError&) {
      found.clear();
    }
    return found;
  }();
  return all;
}

std::vector<std::string> claims_of(const Check& check) {
  const auto found = claims_of_checks().find(check.name + "/" + check.subject);
  return found == claims_of_checks().end() ? std::vector<std::string>() : found->second;
}

std::string claim_text(const Check& check) {
  return fmt::format("{}", fmt::join(claims_of(check), ", "));
}

struct Row {
  const Check* check;
  CheckOutcome outcome;
};

JsonObject json_row(const Row& row) {
  return JsonObject()
      .set("name", row.check->name)
      .set("subject", row.check->subject)
      .set("statement", row.check->statement)
      .set("claim", not_empty(claim_text(*row.check)))
      .set("cases", row.outcome.cases)
      .set("value", finite(row.outcome.value))
      .set("bound", finite(row.outcome.bound))
      .set("holds", row.outcome.holds)
      .set("detail", row.outcome.detail);
}

void print_rows(const std::vector<Row>& rows, double seconds, const Session& session) {
  const int failed = count_failed(rows);
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
               claims_of(*row.check).empty() ? "-" : claim_text(*row.check),
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

bool is_about(const Check& check, const std::string& name) {
  const std::vector<std::string> claims = claims_of(check);
  return check.name == name || check.subject == name ||
         std::find(claims.begin(), claims.end(), name) != claims.end();
}

// Picks the checks that a name is about.  Throws  InvalidArgument for a name that no check has
std::vector<Check> pick(const std::vector<std::string>& names) {
  std::vector<Check> picked;
  for (const std::string& name : names)
    if (name.empty() || std::none_of(registered_checks().begin(), registered_checks().end(),
                                     [&](const Check& check) { return is_about(check, name); }))
      throw InvalidArgument(
          fmt::format("verify: NAME = {} (must be a check or what it is about, as 'boltzmark "
                      "verify' lists them, "
                      "or the claim that one decides; experiments decide the others)",
                      name));
  for (const Check& check : registered_checks())
    if (names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
          return is_about(check, name);
        }))
      picked.push_back(check);
  return picked;
}

int run(const VerifyArguments& arguments, const Session& session) {
  const std::vector<Check> checks = pick(arguments.names);
  const Stopwatch watch;
  std::vector<Row> rows;
  {
    Progress progress(session, "verify", static_cast<double>(checks.size()), "checks");
    for (const Check& check : checks) {
      progress.show(static_cast<double>(rows.size()));
      rows.push_back({&check, check.run(arguments.cases, arguments.seed)});
    }
  }
  print_rows(rows, watch.seconds(), session);
  return exit_code_of(rows);
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
          "JSON keys: holds, failed, seconds, checks [name, subject, statement, claim (several:\n"
          "\"S01, S02\"), cases, value, bound, holds, detail].",
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

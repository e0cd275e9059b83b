#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "experiments/kit/files.hpp"
#include "experiments/kit/ranks/launcher.hpp"
#include "program.hpp"

namespace {

/// Ends a command that does not go on later on Ctrl-C or SIGTERM; the draft of a file may stay beside it.
void on_interrupt(int) {
  boltzmark::experiments::FileLock::remove_all();
  constexpr char kText[] = "\nboltzmark: interrupted\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kText, sizeof kText - 1);
  std::_Exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace boltzmark::cli;
  // Of several ranks the first alone speaks: a launcher ends the others by SIGTERM once one has failed.
  if (boltzmark::experiments::this_launch().rank == 0)
    for (const int number : {SIGINT, SIGTERM})
      if (std::signal(number, on_interrupt) == SIG_IGN) std::signal(number, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of its write
  Program program;
  add_reproduce(program);
  add_report(program);
  add_verify(program);
  add_exact(program);
  add_spectrum(program);
  add_estimate(program);
  add_modes(program);
  add_compare(program);
  add_score(program);
  add_train(program);
  add_sample(program);
  add_describe(program);
  add_convert(program);
  add_make(program);
  add_list(program);
  add_doctor(program);
  return program.run({argv + (argc > 0 ? 1 : 0), argv + argc});
}

#include "experiments/kit/run/interrupt.hpp"

#include <atomic>
#include <csignal>

namespace boltzmark::experiments {
namespace {

std::atomic<bool> requested{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal handler may write it

void on_signal(int signal) {
  requested = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  requested = false;
  interrupt_ = std::signal(SIGINT, on_signal);
  terminate_ = std::signal(SIGTERM, on_signal);
  hang_up_ = std::signal(SIGHUP, on_signal);
  if (hang_up_ == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // by nohup
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, interrupt_);
  std::signal(SIGTERM, terminate_);
  std::signal(SIGHUP, hang_up_);
}

bool interrupt_requested() { return requested; }

}  // namespace boltzmark::experiments

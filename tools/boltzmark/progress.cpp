#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "boltzmark/core/memory.hpp"
#include "boltzmark/core/parallel.hpp"
#include "output.hpp"
#include "pace.hpp"

namespace boltzmark::cli {
namespace {

constexpr int kBar = 24;

std::string rate_text(double rate) {
  constexpr double kRounded = 0.9995;  // of a unit is written as one
  if (rate >= kRounded * 1e9) return fmt::format("{:.3g} G", rate / 1e9);
  if (rate >= kRounded * 1e6) return fmt::format("{:.3g} M", rate / 1e6);
  if (rate >= kRounded * 1e3) return fmt::format("{:.3g} k", rate / 1e3);
  return fmt::format("{:.3g} ", rate);
}

double weights(const Layered& model) {
  double sum = 0;
  for (const Eigen::MatrixXd& matrix : model.weights()) sum += static_cast<double>(matrix.size());
  return sum;
}

}  // namespace

void state_plan(const Session& session, const std::string& work, double seconds, double bytes,
                const std::string& remedy) {
  require_memory(fmt::format("{}, which take about {}", work, human_seconds(seconds)), bytes,
                 remedy);
  announce_plan(session, work, seconds, bytes);
}

void announce_plan(const Session& session, const std::string& work, double seconds, double bytes) {
  if (session.quiet || (isatty(STDERR_FILENO) == 0 && seconds < 10)) return;
  complain(fmt::format("{}; about {} and {} of memory", work, human_seconds(seconds),
                       human_bytes(bytes)));
}

double sweep_seconds(const Layered& model, double chain_sweeps) {
  return chain_sweeps * (2 * weights(model) * 5e-11 + model.units() * 1e-9) / thread_count();
}

double weight_bytes(const Layered& model) { return weights(model) * (8 + 2 * 4); }

Progress::Progress(const Session& session, std::string label, double total, std::string unit)
    : visible_(!session.quiet && isatty(STDERR_FILENO) != 0),
      label_(std::move(label)),
      total_(total),
      unit_(std::move(unit)),
      start_(Clock::now()),
      last_(start_) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::show(double done) {
  if (!visible_) return;
  if (first_done_ < 0) first_done_ = done;
  const auto now = Clock::now();
  if (now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  const double share = std::clamp(total_ > 0 ? done / total_ : 1.0, 0.0, 1.0);
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const Pace pace = pace_of(done, first_done_, total_, seconds);
  const int filled = static_cast<int>(share * kBar);
  fmt::print(stderr, "\r\033[K{} [{}{}] {:3.0f} %  {}{}/s  {} left", label_,
             std::string(filled, '#'), std::string(kBar - filled, '.'), 100 * share,
             rate_text(pace.rate), unit_, pace.rate > 0 ? human_seconds(pace.seconds_left) : "?");
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace boltzmark::cli

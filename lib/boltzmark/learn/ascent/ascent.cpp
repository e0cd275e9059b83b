#include "boltzmark/learn/ascent/ascent.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace boltzmark {
namespace {

double finite(double rate) {
  if (!std::isfinite(rate))
    throw InvalidArgument(fmt::format("learning_rate = {} (must be finite)", rate));
  return rate;
}

}  // namespace

Diverged::Diverged(std::uint64_t update, const std::string& reason)
    : Error(fmt::format("training diverged at update {}: {} (try a lower learning rate)", update,
                        reason)),
      update_(update) {}

Ascent::Ascent(Parameters zero, const Optimiser& optimiser, double rate)
    : optimiser_(optimiser),
      steps_(start_steps(optimiser, finite(rate), zero)),
      gradient_(std::move(zero)) {}

void Ascent::step() {
  try {
    fill_gradient(gradient_);
    Step step = steps_->step(gradient_);
    step.rate *= optimiser_.rate_factor(updates_);
    change(step);
  } catch (const InvalidArgument&) {
    throw;  // of a law, a sampler or cases: no lower rate mends it
  } catch (const Error& error) {
    throw Diverged(updates_, error.what());
  }
  ++updates_;
}

void Ascent::advance(std::uint64_t updates) {
  for (std::uint64_t made = 0; made < updates; ++made) step();
}

void Ascent::run_to(std::uint64_t updates, std::uint64_t every,
                    const std::function<void()>& record) {
  if (every < 1) throw InvalidArgument("every = 0 (must be at least 1)");
  if (updates_ == 0) record();
  while (updates_ < updates) {
    step();
    if (updates_ % every == 0 || updates_ == updates) record();
  }
}

std::string Ascent::checkpoint() const {
  CheckpointWriter out;
  inputs().write(out);
  out.write(updates_);
  save(out);
  steps_->write(out);
  return out.finish();
}

// The reader's hash and equal inputs rule out that anything after them throws.
void Ascent::restore(std::string_view bytes) {
  CheckpointReader in(bytes);
  inputs().check(in);
  const std::uint64_t updates = in.read();
  load(in);
  steps_->read(in);
  in.finish();
  updates_ = updates;
}

}  // namespace boltzmark

#include <fmt/format.h>

#include <utility>

#include "boltzmark/learn/checkpoint.hpp"
#include "boltzmark/learn/trainer.hpp"

namespace boltzmark {
namespace {

void write_chains(const Chains& chains, CheckpointWriter& out) {
  for (int l = 0; l < chains.layers(); ++l) out.write(chains.get_layer(l));
}

void write_ladders(const TemperingState& state, CheckpointWriter& out) {
  out.write(state.steps);
  out.write(state.round_trips);
  for (const Eigen::MatrixXf& states : state.states) out.write(states);
  out.write(state.rungs);
  out.write(state.last_ends);
  out.write(state.accepted);
}

Layered read_model(const Layered& model, CheckpointReader& in) {
  std::vector<Layer> layers;
  std::vector<Eigen::MatrixXd> weights = model.weights();
  for (Eigen::MatrixXd& matrix : weights) in.read(matrix);
  for (int l = 0; l < model.layers(); ++l) {
    layers.push_back(model.layer(l));
    in.read(layers.back().bias);
  }
  return Layered(std::move(layers), std::move(weights));
}

Chains read_chains(Chains chains, CheckpointReader& in) {
  for (int l = 0; l < chains.layers(); ++l) {
    Eigen::MatrixXf states(chains.size(l), chains.chains());
    in.read(states);
    chains.set_layer(l, states);
  }
  return chains;
}

TemperingState read_ladders(TemperingState state, CheckpointReader& in) {
  state.steps = in.read();
  state.round_trips = in.read();
  for (Eigen::MatrixXf& states : state.states) in.read(states);
  in.read(state.rungs);
  in.read(state.last_ends);
  in.read(state.accepted);
  return state;
}

}  // namespace

// Everything that the next updates depend on and that a checkpoint does not hold; the number of
// updates asked for may differ, so that a run can be prolonged.
std::uint64_t Trainer::fingerprint() const {
  const std::string inputs =
      fmt::format("{} {} {} {} | {}x{} {} {} cases {} | key {} {}", options_.negative.name(),
                  options_.rule.name(), describe(options_.optimiser, options_.learning_rate),
                  positive_.chains(), model_.size(0), model_.size(1), model_.layer(0).unit.name(),
                  model_.layer(1).unit.name(), data_->cols(), key_.low, key_.high);
  const auto* values = reinterpret_cast<const char*>(data_->data());
  return hash_bytes({values, sizeof(float) * static_cast<std::size_t>(data_->size())},
                    hash_bytes(inputs));
}

std::string Trainer::checkpoint() const {
  CheckpointWriter out;
  out.write(fingerprint());
  out.write(updates_);
  for (const Eigen::MatrixXd& weights : model_.weights()) out.write(weights);
  for (int l = 0; l < model_.layers(); ++l) out.write(model_.bias(l));
  if (adaptive_) adaptive_->write(out);
  if (persistent_) write_chains(*persistent_, out);
  if (tempering_) write_ladders(tempering_->state(), out);
  return out.finish();
}

void Trainer::restore(std::string_view bytes) {
  CheckpointReader in(bytes);
  if (in.read() != fingerprint())
    throw DataError(
        "checkpoint: of other inputs (must come from the same model size, data, options and seed)");
  const std::uint64_t updates = in.read();
  Layered model = read_model(model_, in);
  std::optional<AdaptiveSteps> adaptive = adaptive_;
  if (adaptive) adaptive->read(in);
  std::optional<Chains> persistent;
  std::optional<TemperingState> ladders;
  if (persistent_) persistent = read_chains(*persistent_, in);
  if (tempering_) ladders = read_ladders(tempering_->state(), in);
  in.finish();
  // From here on nothing throws but a ladder that is none, which the hash rules out.
  if (ladders) tempering_->restore(*ladders);
  if (persistent) persistent_ = std::move(persistent);
  adaptive_ = std::move(adaptive);
  model_ = std::move(model);
  updates_ = updates;
}

}  // namespace boltzmark

#include "tools/boltzmark/commands/sample/sample_given.hpp"

#include <fmt/format.h>

#include "boltzmark/core/atomic_file.hpp"
#include "boltzmark/core/error.hpp"
#include "boltzmark/io/dataset.hpp"
#include "boltzmark/io/formats/npz.hpp"
#include "boltzmark/transition/sweep.hpp"
#include "tools/boltzmark/input.hpp"
#include "tools/boltzmark/output.hpp"
#include "tools/boltzmark/progress.hpp"

namespace boltzmark::cli {
namespace {

Eigen::MatrixXf draw_hidden(const Layered& model, const Eigen::MatrixXf& cases, StreamKey key) {
  Chains chains(model, static_cast<int>(cases.cols()));
  chains.set_layer(0, cases);
  half_sweep(PackedModel(model, {.chains = chains.chains()}), chains, PhiloxDraws(key), {}, 1);
  return chains.get_layer(1);
}

template <class Value>
void write_npy(const std::string& path, const Eigen::MatrixXf& cases, ElementType type) {
  const Eigen::Matrix<Value, Eigen::Dynamic, Eigen::Dynamic> values = cases.cast<Value>();
  AtomicFile file(path);
  file.write(npy_header(type, {static_cast<std::uint64_t>(values.cols()),
                               static_cast<std::uint64_t>(values.rows())}));
  file.write(values.data(), sizeof(Value) * static_cast<std::size_t>(values.size()));
  file.commit();
}

}  // namespace

int sample_given(const GivenArguments& arguments, const Session& session) {
  if (!arguments.out.ends_with(".npy"))
    throw DataError(arguments.out + ": its name is of no data set (must end in .npy)");
  check_output(arguments.out, arguments.force);
  const Layered model = load_model(arguments.model);
  if (!model.is_rbm())
    throw DataError(
        arguments.model +
        ": is a deep model, whose hidden units cannot be drawn given its cases (must be "
        "an RBM)");
  const Dataset data = load_states(model, arguments.given, arguments.binarise);
  const Stopwatch watch;
  const Eigen::MatrixXf hidden = about_file(arguments.model, [&] {
    return draw_hidden(model, data.values.matrix(), make_key(arguments.seed, "sample"));
  });
  if (model.layer(1).unit.is_bernoulli())
    write_npy<std::uint8_t>(arguments.out, hidden, ElementType::uint8);
  else
    write_npy<float>(arguments.out, hidden, ElementType::float32);
  if (session.json)
    print(JsonObject()
              .set("out", arguments.out)
              .set("data", data.name)
              .set("cases", static_cast<int>(hidden.cols()))
              .set("units", static_cast<int>(hidden.rows()))
              .set("seed", arguments.seed)
              .set("seconds", watch.seconds()));
  else
    print(fmt::format("{}: wrote {} hidden units of each of the {} cases of {}\n", arguments.out,
                      hidden.rows(), grouped(hidden.cols()), data.name));
  return 0;
}

}  // namespace boltzmark::cli

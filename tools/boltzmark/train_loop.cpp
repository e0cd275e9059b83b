#include "train_loop.hpp"

namespace boltzmark::cli {

TrainingInterrupted::TrainingInterrupted(std::uint64_t updates, const std::string& checkpoint)
    : text_(checkpoint.empty()
                ? fmt::format("interrupted: {} updates are lost (--checkpoint FILE keeps them)",
                              updates)
                : fmt::format("interrupted: update {} is saved in {}, and the same command goes on "
                              "from there",
                              updates, checkpoint)) {}

}  // namespace boltzmark::cli

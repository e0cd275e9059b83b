#pragma once

#include <map>
#include <string>

namespace ranks_test {

/// Trials of the toy study.
constexpr int kTrials = 40;

/// The result files that a whole toy study leaves, on one process.
const std::map<std::string, std::string>& expected();

/// Names the file that holds the trials of a toy study.
std::string store_of(const std::string& out);
/// Counts its lines.
int stored(const std::string& out);

/// Goes on with a toy study on one process, which finds as much as is stored and leaves what is expected.
void check_goes_on(const std::string& out);

}  // namespace ranks_test

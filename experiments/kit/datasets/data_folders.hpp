#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace boltzmark::experiments {

/// Lists the folders that data sets are looked for in, first match wins: those of BOLTZMARK_DATA
/// (separated by colons), then the project's datasets/, then share/boltzmark/datasets beside the
/// installed program.
std::vector<std::string> data_folders();

/// Replaces those folders; none restores them. Not to be called while data sets are loading.
void set_data_folders(std::vector<std::string> folders);

/// Finds FOLDER/NAME or FOLDER/SET/NAME, each also with .gz, in the first folder that has one.
std::optional<std::string> find_data_file(std::string_view set, std::string_view name);

/// Returns a path that exists as it is, or that of a file below the first of those folders that has one
/// (models/..), of relative paths without `..`; otherwise itself.
std::string find_in_data_folders(const std::string& path);

}  // namespace boltzmark::experiments

#pragma once

#include <string>
#include <string_view>

namespace boltzmark {

/// Returns the memory that this process can still take: what the machine has free or can free, and
/// no more than its limits and its control group leave.  Units  bytes
double available_memory();

/// Returns what a control group leaves: its limit less what it has taken, the caches of files apart,
/// which it gives back. Infinite where there is no limit.
/// `folder` has memory.max, memory.current and memory.stat, or memory.limit_in_bytes,
/// memory.usage_in_bytes and memory.stat of version 1.  Units  bytes
double free_of_control_group(const std::string& folder);

/// Returns the least that a process's control groups leave, and those above them.
/// `file` is as /proc/self/cgroup; groups are folders below `root`, of version 1 below root/memory.
/// Units  bytes
double free_of_control_groups(const std::string& file, const std::string& root);

/// Returns the memory of the machine.  Units  bytes
double machine_memory();

/// Writes an amount of memory for people: "7.6 GiB".
std::string human_bytes(double bytes);

/// Refuses work that needs more memory than is available, before it is allocated.
///   memory for WORK = 11.8 GiB (must fit into the 5 GiB that are free: REMEDY)
/// Throws  InvalidArgument
void require_memory(std::string_view work, double bytes, std::string_view remedy);

/// Makes whatever nobody foretold fail as an allocation, before the machine runs out of memory: no
/// more than is available now can be taken from now on.
void limit_memory();

}  // namespace boltzmark

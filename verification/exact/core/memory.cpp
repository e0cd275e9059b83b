// What memory is free where a control group limits it.
#include "boltzmark/core/memory.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "boltzmark/core/error.hpp"

using namespace boltzmark;

namespace {

struct ControlGroup {
  std::string folder =
      (std::filesystem::temp_directory_path() / ("boltzmark-group-" + std::to_string(::getpid())))
          .string();
  ControlGroup() { std::filesystem::create_directories(folder); }
  ~ControlGroup() { std::filesystem::remove_all(folder); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder + "/memory." + name) << text;
  }
  double free() const { return free_of_control_group(folder); }
};

}  // namespace

TEST_CASE("a control group leaves its limit less what is taken, and caches are not") {
  const ControlGroup group;
  CHECK(std::isinf(group.free()));  // no files
  group.write("max", "max\n");
  group.write("current", "900\n");
  CHECK(std::isinf(group.free()));  // no limit
  group.write("max", "1000\n");
  CHECK(group.free() == 100);
  group.write("stat", "anon 200\ninactive_file 500\nactive_file 150\nshmem 30\n");
  CHECK(group.free() == 1000 - (900 - 650));
  group.write("stat", "inactive_file 5000\n");  // counted later than the sum
  CHECK(group.free() == 1000);
}

TEST_CASE("a control group of the first version is read alike") {
  const ControlGroup group;
  group.write("limit_in_bytes", "1000\n");
  group.write("usage_in_bytes", "800\n");
  CHECK(group.free() == 200);
  group.write("stat", "inactive_file 1\ntotal_inactive_file 300\ntotal_active_file 100\n");
  CHECK(group.free() == 600);
}

TEST_CASE("of a process's control groups the least counts, and the one above them") {
  const ControlGroup top;
  const std::string file = top.folder + "/cgroup";
  const auto write = [&](const std::string& folder, const std::string& name, const char* text) {
    std::filesystem::create_directories(top.folder + folder);
    std::ofstream(top.folder + folder + "/memory." + name) << text;
  };
  const auto free_in = [&](const char* groups) {
    std::ofstream(file) << groups;
    return free_of_control_groups(file, top.folder);
  };
  CHECK(std::isinf(free_in("0::/job\n")));  // no folder
  write("/job", "max", "1000\n");
  write("/job", "current", "100\n");
  CHECK(free_in("0::/job\n") == 900);
  write("", "max", "500\n");
  write("", "current", "0\n");
  CHECK(free_in("0::/job\n") == 500);
  write("/memory/job", "limit_in_bytes", "1000\n");
  write("/memory/job", "usage_in_bytes", "300\n");
  CHECK(free_in("5:memory:/job\n") == 700);
  CHECK(free_in("5:memory:/job\n0::/job\n") == 500);
  CHECK(std::isinf(free_in("3:cpu:/job\n")));
  // Each above its own counts, with a limit of its own or without, and a folder or none.
  write("", "max", "max\n");
  std::filesystem::create_directories(top.folder + "/job/step/task");
  CHECK(free_in("0::/job/step/task\n") == 900);
  CHECK(free_in("0::/job/gone/task\n") == 900);
  write("/job/step", "max", "400\n");
  write("/job/step", "current", "150\n");
  CHECK(free_in("0::/job/step/task\n") == 250);
  CHECK(std::isinf(free_in("0::/\n")));
}

TEST_CASE("work that does not fit is refused with what it would take and what makes it smaller") {
  CHECK(available_memory() > 0);
  CHECK(available_memory() <= machine_memory());
  CHECK_NOTHROW(require_memory("little", 1, "x"));
  CHECK_THROWS_WITH(
      require_memory("all of it", 1e18, "lower --chains"),
      Catch::StartsWith("memory for all of it = ") && Catch::EndsWith("lower --chains)"));
  CHECK_THROWS_AS(require_memory("nonsense", NAN, "x"), InvalidArgument);
  CHECK(human_bytes(999) == "999 B");
  CHECK(human_bytes(999.6) == "0.976 KiB");
  CHECK(human_bytes(999.7 * 1024) == "0.976 MiB");
  CHECK(human_bytes(3 * 1024.0 * 1024) == "3 MiB");
}

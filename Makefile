# Thin front end of CMake, CTest and the program. `make` alone lists the targets.
PROFILE ?= quick
JOBS ?= $(shell nproc)
OUT ?= out
BUILD ?= build
FUZZ_SECONDS ?= 60
ARGS ?=
# A test that computes takes two slots, one that mostly waits for ranks or for Slurm takes one. Half as many slots more than
# fill the cores: of ranks that wait for each other, and of files, there is always some time left.
SLOTS = $$(( 3 * $(JOBS) ))
QUIET := $(if $(CI),-- --quiet)
export CTEST_OUTPUT_ON_FAILURE = 1
reproduce: export NINJA_STATUS = building the program, then the experiments: %p of %t steps, %es 
test: export NINJA_STATUS = building, then the tests: %p of %t steps, %es 

.DEFAULT_GOAL := help
.PHONY: help setup configure build test reproduce report verify bench cluster mutants sanitize fuzz lint format clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile
	@echo "  variables: PROFILE=smoke|quick|paper (now $(PROFILE)) JOBS=$(JOBS) OUT=$(OUT) BUILD=$(BUILD) ARGS"

setup:  ## install what is missing, or print the command that does
	@tools/setup

configure: setup
	@mkdir -p "$(BUILD)"
	@cmake -S . -B "$(BUILD)" -G Ninja --log-level=WARNING $(CONFIGURE) >"$(BUILD)/configure.log" || \
	  { cat "$(BUILD)/configure.log" >&2; exit 1; }

build: configure  ## build the program at build/boltzmark
	@cmake --build "$(BUILD)" -j $(JOBS) --target boltzmark $(QUIET)

test: configure  ## build and run the whole verification suite
	@cmake --build "$(BUILD)" -j $(JOBS) $(QUIET)
	@if tools/setup cluster; then export BOLTZMARK_CLUSTER=set-up; \
	  else echo "boltzmark: the tests go on without Slurm" >&2; fi; \
	  ctest --test-dir "$(BUILD)" -j $(SLOTS) $(ARGS)

cluster: configure  ## run studies on a Slurm cluster of three hosts, which lives as long as each test
	@tools/setup cluster
	@cmake --build "$(BUILD)" -j $(JOBS) --target cluster_programs $(QUIET)
	@BOLTZMARK_CLUSTER=set-up ctest --test-dir "$(BUILD)" -j $(SLOTS) -R '^cluster:' $(ARGS)

reproduce: build  ## regenerate the tables, figures and the report (PROFILE, OUT, ARGS)
	@"$(BUILD)/boltzmark" reproduce --profile $(PROFILE) --jobs $(JOBS) --out "$(OUT)" $(ARGS)

report: build  ## write the report again from the stored trials
	@"$(BUILD)/boltzmark" report --profile $(PROFILE) --out "$(OUT)" $(ARGS)

verify: build  ## run every exact check on the rules and samplers
	@"$(BUILD)/boltzmark" verify $(ARGS)

bench: configure  ## time the engine against Eigen and NumPy; OUT/bench/speed.html
	@tools/setup bench || echo "boltzmark: bench goes on with what there is of NumPy" >&2
	@cmake --build "$(BUILD)" -j $(JOBS) --target bench $(QUIET)
	@"$(BUILD)/bench" --folder="$(OUT)/bench" --benchmark_repetitions=7 --benchmark_min_time=0.05 \
	  --benchmark_enable_random_interleaving=true --benchmark_report_aggregates_only=false $(ARGS)

mutants: setup  ## show that each planted bug is caught by a test
	@JOBS=$(JOBS) verification/mutants/run $(ARGS)

SANITIZED = -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1" $(CONFIGURE)
sanitize: setup  ## run the property and interface tests under ASan and UBSan, those of threads under TSan
	@cmake -S . -B "$(BUILD)-sanitize" -DBOLTZMARK_SANITIZE=ON $(SANITIZED) >/dev/null
	@cmake --build "$(BUILD)-sanitize" -j $(JOBS) --target property_tests interface_tests $(QUIET)
	@ctest --test-dir "$(BUILD)-sanitize" -j $(SLOTS) -R '^(property|interface):' $(ARGS)
	@cmake -S . -B "$(BUILD)-races" -DBOLTZMARK_SANITIZE=thread $(SANITIZED) >/dev/null
	@cmake --build "$(BUILD)-races" -j $(JOBS) --target exact_tests interface_tests $(QUIET)
	@ctest --test-dir "$(BUILD)-races" -j $(SLOTS) -R '^(exact|interface):.*(thread|jobs)' $(ARGS)

fuzz:  ## fuzz the readers of model and data files for FUZZ_SECONDS
	@tools/setup fuzz
	@cmake -S . -B "$(BUILD)-fuzz" -G Ninja --log-level=WARNING -DCMAKE_CXX_COMPILER=clang++ \
	  -DBOLTZMARK_FUZZ=ON -DBOLTZMARK_SANITIZE=ON -DBOLTZMARK_PCH=OFF \
	  -DCMAKE_BUILD_TYPE=RelWithDebInfo >/dev/null
	@cmake --build "$(BUILD)-fuzz" -j $(JOBS) --target fuzz_loaders $(QUIET)
	@verification/fuzz/run "$(BUILD)-fuzz/verification/fuzz_loaders" $(FUZZ_SECONDS)

lint:  ## check the style, the layers' dependencies and clang-tidy's findings
	@tools/setup lint
	@$(MAKE) --no-print-directory configure
	@tools/lint "$(BUILD)"

format:  ## rewrite the sources in the project's style
	@tools/setup lint
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format -i

clean:  ## remove the build folders, never the results
	@rm -rf "$(BUILD)" "$(BUILD)-sanitize" "$(BUILD)-races" "$(BUILD)-fuzz" build-mutants

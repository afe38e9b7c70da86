# Each target installs missing prerequisites.

CONFIG ?= configs/9x9.toml
# Many tests wait for a server with fault injection, so more of them run at a time than there are cores.
TEST_THREADS ?= $(shell expr 2 \* $$(nproc))
# The versions of make test-cluster; make test has a short form with the first.
KUBERNETES = 1.37.2 1.34.4
# The build folder, absolute. Not by abspath, which takes a path with a blank for two.
TARGET_FOLDER := $(or $(shell python3 -c 'import os, sys; print(os.path.abspath(sys.argv[1]))' "$(or $(CARGO_TARGET_DIR),target)"),$(abspath target))
# Tests that could not run add a line to this file (crates/testing).
export TENGEN_SKIP_LIST = $(TARGET_FOLDER)/skipped.txt

# Computed once, by the first recipe that names it.
CACHE = $(eval CACHE := $$(or $$(shell python3 -B scripts/cache.py),$$(abspath target)))$(CACHE)
# cargo-deny and mdbook, where they are not installed.
CARGO_TOOLS = $(CACHE)/cargo-tools
install = command -v $(1) > /dev/null || test -x "$(CARGO_TOOLS)/bin/$(1)" || cargo install --locked --root "$(CARGO_TOOLS)" $(1)

help:
	@echo "make run    set up libtorch, build, and train: tengen run $(CONFIG)"
	@echo "            it serves the run's pages at 127.0.0.1; another run: make run CONFIG=configs/tiny.toml"
	@echo "make check  set up libtorch; format, lints and unit tests"
	@echo "make test   set up libtorch and the tools of the tests; format, lints and all tests"
	@echo "            TENGEN_ALLOW_SKIP=gnugo,leelaz,... or =all skips the tests of missing tools"
	@echo "make test-cluster  the manifests on real Kubernetes control planes; takes long"
	@echo "make cluster       such a control plane on loopback; make cluster-stop stops it"
	@echo "make doc    API documentation in target/doc, without warnings"
	@echo "make book   the book of docs/ in target/book"
	@echo "make deny   licences, duplicate versions and advisories of dependencies"
	@echo "make sanitize  tests of the CPU kernels under AddressSanitizer (x86-64)"
	@echo "make fuzz   each fuzz target under AddressSanitizer for SECONDS=60 (x86-64)"
	@echo "make peers  Tengen beside pgx, OpenSpiel and others: a trial; PEERS=full takes half a day"
	@echo "            PEERS=full MINUTES=110 make peers does as much of it as fits"
	@echo "make dist   programs without libtorch, as a tarball and a wheel, in target/dist"
	@echo "make setup  set up libtorch for plain cargo commands"

run: setup
	cargo run --locked --release --package tengen -- run $(CONFIG) --serve

# The fastest checks first.
lint: lint-all lint-cpu

lint-all: setup
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	cargo clippy --locked --workspace --test control_plane -- -D warnings

# The programs of make dist, without the feature torch. In a folder of its own, as there. No part of make test, which would
# compile all dependencies a second time.
lint-cpu: export CARGO_TARGET_DIR := $(TARGET_FOLDER)/lint-cpu
lint-cpu:
	cargo clippy --locked --no-default-features --package net --package selfplay --package evaluator \
		--package inference --package web --package tengen --package bundle -- -D warnings

check: lint
	RUST_TEST_THREADS=$(TEST_THREADS) cargo test --locked --workspace --lib --no-fail-fast

# What a shell runs in the background ignores an interrupt, so the trap stops it.
test: python node tools lint-all
	scripts/setup-cluster $(firstword $(KUBERNETES))
	trap 'kill $$!' INT; python3 -B scripts/test_setup.py & python3 -B scripts/test_cluster.py; status=$$?; wait $$! && exit $$status
	rm -f "$(TENGEN_SKIP_LIST)"
	RUST_TEST_THREADS=$(TEST_THREADS) cargo test --locked --workspace --no-fail-fast; status=$$?; \
	cargo test --locked --workspace --test control_plane short_form || status=$$?; \
	if [ -s "$(TENGEN_SKIP_LIST)" ]; then sort -u "$(TENGEN_SKIP_LIST)"; fi; exit $$status

# One at a time: each starts a control plane and a run, which need both cores. Of the tools they use Prometheus only.
test-cluster: export TENGEN_ALLOW_SKIP =
test-cluster: python control-plane setup
	TENGEN_ALLOW_SKIP=chromium,gnugo,leelaz,pytorch scripts/setup-tools
	set -e; for version in $(KUBERNETES); do \
		TENGEN_TEST_KUBERNETES=$$version cargo test --locked --workspace --test control_plane -- --test-threads=1 --nocapture; \
	done

# Not in the build folder, without which no program of it could be found and stopped.
CLUSTER = $(CACHE)/cluster
cluster:
	@scripts/setup-cluster $(firstword $(KUBERNETES))
	@scripts/cluster start "$(CLUSTER)"

cluster-stop:
	@scripts/cluster stop "$(CLUSTER)"

doc: setup
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps

book:
	@$(call install,mdbook)
	PATH="$$PATH:$(CARGO_TOOLS)/bin" mdbook build

deny:
	@$(call install,cargo-deny)
	PATH="$$PATH:$(CARGO_TOOLS)/bin" cargo deny --locked check

# The short form, or with PEERS=full the full one; with MINUTES=110 as much as fits. experiments/peers/README.md
PEERS ?= short
peers: setup
	cargo build --locked --release --package tengen --package trainer
	TENGEN_PROGRAMS="$(or $(TENGEN_PROGRAMS),$(TARGET_FOLDER)/release)" \
		python3 -B experiments/peers/run.py $(PEERS) $(if $(MINUTES),--minutes $(MINUTES))

# In a folder of its own: with other features cargo would rebuild the workspace each time.
dist: export CARGO_TARGET_DIR := $(TARGET_FOLDER)/dist
dist:
	cargo build --locked --profile dist --no-default-features --package bundle
	scripts/make-dist "$(CARGO_TARGET_DIR)/dist/bundle" "$(CARGO_TARGET_DIR)"

# The kernels' unsafe code. Sanitizers are nightly options, which RUSTC_BOOTSTRAP enables.
sanitize: export CARGO_TARGET_DIR := $(TARGET_FOLDER)/sanitize
sanitize:
	RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address" \
		cargo test --locked --package cpu --target x86_64-unknown-linux-gnu

# Each fuzz target for some seconds. Corpora and findings stay in target/fuzz; the next run resumes from them.
SECONDS ?= 60
FUZZ_TARGETS ?= $(sort $(notdir $(basename $(wildcard fuzz/fuzz_targets/*.rs))))
COVERAGE = -Cpasses=sancov-module $(addprefix -Cllvm-args=-sanitizer-coverage-,level=4 inline-8bit-counters pc-table trace-compares)
fuzz: export CARGO_TARGET_DIR := $(TARGET_FOLDER)/fuzz
fuzz:
	RUSTC_BOOTSTRAP=1 RUSTFLAGS="--cfg fuzzing $(COVERAGE) -Zsanitizer=address" \
		cargo build --locked --release --manifest-path fuzz/Cargo.toml --target x86_64-unknown-linux-gnu
	"$(CARGO_TARGET_DIR)/x86_64-unknown-linux-gnu/release/seeds" "$(CARGO_TARGET_DIR)/seeds"
	set -e; cd "$(CARGO_TARGET_DIR)"; mkdir -p found; for target in $(FUZZ_TARGETS); do \
		mkdir -p corpus/$$target seeds/$$target; echo "fuzz: $$target"; \
		x86_64-unknown-linux-gnu/release/$$target corpus/$$target seeds/$$target -max_total_time=$(SECONDS) \
			-timeout=10 -print_final_stats=1 -verbosity=0 -artifact_prefix=found/$$target-; \
	done

setup:
	@scripts/setup-libtorch

python:
	@scripts/setup-python

node:
	@scripts/setup-node

tools:
	@scripts/setup-tools

control-plane:
	@scripts/setup-cluster

.PHONY: help run lint check test test-cluster cluster cluster-stop doc book deny dist sanitize fuzz setup python node tools
.PHONY: control-plane peers lint-all lint-cpu

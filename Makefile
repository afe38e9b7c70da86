# `make run`, `make check` and `make test` set up what they need, and do only what is still to be done.

CONFIG ?= configs/9x9.toml
# Many tests wait for a server that is made to stumble, so there are more of them at a time than cores.
TEST_THREADS ?= $(shell expr 2 \* $$(nproc))
# Tests that could not run add a line to this file (crates/testing).
export TENGEN_SKIP_LIST = $(abspath $(or $(CARGO_TARGET_DIR),target))/skipped.txt

help:
	@echo "make run    set up libtorch, build, and learn Go: tengen run $(CONFIG)"
	@echo "            another run: make run CONFIG=configs/tiny.toml"
	@echo "make check  set up libtorch, then check the format, the lints and the unit tests"
	@echo "make test   set up libtorch and what the tests use, then check the format, the lints and every test"
	@echo "            TENGEN_ALLOW_SKIP=gnugo,leelaz,... or =all skips the tests of programs that cannot be installed"
	@echo "make setup  only set up libtorch, so that plain cargo commands work"

run: setup
	cargo run --locked --release --package tengen -- run $(CONFIG)

# First what is quick to fail.
lint: setup
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings

check: lint
	RUST_TEST_THREADS=$(TEST_THREADS) cargo test --locked --workspace --lib --no-fail-fast

test: python node tools lint
	python3 -B scripts/test_setup.py
	rm -f $(TENGEN_SKIP_LIST)
	RUST_TEST_THREADS=$(TEST_THREADS) cargo test --locked --workspace --no-fail-fast; status=$$?; \
	if [ -s $(TENGEN_SKIP_LIST) ]; then sort -u $(TENGEN_SKIP_LIST); fi; exit $$status

setup:
	@scripts/setup-libtorch

python:
	@scripts/setup-python

node:
	@scripts/setup-node

tools:
	@scripts/setup-tools

.PHONY: help run lint check test setup python node tools

# Two commands: `make run` and `make test`. Each sets up what it needs, and does only what is still to be done.

CONFIG ?= configs/9x9.toml
# Many tests wait for a server that is made to stumble, so there are more of them at a time than cores.
TEST_THREADS ?= $(shell expr 2 \* $$(nproc))

help:
	@echo "make run    set up libtorch, build, and learn Go: tengen run $(CONFIG)"
	@echo "            another run: make run CONFIG=configs/tiny.toml"
	@echo "make test   set up libtorch and what the tests use, then check the format, the lints and every test"
	@echo "make setup  only set up libtorch, so that plain cargo commands work"

run: setup
	cargo run --locked --release --package tengen -- run $(CONFIG)

# First what is quick to fail.
test: setup python node
	python3 -B scripts/test_setup.py
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	cargo build --locked --workspace
	RUST_TEST_THREADS=$(TEST_THREADS) cargo test --locked --workspace --no-fail-fast

setup:
	@scripts/setup-libtorch

python:
	@scripts/setup-python

node:
	@scripts/setup-node

.PHONY: help run test setup python node

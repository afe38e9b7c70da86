# selfplay, trainer, evaluator, inference and tengen, with libtorch 2.11.0. From the root of the repository:
#
#     docker build -f images/tengen.Dockerfile -t tengen:0.3.0-cpu .
#     docker build -f images/tengen.Dockerfile --build-arg VARIANT=gpu -t tengen:0.3.0-cuda .
#
# VARIANT=gpu takes CUDA 13 from NVIDIA's wheels, so the image needs no base of NVIDIA's, only a driver from 580 on and its
# container runtime on the node. What is fetched is pinned: crates by Cargo.lock, wheels by scripts/libtorch-wheels.tsv, both with
# hashes. Give the two base images by digest where a build must be the same for years.
ARG RUST=rust:1.95.0-slim-bookworm
ARG DEBIAN=debian:12.11-slim

FROM ${RUST} AS build
ARG VARIANT=cpu
# pip: scripts/setup-libtorch takes the package index from its configuration.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates g++ make python3 python3-pip \
    && rm -rf /var/lib/apt/lists/*
# The compiler of the image, without what rust-toolchain.toml adds for work on the source.
ENV RUSTUP_TOOLCHAIN=1.95.0
WORKDIR /tengen
COPY scripts scripts
RUN scripts/setup-libtorch --${VARIANT} --dest /tengen/libtorch
COPY . .
# The same bytes wherever and whenever it is built: no path of this machine, no time.
ENV SOURCE_DATE_EPOCH=0 RUSTFLAGS="--remap-path-prefix=/tengen=. --remap-path-prefix=/usr/local/cargo=cargo"
# The commit that `tengen doctor` names, where it is given: --build-arg TENGEN_COMMIT=$(git rev-parse HEAD). There is no git here.
ARG TENGEN_COMMIT
RUN cargo build --locked --release --package selfplay --package trainer --package evaluator --package inference --package tengen
RUN mkdir -p /image/bin /image/share/licenses \
    && cp target/release/selfplay target/release/trainer target/release/evaluator target/release/inference target/release/tengen /image/bin/ \
    && strip /image/bin/* \
    && cp -a libtorch/licenses LICENSE-MIT LICENSE-APACHE /image/share/licenses/
# All of it, since the libraries of CUDA find each other by their places in the folder.
RUN mkdir /image/bin/libtorch && tar -C libtorch --exclude=include --exclude=licenses -c . | tar -C /image/bin/libtorch -x

FROM ${DEBIAN}
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
# The run path of the programs begins with the folder libtorch beside them.
COPY --from=build /image /usr/local
# NVIDIA_VISIBLE_DEVICES is set by the device plugin and by `docker run --gpus`. In the image it would give every GPU of the node
# to pods that request none.
ENV NVIDIA_DRIVER_CAPABILITIES=compute,utility
# GKE mounts the driver there and nowhere that the linker searches. Elsewhere there is no such folder.
ENV LD_LIBRARY_PATH=/usr/local/nvidia/lib64
USER 65532:65532
WORKDIR /tmp
CMD ["tengen", "--help"]

# selfplay, evaluator, shuffler, inference and tengen for CPUs, without libtorch and without a distribution: one program with a
# link for each of them, the C library and the roots of trust. From the root of the repository:
#
#     docker build -f images/cpu.Dockerfile -t tengen-cpu:0.3.0 .
ARG RUST=rust:1.95.0-slim-bookworm

FROM ${RUST} AS build
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates g++ python3 && rm -rf /var/lib/apt/lists/*
# The compiler of the image, without what rust-toolchain.toml adds for work on the source.
ENV RUSTUP_TOOLCHAIN=1.95.0
WORKDIR /tengen
COPY . .
# The same bytes wherever and whenever it is built: no path of this machine, no time.
ENV SOURCE_DATE_EPOCH=0 RUSTFLAGS="--remap-path-prefix=/tengen=. --remap-path-prefix=/usr/local/cargo=cargo"
RUN cargo build --locked --profile dist --no-default-features --package bundle
RUN scripts/minimal-root /image target/dist/bundle && \
    for name in selfplay evaluator shuffler inference tengen; do ln -s bundle /image/usr/local/bin/$name; done

FROM scratch
COPY --from=build /image /
ENV PATH=/usr/local/bin
USER 65532:65532
WORKDIR /tmp
CMD ["selfplay", "--help"]

# The shuffler alone, which needs no libtorch. From the root of the repository:
#
#     docker build -f images/shuffler.Dockerfile -t tengen-shuffler:0.2.0 .
ARG RUST=rust:1.95.0-slim-bookworm
ARG DEBIAN=debian:12.11-slim

FROM ${RUST} AS build
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates g++ && rm -rf /var/lib/apt/lists/*
# The compiler of the image, without what rust-toolchain.toml adds for work on the source.
ENV RUSTUP_TOOLCHAIN=1.95.0
WORKDIR /tengen
COPY . .
ENV SOURCE_DATE_EPOCH=0 RUSTFLAGS="--remap-path-prefix=/tengen=. --remap-path-prefix=/usr/local/cargo=cargo"
RUN cargo build --locked --release --package shuffler && mkdir -p /image/bin /image/share/licenses \
    && cp target/release/shuffler /image/bin/ && strip /image/bin/* && cp LICENSE-MIT LICENSE-APACHE /image/share/licenses/

FROM ${DEBIAN}
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
COPY --from=build /image /usr/local
USER 65532:65532
WORKDIR /tmp
CMD ["shuffler", "--help"]

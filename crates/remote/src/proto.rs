//! Messages and services, compiled from `proto/`.

#![allow(missing_docs, reason = "generated from the .proto files, which have the comments")]
#![allow(clippy::all, unreachable_pub, unused_qualifications, reason = "generated code")]

/// Descriptors of all services, for server reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));

/// Whole batches over one stream of each client.
pub mod v1 {
    tonic::include_proto!("tengen.inference.v1");
}

/// Open Inference Protocol, version 2 (KServe).
pub mod kserve {
    tonic::include_proto!("inference");
}

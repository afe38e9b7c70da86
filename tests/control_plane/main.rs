//! The manifests on a real control plane: etcd, API server, controllers and scheduler, with nodes that are processes of
//! these tests (`agent.rs`). scripts/setup-cluster builds it, scripts/cluster starts it, and `make test-cluster` runs
//! all of this. `make test` runs `short_form`.

// All of this is tests, and a panic is how a test fails; clippy only knows functions marked as tests.
#![allow(clippy::unwrap_used)]

mod agent;
mod api;
mod command;
mod container;
mod disruption;
mod failures;
mod games;
mod journal;
mod node;
mod overlays;
mod plane;
mod pod;
mod probe;
mod rights;
mod rollback;
mod scaling;
mod servers;
mod services;
mod setup;
mod storm;
mod thousand;
mod training;
mod volumes;

//! What no single crate can check.

// All of this is tests, and a panic is how a test fails; clippy only knows functions marked as tests.
#![allow(clippy::unwrap_used)]

mod analysis;
mod audit;
mod bench;
mod browser;
mod cluster;
mod commands;
mod configs;
mod crates;
mod data;
mod demo;
mod depth;
mod doctor;
mod drivers;
mod engines;
mod evaluations;
mod exit_codes;
mod experiments;
mod failover;
mod find_games;
mod garbage;
mod gtp;
mod handoff;
mod import;
mod imports;
mod inference;
mod killed;
mod kubernetes;
mod ladders;
mod leases;
mod measured;
mod methods;
mod million;
mod mistakes;
mod networks;
mod options;
mod phases;
mod pinned;
mod plan;
mod programs;
mod prose;
mod prune;
mod python;
mod quarantine;
mod requests;
mod service;
mod status;
mod targets;
mod twice;
mod values;
mod web;
mod weights_files;

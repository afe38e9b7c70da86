//! Go Text Protocol, version 2, draft 2 (<https://www.lysator.liu.se/~gunnar/gtp/>): a server that lets a model play
//! over GTP, and a client that lets other programs play against models.

pub mod engines;
pub mod server;

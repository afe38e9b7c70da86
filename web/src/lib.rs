//! The web application: pages of runs, models, matches and games, and play.
//!
//! The cast: [`Server`] listens and owns the threads. `App` is what all requests share: the store, which is only
//! read, and the rules of access. The guard sees every request first: host, origin, session. Pages are made by handlers
//! in `App::read`, where the store may block, from parts of crate `page`. [`play`] plugs in the pages for players.

mod access;
mod app;
mod args;
mod assets;
mod book_page;
mod bulk;
#[cfg(any(test, feature = "testing"))]
mod check;
mod compare;
mod config_page;
mod download;
mod error;
mod events;
mod exports;
mod game_page;
mod games_page;
mod guard;
mod hosts;
mod latest;
mod listen;
mod live_games;
mod live_page;
mod matches_page;
mod models_page;
mod network_page;
mod openings_page;
mod paging;
pub mod play;
mod plots;
mod query;
mod routes;
mod run_list;
mod run_page;
mod runs;
mod server;
mod sign_in;
mod view;
mod watch;

pub use args::ServeArgs;
#[cfg(any(test, feature = "testing"))]
pub use check::check_query;
pub use error::WebError;
pub use server::Server;

use access::Access;
use app::App;
use error::PageError;

#[cfg(test)]
mod server_tests;

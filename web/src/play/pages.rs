//! The pages. Their scripts fill them; without scripts there is no board.

mod parts;
mod play;
mod review;
mod watch;

pub(super) use play::play;
pub(super) use review::review;
pub(super) use watch::watch;

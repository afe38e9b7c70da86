//! The other side of a conversation.

use std::time::Duration;

/// The controller, as a command sees it that takes its time.
pub(super) trait Controller {
    /// Says that there will be a response. Commands that respond line by line say so as soon as they know it.
    fn begin(&mut self);

    /// Sends one line of a response that was begun.
    fn say(&mut self, line: &str);

    /// Whether anything came in: whatever it is, it ends an analysis.
    fn called(&mut self) -> bool;

    /// Waits until something came in, but at most this long; returns [`Controller::called`].
    fn wait(&mut self, time: Duration) -> bool;

    /// Whether the controller wants the response at once.
    fn interrupted(&mut self) -> bool;
}

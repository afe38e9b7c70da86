//! SIGTERM and Ctrl-C.

use std::io;
use std::thread;

use signal_hook::consts::signal::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::{Stop, console};

/// Turns the first SIGTERM or SIGINT into a request to stop, and lets a second one end the process at once.
pub(crate) fn listen(name: &'static str, stop: Stop) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT])?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            if stop.requested() {
                // Without destructors: whatever hangs may hang in them too. What is published is whole already.
                signal_hook::low_level::exit(128 + signal);
            }
            console::notice(&format!("{name} stops after publishing what is finished; once more ends it at once"));
            stop.request();
        }
    })?;
    Ok(())
}

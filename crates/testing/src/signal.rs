//! Signals to a process under test.

use std::process::{Child, Command, Stdio};

/// Sends a process a signal by its name, as `TERM`; whether it could be sent.
pub fn signal(process: &Child, name: &str) -> bool {
    // The shell's own kill: the program of that name is not on every machine.
    let kill = format!("kill -{name} {}", process.id());
    let sent = Command::new("sh").args(["-c", &kill]).stderr(Stdio::null()).status();
    sent.is_ok_and(|status| status.success())
}

//! One conversation by the Go Text Protocol.

use std::time::{Duration, Instant};

use super::process::{Process, ReadError, quoted};
use super::responses::{Flood, ResponseParser};

/// A program that speaks GTP. After an error other than [`ClientError::Refused`] it is of no use any more.
#[derive(Debug)]
pub struct Client {
    process: Process,
    parser: ResponseParser,
    commands: u32,
}

/// What can go wrong with a program.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// It cannot be started.
    #[error("cannot start {program}")]
    Start {
        /// The program.
        program: String,
        /// Why not.
        source: std::io::Error,
    },
    /// It ended.
    #[error("the process exited at \"{command}\": {exit_report}")]
    Ended {
        /// The command.
        command: String,
        /// How it ended, and its last words.
        exit_report: String,
    },
    /// It did not respond in time.
    #[error("no response to \"{command}\" in {seconds} s{}", quoted(words))]
    Silent {
        /// The command.
        command: String,
        /// How long was waited.
        seconds: f64,
        /// The end of its standard error.
        words: String,
    },
    /// It wrote its input back, as `cat` does.
    #[error("it wrote \"{line}\" back; a GTP response begins with = or ?, so this program does not speak GTP")]
    Echo {
        /// The line, with the number of the command.
        line: String,
    },
    /// It wrote too much, and sent no response.
    #[error("no end of output after \"{command}\"")]
    Flood {
        /// The command.
        command: String,
    },
    /// It responded to another command.
    #[error("\"{command}\" had the number {expected}, and the response has {found}")]
    OutOfStep {
        /// The command.
        command: String,
        /// The number of the command.
        expected: u32,
        /// The number in the response.
        found: u32,
    },
    /// It says that it cannot do this.
    #[error("\"{command}\" was refused: {said}")]
    Refused {
        /// The command.
        command: String,
        /// What it said.
        said: String,
    },
}

impl Client {
    /// Starts a program, given as its name and arguments. No command is sent yet.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(command: &[String]) -> Result<Client, ClientError> {
        let fail = |source| ClientError::Start { program: command.first().cloned().unwrap_or_default(), source };
        Ok(Client { process: Process::start(command).map_err(fail)?, parser: ResponseParser::default(), commands: 0 })
    }

    /// Sends a command and waits for the response, for so long at most.
    ///
    /// # Errors
    /// It is refused, or the program is broken.
    pub fn ask(&mut self, command: &str, patience: Duration) -> Result<String, ClientError> {
        self.commands += 1;
        let until = Instant::now() + patience;
        let sent = format!("{} {command}", self.commands);
        if self.process.write(&sent).is_err() {
            return Err(self.ended(command));
        }
        loop {
            let line = match self.process.line(until) {
                Ok(line) => line,
                Err(ReadError::Timeout) => {
                    let (seconds, words) = (patience.as_secs_f64(), self.process.last_words());
                    return Err(ClientError::Silent { command: command.to_owned(), seconds, words });
                }
                Err(ReadError::Closed) => return Err(self.ended(command)),
            };
            let response = match self.parser.line(&line) {
                // The number of the command makes it one that no chatter has by chance.
                Ok(None) if !self.parser.begun() && line.trim_ascii() == sent.trim().as_bytes() => {
                    return Err(ClientError::Echo { line: sent });
                }
                Ok(None) => continue,
                Ok(Some(response)) => response,
                Err(Flood) => return Err(ClientError::Flood { command: command.to_owned() }),
            };
            return match response.id {
                // Some programs leave the number out.
                Some(found) if found != self.commands => {
                    Err(ClientError::OutOfStep { command: command.to_owned(), expected: self.commands, found })
                }
                _ => response.text.map_err(|said| ClientError::Refused { command: command.to_owned(), said }),
            };
        }
    }

    fn ended(&mut self, command: &str) -> ClientError {
        ClientError::Ended { command: command.to_owned(), exit_report: self.process.exit_report() }
    }
}

//! A TCP proxy with fault injection between a client and a server.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::faults::{Fault, FaultInjector};

/// Bytes that are passed on at a time.
const PIECE: usize = 16 << 10;

/// A proxy to one server. It ends with this.
pub struct Proxy {
    address: SocketAddr,
    line: Arc<Line>,
}

/// What all connections share.
struct Line {
    target: SocketAddr,
    faults: FaultInjector,
    ended: AtomicBool,
    injected: AtomicU32,
    streams: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    /// A proxy on a free port. One piece in `one_in` is lost, late or cut; 0 for none.
    ///
    /// # Errors
    /// There is no free port.
    pub fn start(target: SocketAddr, one_in: u32, seed: u64) -> io::Result<Proxy> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let line = Arc::new(Line {
            target,
            faults: FaultInjector::new(Fault::STREAM, one_in, seed),
            ended: AtomicBool::new(false),
            injected: AtomicU32::new(0),
            streams: Mutex::default(),
        });
        let shared = Arc::clone(&line);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if shared.ended.load(Ordering::Relaxed) {
                    break;
                }
                // A server that is not there refuses; so does the proxy then.
                let _refused = shared.connect(client);
            }
        });
        Ok(Proxy { address, line })
    }

    /// Where the proxy listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Faults so far.
    pub fn injected(&self) -> u32 {
        self.line.injected.load(Ordering::Relaxed)
    }

    /// Cuts all connections.
    fn cut(&self) {
        let streams = std::mem::take(&mut *self.line.streams.lock().unwrap_or_else(PoisonError::into_inner));
        streams.iter().for_each(close);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.line.ended.store(true, Ordering::Relaxed);
        self.cut();
        // Wakes the thread that accepts.
        let _ended = TcpStream::connect(self.address);
    }
}

impl Line {
    fn connect(self: &Arc<Line>, client: TcpStream) -> io::Result<()> {
        let server = TcpStream::connect(self.target)?;
        for stream in [&client, &server] {
            stream.set_nodelay(true)?;
            self.streams.lock().unwrap_or_else(PoisonError::into_inner).push(stream.try_clone()?);
        }
        for (from, to) in [(client.try_clone()?, server.try_clone()?), (server, client)] {
            let line = Arc::clone(self);
            thread::spawn(move || {
                let _cut = line.pump(&from, &to);
                close(&from);
                close(&to);
            });
        }
        Ok(())
    }

    /// Passes bytes on until either end closes, or a fault cuts the line.
    fn pump(&self, mut from: &TcpStream, mut to: &TcpStream) -> io::Result<()> {
        let mut piece = vec![0; PIECE];
        let mut is_lost = false;
        loop {
            let length = from.read(&mut piece)?;
            if length == 0 {
                return Ok(());
            }
            let fault = self.faults.draw();
            self.injected.fetch_add(u32::from(fault.is_some()), Ordering::Relaxed);
            match fault {
                None | Some(Fault::Refused) => {}
                Some(Fault::RequestLost) => return Ok(()),
                Some(Fault::ResponseLost) => is_lost = true,
                Some(Fault::Delayed) => thread::sleep(Fault::DELAY),
                Some(Fault::ResponseCut) => return to.write_all(&piece[..length / 2]),
            }
            if !is_lost {
                to.write_all(&piece[..length])?;
            }
        }
    }
}

/// Closes a stream, which may be closed already.
fn close(stream: &TcpStream) {
    let _closed = stream.shutdown(Shutdown::Both);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Sends back what it gets.
    fn echo() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                thread::spawn(move || io::copy(&mut &stream, &mut &stream));
            }
        });
        address
    }

    fn round(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
        stream.write_all(bytes)?;
        let mut back = vec![0; bytes.len()];
        stream.read_exact(&mut back)?;
        assert_eq!(back, bytes);
        Ok(())
    }

    #[test]
    fn proxy_without_faults_passes_everything_on_until_it_is_cut() {
        let proxy = Proxy::start(echo(), 0, 1).expect("a port is free");
        let mut stream = TcpStream::connect(proxy.address()).expect("it accepts");
        (0..100).for_each(|nth| round(&mut stream, &vec![nth; 1000]).expect("it comes back"));
        proxy.cut();
        assert!(round(&mut stream, b"gone").is_err());
        assert_eq!(proxy.injected(), 0);
        let mut stream = TcpStream::connect(proxy.address()).expect("it accepts again");
        round(&mut stream, b"again").expect("it comes back");
    }

    /// The proxy draws a fault for each piece, and a round has one piece there and one back.
    #[test]
    fn streams_meet_the_faults_that_are_drawn() {
        let (target, mut met) = (echo(), Vec::new());
        for seed in 0..20 {
            let injector = FaultInjector::new(Fault::STREAM, 4, seed);
            let drawn: Vec<Option<Fault>> = (0..20).map(|_| injector.draw()).collect();
            let fatal = drawn.iter().position(|fault| fault.is_some_and(|fault| fault != Fault::Delayed));
            let proxy = Proxy::start(target, 4, seed).expect("a port is free");
            let mut stream = TcpStream::connect(proxy.address()).expect("it accepts");
            for _ in 0..fatal.unwrap_or(drawn.len()) / 2 {
                round(&mut stream, &[1; 100]).expect("it comes back, late or not");
            }
            if let Some(fault) = fatal.and_then(|piece| drawn[piece]) {
                let is_lost = fault == Fault::ResponseLost;
                // What is lost never comes; a stream that is cut may take its time on a machine under load.
                let patience = is_lost.then_some(Duration::from_millis(50));
                stream.set_read_timeout(patience).expect("a timeout can be set");
                let error = round(&mut stream, &[1; 100]).expect_err("a fault is drawn");
                let timed_out = matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
                assert_eq!(timed_out, is_lost, "seed {seed}, {fault:?}: {error}");
                met.push(fault);
            }
            // A response that is lost may be counted after the client has given up.
            let counted = |piece: usize| piece + usize::from(drawn[piece] != Some(Fault::ResponseLost));
            let faults = drawn[..fatal.map_or(drawn.len(), counted)].iter().flatten().count();
            assert!(proxy.injected() as usize >= faults, "seed {seed}: {} of {faults}", proxy.injected());
        }
        for fault in [Fault::RequestLost, Fault::ResponseLost, Fault::ResponseCut] {
            assert!(met.contains(&fault), "no stream met {fault:?}: {met:?}");
        }
    }
}

//! A page's WebSocket: messages in, replies out, and an end to all searches when it closes.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use super::fair_queue::VisitorId;
use super::message::Reply;
use super::session::Session;
use super::state::Play;
use crate::App;

/// How often places in the queue are sent.
const TELL: Duration = Duration::from_millis(250);
/// How often a page is pinged.
const PING: Duration = Duration::from_secs(20);
/// A page that was silent for this long is gone.
const SILENCE: Duration = Duration::from_secs(60);
/// A page that takes longer to receive a reply is gone.
const SLOW: Duration = Duration::from_secs(10);

/// Serves a page until it is gone, or the server stops.
pub(super) async fn serve(play: Arc<Play>, app: App, visitor: VisitorId, mut socket: WebSocket) {
    let (sender, mut events) = mpsc::unbounded_channel();
    let mut session = Session::new(play, visitor, sender);
    let [mut tell, mut ping] = [TELL, PING].map(interval);
    tell.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut waits = false;
    let mut heard = Instant::now();
    let stopped = app.stopped();
    tokio::pin!(stopped);
    loop {
        tokio::select! {
            () = &mut stopped => break,
            message = socket.recv() => {
                heard = Instant::now();
                if take(&mut session, message).is_break() {
                    break;
                }
                waits = true;
            }
            Some(event) = events.recv() => {
                session.handle_event(event);
                // What was opened, or follows a search, may wait in its turn.
                waits = true;
            }
            _ = tell.tick(), if waits => waits = session.tell_places(),
            _ = ping.tick() => {
                let gone = heard.elapsed() > SILENCE;
                if gone || send(&mut socket, Message::Ping(Vec::new().into())).await.is_break() {
                    break;
                }
            }
        }
        if reply(&mut socket, session.take_replies()).await.is_break() {
            break;
        }
    }
}

fn take(session: &mut Session, message: Option<Result<Message, axum::Error>>) -> ControlFlow<()> {
    match message {
        Some(Ok(Message::Text(text))) => session.message(text.as_str()),
        // Replies to pings, and bytes, which mean nothing here.
        Some(Ok(Message::Pong(_) | Message::Ping(_) | Message::Binary(_))) => {}
        Some(Ok(Message::Close(_)) | Err(_)) | None => return ControlFlow::Break(()),
    }
    ControlFlow::Continue(())
}

async fn reply(socket: &mut WebSocket, replies: Vec<Reply>) -> ControlFlow<()> {
    for reply in replies {
        send(socket, Message::Text(reply.text().into())).await?;
    }
    ControlFlow::Continue(())
}

async fn send(socket: &mut WebSocket, message: Message) -> ControlFlow<()> {
    match timeout(SLOW, socket.send(message)).await {
        Ok(Ok(())) => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    }
}

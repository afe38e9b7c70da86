//! From queries to responses.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::query::{Action, Position, Query};
use super::{Refusal, ServerOptions, Warning};
use crate::{Engine, Event, Report, ReportStyle, Task, TaskId};

/// Serves queries with an engine.
pub struct Server<W> {
    engine: Engine,
    options: ServerOptions,
    shared: Arc<Shared<W>>,
}

/// State that the listeners of tasks share with the server.
struct Shared<W> {
    output: Mutex<W>,
    /// Why the output takes no more.
    failed: Mutex<Option<io::Error>>,
    /// The tasks of each id that are not over, by their numbers, with their turns.
    open: Mutex<OpenQueries>,
    /// The number of the next task. Queries may have the same id, and be for the same turn.
    next: AtomicU64,
}

type OpenQueries = BTreeMap<String, BTreeMap<u64, (usize, TaskId)>>;

impl<W: Write + Send + 'static> Server<W> {
    /// A server that writes its responses to `output`.
    pub fn new(engine: Engine, options: ServerOptions, output: W) -> Server<W> {
        let (failed, open, next) = (Mutex::default(), Mutex::default(), AtomicU64::new(0));
        Server { engine, options, shared: Arc::new(Shared { output: Mutex::new(output), failed, open, next }) }
    }

    /// Serves a line. Responses come when there are some.
    pub fn line(&self, line: &[u8]) {
        if line.trim_ascii().is_empty() {
            return;
        }
        match serde_json::from_slice(line) {
            Ok(Value::Object(query)) => self.query(&query),
            Ok(_) => self.shared.say(&json!({ "error": "a query is a JSON object" })),
            Err(error) => self.shared.say(&json!({ "error": format!("the line is no JSON: {error}") })),
        }
    }

    fn query(&self, query: &Map<String, Value>) {
        let Some(id) = query.get("id").and_then(Value::as_str) else {
            return self.shared.say(&json!({ "error": "must be a string", "field": "id" }));
        };
        match Query::read(query, &self.options) {
            Ok(Query::Analyse(position, warnings)) => {
                warnings.iter().for_each(|warning| self.shared.say(&warned(id, warning)));
                self.analyse(id, &position);
            }
            Ok(Query::Act(action)) => self.act(query, &action),
            Err(Refusal { reason, field }) => {
                self.shared.say(&json!({ "id": id, "error": reason, "field": field }));
            }
        }
    }

    fn analyse(&self, id: &str, position: &Position) {
        // Locked until the task is known by its query, since it may be over before that.
        let mut open = self.shared.open();
        for &(turn, priority) in &position.turns {
            let task = Task {
                game: Arc::clone(&position.game),
                turn,
                komi: position.komi,
                visits: position.visits - 1,
                avoid: position.avoid.clone(),
                priority,
                progress: position.progress,
                time: position.time,
            };
            let (shared, style, name) = (Arc::clone(&self.shared), position.style, id.to_owned());
            let number = shared.next.fetch_add(1, Ordering::Relaxed);
            let listener = move |event| shared.event(&name, turn, number, event, &style);
            let task = self.engine.submit(task, Box::new(listener));
            open.entry(id.to_owned()).or_default().insert(number, (turn, task));
        }
    }

    fn act(&self, query: &Map<String, Value>, action: &Action) {
        let mut response = query.clone();
        match action {
            Action::Version => {
                response.insert("version".to_owned(), json!(self.options.version));
                response.insert("git_hash".to_owned(), json!("<omitted>"));
            }
            Action::Models => {
                let model = json!({ "name": self.options.model, "internalName": self.options.model });
                response.insert("models".to_owned(), json!([model]));
            }
            Action::ClearCache => self.engine.clear_caches(),
            Action::Terminate(id, turns) => {
                let wanted = |turn: &usize| turns.as_ref().is_none_or(|turns| turns.contains(turn));
                let tasks: Vec<TaskId> = {
                    let open = self.shared.open();
                    let named = open.iter().filter(|(name, _)| id.as_ref().is_none_or(|id| id == *name));
                    let tasks = named.flat_map(|(_, tasks)| tasks.values());
                    tasks.filter(|(turn, _)| wanted(turn)).map(|(_, id)| *id).collect()
                };
                tasks.into_iter().for_each(|task| self.engine.stop(task));
            }
        }
        self.shared.say(&Value::Object(response));
    }

    /// Waits until all queries have their last response, and no longer than this time; returns whether they have.
    pub fn finish_within(&self, time: Duration) -> bool {
        self.engine.wait_for(time)
    }

    /// Whether the output takes no more: its client has gone, or its disk is full.
    pub fn is_abandoned(&self) -> bool {
        self.shared.failed().is_some()
    }

    /// Stops the searches and sends their last responses.
    ///
    /// # Errors
    /// Not all responses could be written. A client that has gone is no error.
    pub fn end(self) -> io::Result<()> {
        let Server { engine, shared, .. } = self;
        // Its threads write until they are done.
        drop(engine);
        match shared.failed().take() {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }
}

impl<W: Write> Shared<W> {
    fn open(&self) -> MutexGuard<'_, OpenQueries> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self) -> MutexGuard<'_, Option<io::Error>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, response: &Value) {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let line = format!("{response}\n");
        if let Err(error) = output.write_all(line.as_bytes()).and_then(|()| output.flush()) {
            self.failed().get_or_insert(error);
        }
    }

    fn event(&self, id: &str, turn: usize, number: u64, event: Event, style: &ReportStyle) {
        let response = match &event {
            Event::Progress(analysis) => labelled(id, &Report::during_search(analysis, style)),
            Event::Done(analysis) => labelled(id, &Report::new(analysis, style)),
            Event::Nothing => json!({ "id": id, "turnNumber": turn, "isDuringSearch": false, "noResults": true }),
            Event::Failed(error) => json!({ "id": id, "turnNumber": turn, "error": error.to_string() }),
        };
        if !matches!(event, Event::Progress(_)) {
            self.close(id, number);
        }
        self.say(&response);
    }

    /// Forgets a task that is over.
    fn close(&self, id: &str, number: u64) {
        let mut open = self.open();
        let Some(tasks) = open.get_mut(id) else { return };
        tasks.remove(&number);
        if tasks.is_empty() {
            open.remove(id);
        }
    }
}

fn labelled(id: &str, report: &Report) -> Value {
    let mut response = serde_json::to_value(report).expect("plain fields are JSON");
    response["id"] = json!(id);
    response
}

fn warned(id: &str, warning: &Warning) -> Value {
    json!({ "id": id, "warning": warning.reason, "field": warning.field })
}

#[cfg(test)]
mod tests;

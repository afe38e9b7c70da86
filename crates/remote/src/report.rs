//! Log lines and metrics of the states of servers.

use runtime::metrics;

use crate::pool::{Counts, Server, State};

/// Reports the servers of a list.
pub(crate) struct Reporter {
    servers: Vec<Reported>,
}

/// A server, and what was said about it.
struct Reported {
    name: String,
    tier: usize,
    /// Who it said it is.
    greeting: String,
    /// Whether it has greeted, over any connection.
    is_known: bool,
    /// Why its last connection ended, until the next one greets.
    problem: Option<String>,
    /// Why it refused a batch over this connection, until it evaluates one.
    refusal: Option<String>,
    noted: Counts,
}

impl Reporter {
    pub(crate) fn new(servers: &[(usize, String)]) -> Reporter {
        let reported = |(tier, name): &(usize, String)| Reported {
            name: name.clone(),
            tier: *tier,
            greeting: String::new(),
            is_known: false,
            problem: None,
            refusal: None,
            noted: Counts::default(),
        };
        Reporter { servers: servers.iter().map(reported).collect() }
    }

    pub(crate) fn name(&self, server: usize) -> &str {
        &self.servers[server].name
    }

    /// A server has greeted.
    pub(crate) fn on_greeting(&mut self, server: usize, greeting: String) {
        let reported = &mut self.servers[server];
        reported.is_known = true;
        // What was wrong before does not explain what this connection may come to.
        (reported.greeting, reported.problem, reported.refusal) = (greeting, None, None);
    }

    /// A connection has ended.
    pub(crate) fn on_failure(&mut self, server: usize, mut problem: String) {
        let reported = &mut self.servers[server];
        // One that has greeted is no server of another kind.
        if !reported.is_known {
            let advice = advice(&reported.name, &problem);
            problem += advice;
        }
        (reported.problem, reported.refusal) = (Some(problem), None);
    }

    /// A server has refused a batch: it is full, lacks the model, cannot load it for now, or its device failed.
    pub(crate) fn on_refusal(&mut self, server: usize, reason: String) {
        self.servers[server].refusal = Some(reason);
    }

    /// A server has evaluated a batch, so that an earlier refusal explains nothing.
    pub(crate) fn on_evaluation(&mut self, server: usize) {
        self.servers[server].refusal = None;
    }

    /// A batch is left to the network of this process.
    pub(crate) fn local(&self) {
        metrics::INFERENCE_LOCAL.add(1);
    }

    pub(crate) fn changed(&self, server: usize, state: State, is: &Server) {
        let Reported { name, tier, greeting, problem, .. } = &self.servers[server];
        let problem = problem.as_deref().unwrap_or("it did not respond in time");
        match state {
            State::Up { .. } => {
                tracing::info!(server = %name, tier, credit = is.credit, version = %greeting, "inference server is up");
            }
            State::Suspect { .. } => tracing::warn!(server = %name, tier, "inference server does not respond"),
            State::Down { .. } => tracing::warn!(server = %name, tier, problem, "inference server is down"),
            State::Probing { .. } => {}
        }
    }

    /// The servers and why they do not evaluate.
    pub(crate) fn problems(&self) -> String {
        let of_one = |Reported { name, problem, refusal, .. }: &Reported| {
            let reason = refusal.as_deref().or(problem.as_deref());
            format!("{name}: {}", reason.unwrap_or("no response"))
        };
        let each = self.servers.iter().map(of_one);
        each.collect::<Vec<_>>().join("; ")
    }

    /// Notes metrics.
    pub(crate) fn note(&mut self, servers: &[Server]) {
        for (reported, server) in self.servers.iter_mut().zip(servers) {
            let name = &reported.name;
            let up = match server.state {
                State::Up { .. } => 1.0,
                State::Suspect { .. } => 0.5,
                State::Down { .. } | State::Probing { .. } => 0.0,
            };
            metrics::INFERENCE_UP.set_for(name, up);
            metrics::INFERENCE_OUTSTANDING.set_for(name, server.outstanding);
            let Counts { answered, resent, late } = server.counts;
            metrics::INFERENCE_CLIENT_BATCHES.add_for(name, answered - reported.noted.answered);
            metrics::INFERENCE_RESENT.add_for(name, resent - reported.noted.resent);
            metrics::INFERENCE_LATE.add_for(name, late - reported.noted.late);
            reported.noted = server.counts;
        }
    }

    /// Says at the end what each server did.
    pub(crate) fn conclude(&mut self, servers: &[Server]) {
        self.note(servers);
        for (Reported { name, tier, .. }, server) in self.servers.iter().zip(servers) {
            let Counts { answered, resent, late } = server.counts;
            tracing::info!(server = %name, tier, evaluated = answered, resent, late, "batches of inference server");
        }
    }
}

/// What may be wrong with an address, by the words that libraries have for bytes of another protocol.
fn advice(name: &str, problem: &str) -> &'static str {
    match name.split(':').next() {
        Some("http") if problem.contains("http2 error") => "; the server may want https://",
        Some("https") if problem.contains("InvalidContentType") => "; the server may have no TLS: http://",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greeting_ends_the_problems_of_the_connection_before() {
        let mut reporter = Reporter::new(&[(0, "a".to_owned())]);
        reporter.on_failure(0, "connection refused".to_owned());
        assert_eq!(reporter.problems(), "a: connection refused");
        reporter.on_greeting(0, "1.0".to_owned());
        assert_eq!(reporter.problems(), "a: no response");
        reporter.on_refusal(0, "full".to_owned());
        assert_eq!(reporter.problems(), "a: full");
        reporter.on_greeting(0, "1.0".to_owned());
        assert_eq!(reporter.problems(), "a: no response");
    }

    #[test]
    fn advice_is_given_until_a_server_has_greeted() {
        let mut reporter = Reporter::new(&[(0, "http://a:1".to_owned()), (0, "https://b:1".to_owned())]);
        let broken = "Internal: h2 protocol error: http2 error";
        reporter.on_failure(0, broken.to_owned());
        reporter.on_failure(1, "transport error: received corrupt message of type InvalidContentType".to_owned());
        let problems = reporter.problems();
        assert!(problems.contains("; the server may want https://; https://b:1: "), "{problems}");
        assert!(problems.ends_with("; the server may have no TLS: http://"), "{problems}");
        // One that does not say who it is has greeted, too.
        reporter.on_greeting(0, String::new());
        reporter.on_failure(0, broken.to_owned());
        assert!(reporter.problems().starts_with(&format!("http://a:1: {broken}; https://b:1: ")));
    }

    #[test]
    fn evaluated_batch_ends_the_refusals_before() {
        let mut reporter = Reporter::new(&[(0, "a".to_owned())]);
        reporter.on_refusal(0, "full".to_owned());
        reporter.on_evaluation(0);
        assert_eq!(reporter.problems(), "a: no response");
    }
}

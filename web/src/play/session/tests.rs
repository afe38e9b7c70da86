//! Sessions with models that need no weights, without sockets.

use std::sync::Arc;

use clap::Parser;
use serde_json::{Value, json};
use store::Store;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::*;
use crate::play::PlayArgs;

#[derive(Parser)]
struct Program {
    #[command(flatten)]
    play: PlayArgs,
}

fn play(arguments: &[&str]) -> Arc<Play> {
    let base = ["serve", "--device", "cpu", "--threads", "1"];
    let program = Program::parse_from(base.iter().chain(arguments));
    Arc::new(program.play.open(&Store::in_memory().expect("memory")).expect("models"))
}

/// A page, and what has happened elsewhere.
struct Page {
    session: Session,
    events: UnboundedReceiver<SessionEvent>,
}

impl Page {
    fn new(play: &Arc<Play>, visitor: u64) -> Page {
        let (sender, events) = unbounded_channel();
        Page { session: Session::new(Arc::clone(play), VisitorId::Page(visitor), sender), events }
    }

    fn send(&mut self, id: u32, action: &Value) {
        self.session.message(&json!({ "id": id, "do": action }).to_string());
    }

    /// The replies that there are.
    fn replies(&mut self) -> Vec<Value> {
        let replies = self.session.take_replies();
        replies.iter().map(|reply| serde_json::from_str(&reply.text()).expect("JSON")).collect()
    }

    /// Takes one thing that happens elsewhere.
    fn happen(&mut self) {
        let event = self.events.blocking_recv().expect("the session has a sender");
        self.session.handle_event(event);
    }

    /// Sends a request and returns its replies, to the first that has one of these.
    fn request(&mut self, id: u32, action: &Value, last: &[&str]) -> Vec<Value> {
        self.send(id, action);
        let mut all = Vec::new();
        loop {
            for reply in self.replies() {
                let is_partial = reply["analysis"]["report"]["isDuringSearch"] == true;
                let is_last = !is_partial && last.iter().any(|name| reply.get(name).is_some());
                all.push(reply);
                if is_last {
                    return all;
                }
            }
            self.happen();
        }
    }

    /// Takes what happens elsewhere, and tries again what waits for a model, until so many replies have this.
    fn wait_for(&mut self, name: &str, count: usize) {
        let mut replied = 0;
        testing::wait_until(name, || {
            self.session.tell_places();
            while let Ok(event) = self.events.try_recv() {
                self.session.handle_event(event);
            }
            replied += self.replies().iter().filter(|reply| reply.get(name).is_some()).count();
            replied == count
        });
    }

    fn error(&mut self, id: u32, action: &Value) -> String {
        let replies = self.request(id, action, &["error"]);
        replies.last().expect("a reply")["error"].as_str().expect("an error").to_owned()
    }
}

fn game(size: usize, moves: &[(&str, &str)]) -> Value {
    json!({ "size": size, "komi": 7.0, "moves": moves })
}

fn analyze(size: usize, visits: u32) -> Value {
    json!({ "analyze": { "game": game(size, &[("B", "C3")]), "model": "uniform", "visits": visits } })
}

/// The page of a visitor whose analysis does not end.
fn occupied(play: &Arc<Play>) -> Page {
    let mut page = Page::new(play, 1);
    page.send(1, &analyze(19, 10_000_000));
    page.happen();
    page
}

#[test]
fn analysis_is_searched_once_and_known_to_every_visitor_then() {
    let play = play(&[]);
    let replies = Page::new(&play, 1).request(1, &analyze(5, 30), &["analysis"]);
    assert_eq!(replies[0]["position"]["toMove"], "W");
    let found = &replies.last().expect("a reply")["analysis"];
    assert_eq!((&found["known"], &found["report"]["rootInfo"]["visits"]), (&json!(false), &json!(31)));
    let again = Page::new(&play, 2).request(1, &analyze(5, 30), &["analysis"]);
    let known = &again.last().expect("a reply")["analysis"];
    assert_eq!((&known["known"], &known["report"]), (&json!(true), &found["report"]));
}

#[test]
fn model_without_time_passes_no_move() {
    let play = play(&[]);
    let action = json!({ "genmove": { "game": game(5, &[]), "model": "uniform", "visits": 20, "seconds": 0.0 } });
    let replies = Page::new(&play, 1).request(1, &action, &["move"]);
    let vertex = &replies.last().expect("a reply")["move"]["vertex"];
    assert!(vertex.as_str().is_some_and(|vertex| !["pass", "resign"].contains(&vertex)), "{vertex}");
}

#[test]
fn models_move_or_resign_and_pass_when_all_is_decided() {
    let play = play(&[]);
    let mut page = Page::new(&play, 1);
    let mut genmove = |id, game: Value, resign: Value, draw: Value| {
        let action =
            json!({ "genmove": { "game": game, "model": "uniform", "visits": 20, "resign": resign, "draw": draw } });
        page.request(id, &action, &["move"]).pop().expect("a reply")["move"].clone()
    };
    let played = genmove(1, game(5, &[]), Value::Null, json!(3));
    assert_eq!(played["position"]["board"].as_str().expect("a board").matches('X').count(), 1);
    // A model without a network expects a draw. It resigns only after a fifth of the points.
    let opening = [("B", "C3"), ("W", "B2"), ("B", "D4"), ("W", "B4"), ("B", "D2")];
    assert_eq!(genmove(2, game(5, &opening), json!(0.9), Value::Null)["vertex"], "resign");
    assert_ne!(genmove(2, game(5, &opening[..4]), json!(0.9), Value::Null)["vertex"], "resign");
    // A wall with two eyes decides the game.
    let alive = json!({ "size": 3, "komi": 7.0, "initialPlayer": "W",
        "initialStones": [["B", "A2"], ["B", "B2"], ["B", "C2"], ["B", "B1"], ["B", "B3"]] });
    let decided = genmove(3, alive, Value::Null, Value::Null);
    assert_eq!(
        (&decided["vertex"], &decided["winrate"], &decided["position"]["over"]),
        (&json!("pass"), &Value::Null, &json!(true))
    );
}

#[test]
fn networks_with_auxiliary_heads_predict_ownership_and_score() {
    let play = play(&[]);
    let mut page = Page::new(&play, 1);
    let mut predict = |id, model: &str, moves: &[(&str, &str)]| {
        let action = json!({ "predict": { "game": game(9, moves), "model": model } });
        page.request(id, &action, &["prediction"]).pop().expect("a reply")["prediction"].clone()
    };
    // White leaves the whole board to Black.
    let black = [("B", "E5"), ("W", "pass"), ("B", "C5"), ("W", "pass"), ("B", "G5"), ("W", "pass"), ("B", "E3")];
    let far = predict(1, "9x9-demo", &black);
    let owners: Vec<f64> = serde_json::from_value(far["ownership"].clone()).expect("numbers");
    assert_eq!(owners.len(), 81);
    assert!(owners.iter().all(|owner| (-1.0..=1.0).contains(owner)));
    assert!(owners.iter().sum::<f64>() > 40.0, "{owners:?}");
    let lead = |prediction: &Value| prediction["scoreLead"].as_f64().expect("a number");
    let even = predict(2, "9x9-demo", &[]);
    assert!(lead(&far) > lead(&even) + 20.0, "{} {}", lead(&far), lead(&even));
    // A model without a network predicts nothing.
    assert_eq!(predict(3, "uniform", &[]), json!({ "ownership": null, "scoreLead": null }));
}

#[test]
fn review_has_all_positions_and_then_the_losses() {
    let play = play(&[]);
    let mut page = Page::new(&play, 1);
    let moves = [("B", "C3"), ("W", "B2"), ("B", "pass"), ("W", "D4")];
    let review = json!({ "review": { "game": game(5, &moves), "model": "uniform", "visits": 10 } });
    for known in [false, true] {
        let replies = page.request(1, &review, &["losses"]);
        let (losses, reports) = replies.split_last().expect("replies");
        let mut turns: Vec<u64> =
            reports.iter().map(|reply| reply["analysis"]["report"]["turnNumber"].as_u64().expect("a turn")).collect();
        turns.sort_unstable();
        assert_eq!(turns, [0, 1, 2, 3, 4]);
        assert_eq!(losses["losses"].as_array().map(Vec::len), Some(4));
        assert!(reports.iter().all(|reply| reply["analysis"]["known"] == known));
    }
    let save = json!({ "save": { "game": game(5, &moves), "model": "uniform", "visits": 10, "black": "a]b", "result": "W+R" } });
    let replies = page.request(2, &save, &["sgf"]);
    let sgf = replies[0]["sgf"]["text"].as_str().expect("a file");
    assert!(
        sgf.contains("PB[a\\]b]") && sgf.contains("RE[W+R]") && sgf.contains("KT[") && sgf.contains("SBKV["),
        "{sgf}"
    );
}

#[test]
fn file_says_how_many_positions_have_an_analysis_in_memory() {
    let line = json!({ "game": game(5, &[("B", "C3")]), "model": "uniform", "visits": 10 });
    let tree = json!({ "game": game(5, &[]), "tree": [{ "played": ["B", "C3"] }], "model": "uniform", "visits": 10 });
    for (mib, analysed) in [("64", 1), ("0", 0)] {
        let play = play(&["--reports-mib", mib]);
        let mut page = Page::new(&play, 1);
        page.request(1, &analyze(5, 10), &["analysis"]);
        for save in [&line, &tree] {
            let replies = page.request(2, &json!({ "save": save }), &["sgf"]);
            let file = &replies[0]["sgf"];
            let values = file["text"].as_str().expect("a file").matches("SBKV[").count();
            assert_eq!((&file["analysed"], values), (&json!(analysed), analysed), "{mib} MiB: {file}");
        }
    }
}

#[test]
fn queue_is_fair_and_closed_pages_free_their_place() {
    let play = play(&["--searches", "1", "--most-visits", "10000000"]);
    let long = occupied(&play);
    let mut page = Page::new(&play, 2);
    page.send(1, &analyze(5, 30));
    assert!(page.session.tell_places());
    let told = page.replies().pop().expect("a reply");
    assert_eq!(told, json!({ "id": 1, "queued": 0 }));
    assert_eq!(play.desk.waiting(), 1);
    page.session.tell_places();
    assert!(page.replies().is_empty(), "the place is the same");
    drop(long);
    loop {
        page.happen();
        if page.replies().iter().any(|reply| reply["analysis"]["report"]["isDuringSearch"] == false) {
            break;
        }
    }
    assert!(!page.session.tell_places());
}

#[test]
fn review_shows_its_place_in_the_queue() {
    let play = play(&["--searches", "1", "--most-visits", "10000000"]);
    let long = occupied(&play);
    let mut page = Page::new(&play, 2);
    page.send(1, &json!({ "review": { "game": game(5, &[("B", "C3")]), "model": "uniform", "visits": 10 } }));
    assert!(page.session.tell_places());
    assert_eq!(page.replies(), [json!({ "id": 1, "queued": 0 })]);
    drop(long);
    while !page.replies().iter().any(|reply| reply.get("losses").is_some()) {
        page.happen();
    }
    assert!(!page.session.tell_places());
}

#[test]
fn models_that_are_open_are_bounded_and_requests_wait_for_one_that_is_idle() {
    let play = play(&["--open-models", "1", "--most-visits", "10000000"]);
    let long = occupied(&play);
    let mut page = Page::new(&play, 2);
    page.send(1, &json!({ "analyze": { "game": game(9, &[]), "model": "9x9-demo", "visits": 2 } }));
    page.happen();
    assert!(page.session.tell_places());
    assert_eq!(page.replies().pop(), Some(json!({ "id": 1, "queued": 0 })));
    page.happen();
    assert!(page.session.tell_places());
    assert!(page.replies().is_empty(), "it was tried again, and its place is the same");
    let mut other = Page::new(&play, 3);
    other.send(1, &json!({ "planes": { "game": game(9, &[]), "model": "9x9-demo" } }));
    other.happen();
    assert!(other.session.tell_places());
    assert_eq!(other.replies().pop(), Some(json!({ "id": 1, "queued": 0 })), "all that needs a model waits");
    drop(long);
    loop {
        page.session.tell_places();
        if page.replies().iter().any(|reply| reply["analysis"]["report"]["isDuringSearch"] == false) {
            break;
        }
        while let Ok(event) = page.events.try_recv() {
            page.session.handle_event(event);
        }
    }
}

#[test]
fn stopped_requests_leave_the_queue_and_have_no_replies() {
    let play = play(&["--searches", "1", "--most-visits", "10000000"]);
    let _long = occupied(&play);
    let mut page = Page::new(&play, 2);
    page.send(1, &analyze(5, 30));
    page.replies();
    page.send(2, &json!({ "stop": { "id": 1 } }));
    assert_eq!(play.desk.waiting(), 0);
    assert!(page.replies().is_empty() && !page.session.tell_places());
}

#[test]
fn events_of_a_stopped_request_are_not_those_of_the_next_with_its_number() {
    let play = play(&["--most-visits", "10000000"]);
    let mut page = occupied(&play);
    page.send(2, &json!({ "stop": { "id": 1 } }));
    page.replies();
    // The search that was stopped ends with the result that it had.
    let replies = page.request(1, &analyze(5, 30), &["analysis", "error"]);
    let found = &replies.last().expect("a reply")["analysis"];
    assert_eq!(found["report"]["rootInfo"]["visits"], 31);
    let known = Page::new(&play, 2).request(1, &analyze(5, 30), &["analysis"]);
    assert_eq!(known.last().expect("a reply")["analysis"]["report"], found["report"]);
}

#[test]
fn requests_that_cannot_be_done_have_an_error() {
    let play = play(&[]);
    let mut page = Page::new(&play, 1);
    for (action, reason) in [
        (analyze(5, 0), "0 visits: a search here has 1 to 10000"),
        (analyze(5, 10_001), "10001 visits"),
        (
            json!({ "analyze": { "game": game(13, &[]), "model": "9x9-demo", "visits": 1 } }),
            "plays on 9x9, and the board is 13x13",
        ),
        (json!({ "analyze": { "game": game(9, &[]), "model": "v1-2", "visits": 1 } }), "v1"),
        (json!({ "analyze": { "game": game(9, &[]), "model": "../v1", "visits": 1 } }), "is not a model"),
        (
            json!({ "position": { "game": game(9, &[("B", "A1"), ("W", "A1")]) } }),
            "move 2 (white A1): the point is occupied",
        ),
        (json!({ "open": { "sgf": "(;SZ[9]" } }), "has no end"),
        (json!({ "score": { "game": game(9, &[]), "dead": ["A1"], "model": "uniform" } }), "dead stone"),
    ] {
        let error = page.error(1, &action);
        assert!(error.contains(reason), "{error}");
    }
    let mut busy = Page::new(&play, 2);
    for id in 0..=MOST_REQUESTS as u32 {
        busy.send(id, &json!({ "planes": { "game": game(9, &[]), "model": "uniform" } }));
    }
    assert!(busy.replies().iter().any(|reply| reply["error"] == "more than 16 requests at a time"));
}

#[test]
fn planes_are_those_of_the_model() {
    let play = play(&[]);
    let planes = json!({ "planes": { "game": game(5, &[("B", "A5")]), "model": "uniform" } });
    let replies = Page::new(&play, 1).request(1, &planes, &["planes"]);
    let planes = replies[0]["planes"]["planes"].as_array().expect("planes");
    let opponents = planes
        .iter()
        .find(|plane| plane["name"].as_str().is_some_and(|name| name.starts_with("opponent’s stones")))
        .expect("a plane");
    assert_eq!(opponents["values"][0], 1);
    assert!(planes.iter().all(|plane| plane["values"].as_array().is_some_and(|values| values.len() == 25)));
}

#[test]
fn model_that_is_being_opened_occupies_no_thread() {
    let play = play(&[]);
    let place = play.engines.place("random");
    let opening = place.lock();
    let planes = |model: &str| json!({ "planes": { "game": game(5, &[]), "model": model } });
    let (mut anna, mut ben) = (Page::new(&play, 1), Page::new(&play, 2));
    let requests = 8;
    for id in 1..=requests {
        anna.send(id, &planes("random"));
    }
    // All of them learn that they have to wait, on four threads.
    (0..requests).for_each(|_| anna.happen());
    assert!(anna.replies().is_empty() && anna.session.tell_places());
    assert!(ben.request(1, &planes("uniform"), &["planes"]).iter().any(|reply| reply.get("planes").is_some()));
    drop(opening);
    anna.wait_for("planes", requests as usize);
}

#[test]
fn model_whose_heads_are_being_read_occupies_no_thread() {
    let play = play(&[]);
    let model = play.engines.open("9x9-demo", Size::new(9).expect("a size")).expect("a model");
    let reading = model.heads_read_by_another();
    let (mut anna, mut ben) = (Page::new(&play, 1), Page::new(&play, 2));
    let requests = 8;
    for id in 1..=requests {
        anna.send(id, &json!({ "predict": { "game": game(9, &[]), "model": "9x9-demo-1" } }));
    }
    // All of them wait, and none on one of the four threads that open models, or of those for other work.
    (0..requests).for_each(|_| anna.happen());
    assert!(anna.replies().is_empty() && anna.session.tell_places());
    for (id, model) in [(1, "random"), (2, "9x9-demo-1")] {
        let planes = json!({ "planes": { "game": game(9, &[]), "model": model } });
        ben.send(id, &planes);
        ben.wait_for("planes", 1);
    }
    assert!(!model.has_heads_read());
    drop(reading);
    anna.wait_for("prediction", requests as usize);
    assert!(model.predictor().is_some());
}

//! Output of a search while it runs.

use std::time::{Duration, Instant};

use go::{Color, Move, Size};
use mcts::{Avoid, RootMove, Search, six_places};
use serde_json::{Value, json};

use super::Failure;
use super::controller::Controller;
use super::parse::color;
use super::restriction::Restriction;

/// Who is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Leela Zero's: whole numbers, of 10,000.
    LeelaZero,
    /// KataGo's, and Sabaki's own: shares, from 0 to 1.
    KataGo,
    /// That of CGOS: one JSON object a line, with shares
    /// (<https://github.com/zakki/cgos/wiki/GTP-tournament-game-expansion>).
    Cgos,
}

/// Content and interval of the output.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AnalysisRequest {
    pub(super) dialect: Dialect,
    /// The player whose move it is, if that is said.
    pub(super) color: Option<Color>,
    /// `None` where it is not said.
    interval: Option<Duration>,
    most_moves: usize,
    path_visits: bool,
    edge_visits: bool,
    root: bool,
    restriction: Restriction,
}

/// The shortest interval: no screen is faster.
const SHORTEST: u64 = 1;

/// The default interval.
const DEFAULT: u64 = 100;

/// The longest interval. Clients send longer ones to see nothing.
const LONGEST: Duration = Duration::from_secs(3600);

impl AnalysisRequest {
    /// Reads `[COLOR] [INTERVAL] [KEY VALUE]…` for a board of this size, the interval in hundredths of a second. The
    /// keys `avoid` and `allow` have three values.
    pub(super) fn parse(dialect: Dialect, size: Size, arguments: &[&str]) -> Result<AnalysisRequest, Failure> {
        let mut request = AnalysisRequest {
            dialect,
            color: None,
            interval: None,
            most_moves: usize::MAX,
            path_visits: false,
            edge_visits: false,
            root: false,
            restriction: Restriction::default(),
        };
        let mut words = arguments.iter().copied().peekable();
        request.color = words.next_if(|word| color(word).is_ok()).map(color).transpose()?;
        if let Some(interval) = words.next_if(|word| word.parse::<f64>().is_ok()) {
            request.interval = Some(duration(interval)?);
        }
        while let Some(key) = words.next() {
            match key {
                "avoid" | "allow" => request.restriction.add(key, size, &mut words)?,
                _ => request.put(key, words.next().ok_or(Failure::Syntax)?)?,
            }
        }
        Ok(request)
    }

    /// Shows nothing before the end where no interval was said.
    pub(super) fn without_haste(mut self) -> AnalysisRequest {
        self.interval.get_or_insert(LONGEST);
        self
    }

    /// Moves that the search leaves out.
    pub(super) fn avoid(&self) -> &[Avoid] {
        self.restriction.avoid()
    }

    fn interval(&self) -> Duration {
        self.interval.unwrap_or(Duration::from_millis(10 * DEFAULT))
    }

    fn put(&mut self, key: &str, value: &str) -> Result<(), Failure> {
        let flag = || match value {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(Failure::Syntax),
        };
        match key {
            "interval" => self.interval = Some(duration(value)?),
            "maxmoves" => self.most_moves = value.parse().map_err(|_| Failure::Syntax)?,
            "pvVisits" => self.path_visits = flag()?,
            "pvEdgeVisits" => self.edge_visits = flag()?,
            "rootInfo" => self.root = flag()?,
            // Moves that were never visited have nothing to show.
            "minmoves" => value.parse::<usize>().map(drop).map_err(|_| Failure::Syntax)?,
            // Not reported here; the web application shows the ownership of models with this head.
            "ownership" | "ownershipStdev" | "movesOwnership" | "movesOwnershipStdev" => flag().map(drop)?,
            _ => return Err(Failure::Syntax),
        }
        Ok(())
    }

    /// One line with all moves that were visited, the best first; `None` before there is any.
    pub(super) fn line(&self, search: &Search) -> Option<String> {
        let moves = moves(search)?;
        let shown = moves.iter().take(self.most_moves);
        if self.dialect == Dialect::Cgos {
            let moves: Vec<Value> = shown.map(|root| candidate(search, root)).collect();
            let winrate = six_places(search.policy_value().winrate(search.game().to_move()));
            return Some(json!({ "winrate": winrate, "visits": search.visits(), "moves": moves }).to_string());
        }
        let infos: Vec<String> = shown.enumerate().map(|(order, root)| self.info(search, order, root)).collect();
        Some(infos.join(" ") + &self.root_info(search))
    }

    fn info(&self, search: &Search, order: usize, root: &RootMove) -> String {
        let size = search.game().size();
        let (to_move, visits) = (search.game().to_move(), root.visits);
        let mv = root.mv.to_gtp(size);
        let bound = root.value.lcb(to_move, visits);
        let shares = [root.value.winrate(to_move), root.prior, bound.winrate(to_move)];
        let [winrate, prior, lcb] = shares.map(|share| self.number(share));
        let path: Vec<(Move, u32)> = search.variation(root.mv);
        let pv: String = path.iter().map(|(mv, _)| format!(" {}", mv.to_gtp(size))).collect();
        let mut info =
            format!("info move {mv} visits {visits} winrate {winrate} prior {prior} lcb {lcb} order {order} pv{pv}");
        // In a tree a node has the visits of its edge. In KataGo's graph several edges may lead to a node.
        let visits: String = path.iter().map(|(_, visits)| format!(" {visits}")).collect();
        for (is_shown, name) in [(self.path_visits, " pvVisits"), (self.edge_visits, " pvEdgeVisits")] {
            if is_shown {
                info.extend([name, &visits]);
            }
        }
        info
    }

    fn root_info(&self, search: &Search) -> String {
        if !self.root {
            return String::new();
        }
        let winrate = self.number(search.policy_value().winrate(search.game().to_move()));
        format!(" rootInfo visits {} winrate {winrate}", search.visits())
    }

    fn number(&self, share: f32) -> String {
        match self.dialect {
            Dialect::LeelaZero => format!("{:.0}", 10_000.0 * share),
            // Clients tell the two apart by the point.
            Dialect::KataGo | Dialect::Cgos => format!("{share:.6}"),
        }
    }
}

/// The moves that were visited, the best first; `None` before there is any.
fn moves(search: &Search) -> Option<Vec<RootMove>> {
    let moves = if search.is_expanded() { search.ranked_moves() } else { Vec::new() };
    Some(moves).filter(|moves| !moves.is_empty())
}

/// A move as CGOS shows it; its variation begins behind the move.
fn candidate(search: &Search, root: &RootMove) -> Value {
    let size = search.game().size();
    let pv: Vec<String> = search.variation(root.mv).iter().skip(1).map(|(mv, _)| mv.to_gtp(size)).collect();
    json!({
        "move": root.mv.to_gtp(size),
        "visits": root.visits,
        "winrate": six_places(root.value.winrate(search.game().to_move())),
        "prior": six_places(root.prior),
        "pv": pv.join(" "),
    })
}

fn duration(centiseconds: &str) -> Result<Duration, Failure> {
    let number: f64 = centiseconds.parse().map_err(|_| Failure::Syntax)?;
    let number = Some(number).filter(|number| number.is_finite() && *number >= 0.0).ok_or(Failure::Syntax)?;
    // The conversion takes the largest number for one that is too large.
    Ok(Duration::from_millis((10.0 * number) as u64).clamp(Duration::from_millis(10 * SHORTEST), LONGEST))
}

/// Shows a search at times.
pub(super) struct Ticker<'a> {
    request: &'a AnalysisRequest,
    next: Instant,
}

impl<'a> Ticker<'a> {
    pub(super) fn new(request: &'a AnalysisRequest) -> Ticker<'a> {
        Ticker { request, next: Instant::now() + request.interval() }
    }

    /// Shows the search if it is time.
    pub(super) fn tick(&mut self, controller: &mut dyn Controller, search: &Search) {
        let now = Instant::now();
        if now < self.next {
            return;
        }
        // A line that was late is not made up for.
        self.next = now + self.request.interval();
        if let Some(line) = self.request.line(search) {
            controller.say(&line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<AnalysisRequest, Failure> {
        let size = Size::new(5).expect("a size");
        AnalysisRequest::parse(Dialect::KataGo, size, &text.split_whitespace().collect::<Vec<_>>())
    }

    #[test]
    fn requests_are_read_as_clients_write_them() {
        let plain = parse("").expect("nothing has to be said");
        assert_eq!((plain.color, plain.interval().as_millis(), plain.most_moves), (None, 1000, usize::MAX));
        for (text, color, milliseconds) in [
            ("B 10", Some(Color::Black), 100),
            ("white", Some(Color::White), 1000),
            ("25", None, 250),
            ("W interval 5", Some(Color::White), 50),
            ("interval 50 maxmoves 3 minmoves 2 ownership true", None, 500),
            ("0", None, 10),
            ("interval 999999", None, 3_600_000),
            ("1e19", None, 3_600_000),
        ] {
            let request = parse(text).expect(text);
            assert_eq!((request.color, request.interval().as_millis()), (color, milliseconds), "{text}");
        }
        let all = parse("b 10 rootInfo true pvVisits true pvEdgeVisits true maxmoves 2").expect("a request");
        assert!(all.root && all.path_visits && all.edge_visits && all.most_moves == 2);
        for text in
            ["red 10", "b -1", "b nan", "b inf", "b 10 ownership", "ownership maybe", "b 10 20", "b 10 colour red"]
        {
            assert_eq!(parse(text), Err(Failure::Syntax), "{text}");
        }
        let restricted = parse("b 10 avoid b D4 1 maxmoves 2 avoid w pass,A1 2 rootInfo true").expect("a request");
        assert_eq!((restricted.avoid().len(), restricted.most_moves, restricted.root), (2, 2, true));
        assert!(matches!(parse("10 avoid b D4"), Err(Failure::Argument(_))));
    }
}

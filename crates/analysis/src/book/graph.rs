//! The positions of a book as they follow each other from the empty board: what each costs, and what each is worth.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use go::{Color, Game, Move, Size, Symmetry};

use super::{BookKey, Entry};

/// Cost of any move.
const STEP: f64 = 1.0;
/// Cost of the surprisal of a move, for each nat of −ln of its prior.
const SURPRISAL: f64 = 1.0;
/// Cost of a move that is worse than the best one, for a sure win lost for a sure loss.
pub(super) const GAP: f64 = 20.0;
/// The least prior that counts.
const LEAST_PRIOR: f64 = 1e-4;
/// Sweeps of the minimax at most. Lines of a book are shorter, and superko leaves few circles.
const SWEEPS: usize = 400;

/// Value of a position for Black, with a lower and an upper bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// At least.
    pub low: f64,
    /// The expected value.
    pub value: f64,
    /// At most.
    pub high: f64,
}

/// A move from a position.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The move.
    pub mv: Move,
    /// The network's probability of it.
    pub prior: f32,
    /// Visits of the search of the position before it.
    pub visits: u32,
    /// Their mean value for Black.
    pub value: f32,
    /// What it adds to the cost.
    pub cost: f64,
    /// The position after it.
    pub key: BookKey,
    /// Its place in the graph, if it is in the book.
    pub child: Option<usize>,
}

/// A position of a book that can be reached.
#[derive(Clone, Debug)]
pub struct Spot {
    /// The search result.
    pub entry: Entry,
    /// The cheapest line to it. A game takes several kilobytes, and a book may have a million positions.
    pub line: Vec<Move>,
    /// Turns the game of the line as the entry is.
    pub symmetry: Symmetry,
    /// Cost of the line: its length, the surprisal of its moves, and their loss.
    pub cost: f64,
    /// Its moves, the best by minimax first.
    pub edges: Vec<Edge>,
    /// What it is worth by minimax.
    pub bounds: Bounds,
}

/// A book from the empty board.
#[derive(Clone, Debug)]
pub struct Graph {
    size: Size,
    spots: Vec<Spot>,
    places: BTreeMap<BookKey, usize>,
}

/// A line that waits for its turn: the cheapest first, of equals the first.
type OpenLine = (Reverse<u64>, Reverse<usize>);

impl Spot {
    /// The best move, if it leads to a position of the book.
    pub fn best(&self) -> Option<&Edge> {
        self.edges.first().filter(|best| best.child.is_some())
    }
}

impl Bounds {
    /// The value of a search with this number of visits.
    fn searched(value: f64, visits: u32) -> Bounds {
        let spread = if visits == 0 { 0.0 } else { ((1.0 - value * value).max(0.0) / f64::from(visits)).sqrt() };
        Bounds { low: (value - spread).max(-1.0), value, high: (value + spread).min(1.0) }
    }

    /// What a player may hope for.
    fn at_best(self, player: Color) -> f64 {
        if player == Color::Black { self.high } else { self.low }
    }
}

impl Graph {
    /// Follows the moves of a book from the empty board.
    pub fn new(size: Size, entries: BTreeMap<BookKey, Entry>) -> Graph {
        // Costs depend on values, and values on no cost: so the first walk finds the values, the second the cheapest
        // lines.
        let mut graph = Graph::follow(size, entries, &BTreeMap::new());
        graph.minimax();
        let worth = graph.spots.iter().map(|spot| (spot.entry.key, spot.bounds)).collect();
        let entries = graph.spots.into_iter().map(|spot| (spot.entry.key, spot.entry)).collect();
        graph = Graph::follow(size, entries, &worth);
        graph.minimax();
        graph.sort_edges();
        graph
    }

    /// The positions in the order of their costs, where `worth` says what is known of their values. Each has the value
    /// of its search.
    fn follow(size: Size, mut entries: BTreeMap<BookKey, Entry>, worth: &BTreeMap<BookKey, Bounds>) -> Graph {
        let mut graph = Graph { size, spots: Vec::new(), places: BTreeMap::new() };
        // Lines by the position before their last move, and the place of that move; none for the empty board.
        let mut waiting: Vec<Option<(usize, usize)>> = vec![None];
        let mut open: BinaryHeap<OpenLine> = BinaryHeap::from([(Reverse(0), Reverse(0))]);
        while let Some((Reverse(cost), Reverse(number))) = open.pop() {
            let Some(game) = graph.waiting_game(waiting[number], &entries) else { continue };
            let (symmetry, key) = BookKey::new(&game);
            let Some(entry) = entries.remove(&key) else { continue };
            let (cost, place) = (f64::from_bits(cost), graph.spots.len());
            let edges = edges(&game, symmetry, &entry, worth);
            for (nth, edge) in edges.iter().enumerate().filter(|(_, edge)| entries.contains_key(&edge.key)) {
                // Costs are not negative, so that their bits are in their order.
                open.push((Reverse((cost + edge.cost).to_bits()), Reverse(waiting.len())));
                waiting.push(Some((place, nth)));
            }
            graph.places.insert(key, place);
            let bounds = Bounds::searched(f64::from(entry.value), entry.visits);
            graph.spots.push(Spot { entry, line: game.moves().to_vec(), symmetry, cost, edges, bounds });
        }
        for spot in &mut graph.spots {
            spot.edges.iter_mut().for_each(|edge| edge.child = graph.places.get(&edge.key).copied());
        }
        graph
    }

    /// The game of a line that has its turn; `None` where a cheaper one led to its position.
    fn waiting_game(&self, line: Option<(usize, usize)>, entries: &BTreeMap<BookKey, Entry>) -> Option<Game> {
        let Some((place, nth)) = line else { return Some(Game::new(self.size)) };
        let (spot, edge) = (&self.spots[place], &self.spots[place].edges[nth]);
        if !entries.contains_key(&edge.key) {
            return None;
        }
        let mut game = self.game(spot);
        game.play(edge.mv).ok().map(|()| game)
    }

    /// The game of the cheapest line to a position.
    pub fn game(&self, spot: &Spot) -> Game {
        let mut game = Game::new(self.size);
        for mv in &spot.line {
            game.play(*mv).expect("lines of a graph were played");
        }
        game
    }

    /// The board.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The positions, the cheapest first; the empty board is the first of all.
    pub fn spots(&self) -> &[Spot] {
        &self.spots
    }

    /// The position of a game, with its moves as the game has them; `None` where the book does not have the position.
    pub fn at(&self, game: &Game) -> Option<(&Spot, Vec<Edge>)> {
        let (symmetry, key) = BookKey::new(game);
        let (spot, size, back) = (&self.spots[*self.places.get(&key)?], game.size(), symmetry.inverse());
        // Another line may have led to the position, which is turned as that one has it.
        let turned = |mv: Move| back.apply_move(size, spot.symmetry.apply_move(size, mv));
        let edges = spot.edges.iter().map(|edge| Edge { mv: turned(edge.mv), ..edge.clone() });
        Some((spot, edges.collect()))
    }

    /// The best moves from the position of a game, as far as the book has them.
    pub fn best_line(&self, from: &Game) -> Vec<Move> {
        let mut game = from.clone();
        let mut line = Vec::new();
        // A line that meets a position again would go round for ever.
        while line.len() < self.spots.len() {
            let best = self.at(&game).and_then(|(_, edges)| edges.into_iter().next());
            match best.filter(|best| best.child.is_some()) {
                Some(best) if game.play(best.mv).is_ok() => line.push(best.mv),
                _ => break,
            }
        }
        line
    }

    /// Values from the ends to the empty board.
    fn minimax(&mut self) {
        for _ in 0..SWEEPS {
            let mut changed = false;
            for place in (0..self.spots.len()).rev() {
                let bounds = self.bounds(&self.spots[place]);
                changed |= bounds != self.spots[place].bounds;
                self.spots[place].bounds = bounds;
            }
            if !changed {
                return;
            }
        }
    }

    /// The best moves first; of equals the one that the search likes better.
    fn sort_edges(&mut self) {
        for place in 0..self.spots.len() {
            let mut edges = std::mem::take(&mut self.spots[place].edges);
            let mover = self.spots[place].entry.mover();
            let worth = |edge: &Edge| f64::from(mover.sign()) * self.worth(edge, mover).value;
            edges.sort_by(|a, b| worth(b).total_cmp(&worth(a)));
            self.spots[place].edges = edges;
        }
    }

    /// The best of the moves in the book, and of those that are not: of these, what the search is sure of.
    fn bounds(&self, spot: &Spot) -> Bounds {
        if spot.edges.iter().all(|edge| edge.child.is_none()) {
            return Bounds::searched(f64::from(spot.entry.value), spot.entry.visits);
        }
        let mover = spot.entry.mover();
        let all = spot.edges.iter().map(|edge| self.worth(edge, mover));
        let better = |a: f64, b: f64| if mover == Color::Black { a.max(b) } else { a.min(b) };
        let best = |a: Bounds, b: Bounds| Bounds {
            low: better(a.low, b.low),
            value: better(a.value, b.value),
            high: better(a.high, b.high),
        };
        all.reduce(best).unwrap_or(spot.bounds)
    }

    /// What a move of this player is worth: the position after it, or, outside the book, what the search is sure of.
    pub fn worth(&self, edge: &Edge, mover: Color) -> Bounds {
        match edge.child {
            Some(child) => self.spots[child].bounds,
            None => {
                let found = Bounds::searched(f64::from(edge.value), edge.visits);
                Bounds { value: found.at_best(mover.opponent()), ..found }
            }
        }
    }

    /// The positions that are not in the book, each once, and can be reached most cheaply: at most so many, the
    /// cheapest first.
    pub fn cheapest(&self, most: usize) -> Vec<Game> {
        let mut open: BTreeMap<BookKey, (f64, usize, Move)> = BTreeMap::new();
        for (place, spot) in self.spots.iter().enumerate() {
            for edge in spot.edges.iter().filter(|edge| edge.child.is_none()) {
                let cost = spot.cost + edge.cost;
                let known = open.entry(edge.key).or_insert((f64::INFINITY, place, edge.mv));
                if cost < known.0 {
                    *known = (cost, place, edge.mv);
                }
            }
        }
        let mut open: Vec<_> = open.into_iter().collect();
        open.sort_by(|(a, (one, ..)), (b, (other, ..))| one.total_cmp(other).then(a.cmp(b)));
        let play = |(_, (_, place, mv)): (BookKey, (f64, usize, Move))| {
            let mut game = self.game(&self.spots[place]);
            game.play(mv).ok().map(|()| game)
        };
        open.into_iter().filter_map(play).take(most).collect()
    }

    /// Positions where search and minimax differ by more than `most`, and that were searched with fewer than so many
    /// visits, where more of them are possible.
    pub fn disputed(&self, most: f64, visits: u32) -> impl Iterator<Item = &Spot> {
        let differs = move |spot: &&Spot| (f64::from(spot.entry.value) - spot.bounds.value).abs() > most;
        let fewer = move |spot: &&Spot| (1..visits).contains(&spot.entry.visits) && !spot.entry.full;
        self.spots.iter().filter(fewer).filter(differs)
    }
}

/// The moves of a position with their costs. Moves that lead to images of one position are one: the first of them, with
/// what all of them have.
///
/// A move into the book loses what it loses by its upper bound: one that its own search refuted is expensive, however
/// much the search before it likes it.
fn edges(game: &Game, symmetry: Symmetry, entry: &Entry, worth: &BTreeMap<BookKey, Bounds>) -> Vec<Edge> {
    let mut found: Vec<Edge> = Vec::new();
    for (mv, one) in entry.moves_in(game.size(), symmetry) {
        let mut next = game.clone();
        if next.play(mv).is_err() {
            continue;
        }
        let key = BookKey::new(&next).1;
        let (prior, visits, value) = (one.prior, one.visits, one.value);
        match found.iter_mut().find(|edge| edge.key == key) {
            Some(same) => {
                // A file may have any numbers.
                let all = same.visits.saturating_add(visits);
                same.value = (same.value * same.visits as f32 + value * visits as f32) / all.max(1) as f32;
                (same.prior, same.visits) = (same.prior + prior, all);
            }
            None => found.push(Edge { mv, prior, visits, value, cost: 0.0, key, child: None }),
        }
    }
    let mover = entry.mover();
    let sign = f64::from(mover.sign());
    let expected = |edge: &Edge| sign * worth.get(&edge.key).map_or(f64::from(edge.value), |found| found.value);
    let hoped = |edge: &Edge| sign * worth.get(&edge.key).map_or(f64::from(edge.value), |found| found.at_best(mover));
    let best = found.iter().map(expected).fold(f64::NEG_INFINITY, f64::max);
    for edge in &mut found {
        let surprisal = -f64::from(edge.prior).clamp(LEAST_PRIOR, 1.0).ln();
        let gap = (best - hoped(edge)).max(0.0) / 2.0;
        edge.cost = STEP + SURPRISAL * surprisal + GAP * gap;
    }
    found
}

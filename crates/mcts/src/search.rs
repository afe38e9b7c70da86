//! The three verbs: select, expand, advance.

use config::QInit;
use go::{Color, Game, Illegal, Mark, Move, Scoring};
use rand::Rng;

use crate::formula::{exploration, q_init};
use crate::tree::{NodeId, State, Tree};
use crate::{Evaluation, Noise, Value};

/// What a search depends on besides the game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Value of an edge before its first visit.
    pub q_init: QInit,
    /// c_base of the exploration factor, in visits.
    pub c_puct_base: f32,
    /// c_init of the exploration factor.
    pub c_puct_init: f32,
    /// Keep the tree below a move that is played.
    pub reuse: bool,
    /// How games end and are counted.
    pub scoring: Scoring,
    /// Points added to White's area.
    pub komi: f32,
}

impl Settings {
    /// The settings of a run.
    pub fn new(search: &config::Search, game: &config::Game) -> Settings {
        Settings {
            q_init: search.q_init,
            c_puct_base: search.c_puct_base,
            c_puct_init: search.c_puct_init,
            reuse: search.reuse,
            scoring: match game.scoring {
                config::Scoring::PassAlive => Scoring::PassAlive,
                config::Scoring::Area => Scoring::Area,
            },
            komi: game.komi,
        }
    }
}

/// A position that wants an evaluation. It can be used once, by [`Search::expand`] of the search it came from.
#[derive(Debug, PartialEq)]
#[must_use = "a leaf that is not expanded keeps its virtual losses for ever"]
pub struct Leaf {
    node: NodeId,
    /// The move of the game at which it was handed out.
    turn: usize,
}

/// What a walk down the tree came to.
#[derive(Debug, PartialEq)]
pub enum Selected {
    /// A position that was never evaluated.
    Leaf(Leaf),
    /// The end of a game; its outcome is backed up already.
    Ended,
    /// A leaf that is waiting already. It carries one more virtual loss now, and still counts as one visit.
    Taken,
}

/// A followed edge of the root.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RootMove {
    /// The move.
    pub mv: Move,
    /// Its visits.
    pub visits: u32,
    /// Its prior, with noise if there was any.
    pub prior: f32,
    /// Mean of the values backed up through it.
    pub value: Value,
}

/// A search tree and the game whose present position is its root.
#[derive(Clone, Debug)]
pub struct Search {
    settings: Settings,
    game: Game,
    /// The present position of `game`, to come back to after a walk.
    root: Mark,
    tree: Tree,
    spare: Tree,
}

impl Search {
    /// A search of the position that `game` is in.
    pub fn new(game: Game, settings: Settings) -> Search {
        let root = game.mark();
        Search { settings, game, root, tree: Tree::default(), spare: Tree::default() }
    }

    /// The game; its present position is the root.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Walks down to a position that was never evaluated and shows it to `see`, with all its history.
    ///
    /// Every node of the path gets a virtual loss until the leaf is expanded.
    pub fn select(&mut self, see: &mut dyn FnMut(&Game)) -> Selected {
        let Some(root) = self.tree.root() else {
            let node = self.tree.add_root(legal_moves(&self.game));
            self.tree.add_virtual_loss(node);
            see(&self.game);
            return Selected::Leaf(Leaf { node, turn: self.game.turn() });
        };
        let turn = self.game.turn();
        let selected = self.walk(root, see).map_or_else(|end| end, |node| Selected::Leaf(Leaf { node, turn }));
        self.game.rewind(&self.root);
        selected
    }

    /// Leaves `game` at the end of the path. `Err` carries what is no leaf.
    fn walk(&mut self, root: NodeId, see: &mut dyn FnMut(&Game)) -> Result<NodeId, Selected> {
        let mut id = root;
        loop {
            self.tree.add_virtual_loss(id);
            let node = self.tree.node_mut(id);
            match &mut node.state {
                State::Waiting { selections } => {
                    *selections += 1;
                    return Err(Selected::Taken);
                }
                State::Ended => {
                    let value = node.value;
                    self.tree.back_up(id, value, 1);
                    return Err(Selected::Ended);
                }
                State::Expanded => {}
            }
            let slot = self.best_slot(id);
            self.follow(self.tree.moves(id)[slot]);
            match self.tree.children(id).get(slot).and_then(|child| child.node) {
                Some(child) => id = child,
                None => return self.add_leaf(id, see),
            }
        }
    }

    fn follow(&mut self, index: u16) {
        let mv = Move::from_index(self.game.size(), index.into()).expect("edges hold moves of this board");
        self.game.play(mv).expect("edges are legal moves");
    }

    fn add_leaf(&mut self, parent: NodeId, see: &mut dyn FnMut(&Game)) -> Result<NodeId, Selected> {
        if self.game.is_over(self.settings.scoring) {
            let value = self.outcome().black();
            let id = self.tree.add_child(parent, State::Ended, std::iter::empty());
            self.tree.node_mut(id).value = value;
            self.tree.back_up(id, value, 1);
            return Err(Selected::Ended);
        }
        see(&self.game);
        Ok(self.tree.add_child(parent, State::Waiting { selections: 1 }, legal_moves(&self.game)))
    }

    fn outcome(&self) -> Value {
        Value::of_margin(self.game.score(self.settings.scoring) as f32 - self.settings.komi)
    }

    /// The edge with the highest s·Q + U (see [`crate::formula`]); of equals the one with the lowest move.
    fn best_slot(&self, id: NodeId) -> usize {
        let node = self.tree.node(id);
        let sign = self.game.to_move().sign();
        let explore = exploration(self.tree.stats(id).visits, self.settings.c_puct_base, self.settings.c_puct_init);
        let (priors, moves) = (self.tree.priors(id), self.tree.moves(id));
        let init = sign * node.init;
        let mut best = usize::from(node.visited);
        let mut highest = priors.get(best).map_or(f32::NEG_INFINITY, |prior| init + explore * prior);
        for (slot, child) in self.tree.children(id).iter().enumerate() {
            // A virtual loss is a value of −1 for the side that moves here, added to the sum but not to the visits.
            let sum = init + sign * child.sum - f32::from(child.pending);
            let score = (sum + explore * priors[slot]) / (1 + child.visits) as f32;
            if score > highest || (score == highest && moves[slot] < moves[best]) {
                (best, highest) = (slot, score);
            }
        }
        best
    }

    /// Puts the evaluation of a leaf into the tree and backs it up; takes back its virtual losses.
    ///
    /// # Panics
    /// When the leaf is of another search, or a move was played since it was selected.
    pub fn expand(&mut self, leaf: Leaf, evaluation: Evaluation<'_>) {
        assert_eq!(leaf.turn, self.game.turn(), "a leaf is expanded before the next move is played");
        let mover = self.mover_at(leaf.node);
        let node = self.tree.node_mut(leaf.node);
        let State::Waiting { selections } = node.state else {
            panic!("a leaf is expanded once, by its own search");
        };
        node.state = State::Expanded;
        node.value = evaluation.value.black();
        node.init = q_init(self.settings.q_init, evaluation.value, mover).black();
        self.tree.set_priors(leaf.node, |moves, priors| legal_priors(evaluation.policy, moves, priors));
        self.tree.back_up(leaf.node, evaluation.value.black(), selections);
    }

    fn mover_at(&self, id: NodeId) -> Color {
        let (mut mover, mut at) = (self.game.to_move(), id);
        while let Some((parent, _)) = self.tree.node(at).parent {
            (mover, at) = (mover.opponent(), parent);
        }
        mover
    }

    /// Plays a move in the game and makes its position the root, with what is known below it unless reuse is off.
    ///
    /// # Errors
    /// The move is illegal; nothing has changed then.
    ///
    /// # Panics
    /// When a leaf is waiting.
    pub fn advance(&mut self, mv: Move) -> Result<(), Illegal> {
        let root = self.tree.root();
        assert!(root.is_none_or(|id| self.tree.stats(id).pending == 0), "no leaf waits while a move is played");
        self.game.play(mv)?;
        self.root = self.game.mark();
        let child = root.and_then(|id| self.tree.child_by_move(id, mv, self.game.size()));
        match child.filter(|&id| self.settings.reuse && self.tree.node(id).state == State::Expanded) {
            Some(child) => {
                self.tree.copy_below(child, &mut self.spare);
                std::mem::swap(&mut self.tree, &mut self.spare);
            }
            None => self.tree.clear(),
        }
        Ok(())
    }

    /// Whether the root was evaluated.
    pub fn is_expanded(&self) -> bool {
        self.tree.root().is_some_and(|id| self.tree.node(id).state == State::Expanded)
    }

    /// Mixes noise into the root's priors. Call it once for each move, after the root was expanded.
    ///
    /// # Panics
    /// When the root is not expanded.
    pub fn add_noise(&mut self, noise: Noise, rng: &mut impl Rng) {
        let root = self.expanded_root();
        self.tree.set_priors(root, |_, priors| noise.mix(priors, rng));
    }

    fn expanded_root(&self) -> NodeId {
        assert!(self.is_expanded(), "the root is expanded first");
        self.tree.root().expect("an expanded root exists")
    }

    /// Visits of the root's children, inherited ones included.
    pub fn visits(&self) -> u32 {
        self.tree.root().map_or(0, |id| self.tree.stats(id).visits.saturating_sub(1))
    }

    /// Mean of all values backed up to the root; what the network said when there were none yet.
    ///
    /// # Panics
    /// When the root is not expanded.
    pub fn root_value(&self) -> Value {
        let stats = self.tree.stats(self.expanded_root());
        Value::for_black(stats.sum / stats.visits as f32)
    }

    /// What the network said of the root.
    ///
    /// # Panics
    /// When the root is not expanded.
    pub fn network_value(&self) -> Value {
        Value::for_black(self.tree.node(self.expanded_root()).value)
    }

    /// Entropy of the root's priors over legal moves, in nats.
    ///
    /// # Panics
    /// When the root is not expanded.
    pub fn prior_entropy(&self) -> f32 {
        let priors = self.tree.priors(self.expanded_root()).iter();
        -priors.filter(|prior| **prior > 0.0).map(|prior| prior * prior.ln()).sum::<f32>()
    }

    /// The followed edges of the root, in the order of their first visit.
    ///
    /// # Panics
    /// When the root is not expanded.
    pub fn root_moves(&self) -> Vec<RootMove> {
        let root = self.expanded_root();
        let edges = self.tree.moves(root).iter().zip(self.tree.priors(root));
        let edges = edges.zip(self.tree.children(root)).filter(|(_, child)| child.visits > 0);
        edges
            .map(|((&index, &prior), child)| RootMove {
                mv: Move::from_index(self.game.size(), index.into()).expect("edges hold moves of this board"),
                visits: child.visits,
                prior,
                value: Value::for_black(child.sum / child.visits as f32),
            })
            .collect()
    }

    /// The most visited move; of equals the one with the better value for the mover, then the lower index.
    ///
    /// # Panics
    /// When the root is not expanded.
    pub fn best_move(&self) -> Option<RootMove> {
        let (mover, size) = (self.game.to_move(), self.game.size());
        self.root_moves().into_iter().max_by(|a, b| {
            let by_value = || a.value.mover(mover).total_cmp(&b.value.mover(mover));
            let by_index = || b.mv.index(size).cmp(&a.mv.index(size));
            a.visits.cmp(&b.visits).then_with(by_value).then_with(by_index)
        })
    }

    /// The most visited path from the root, with the visits of each move.
    pub fn principal_variation(&self) -> Vec<(Move, u32)> {
        let mut path = Vec::new();
        let mut at = self.tree.root();
        while let Some(id) = at {
            let moves = self.tree.moves(id).iter();
            let best = moves.zip(self.tree.children(id)).max_by_key(|(mv, child)| (child.visits, u16::MAX - **mv));
            let best = best.filter(|(_, child)| child.visits > 0);
            let mv = best.and_then(|(&mv, _)| Move::from_index(self.game.size(), mv.into()));
            path.extend(mv.zip(best.map(|(_, child)| child.visits)));
            at = best.and_then(|(_, child)| child.node);
        }
        path
    }

    /// Nodes in the tree, and the bytes they, their edges and their statistics take.
    pub fn size(&self) -> (usize, usize) {
        (self.tree.len(), self.tree.bytes())
    }
}

/// Indices of the legal moves, ascending; pass is always legal and comes last.
fn legal_moves(game: &Game) -> impl Iterator<Item = u16> + use<> {
    let points = game.legal_points();
    let pass = game.size().area() as u16;
    points.iter().map(|point| point.index() as u16).chain(std::iter::once(pass))
}

/// Takes the legal moves out of a policy and scales them to sum 1; flat where the policy gives them nothing.
fn legal_priors(policy: &[f32], moves: &[u16], priors: &mut [f32]) {
    for (prior, &mv) in priors.iter_mut().zip(moves) {
        *prior = policy[usize::from(mv)];
    }
    let sum: f32 = priors.iter().sum();
    if sum > 0.0 && sum.is_finite() {
        priors.iter_mut().for_each(|prior| *prior /= sum);
    } else {
        priors.fill(1.0 / moves.len() as f32);
    }
}

//! The three verbs: select, expand, advance.

use go::{Color, Game, Illegal, Mark, Move, PointSet};
use rand::Rng;

use crate::formula::q_init;
use crate::halving::Halving;
use crate::puct::Puct;
use crate::purpose::Purpose;
use crate::settings::{Algorithm, Settings};
use crate::tree::{NodeId, State, Tree, View};
use crate::{Avoid, Depth, Evaluation, Value, gumbel};

/// A position that wants an evaluation. It can be used once: by [`Search::expand`] of the search it came from, or by
/// [`Leaf::take_back`].
#[derive(Debug, PartialEq)]
#[must_use = "a leaf that is neither expanded nor taken back keeps its virtual losses for ever"]
pub struct Leaf {
    node: NodeId,
    /// The move of the game at which it was handed out.
    turn: usize,
}

/// The end of a walk down the tree.
#[derive(Debug, PartialEq)]
pub enum Selected {
    /// A position that was never evaluated.
    Leaf(Leaf),
    /// The end of a game; its outcome is backed up already.
    Ended,
    /// A leaf that is waiting already. It carries one more virtual loss now, and still counts as one visit.
    Pending,
    /// Nothing: what comes next depends on leaves that wait. Only a Gumbel search says this, at the end of a phase.
    Wait,
}

/// A search tree and the game whose present position is its root.
#[derive(Clone, Debug)]
pub struct Search {
    pub(crate) settings: Settings,
    pub(crate) game: Game,
    /// The present position of `game`, to come back to after a walk.
    root: Mark,
    pub(crate) tree: Tree,
    pub(crate) spare: Tree,
    /// The moves of the present root that a Gumbel search considers.
    pub(crate) halving: Halving,
    pub(crate) depth: Depth,
    /// Moves that are left out.
    avoid: Vec<Avoid>,
    /// Kept so that no visit allocates it.
    pub(crate) scratch: Vec<f32>,
}

impl Search {
    /// A search of the position that `game` is in.
    pub fn new(game: Game, settings: Settings) -> Search {
        Search {
            root: game.mark(),
            settings,
            game,
            tree: Tree::default(),
            spare: Tree::default(),
            halving: Halving::default(),
            depth: Depth::default(),
            avoid: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// The game; its present position is the root.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Clears the tree: the present position counts as not searched.
    pub fn reset(&mut self) {
        let avoid = std::mem::take(&mut self.avoid);
        *self = Search { avoid, ..Search::new(self.game.clone(), self.settings) };
    }

    /// The same search without some moves. Depths count from the present root.
    ///
    /// # Panics
    /// When something of the position was searched.
    pub fn avoiding(self, avoid: Vec<Avoid>) -> Search {
        assert!(self.tree.root().is_none(), "avoided moves are named before the search begins");
        Search { avoid, ..self }
    }

    /// Walks down to a position that was never evaluated and shows it to `see`, with all its history.
    ///
    /// Every node of the path gets a virtual loss until the leaf is expanded.
    pub fn select(&mut self, see: &mut dyn FnMut(&Game)) -> Selected {
        let Some(root) = self.tree.root() else {
            let decided = self.decided();
            let node = self.tree.add_root(self.sensible_moves(decided.as_ref()));
            self.tree.add_virtual_loss(node);
            see(&self.game);
            return Selected::Leaf(Leaf { node, turn: self.game.turn() });
        };
        if !self.settle_root(root) {
            return Selected::Wait;
        }
        let turn = self.game.turn();
        let selected = self.walk(root, see).map_or_else(|end| end, |node| Selected::Leaf(Leaf { node, turn }));
        // A root that was taken back is a leaf again, which does not count.
        if self.game.turn() > turn && matches!(selected, Selected::Leaf(_) | Selected::Ended) {
            self.depth.count(self.game.turn() - turn);
        }
        self.game.rewind(&self.root);
        selected
    }

    /// Whether the root can choose an edge now.
    fn settle_root(&mut self, root: NodeId) -> bool {
        let Algorithm::Gumbel(gumbel) = &self.settings.algorithm else { return true };
        let view = self.tree.view(root, self.game.to_move());
        !self.halving.is_active() || self.halving.settle(&view, gumbel)
    }

    /// Leaves `game` at the end of the path. `Err` carries an end that is no leaf.
    fn walk(&mut self, root: NodeId, see: &mut dyn FnMut(&Game)) -> Result<NodeId, Selected> {
        let mut id = root;
        loop {
            self.tree.add_virtual_loss(id);
            let node = self.tree.node_mut(id);
            match &mut node.state {
                State::Waiting { selections } => {
                    *selections += 1;
                    if *selections > 1 {
                        return Err(Selected::Pending);
                    }
                    // It was taken back.
                    see(&self.game);
                    return Ok(id);
                }
                State::Ended => {
                    let value = node.value;
                    self.tree.back_up(id, value, 1);
                    return Err(Selected::Ended);
                }
                State::Expanded => {}
            }
            let slot = self.choose(id);
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
        let decided = self.decided();
        if self.game.is_over(self.settings.scoring) || self.can_win_by_passing() {
            let value = self.outcome().black();
            let id = self.tree.add_child(parent, State::Ended, std::iter::empty());
            self.tree.node_mut(id).value = value;
            self.tree.back_up(id, value, 1);
            return Err(Selected::Ended);
        }
        see(&self.game);
        let moves = self.sensible_moves(decided.as_ref());
        Ok(self.tree.add_child(parent, State::Waiting { selections: 1 }, moves))
    }

    /// The points that nothing can change any more, where the settings say so.
    fn decided(&mut self) -> Option<PointSet> {
        self.settings.prune_pass_alive.then(|| self.game.find_pass_alive().both())
    }

    /// Whether the last move was a pass and another one, which is not avoided, ends the game in favour of the player to
    /// move. Whatever else that player could do, the game is won, so there is nothing to search.
    fn can_win_by_passing(&self) -> bool {
        self.settings.adjudicate_winning_pass
            && self.game.moves().last() == Some(&Move::Pass)
            && self.may_pass()
            && !self.avoided().any(|avoid| avoid.pass)
            && self.outcome().mover(self.game.to_move()) > 0.0
    }

    /// Indices of the moves to consider, ascending: the legal ones, without points that are decided, without moves that
    /// are avoided and without a pass that comes too early. Without other moves it is the pass.
    fn sensible_moves(&self, decided: Option<&PointSet>) -> impl Iterator<Item = u16> + use<> {
        let legal = self.game.legal_points();
        let mut points = decided.map_or(legal, |decided| legal - *decided);
        let mut may_pass = self.may_pass();
        for avoid in self.avoided() {
            points -= avoid.points;
            may_pass &= !avoid.pass;
        }
        let pass = (may_pass || points.is_empty()).then_some(self.game.size().area() as u16);
        points.iter().map(|point| point.index() as u16).chain(pass)
    }

    /// Whether it is late enough for a pass. Stones of the first position count as moves.
    fn may_pass(&self) -> bool {
        let turn = self.game.turn();
        let first = self.game.stones_ago(turn).map_or(0, |stones| stones.both().len());
        turn + first >= self.settings.pass_from
    }

    /// What the player to move avoids at the present depth.
    fn avoided(&self) -> impl Iterator<Item = &Avoid> {
        let (mover, depth) = (self.game.to_move(), self.game.turn() - self.root.turn());
        self.avoid.iter().filter(move |avoid| avoid.player == mover && depth < avoid.until)
    }

    fn outcome(&self) -> Value {
        Value::of_margin(self.game.score(self.settings.scoring) as f32 - self.settings.komi)
    }

    /// The edge to follow from a node on the way down.
    fn choose(&mut self, id: NodeId) -> usize {
        let view = self.tree.view(id, self.game.to_move());
        let is_root = view.node.parent.is_none();
        match &self.settings.algorithm {
            Algorithm::Puct => Puct::new(view, &self.settings).best_slot(),
            Algorithm::Gumbel(gumbel) if is_root && self.halving.is_active() => {
                let (mv, slot) = self.halving.next(&view, gumbel);
                self.tree.bring_to(id, slot, mv);
                slot
            }
            Algorithm::Gumbel(gumbel) => gumbel::best_slot(&view, gumbel, &mut self.scratch),
        }
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

    /// Plays a move in the game and makes its position the root, with its subtree unless reuse is off.
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
        self.depth = Depth::default();
        self.halving.clear();
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

    /// Visits of the root's children, inherited ones included.
    pub fn visits(&self) -> u32 {
        self.tree.root().map_or(0, |id| self.tree.stats(id).visits.saturating_sub(1))
    }

    /// Begins the search of one move: call it once for each, when the root is expanded and before more is selected.
    ///
    /// PUCT: exploration mixes noise into the root's priors; to win there is nothing to begin. Gumbel: samples the
    /// moves to consider, for a search until [`Search::visits`] is `visits`; to win they are fewer, those with the
    /// highest priors. A Gumbel search that was not begun, or has these visits already, chooses at its root as below
    /// it.
    ///
    /// # Panics
    /// When the root is not expanded.
    pub fn begin_move(&mut self, visits: u32, purpose: Purpose, rng: &mut impl Rng) {
        let root = self.expanded_root();
        let budget = visits.saturating_sub(self.visits());
        match (&self.settings.algorithm, purpose) {
            (Algorithm::Puct, Purpose::Explore(Some(noise))) => {
                self.tree.set_priors(root, |_, priors| noise.mix(priors, rng));
            }
            (Algorithm::Puct, Purpose::Explore(None) | Purpose::Win) => {}
            // What was inherited is enough: nothing is to be sampled, and the move is the most visited one.
            (Algorithm::Gumbel(_), _) if budget == 0 => {}
            (Algorithm::Gumbel(gumbel), purpose) => {
                let view = self.tree.view(root, self.game.to_move());
                let rng = match purpose {
                    Purpose::Win => None,
                    Purpose::Explore(_) => Some(rng),
                };
                self.halving.start(&view, gumbel, budget, rng);
            }
        }
    }

    /// Begins the search of one move as [`Search::begin_move`] does to win, but for no number of visits: the
    /// search may be stopped after any of them, and its best move is as good as they allow.
    ///
    /// # Panics
    /// When the root is not expanded.
    pub fn begin_endless(&mut self) {
        let root = self.expanded_root();
        if let Algorithm::Gumbel(gumbel) = &self.settings.algorithm {
            let view = self.tree.view(root, self.game.to_move());
            self.halving.start_round(&view, gumbel);
        }
    }

    pub(crate) fn expanded_root(&self) -> NodeId {
        assert!(self.is_expanded(), "the root is expanded first");
        self.tree.root().expect("an expanded root exists")
    }

    pub(crate) fn root_view(&self) -> View<'_> {
        self.tree.view(self.expanded_root(), self.game.to_move())
    }
}

impl Leaf {
    /// Takes the leaf back without an evaluation, with its virtual losses. The next selection that comes to its
    /// position hands it out again.
    ///
    /// # Panics
    /// When the leaf is of another search, or a move was played since it was selected.
    pub fn take_back(self, search: &mut Search) {
        assert_eq!(self.turn, search.game.turn(), "a leaf is taken back before the next move is played");
        let State::Waiting { selections } = &mut search.tree.node_mut(self.node).state else {
            panic!("a leaf is taken back once, from its own search");
        };
        let losses = std::mem::take(selections);
        search.tree.take_back(self.node, losses);
    }
}

/// Takes the moves of a node out of a policy and scales them to sum 1; flat where the policy gives them nothing.
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
